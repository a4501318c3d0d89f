// A causal graph in SVG: every variable with its value, every equation as edges from what it reads.
import { layOut } from "./graph_layout.js";
import { svg } from "../shared/ui.js";

const HEIGHT = 54;
const BETWEEN = { level: 64, upright: 44 }; // layers
const GAP = 26; // nodes of a layer
const MARGIN = 26;
const ROOM = { width: 800, height: 400 };
const SMALLEST = 0.7; // a graph that would have to shrink further is scrolled instead
const PLAINER = 0.85; // two rows of roots are worth their tangle if the nodes get larger by more than this
const MOST = 60; // variables; more are a tangle that says nothing
const WORDS = { changed: "changed", held: "held", given: "set", moved: "follows" };

/** Whether a model can be drawn so that it can be read. */
export const canDraw = (model) => model.count <= MOST;

/**
 * Draw a model. `onAct(variable)` is called when a node is clicked or Enter or Space is pressed on it, and
 * `onHint(variable)` says what that does. The result has the element and `show({actual, values, marks, about})`.
 */
export function drawGraph(model, { onAct, onHint }) {
  const width = nodeWidth(model.variables);
  const { nodes, edges, x, y, full, level } = chooseArrangement(model.variables, width);
  const root = svg("svg", {
    class: "graph",
    viewBox: `0 0 ${full.width} ${full.height}`,
    role: "group",
    "aria-label": "The causal graph",
    style: { "--natural": `${full.width}px`, "min-width": `${SMALLEST * full.width}px`, "min-height": `${SMALLEST * full.height}px` },
  });
  root.append(svg("defs", {}, arrowhead("arrow", "tip"), arrowhead("arrow-live", "tip live")));
  const half = level ? width / 2 : HEIGHT / 2;
  const lines = edges.map((edge) => {
    const line = svg("path", { class: "edge", d: curve(edge.path.map((node) => ({ x: x(node), y: y(node) })), half, level), "marker-end": "url(#arrow)" });
    root.append(line);
    return { ...edge, line };
  });
  const boxes = new Map();
  for (const variable of model.variables) {
    const node = nodes.get(variable.name);
    const box = drawNode(variable, x(node), y(node), width, onAct);
    root.append(box.group);
    boxes.set(variable.name, box);
  }
  return {
    element: root,
    show({ actual, values = actual, marks = {}, about = [] }) {
      for (const variable of model.variables) {
        const { name } = variable;
        const box = boxes.get(name);
        const mark = Object.hasOwn(marks, name) ? marks[name] : null; // a variable may be called constructor
        const [was, is] = [actual[name], values[name]];
        box.value.textContent = is === undefined ? "" : was !== is ? ` ${was} → ${is}` : ` = ${is}`;
        box.badge.textContent = mark ? WORDS[mark] : "";
        box.group.setAttribute("class", classes(variable, mark, about.includes(name)));
        const said = is === undefined ? "" : ` is ${is}${was !== is ? `, actually ${was}` : ""}${mark ? `, ${WORDS[mark]}` : ""}`;
        box.group.setAttribute("aria-label", `${variable.label ? `${variable.label}, ` : ""}${name}${said}. ${onHint(variable)}`);
        box.title.textContent = [variable.label, variable.equation && `${name} = ${variable.equation}`, onHint(variable)]
          .filter(Boolean)
          .join("\n");
      }
      for (const { from, to, line } of lines) {
        const live = values[from] !== actual[from] && marks[to] === "moved";
        line.setAttribute("class", live ? "edge live" : "edge");
        line.setAttribute("marker-end", live ? "url(#arrow-live)" : "url(#arrow)");
      }
    },
  };
}

/** Layers from left to right, from the top down or with two rows of roots: whichever leaves the nodes largest. */
function chooseArrangement(variables, width) {
  const shapes = [{ level: true }, { level: false }, { level: false, staggered: true }];
  const found = shapes.map((shape) => arrange(variables, width, shape));
  return found.reduce((best, one) => (one.scale > best.scale ? one : best));
}

