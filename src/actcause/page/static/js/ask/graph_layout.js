// Where the nodes of a causal graph go. dagre finds layers and their order; this chooses how they lie on the page.
import { Graph, layout } from "../vendor/dagre.esm.js";

export const HEIGHT = 54; // of a node
const BETWEEN = { level: 64, upright: 44 }; // layers
const GAP = { level: 26, upright: 13 }; // nodes of a layer
const MARGIN = 26;
const ROOM = { width: 800, height: 400 };
const PLAINER = 0.85; // two rows of roots are worth their tangle if the nodes get larger by more than this
const THOROUGH = 100; // variables up to which layers are chosen with all care
const READABLE = 0.3; // a long graph that would have to shrink further is folded into rows, if that makes it larger
const WORTH = 1.5; // by so much
const MOST_ROWS = 40;
const LOOSEST = 4; // times as far apart as usual
const ASIDE = { leaving: 13, reaching: 20 }; // pixels from a node at which an arrow from row to row turns
const TURN = 8; // pixels, the radius of such a turn

/**
 * Lay out variables, each `{name, parents}`, as nodes of a width: layers from left to right (`level`) or from the top
 * down, whichever leaves them largest. The result has `nodes` ([name, x, y]), `edges` ({from, to, points}) and `full`.
 */
export function layOut(variables, width) {
  const layers = findLayers(variables, width);
  const upright = stand(layers, width);
  const staggered = stagger(upright, width);
  const found = [place(layers, width, true), place(upright, width, false)];
  if (staggered) found.push(place(staggered, width, false, PLAINER));
  return found.reduce((best, one) => (one.scale > best.scale ? one : best));
}

/** Nodes and the bends of edges as {along, across}: how far along the arrows, and where within a layer. */
function findLayers(variables, width) {
  const graph = new Graph();
  const ranker = variables.length <= THOROUGH ? "network-simplex" : "tight-tree"; // which takes half the time
  graph.setGraph({ rankdir: "LR", ranksep: BETWEEN.level, nodesep: GAP.level, edgesep: GAP.level / 2, ranker });
  const numbers = new Map(variables.map(({ name }, index) => [name, String(index)])); // a variable may be called __proto__
  for (const number of numbers.values()) graph.setNode(number, { width, height: HEIGHT });
  const edges = [];
  for (const { name, parents } of variables) {
    for (const parent of parents.filter((each) => numbers.has(each))) {
      const ends = [numbers.get(parent), numbers.get(name)];
      graph.setEdge(...ends, {});
      edges.push({ from: parent, to: name, ends });
    }
  }
  layout(graph);
  const turn = ({ x, y }) => ({ along: x, across: y });
  const nodes = new Map(variables.map(({ name }, index) => [name, turn(graph.node(String(index)))]));
  return { nodes, edges: edges.map(({ from, to, ends }) => ({ from, to, bends: graph.edge(...ends).points.slice(1, -1).map(turn) })) };
}

const stepOf = (width, level) => (level ? width + BETWEEN.level : HEIGHT + BETWEEN.upright);

/** The same layers from the top down; all nodes are alike, so that this is a matter of two scales. */
function stand({ nodes, edges }, width) {
  const along = stepOf(width, false) / stepOf(width, true);
  const across = (width + GAP.upright) / (HEIGHT + GAP.level);
  return move({ nodes, edges }, (point) => ({ along: point.along * along, across: point.across * across }));
}

/** Every other node of a broad first layer a layer earlier, and all closer together; null if that gains nothing. */
function stagger({ nodes, edges }, width) {
  const step = stepOf(width, false);
  const layers = new Map();
  for (const [name, point] of nodes) {
    const layer = Math.round(point.along / step);
    layers.set(layer, [...(layers.get(layer) ?? []), { name, ...point }]);
  }
  const [first, ...others] = [...layers].sort(([one], [other]) => one - other).map(([, layer]) => layer.sort((a, b) => a.across - b.across));
  const nearest = (layer) => Math.min(...layer.slice(1).map((each, index) => each.across - layer[index].across));
  const closer = Math.max((width + 2 * GAP.upright) / (2 * nearest(first)), ...others.map((layer) => (width + GAP.upright) / nearest(layer)));
  if (first.length < 4 || !(closer < PLAINER)) return null;
  const early = new Map(first.filter((_, index) => index % 2 === 0).map((each) => [each.name, each]));
  const squeezed = move({ nodes, edges }, (point) => ({ along: point.along, across: point.across * closer }));
  return {
    nodes: new Map([...squeezed.nodes].map(([name, point]) => [name, early.has(name) ? { ...point, along: point.along - step } : point])),
    edges: squeezed.edges.map((edge) => ({ ...edge, bends: early.has(edge.from) ? [squeezed.nodes.get(edge.from), ...edge.bends] : edge.bends })),
  };
}

function move({ nodes, edges }, by) {
  return {
    nodes: new Map([...nodes].map(([name, point]) => [name, by(point)])),
    edges: edges.map((edge) => ({ ...edge, bends: edge.bends.map(by) })),
  };
}

