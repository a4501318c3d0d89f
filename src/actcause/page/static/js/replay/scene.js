// An episode's step on a canvas: a domain's own picture, or cards of values for any other recording.
import { drawNames } from "./body_names.js";
import { ON_BODY, drawArrow, formatBrief, clamp, shortenText, drawText } from "./canvas_drawing.js";
import { findArrowPaths } from "./arrow_paths.js";

const THING = "#b4bac0";
const FEW = 5; // features whose values are written out
const MOST_CARDS = 24;

/** The colours of the present theme. */
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: read("ink"), soft: read("soft"), paper: read("paper"), panel: read("panel"), line: read("line"),
    agent: read("c4"), outcome: read("c7"), thing: THING, goal: read("c2"), true: read("c0"), found: read("c5"),
    font: style.fontFamily || "sans-serif",
    size: Math.round(0.82 * Number.parseFloat(style.fontSize)), // larger on a projector, as the rest of the page
  };
}

/** A context in CSS pixels, as fine as the screen, with the size of the canvas. */
export function fitCanvas(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const fine = Math.max(window.devicePixelRatio || 1, 1);
  const [across, down] = [Math.round(width * fine), Math.round(height * fine)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const pen = canvas.getContext("2d");
  pen.setTransform(fine, 0, 0, fine, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.lineJoin = "round";
  return { pen, width, height };
}

/** Paint a step; `share` of the way to the next one has been gone. */
export function paint(canvas, episode, step, share = 0) {
  const { pen, width, height } = fitCanvas(canvas);
  if (!width || !height) return;
  const colours = readColours();
  pen.fillStyle = colours.panel; // a picture that is saved has no page behind it
  pen.fillRect(0, 0, width, height);
  const { place, walls = [] } = episode.scenes
    ? paintScene(pen, width, height, episode, step, share, colours)
    : paintCards(pen, width, height, episode, step, colours);
  const field = { left: 4, top: 2, right: width - 4, bottom: height - 4 };
  const arrows = findArrowPaths(episode, step, place, field);
  for (const { kind, points } of arrows) drawArrow(pen, points, kind, colours);
  drawNames(pen, place, [...walls, ...arrows.map((one) => one.points)], field, colours);
}

// -- the picture of a domain ------------------------------------------------------------------------

function paintScene(pen, width, height, episode, step, share, colours) {
  const scene = episode.scenes[step];
  const next = episode.scenes[step + 1];
  const between = (a, b) => a + (b - a) * (next ? share : 0);
  const view = scene.view.map((edge, side) => between(edge, next?.view[side] ?? edge));
  const [left, bottom, right, top] = view;
  const head = scene.action ? 0 : 8;
  const foot = scene.whole ? 46 : 8;
  const unit = Math.min((width - 16) / (right - left), (height - head - foot) / (top - bottom));
  const from = { x: (width - (right - left) * unit) / 2, y: head + (height - head - foot - (top - bottom) * unit) / 2 };
  const pixel = (x, y) => ({ x: from.x + (x - left) * unit, y: from.y + (top - y) * unit });

  pen.save();
  pen.beginPath();
  pen.rect(from.x, from.y, (right - left) * unit, (top - bottom) * unit);
  pen.clip();
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2;
  const walls = wallsAt(episode.scenes, step).map((wall) => wall.map(([x, y]) => pixel(x, y)));
  for (const wall of walls) {
    pen.beginPath();
    wall.forEach((at, index) => (index ? pen.lineTo(at.x, at.y) : pen.moveTo(at.x, at.y)));
    pen.stroke();
  }
  const place = {};
  for (const [name, x, y, wide, tall, role, round] of scene.bodies) {
    const moved = next?.bodies.find((body) => body[0] === name);
    const at = pixel(between(x, moved?.[1] ?? x), between(y, moved?.[2] ?? y));
    const half = { x: Math.max((wide * unit) / 2, 3), y: Math.max((tall * unit) / 2, 3) };
    body(pen, at, half, role, round, colours);
    const rim = { x: clamp(at.x, from.x + 6, from.x + (right - left) * unit - 6), y: clamp(at.y, from.y + 6, from.y + (top - bottom) * unit - 6) };
    place[name] = { ...rim, half, label: name, role, round, away: rim.x - at.x };
  }
  pen.restore();
  if (scene.action) place[scene.action[0]] = dial(pen, from, scene.action, colours);
  if (scene.whole) whole(pen, scene, from, (right - left) * unit, from.y + (top - bottom) * unit + 26, view, colours);
  return { place, walls: walls.map(placeDots) };
}

/** Points all along the corners of a line. */
function placeDots(corners) {
  return corners.slice(1).flatMap((to, index) => {
    const from = corners[index];
    const count = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4);
    return Array.from({ length: count }, (_, k) => ({
      x: from.x + ((to.x - from.x) * k) / count, y: from.y + ((to.y - from.y) * k) / count,
    }));
  });
}

function wallsAt(scenes, step) {
  for (let at = step; at >= 0; at -= 1) if (scenes[at].walls) return scenes[at].walls;
  return [];
}

function body(pen, at, half, role, round, colours) {
  const outlined = role === "goal" || role === "gone";
  pen.beginPath();
  if (round) pen.ellipse(at.x, at.y, half.x, half.y, 0, 0, 2 * Math.PI);
  else pen.rect(at.x - half.x, at.y - half.y, 2 * half.x, 2 * half.y);
  if (!outlined) {
    pen.fillStyle = colours[role];
    pen.fill();
  }
  pen.setLineDash(role === "gone" ? [3, 4] : []);
  pen.strokeStyle = role === "goal" ? colours.goal : outlined ? colours.soft : ON_BODY;
  pen.lineWidth = role === "goal" ? 2.5 : 1.25;
  pen.stroke();
  pen.setLineDash([]);
}

/** The action as a pointer in a circle beside the field. */
function dial(pen, from, [name, dx, dy], colours) {
  const radius = 26;
  const at = { x: Math.max(from.x - radius - 26, radius + 14), y: Math.max(from.y, 0) + radius + 14 };
  pen.beginPath();
  pen.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  pen.fillStyle = colours.paper;
  pen.fill();
  pen.strokeStyle = colours.soft;
  pen.lineWidth = 1.25;
  pen.stroke();
  const tip = { x: at.x + clamp(dx, -1, 1) * radius * 0.85, y: at.y - clamp(dy, -1, 1) * radius * 0.85 };
  pen.beginPath();
  pen.moveTo(at.x, at.y);
  pen.lineTo(tip.x, tip.y);
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 2.5;
  pen.stroke();
  pen.beginPath();
  pen.arc(tip.x, tip.y, 4, 0, 2 * Math.PI);
  pen.fillStyle = colours.ink;
  pen.fill();
  return { ...at, half: { x: radius, y: radius }, label: name, role: "dial" };
}

/** The whole of a world of which only a part is shown. */
function whole(pen, scene, from, wide, y, view, colours) {
  const [low, high] = scene.whole;
  const at = (x) => from.x + (clamp((x - low) / (high - low), 0, 1)) * wide;
  pen.fillStyle = colours.line;
  pen.fillRect(at(view[0]), y - 9, Math.max(at(view[2]) - at(view[0]), 2), 18);
  pen.strokeStyle = colours.soft;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(from.x, y);
  pen.lineTo(from.x + wide, y);
  pen.stroke();
  for (const [, x, , , , role] of scene.bodies) body(pen, { x: at(x), y }, { x: 4, y: 8 }, role, false, colours);
}

// -- cards of values --------------------------------------------------------------------------------

function paintCards(pen, width, height, episode, step, colours) {
  const shown = episode.factors.map((name, position) => ({ name, position })).filter((one) => one.name !== episode.own);
  const cards = shown.slice(0, MOST_CARDS);
  const columns = cards.length > 14 ? 3 : cards.length > 6 ? 2 : 1;
  const rows = Math.max(Math.ceil(cards.length / columns), 1);
  const gap = 12;
  const side = Math.min(width * 0.36, 340);
  const wide = (width - side - gap * 2 - Math.max(width * 0.14, 80) - gap * (columns - 1)) / columns;
  const tall = Math.min((height - gap * (rows + 1)) / rows, 170);
  const above = (height - rows * tall - (rows - 1) * gap) / 2;
  const place = {};
  cards.forEach(({ name, position }, index) => {
    const box = {
      x: gap + (index % columns) * (wide + gap), y: above + Math.floor(index / columns) * (tall + gap), wide, tall,
    };
    const absent = episode.present && !episode.present[step][position];
    card(pen, box, name, colours.agent, colours);
    if (!absent) bars(pen, box, valuesOf(episode, position, step), colours.agent, colours);
    pen.textAlign = "right";
    if (absent) drawText(pen, "absent", box.x + wide - 8, box.y + 17, colours.soft, 13, colours);
    place[name] = { x: box.x + wide, y: box.y + tall / 2, half: { x: 2, y: 2 } };
  });
  const box = { x: width - side - gap, y: height / 2 - 130, wide: side, tall: Math.min(260, height - 2 * gap) };
  box.y = (height - box.tall) / 2;
  card(pen, box, `next ${episode.outcome_factor}`, colours.outcome, colours);
  outcomeBars(pen, box, episode, step, colours);
  place[episode.outcome_factor] = { x: box.x, y: box.y + box.tall / 2, half: { x: 6, y: box.tall / 2 }, card: box };
  if (episode.own && episode.own !== episode.outcome_factor) place[episode.own] = place[episode.outcome_factor];
  if (shown.length > cards.length) {
    pen.textAlign = "left";
    drawText(pen, `and ${shown.length - cards.length} more factors`, gap, height - 4, colours.soft, 13, colours);
  }
  return { place };
}

function valuesOf(episode, position, step) {
  const names = episode.features[episode.factors[position]];
  return names.map((name, feature) => ({
    name,
    value: episode.state[step][position][feature],
    low: episode.low[position][feature],
    high: episode.high[position][feature],
  }));
}

function card(pen, box, name, colour, colours) {
  pen.fillStyle = colours.paper;
  pen.fillRect(box.x, box.y, box.wide, box.tall);
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.strokeRect(box.x + 0.5, box.y + 0.5, box.wide - 1, box.tall - 1);
  pen.fillStyle = colour;
  pen.fillRect(box.x, box.y, 5, box.tall);
  pen.textAlign = "left";
  drawText(pen, shortenText(pen, name, box.wide - 24, 14, colours), box.x + 13, box.y + 18, colours.ink, 14, colours, true);
}

/** One bar for each value, from 0 or else from the least value there is. */
function bars(pen, box, values, colour, colours) {
  const few = values.length <= FEW;
  const [top, bottom] = [box.y + 26, box.y + box.tall - (few ? 34 : 8)];
  if (bottom - top < 12) return;
  const room = (box.wide - 22) / values.length;
  values.forEach((one, index) => {
    const { x, wide, scale } = column(box, one, index, room, top, bottom);
    const zero = scale(one.low <= 0 && one.high >= 0 ? 0 : one.low);
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x - 3, zero);
    pen.lineTo(x + wide + 3, zero);
    pen.stroke();
    pen.fillStyle = colour;
    const end = scale(one.value);
    pen.fillRect(x, Math.min(zero, end), wide, Math.max(Math.abs(end - zero), 1.5));
    if (few) under(pen, one.name, formatBrief(one.value), x + wide / 2, bottom, room, colours);
  });
}

