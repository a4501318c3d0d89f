// Where the nodes of a causal graph go: layers from left to right, few crossings, straight edges.

const SWEEPS = 12;

/**
 * Layers of nodes, each `{name, layer, y, height}`, and edges as the nodes that they pass through.
 * Edges that cross several layers get a stand-in of no height in each of them. If `staggered`, every other variable
 * of the first layer gets a layer of its own before it.
 */
export function layOut(variables, heights, staggered = false) {
  const depth = depths(variables);
  if (staggered) stagger(depth);
  const nodes = new Map();
  for (const { name } of variables) nodes.set(name, { name, layer: depth.get(name), height: heights.node, above: [], below: [] });
  const edges = [];
  for (const { name, parents } of variables) {
    for (const parent of parents) if (nodes.has(parent)) edges.push(through(nodes, parent, name, heights.bend));
  }
  for (const { path } of edges) {
    for (let index = 1; index < path.length; index += 1) {
      path[index - 1].below.push(path[index]);
      path[index].above.push(path[index - 1]);
    }
  }
  const layers = [];
  for (const node of nodes.values()) (layers[node.layer] ??= []).push(node);
  const filled = layers.filter(Boolean);
  filled.forEach((layer, index) => layer.forEach((node, place) => Object.assign(node, { layer: index, place })));
  order(filled);
  settle(filled, heights.gap);
  return { layers: filled, nodes, edges };
}

/** Exogenous variables first, then roots, then whatever follows, one after the last of its parents. */
function depths(variables) {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const depth = new Map();
  const first = variables.some((variable) => variable.exogenous) ? 1 : 0;
  const visit = (start) => {
    const stack = [start];
    while (stack.length) {
      const variable = stack[stack.length - 1];
      const open = variable.parents.map((name) => byName.get(name)).filter((parent) => parent && !depth.has(parent.name));
      if (open.length) stack.push(...open);
      else {
        stack.pop();
        const above = variable.parents.filter((name) => depth.has(name)).map((name) => depth.get(name));
        depth.set(variable.name, variable.exogenous ? 0 : Math.max(first, ...above.map((value) => value + 1)));
      }
    }
  };
  for (const variable of variables) if (!depth.has(variable.name)) visit(variable);
  return depth;
}

function stagger(depth) {
  let place = 0;
  for (const [name, layer] of depth) {
    if (layer > 0) depth.set(name, layer + 1);
    else depth.set(name, place++ % 2);
  }
}

function through(nodes, from, to, height) {
  const path = [nodes.get(from)];
  for (let layer = path[0].layer + 1; layer < nodes.get(to).layer; layer += 1) {
    const bend = { name: null, layer, height, above: [], below: [] };
    nodes.set(Symbol("bend"), bend);
    path.push(bend);
  }
  path.push(nodes.get(to));
  return { from, to, path };
}

/** Put each node near the middle of its neighbours, from the left and from the right in turn. */
function order(layers) {
  const sweep = (layer, side) => {
    const middle = new Map(layer.map((node) => [node, mean(node[side].map((other) => other.place), node.place)]));
    layer.sort((a, b) => middle.get(a) - middle.get(b) || a.place - b.place);
    layer.forEach((node, place) => {
      node.place = place;
    });
  };
  for (let round = 0; round < SWEEPS; round += 1) {
    for (const layer of layers.slice(1)) sweep(layer, "above");
    for (const layer of layers.slice(0, -1).reverse()) sweep(layer, "below");
  }
}

/** Heights that keep the order and a gap, as near to the neighbours' as that allows. */
function settle(layers, gap) {
  for (const layer of layers) {
    let at = 0;
    for (const node of layer) {
      node.y = at + node.height / 2;
      at += node.height + gap;
    }
    const shift = (at - gap) / 2;
    for (const node of layer) node.y -= shift;
  }
  for (let round = 0; round < SWEEPS; round += 1) {
    const forward = round % 2 === 0;
    for (const layer of forward ? layers : [...layers].reverse()) {
      const wanted = layer.map((node) => mean([...node.above, ...node.below].map((other) => other.y), node.y));
      const offsets = [];
      layer.forEach((node, index) => {
        const before = layer[index - 1];
        offsets.push(index ? offsets[index - 1] + (before.height + node.height) / 2 + gap : 0);
      });
      monotone(wanted.map((value, index) => value - offsets[index])).forEach((value, index) => {
        layer[index].y = value + offsets[index];
      });
    }
  }
}

/** The nearest sequence that never falls: neighbours that would are pooled at their mean. */
function monotone(values) {
  const pools = [];
  for (const value of values) {
    pools.push({ sum: value, count: 1 });
    while (pools.length > 1) {
      const [before, last] = pools.slice(-2);
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.splice(-2, 2, { sum: before.sum + last.sum, count: before.count + last.count });
    }
  }
  return pools.flatMap(({ sum, count }) => Array(count).fill(sum / count));
}

function mean(values, otherwise) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise;
}