/** Nodes and edges on the page, with margins, folded into rows if they are too long to be read. */
function place(layers, width, level, worth = 1, loose = 1) {
  const { nodes: at, edges } = loose === 1 ? layers : move(layers, (point) => ({ ...point, along: loose * point.along }));
  const step = loose * stepOf(width, level);
  const size = level ? { along: width, across: HEIGHT } : { along: HEIGHT, across: width };
  const places = [...at.values()].map(({ along }) => along);
  const first = places.reduce((one, other) => Math.min(one, other), Infinity);
  const count = Math.round((places.reduce((one, other) => Math.max(one, other), -Infinity) - first) / step) + 1;
  const layerOf = (point) => Math.round((point.along - first) / step);
  const measure = (rows) => {
    const each = Math.ceil(count / rows);
    const length = 2 * MARGIN + each * step - (step - size.along);
    const bands = measureRows({ nodes: at, edges }, (point) => Math.floor(layerOf(point) / each), size.across + 2 * MARGIN);
    const breadth = bands.at(-1).end;
    const full = level ? { width: length, height: breadth } : { width: breadth, height: length };
    return { each, bands, full, scale: Math.min(1, ROOM.width / full.width, ROOM.height / full.height) };
  };
  const rows = chooseRows(measure, count);
  const { each, bands, full, scale } = measure(rows);
  const room = level ? ROOM.width / full.width / scale : ROOM.height / full.height / scale;
  // Where a broad graph leaves room, its layers stand further apart, so that edges are less flat.
  if (loose === 1 && rows === 1 && scale < READABLE && room > 1.2) return place(layers, width, level, worth, Math.min(LOOSEST, room));
  const rowOf = (point) => Math.floor(layerOf(point) / each);
  const put = (point, row) => {
    const along = point.along - first - row * each * step + MARGIN + size.along / 2;
    const across = point.across - bands[row].least + bands[row].start + MARGIN + size.across / 2;
    return level ? { x: along, y: across } : { x: across, y: along };
  };
  /** Between rows an arrow goes where no node is: beside its layer, along the gap of the rows, beside the other layer. */
  const leadAround = (from, to) => {
    const [above, below] = [rowOf(from), rowOf(to)];
    const turned = (along, across) => (level ? { x: along, y: across } : { x: across, y: along });
    const page = (point, row) => (level ? put(point, row) : turned(...Object.values(put(point, row))));
    const [start, end] = [page(from, above), page(to, below)];
    const out = start.x + size.along / 2 + ASIDE.leaving;
    const back = end.x - size.along / 2 - ASIDE.reaching;
    const margin = MARGIN - ASIDE.reaching;
    const corners = [[out, start.y], [out, bands[above].end]];
    if (below > above + 1) corners.push([margin, bands[above].end], [margin, bands[below].start]);
    corners.push([back, bands[below].start], [back, end.y]);
    return roundCorners(corners).map((corner) => turned(...corner));
  };
  return {
    level, full, scale: worth * scale,
    nodes: [...at].map(([name, point]) => ({ name, ...put(point, rowOf(point)) })),
    edges: edges.map(({ from, to, bends }) => {
      const row = rowOf(at.get(from));
      const inside = row === rowOf(at.get(to));
      return { from, to, points: inside ? bends.map((bend) => put(bend, row)) : leadAround(at.get(from), at.get(to)) };
    }),
  };
}

/** Where the rows lie across: `least` is what a row's first node or line has there, `start` and `end` are its edges. */
function measureRows({ nodes, edges }, rowOf, more) {
  const bands = [];
  const include = (row, across) => {
    const band = (bands[row] ??= { least: Infinity, most: -Infinity });
    band.least = Math.min(band.least, across);
    band.most = Math.max(band.most, across);
  };
  for (const point of nodes.values()) include(rowOf(point), point.across);
  for (const { from, to, bends } of edges) {
    const row = rowOf(nodes.get(from));
    if (row !== rowOf(nodes.get(to))) continue; // it is led around
    const line = [nodes.get(from), ...bends, nodes.get(to)].map(({ across }) => across);
    // A smooth line does not go as far as its bends.
    for (let k = 1; k + 1 < line.length; k += 1) include(row, (line[k - 1] + 6 * line[k] + line[k + 1]) / 8);
  }
  let start = 0;
  for (const band of bands) {
    Object.assign(band, { start, end: start + band.most - band.least + more });
    start = band.end;
  }
  return bands;
}

/** Corners with a point before and after each, so that a smooth line through them is straight but for its turns. */
function roundCorners(corners) {
  const near = ([x, y], [u, v]) => {
    const length = Math.hypot(u - x, v - y) || 1;
    const share = Math.min(TURN, length / 2) / length;
    return [x + (u - x) * share, y + (v - y) * share];
  };
  return corners.flatMap((corner, index) => [
    ...(index > 0 ? [near(corner, corners[index - 1])] : []), corner, ...(index + 1 < corners.length ? [near(corner, corners[index + 1])] : []),
  ]);
}

/** In how many rows a long graph is folded: one, unless it could not be read in one. */
function chooseRows(measure, layers) {
  const one = measure(1).scale;
  if (one >= READABLE) return 1;
  let best = 1;
  for (let rows = 2; rows <= Math.min(MOST_ROWS, layers); rows += 1) if (measure(rows).scale > measure(best).scale) best = rows;
  return measure(best).scale > WORTH * one ? best : 1;
}
