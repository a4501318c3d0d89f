// What scenes are painted with: arrows from causes to the outcome, names, and numbers.
//
// True causes get a solid arrow that bends upwards, found ones a dashed arrow that bends downwards, and the outcome's
// own previous value a loop, so that neither hides the other and colour is not needed to tell them apart.

export const ON_BODY = "#16202b"; // bodies are light in both themes
const LOOP = [100, 350]; // degrees

/** A line along points with a head at its end: solid for a true cause, dashed for a found one. */
export function arrow(pen, points, kind, colours) {
  const colour = colours[kind === "cause" ? "true" : "found"];
  stroke(pen, points, colours.panel, 6, []);
  stroke(pen, points, colour, 2.75, kind === "cause" ? [] : [8, 5]);
  head(pen, points, colour, colours);
}

/** A loop at an upper corner, for found causes at a lower one; `across` is 1 at the right, -1 at the left. */
export function circle(goal, side, across) {
  const radius = clamp(0.4 * Math.max(goal.half.x, goal.half.y), 12, 16);
  const corner = goal.card
    ? { x: goal.card.x + goal.card.wide * 0.88, y: goal.card.y + (side > 0 ? -2 : goal.card.tall + 2) }
    : { x: goal.x + across * Math.max(goal.half.x, radius) * 0.9, y: goal.y - side * Math.max(goal.half.y, radius) * 0.9 };
  const turns = Array.from({ length: 40 }, (_, k) => ((LOOP[0] + ((LOOP[1] - LOOP[0]) * k) / 39) * Math.PI) / 180);
  return turns.map((turn) => ({ x: corner.x - across * radius * Math.cos(turn), y: corner.y + side * radius * Math.sin(turn) }));
}

/** The way from a cause to the outcome, bent to one side. */
export function curve(start, centre, side) {
  const { card } = centre;
  const goal = card ? { ...centre, y: clamp(start.y + side * -6, card.y + 24, card.y + card.tall - 24) } : centre;
  const along = { x: goal.x - start.x, y: goal.y - start.y };
  const length = Math.hypot(along.x, along.y);
  const ahead = length > 1 ? { x: along.x / length, y: along.y / length } : { x: 1, y: 0 };
  const turn = ahead.x >= 0 ? 1 : -1;
  const up = { x: ahead.y * turn, y: -ahead.x * turn };
  const far = goal.card ? 0.1 * length + 8 : Math.max(0.25 * length + 20, 84 - length);
  const bend = { x: (start.x + goal.x) / 2 + side * up.x * far, y: (start.y + goal.y) / 2 + side * up.y * far };
  const points = [];
  for (let k = 0; k <= 60; k += 1) {
    const t = k / 60;
    const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    const at = { x: a * start.x + b * bend.x + c * goal.x, y: a * start.y + b * bend.y + c * goal.y };
    const inside = !goal.card && Math.abs(at.x - goal.x) <= goal.half.x * 0.7 && Math.abs(at.y - goal.y) <= goal.half.y * 0.7;
    if (inside && k > 8) break;
    points.push(at);
  }
  return points;
}

function stroke(pen, points, colour, width, dash) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  points.slice(0, -2).forEach((at, index) => (index ? pen.lineTo(at.x, at.y) : pen.moveTo(at.x, at.y)));
  pen.stroke();
  pen.setLineDash([]);
}

function head(pen, points, colour, colours) {
  const tip = points[points.length - 1];
  const back = points[Math.max(points.length - 6, 0)];
  const length = Math.hypot(tip.x - back.x, tip.y - back.y) || 1;
  const ahead = { x: (tip.x - back.x) / length, y: (tip.y - back.y) / length };
  pen.beginPath();
  pen.moveTo(tip.x + ahead.x * 3, tip.y + ahead.y * 3);
  pen.lineTo(tip.x - ahead.x * 10 - ahead.y * 6, tip.y - ahead.y * 10 + ahead.x * 6);
  pen.lineTo(tip.x - ahead.x * 10 + ahead.y * 6, tip.y - ahead.y * 10 - ahead.x * 6);
  pen.closePath();
  pen.fillStyle = colour;
  pen.fill();
  pen.strokeStyle = colours.paper;
  pen.lineWidth = 1;
  pen.stroke();
}

/** The names of bodies: inside those that have room for them, else beside them, where no other name or body is. */
export function labels(pen, place, colours) {
  const taken = [];
  const bodies = Object.values(place).filter((at) => at.label).map((at) => (
    { of: at, left: at.x - at.half.x, right: at.x + at.half.x, top: at.y - at.half.y, bottom: at.y + at.half.y }
  ));
  for (const at of Object.values(place)) {
    if (!at.label) continue;
    pen.font = `600 13px ${colours.font}`;
    const text = at.away ? (at.away > 0 ? `‹ ${at.label}` : `${at.label} ›`) : at.label;
    const wide = pen.measureText(text).width;
    const filled = ["agent", "outcome", "thing"].includes(at.role);
    const round = at.round ? 0.7 : 1;
    if (filled && !at.away && wide < 2 * at.half.x * round - 4 && at.half.y > 9) {
      pen.textAlign = "center";
      word(pen, text, at.x, at.round ? at.y + 5 : at.y + at.half.y - 6, ON_BODY, 13, colours, true);
      continue;
    }
    const x = at.away ? at.x + (Math.sign(at.away) * wide) / 2 : at.x;
    const below = [0, 1, 2].map((line) => at.y + at.half.y + 16 + line * 15);
    const above = [0, 1, 2].map((line) => at.y - at.half.y - 7 - line * 15);
    // Arrows arrive above the outcome; beyond the edge of the field and around a goal there is room above.
    const either = at.role === "goal" || at.away ? [above, below] : [below, above];
    const lines = at.role === "outcome" ? either.flat() : below.flatMap((_, line) => either.map((side) => side[line]));
    const boxes = lines.map((y) => ({ left: x - wide / 2 - 3, right: x + wide / 2 + 3, top: y - 12, bottom: y + 3, y }));
    const clear = boxes.filter((box) => !taken.some((other) => overlap(box, other)));
    const free = clear.find((box) => !bodies.some((other) => other.of !== at && overlap(box, other))) ?? clear[0] ?? boxes[0];
    taken.push(free);
    pen.textAlign = "center";
    rimmed(pen, text, x, free.y, colours);
  }
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function rimmed(pen, text, x, y, colours) {
  pen.font = `600 13px ${colours.font}`;
  pen.strokeStyle = colours.panel;
  pen.lineWidth = 3;
  pen.strokeText(text, x, y);
  pen.fillStyle = colours.ink;
  pen.fillText(text, x, y);
}

export function word(pen, text, x, y, colour, size, colours, strong = false) {
  pen.font = `${strong ? "600 " : ""}${size}px ${colours.font}`;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

export function cut(pen, text, room, size, colours) {
  pen.font = `${size}px ${colours.font}`;
  if (pen.measureText(text).width <= room) return text;
  let kept = text;
  while (kept && pen.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

/** A number with three digits. */
export function brief(value) {
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