/** The outcome's value before (outlined, where it is known) and after (filled). */
function outcomeBars(pen, box, episode, step, colours) {
  const own = episode.own ? episode.factors.indexOf(episode.own) : -1;
  const names = episode.outcome_features;
  const few = names.length <= FEW;
  const [top, bottom] = [box.y + 30, box.y + box.tall - (few ? 36 : 8)];
  const room = (box.wide - 22) / names.length;
  names.forEach((name, index) => {
    const feature = own < 0 ? -1 : episode.features[episode.own].indexOf(name);
    const [least, most] = outcomeRange(episode, index);
    const low = feature < 0 ? least : Math.min(least, episode.low[own][feature]);
    const high = feature < 0 ? most : Math.max(most, episode.high[own][feature]);
    const { x, wide, scale } = column(box, { low, high }, index, room, top, bottom);
    const zero = scale(low <= 0 && high >= 0 ? 0 : low);
    const after = episode.outcome[step][index];
    pen.fillStyle = colours.outcome;
    pen.fillRect(x + wide / 2, Math.min(zero, scale(after)), wide / 2, Math.max(Math.abs(scale(after) - zero), 1.5));
    if (feature >= 0) {
      const before = scale(episode.state[step][own][feature]);
      pen.strokeStyle = colours.soft;
      pen.lineWidth = 1.5;
      pen.strokeRect(x, Math.min(zero, before), wide / 2 - 1, Math.max(Math.abs(before - zero), 1.5));
    }
    pen.strokeStyle = colours.soft;
    pen.beginPath();
    pen.moveTo(x - 3, zero);
    pen.lineTo(x + wide + 3, zero);
    pen.stroke();
    if (few) under(pen, name, formatBrief(after), x + wide / 2, bottom, room, colours);
  });
}

function outcomeRange(episode, index) {
  const values = episode.outcome.map((row) => row[index]);
  return [Math.min(...values), Math.max(...values)];
}

function column(box, { low, high }, index, room, top, bottom) {
  const wide = Math.min(room * 0.6, 34);
  const x = box.x + 13 + room * index + (room - wide) / 2;
  const scale = (value) => bottom - (clamp((value - low) / (high - low || 1), 0, 1)) * (bottom - top);
  return { x, wide, scale };
}

function under(pen, name, value, x, bottom, room, colours) {
  pen.textAlign = "center";
  drawText(pen, value, x, bottom + 14, colours.ink, 12, colours);
  drawText(pen, shortenText(pen, name, room, 12, colours), x, bottom + 28, colours.soft, 12, colours);
}
