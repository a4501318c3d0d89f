// The strip below the picture: a row for each factor, true causes as filled squares above, found ones as rings below.
import { fitCanvas, readColours } from "./scene.js";

const LANE = 14; // pixels
const AXIS = 20;
const CELL = [14, 44]; // pixels of a step
const MOST_ROWS = 16;

/** The factors that have a row: those in question, and others that act somewhere; the outcome's own state always does. */
export function listRows(episode) {
  const acts = (position) => ["cause", "found"].some((kind) => episode[kind]?.some((row) => row[position]));
  return episode.factors
    .map((name, position) => ({ name, position }))
    .filter(({ name, position }) => name !== episode.own && (episode.edges.includes(name) || acts(position)))
    .slice(0, MOST_ROWS);
}

/** How high a row is: a lane for each kind of causes that is known. */
const rowHeight = (episode) => 7 + LANE * ["cause", "found"].filter((kind) => episode[kind]).length;

/** How high the strip has to be. */
export const measureHeight = (episode) => listRows(episode).length * rowHeight(episode) + AXIS;

/** Whether something other than the outcome's own state acts in a step: by the truth, or else by what was found. */
export function isEventful(episode, step) {
  const causes = episode.cause ?? episode.found;
  return causes !== null && episode.factors.some((name, position) => name !== episode.own && causes[step][position]);
}

/** Paint the strip; returns a function from a horizontal place to a step. */
export function paintTimeline(canvas, episode, step) {
  const { pen, width, height } = fitCanvas(canvas);
  if (!width) return () => step;
  const colours = readColours();
  const rows = listRows(episode);
  const row = rowHeight(episode);
  pen.font = `13px ${colours.font}`;
  const names = Math.min(Math.max(40, ...rows.map(({ name }) => pen.measureText(name).width + 16)), width * 0.3);
  const cell = Math.min(Math.max((width - names) / episode.steps, CELL[0]), CELL[1]);
  const seen = Math.max(Math.floor((width - names) / cell), 1);
  const first = Math.min(Math.max(step - Math.floor(seen / 2), 0), Math.max(episode.steps - seen, 0));
  const last = Math.min(first + seen, episode.steps);
  const at = (k) => names + (k - first) * cell;

  rows.forEach(({ name }, index) => {
    if (index % 2 === 0) {
      pen.fillStyle = colours.panel;
      pen.fillRect(0, index * row, Math.min(at(last), width), row); // no further than there are steps
    }
    pen.fillStyle = colours.ink;
    pen.textAlign = "left";
    pen.fillText(name, 4, index * row + row / 2 + 5, names - 10);
  });
  pen.fillStyle = colours.line;
  pen.globalAlpha = 0.6;
  pen.fillRect(at(step), 0, cell, height - AXIS);
  pen.globalAlpha = 1;
  for (let k = first; k < last; k += 1) {
    rows.forEach(({ position }, index) => {
      const middle = at(k) + cell / 2;
      if (episode.cause?.[k][position]) {
        pen.fillStyle = colours.true;
        pen.fillRect(middle - 5, index * row + 5, 10, 10);
      }
      if (episode.found?.[k][position]) {
        pen.strokeStyle = colours.found;
        pen.lineWidth = 2.25;
        pen.beginPath();
        pen.arc(middle, index * row + row - 9, 4.6, 0, 2 * Math.PI);
        pen.stroke();
      }
    });
    const every = cell < 20 ? 10 : 5;
    if ((k + 1) % every === 0 || k === 0) {
      pen.fillStyle = colours.soft;
      pen.textAlign = "center";
      pen.fillText(String(k + 1), at(k) + cell / 2, height - 5);
    }
  }
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1.5;
  pen.strokeRect(at(step) + 0.5, 0.75, cell - 1, height - AXIS - 1.5);
  return (x) => Math.min(Math.max(first + Math.floor((x - names) / cell), first), last - 1);
}
