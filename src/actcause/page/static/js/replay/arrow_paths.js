// The ways of arrows from causes to the outcome, from rim to rim, beside the bodies between them.
//
// Arrows of true causes bend upwards and those of found ones downwards where there is room, and the outcome's own
// previous value is a loop, so that neither hides the other and colour is not needed to tell them apart.
import { clamp } from "./canvas_drawing.js";

const SIDES = { cause: 1, found: -1 }; // upwards and downwards
const LOOP = [100, 350]; // degrees
const FURTHER = [0, -20, 20, 45, 75, 110, 150, 200]; // pixels that a way may bend more than it would
const GRAIN = 4; // every so many points of a way are looked at
const SHORT = 60; // pixels: a shorter arrow is hard to see
const NEAR = 8; // pixels: closer ways look like one
const HOLLOW = ["goal", "gone"]; // bodies that a way may rather cross
const CLEAR = 4; // pixels that a way should keep from bodies

/** All arrows of a step, as {kind, points}; `place` says where each factor is, `field` is what may be drawn on. */
export function findArrowPaths(episode, step, place, field) {
  const goal = place[episode.outcome_factor];
  if (!goal) return [];
  const acting = (kind) => episode.factors
    .filter((factor, position) => episode[kind]?.[step][position] && place[factor])
    .map((factor) => ({ kind, factor, start: place[factor], length: apart(place[factor], goal) }));
  const wanted = [...acting("cause"), ...acting("found")];
  const others = wanted.filter((one) => one.factor !== episode.own).sort((a, b) => a.length - b.length);
  const bodies = Object.values(place).filter((body) => body.label);
  const found = [];
  const add = (kind, candidates) => {
    found.push({ kind, points: best(candidates, (points) => crossings(points, bodies, found, field)) });
  };
  for (const { kind, start } of others) add(kind, curves(start, goal, SIDES[kind]));
  for (const { kind } of wanted.filter((one) => one.factor === episode.own)) add(kind, loops(goal, SIDES[kind]));
  return found;
}

/** The candidate that costs least, with what it crosses. */
function best(candidates, crossed) {
  const costs = candidates.map(({ points, cost }) => cost + crossed(points));
  return candidates[costs.indexOf(Math.min(...costs))].points;
}

/** How much a way is hidden by bodies, by other ways and by the edge of the picture, or too short to be seen. */
function crossings(points, bodies, found, field) {
  const looked = points.filter((_, index) => index % GRAIN === 0);
  const others = found.flatMap((one) => one.points.filter((_, index) => index % GRAIN === 0));
  const long = points.reduce((sum, at, index) => sum + (index ? apart(at, points[index - 1]) : 0), 0);
  const each = long / looked.length; // pixels of the way that one of its points stands for
  let cost = 2 * Math.max(SHORT - long, 0);
  for (const at of looked) {
    const crossed = bodies.filter((body) => within(at, body, CLEAR));
    if (crossed.length) cost += (crossed.every((body) => HOLLOW.includes(body.role)) ? 0.5 : 1.5) * each;
    if (others.some((other) => apart(at, other) < NEAR)) cost += each;
    if (at.x < field.left || at.x > field.right || at.y < field.top || at.y > field.bottom) cost += 4 * each;
  }
  return cost;
}

/** Loops at the corners of the outcome, those of the kind's side first. */
function loops(goal, side) {
  const radius = clamp(0.4 * Math.max(goal.half.x, goal.half.y), 12, 16);
  const turns = Array.from({ length: 40 }, (_, k) => ((LOOP[0] + ((LOOP[1] - LOOP[0]) * k) / 39) * Math.PI) / 180);
  const at = (corner, across, up) => turns.map((turn) => (
    { x: corner.x - across * radius * Math.cos(turn), y: corner.y + up * radius * Math.sin(turn) }
  ));
  const { card } = goal;
  if (card) {
    const corner = { x: card.x + card.wide * 0.88, y: card.y + (side > 0 ? -2 : card.tall + 2) };
    return [{ points: at(corner, 1, side), cost: 0 }];
  }
  return [side, -side].flatMap((up) => [1, -1].map((across) => {
    const corner = {
      x: goal.x + across * Math.max(goal.half.x, radius), y: goal.y - up * Math.max(goal.half.y, radius),
    };
    return { points: at(corner, across, up), cost: up === side ? 0 : 20 };
  }));
}

/** Ways from a cause to the outcome, bent more and more, those to the kind's side first. */
function curves(start, centre, side) {
  const { card } = centre;
  const goal = card ? { ...centre, y: clamp(start.y + side * -6, card.y + 24, card.y + card.tall - 24) } : centre;
  const length = apart(start, goal);
  if (card) return [{ points: curve(start, goal, side * (0.1 * length + 8)), cost: 0 }];
  const least = Math.max(0.2 * length + 16, 90 - length);
  return [side, -side].flatMap((way) => FURTHER.map((more) => (
    { points: curve(start, goal, way * (least + more)), cost: (way === side ? 0 : 24) + Math.abs(more) / 3 }
  )));
}

/** A way whose middle is pulled upwards (or downwards) by so many pixels, without what is inside its two ends. */
function curve(start, goal, far) {
  const length = apart(start, goal);
  const ahead = length > 1 ? { x: (goal.x - start.x) / length, y: (goal.y - start.y) / length } : { x: 1, y: 0 };
  const turn = ahead.x >= 0 ? 1 : -1;
  const bend = {
    x: (start.x + goal.x) / 2 + ahead.y * turn * far, y: (start.y + goal.y) / 2 - ahead.x * turn * far,
  };
  const points = Array.from({ length: 121 }, (_, k) => {
    const t = k / 120;
    const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    return { x: a * start.x + b * bend.x + c * goal.x, y: a * start.y + b * bend.y + c * goal.y };
  });
  const first = points.findIndex((at) => !within(at, start, 2));
  const rest = points.slice(Math.max(first, 0));
  const last = goal.card ? -1 : rest.findIndex((at) => within(at, goal, 1));
  return last < 0 ? rest : rest.slice(0, Math.max(last, 2));
}

/** Whether a point is in a body that is made larger by some pixels all around. */
function within(at, body, more) {
  const [x, y] = [Math.abs(at.x - body.x) / (body.half.x + more), Math.abs(at.y - body.y) / (body.half.y + more)];
  return body.round ? x * x + y * y < 1 : x < 1 && y < 1;
}

const apart = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
