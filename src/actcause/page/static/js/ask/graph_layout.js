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
  const least = { along: Infinity, across: Infinity };
  const most = { along: -Infinity, across: -Infinity };
  for (const point of [...at.values(), ...edges.flatMap(({ bends }) => bends)]) {
    for (const axis of ["along", "across"]) {
      least[axis] = Math.min(least[axis], point[axis]);
      most[axis] = Math.max(most[axis], point[axis]);
    }
  }
  const count = Math.round((most.along - least.along) / step) + 1;
  const breadth = most.across - least.across + size.across + 2 * MARGIN;
  const measure = (rows) => {
    const each = Math.ceil(count / rows);
    const length = 2 * MARGIN + each * step - (step - size.along);
    const full = level ? { width: length, height: breadth * rows } : { width: breadth * rows, height: length };
    return { each, full, scale: Math.min(1, ROOM.width / full.width, ROOM.height / full.height) };
  };
  const rows = chooseRows(measure, count);
  const { each, full, scale } = measure(rows);
  const room = level ? ROOM.width / full.width / scale : ROOM.height / full.height / scale;
  // Where a broad graph leaves room, its layers stand further apart, so that edges are less flat.
  if (loose === 1 && rows === 1 && scale < READABLE && room > 1.2) return place(layers, width, level, worth, Math.min(LOOSEST, room));
  const rowOf = (point) => Math.floor(Math.round((point.along - least.along) / step) / each);
  const put = (point, row) => {
    const along = point.along - least.along - row * each * step + MARGIN + size.along / 2;
    const across = point.across - least.across + row * breadth + MARGIN + size.across / 2;
    return level ? { x: along, y: across } : { x: across, y: along };
  };
  return {
    level, full, scale: worth * scale,
    nodes: [...at].map(([name, point]) => ({ name, ...put(point, rowOf(point)) })),
    edges: edges.map(({ from, to, bends }) => {
      const row = rowOf(at.get(from));
      return { from, to, points: row === rowOf(at.get(to)) ? bends.map((bend) => put(bend, row)) : [] };
    }),
  };
}

/** In how many rows a long graph is folded: one, unless it could not be read in one. */
function chooseRows(measure, layers) {
  const one = measure(1).scale;
  if (one >= READABLE) return 1;
  let best = 1;
  for (let rows = 2; rows <= Math.min(MOST_ROWS, layers); rows += 1) if (measure(rows).scale > measure(best).scale) best = rows;
  return measure(best).scale > WORTH * one ? best : 1;
}
