// What scenes are painted with: arrows, words and numbers.

export const ON_BODY = "#16202b"; // bodies are light in both themes
const HEAD = 10; // pixels

/** A line along points with a head at its end: solid for a true cause, dashed for a found one. */
export function drawArrow(pen, points, kind, colours) {
  const colour = colours[kind === "cause" ? "true" : "found"];
  stroke(pen, points, colours.panel, 6, []);
  stroke(pen, points, colour, 2.75, kind === "cause" ? [] : [8, 5]);
  head(pen, points, colour, colours);
}

function stroke(pen, points, colour, width, dash) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  points.slice(0, neck(points) + 1).forEach((at, index) => (index ? pen.lineTo(at.x, at.y) : pen.moveTo(at.x, at.y)));
  pen.stroke();
  pen.setLineDash([]);
}

/** Where an arrow's head begins. */
function neck(points) {
  const tip = points.at(-1);
  return Math.max(points.findLastIndex((at) => Math.hypot(tip.x - at.x, tip.y - at.y) >= HEAD), 0);
}

function head(pen, points, colour, colours) {
  const tip = points.at(-1);
  const back = points[neck(points)];
  const length = Math.hypot(tip.x - back.x, tip.y - back.y) || 1;
  const ahead = { x: (tip.x - back.x) / length, y: (tip.y - back.y) / length };
  pen.beginPath();
  pen.moveTo(tip.x, tip.y);
  pen.lineTo(tip.x - ahead.x * HEAD - ahead.y * 6, tip.y - ahead.y * HEAD + ahead.x * 6);
  pen.lineTo(tip.x - ahead.x * HEAD + ahead.y * 6, tip.y - ahead.y * HEAD - ahead.x * 6);
  pen.closePath();
  pen.fillStyle = colour;
  pen.fill();
  pen.strokeStyle = colours.paper;
  pen.lineWidth = 1;
  pen.stroke();
}

export function drawRimmedText(pen, text, x, y, colours) {
  pen.font = `600 ${colours.size}px ${colours.font}`;
  pen.strokeStyle = colours.panel;
  pen.lineWidth = 3;
  pen.strokeText(text, x, y);
  pen.fillStyle = colours.ink;
  pen.fillText(text, x, y);
}

export function drawText(pen, text, x, y, colour, size, colours, strong = false) {
  pen.font = `${strong ? "600 " : ""}${size}px ${colours.font}`;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

export function shortenText(pen, text, room, size, colours) {
  pen.font = `${size}px ${colours.font}`;
  if (pen.measureText(text).width <= room) return text;
  let kept = text;
  while (kept && pen.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

/** A number with three digits. */
export function formatBrief(value) {
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

/** Write numbers that stand below each other with as many decimals as the largest wants. */
export function formatAlike(values) {
  const most = Math.max(...values.map(Math.abs));
  if (values.every(Number.isInteger) || !(most >= 0.001 && most < 1e5)) return values.map(formatBrief);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(most)));
  return values.map((value) => value.toFixed(decimals).replace(/^-(?=[0.]+$)/, ""));
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
