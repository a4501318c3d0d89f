// The names of bodies: inside those that have room, else beside them, where they cover neither name, body nor line.
import { ON_BODY, drawRimmedText, drawText } from "./canvas_drawing.js";

const FAR = 12; // pixels from its body at which a name needs a line to it
const RINGS = [0, 1, 2, 3, 4]; // how many lines away from its body a name may be

/** Write the names of all bodies, off the points of `lines` where they can be; `field` is what may be drawn on. */
export function drawNames(pen, place, lines, field, colours) {
  const bodies = Object.values(place).filter((body) => body.label);
  const rims = bodies.map((body) => around(body.x, body.y, body.half.x, body.half.y));
  const points = lines.flat();
  const written = [];
  const { size } = colours;
  pen.font = `600 ${size}px ${colours.font}`;
  bodies.forEach((body, painted) => {
    const text = body.away ? (body.away > 0 ? `‹ ${body.label}` : `${body.label} ›`) : body.label;
    const wide = pen.measureText(text).width;
    const own = roomInside(body, wide, size);
    if (own && measureCost(own, rims.slice(painted + 1), points, written, field) === 0) {
      written.push(own);
      pen.textAlign = "center";
      drawText(pen, text, own.x, own.y, ON_BODY, size, colours, true);
      return;
    }
    const boxes = listSpots(body, wide, size);
    const others = rims.filter((_, index) => index !== painted);
    const costs = boxes.map((box) => box.away + measureCost(box, others, points, written, field));
    const box = boxes[costs.indexOf(Math.min(...costs))];
    written.push(box);
    if (box.away > FAR) leader(pen, box, body, colours);
    pen.textAlign = "center";
    drawRimmedText(pen, text, box.x, box.y, colours);
  });
}

/** What a name at a box would cover: another name is worst, then a body, then a line. */
function measureCost(box, rims, points, written, field) {
  const countCovered = (others) => others.filter((other) => overlap(box, other)).length;
  const crossed = points.filter((at) => at.x > box.left && at.x < box.right && at.y > box.top && at.y < box.bottom);
  const outside = box.left < field.left || box.right > field.right || box.top < field.top || box.bottom > field.bottom;
  return 400 * outside + 300 * countCovered(written) + 100 * countCovered(rims) + 8 * crossed.length;
}

/** The box of a name in its body, null where it has no room. */
function roomInside(body, wide, size) {
  const filled = ["agent", "outcome", "thing"].includes(body.role);
  const room = 2 * body.half.x * (body.round ? 0.7 : 1) - 4;
  if (!filled || body.away || wide >= room || body.half.y < 0.75 * size) return null;
  return boxAt(body.x, body.y + 0.4 * size, wide - 6, size);
}

/** Boxes around a body, the nearest first. */
function listSpots(body, wide, size) {
  const { x, y, half, role, away } = body;
  const shifted = away ? (Math.sign(away) * wide) / 2 : 0;
  const [side, slant] = [half.x + 6 + wide / 2, half.x * 0.5 + wide / 2];
  return RINGS.flatMap((ring) => {
    const more = ring * (size + 2);
    const [above, below] = [y - half.y - 7 - more, y + half.y + size + 3 + more];
    // Around a goal and beyond the edge of the field there is room above.
    const upright = role === "goal" || away ? [above, below] : [below, above];
    const spots = [
      ...upright.map((line) => [x + shifted, line]),
      [x + side + more, y + 0.4 * size], [x - side - more, y + 0.4 * size],
      ...upright.flatMap((line) => [[x + slant, line], [x - slant, line]]),
    ];
    return spots.map(([at, line], index) => ({ ...boxAt(at, line, wide, size), away: more + index }));
  });
}

/** A thin line from a name to the rim of its body. */
function leader(pen, box, body, colours) {
  const near = (at, low, high) => Math.min(Math.max(at, low), high);
  const from = { x: near(body.x, box.left, box.right), y: near(body.y, box.top, box.bottom) };
  const rim = around(body.x, body.y, body.half.x, body.half.y);
  pen.strokeStyle = colours.soft;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(near(from.x, rim.left, rim.right), near(from.y, rim.top, rim.bottom));
  pen.stroke();
}

/** The box of a name that is centred at x and stands on the line y. */
const boxAt = (x, y, wide, size) => (
  { x, y, left: x - wide / 2 - 3, right: x + wide / 2 + 3, top: y - size + 1, bottom: y + 3 }
);

const around = (x, y, wide, tall) => ({ left: x - wide, right: x + wide, top: y - tall, bottom: y + tall });

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