function arrange(variables, width, { level, staggered = false }) {
  const across = level ? HEIGHT : width;
  const along = level ? width : HEIGHT;
  const between = level ? BETWEEN.level : BETWEEN.upright;
  const found = layOut(variables, { node: across, bend: 8, gap: level ? GAP : GAP / 2 }, staggered);
  const all = found.layers.flat();
  const low = Math.min(...all.map((node) => node.y - node.height / 2)) - MARGIN;
  const breadth = Math.max(...all.map((node) => node.y + node.height / 2)) + MARGIN - low;
  const length = 2 * MARGIN + found.layers.length * (along + between) - between;
  const first = (node) => MARGIN + along / 2 + node.layer * (along + between);
  const second = (node) => node.y - low;
  const full = level ? { width: length, height: breadth } : { width: breadth, height: length };
  const scale = Math.min(1, ROOM.width / full.width, ROOM.height / full.height);
  return { ...found, level, full, scale: staggered ? PLAINER * scale : scale, x: level ? first : second, y: level ? second : first };
}

function classes(variable, mark, effect) {
  const kinds = ["node", variable.exogenous ? "exogenous" : variable.root ? "root" : "inner"];
  if (effect) kinds.push("effect");
  if (mark) kinds.push(mark);
  return kinds.join(" ");
}

function nodeWidth(variables) {
  const need = variables.map(({ name, label, range }) => {
    const value = Math.max(String(range.low).length, String(range.high).length);
    return Math.max(9.2 * (name.length + 3 + (value > 2 ? value : 2 * value + 2)), 6.4 * Math.min(label?.length ?? 0, 26)) + 22;
  });
  return Math.min(210, Math.max(92, ...need));
}

function drawNode(variable, x, y, width, onAct) {
  const value = svg("tspan", { class: "value" });
  const title = svg("title");
  const badge = svg("text", { class: "badge", x, y: y - HEIGHT / 2 - 9 });
  const most = Math.floor((width - 14) / 6.4);
  const label = variable.label ?? "";
  const group = svg(
    "g",
    { tabindex: "0", role: "button", "data-name": variable.name },
    title,
    svg("rect", { class: "ring", x: x - width / 2 - 5, y: y - HEIGHT / 2 - 5, width: width + 10, height: HEIGHT + 10, rx: 13 }),
    svg("rect", { class: "box", x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT, rx: 9 }),
    svg("text", { class: "what", x, y: y + (label ? -2 : 6) }, svg("tspan", { class: "name", text: variable.name }), value),
    svg("text", { class: "label", x, y: y + 16, text: label.length > most ? `${label.slice(0, most - 1)}…` : label }),
    badge,
  );
  group.addEventListener("click", () => onAct(variable));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onAct(variable);
  });
  return { group, value, title, badge };
}

function arrowhead(id, kind) {
  return svg(
    "marker",
    { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" },
    svg("path", { class: kind, d: "M0 0.8 9.5 5 0 9.2z" }),
  );
}

/** From the far side of the first node, straight past each bend, to the near side of the last. */
function curve(path, half, level) {
  const shift = (point, by) => (level ? { x: point.x + by, y: point.y } : { x: point.x, y: point.y + by });
  const points = path.flatMap((point, index) => {
    if (index === 0) return [shift(point, half)];
    return index === path.length - 1 ? [shift(point, -half - 6)] : [shift(point, -half), shift(point, half)];
  });
  return points
    .map((point, index) => {
      if (index === 0) return `M${point.x} ${point.y}`;
      const before = points[index - 1];
      const [middleX, middleY] = [(before.x + point.x) / 2, (before.y + point.y) / 2];
      return level
        ? `C${middleX} ${before.y} ${middleX} ${point.y} ${point.x} ${point.y}`
        : `C${before.x} ${middleY} ${point.x} ${middleY} ${point.x} ${point.y}`;
    })
    .join("");
}
