// A causal graph in SVG: every variable with its value, every equation as edges from what it reads.
import { arrange } from "./graph_arrangement.js";
import { Viewport } from "./graph_viewport.js";
import { button, el, saveSvg, savePng, svg } from "../shared/ui.js";

const HEIGHT = 54; // of a node
const MOST = 800; // variables; more take too long to lay out
const FEW = 60; // nodes that Tab stops at one by one; in a larger graph it stops once, and the arrow keys go on
const WORDS = { changed: "changed", held: "held", given: "set", moved: "follows" };
const TOWARDS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Whether a model is small enough to be drawn. */
export const canDraw = (model) => model.count <= MOST;

/**
 * Draw a model. `onAct(variable)` is called when a node is clicked or Enter or Space is pressed on it, and
 * `onHint(variable, isEffect)` says what that does. The result has the element, `show({actual, values, marks, about})`,
 * `follow(names)`, which brings nodes into sight, and `close()`; it is undefined if another model came meanwhile.
 */
export async function drawGraph(model, listeners) {
  const width = nodeWidth(model.variables);
  const arrangement = await arrange(model.variables, width);
  return arrangement && new GraphDrawing(model, arrangement, width, listeners);
}

class GraphDrawing {
  constructor(model, { nodes, edges, full, level }, width, { onAct, onHint }) {
    Object.assign(this, { model, width, full, onHint, about: [], boxes: new Map() });
    this.places = new Map(nodes.map((node) => [node.name, node]));
    this.drawing = svg("svg", { class: "graph", role: "group", "aria-label": "The causal graph" });
    this.drawing.append(svg("defs", {}, arrowhead("arrow", "tip"), arrowhead("arrow-live", "tip live")));
    const half = level ? { x: width / 2, y: 0 } : { x: 0, y: HEIGHT / 2 };
    this.lines = edges.map((edge) => {
      const [from, to] = [this.places.get(edge.from), this.places.get(edge.to)];
      const line = svg("path", { class: "edge", d: curve(from, edge.points, to, half), "marker-end": "url(#arrow)" });
      this.drawing.append(line);
      return { ...edge, line };
    });
    for (const variable of model.variables) {
      const { x, y } = this.places.get(variable.name);
      const box = drawNode(variable, x, y, width, onAct);
      if (nodes.length > FEW) box.group.setAttribute("tabindex", "-1");
      box.group.addEventListener("focus", () => this.follow([variable.name]));
      this.drawing.append(box.group);
      this.boxes.set(variable.name, box);
    }
    this.drawing.addEventListener("keydown", (event) => this.walk(event));
    this.place = el("div", { class: "viewport" }, this.drawing);
    this.view = new Viewport(this.place, this.drawing, full);
    this.element = el("div", { class: "drawn" }, this.place, this.controls());
  }

  close() {
    this.view.close();
  }

  controls() {
    const { view, model } = this;
    const small = { class: "quiet small" };
    const find = el("input", {
      type: "search", class: "mono small find", placeholder: "Find a variable", "aria-label": "Find a variable in the graph", list: "variables", autocomplete: "off",
      on: { change: () => this.find(find.value.trim()) },
    });
    return el(
      "div",
      { class: "row graph-tools", role: "group", "aria-label": "What is seen of the graph" },
      button("−", () => view.zoom(-1), { ...small, "aria-label": "Zoom out" }),
      button("+", () => view.zoom(1), { ...small, "aria-label": "Zoom in" }),
      button("Fit", () => view.fit(), { ...small, title: "Show the whole graph" }),
      model.count > 12 && [find, el("datalist", { id: "variables" }, model.variables.map(({ name }) => el("option", { value: name })))],
      el("span", { class: "soft small hint", text: "Drag to move, Ctrl and the wheel to zoom." }),
      el("span", { class: "grow" }),
      button("SVG", () => this.save(saveSvg, "graph.svg"), { ...small, title: "Save the whole graph as an SVG file", "aria-label": "Save the graph as SVG" }),
      button("PNG", () => this.save(savePng, "graph.png"), { ...small, title: "Save the whole graph as a PNG file", "aria-label": "Save the graph as PNG" }),
    );
  }

  async save(write, name) {
    this.drawing.classList.remove("distant", "far"); // a file has the small print however small it is seen here
    await write(this.drawing, name, this.full);
    this.view.paint();
  }

  show({ actual, values = actual, marks = {}, about = [] }) {
    this.about = about;
    const goal = this.places.get(about[0]);
    if (this.boxes.size > FEW) for (const [name, { group }] of this.boxes) group.setAttribute("tabindex", name === (goal?.name ?? this.model.variables[0].name) ? "0" : "-1");
    if (goal && this.view.centre !== goal) {
      this.view.centre = goal;
      if (!this.view.moved) this.view.start();
    }
    for (const variable of this.model.variables) {
      const { name } = variable;
      const box = this.boxes.get(name);
      const mark = Object.hasOwn(marks, name) ? marks[name] : null; // a variable may be called constructor
      const [was, is] = [actual[name], values[name]];
      const effect = about.includes(name);
      const hint = this.onHint(variable, effect);
      box.value.textContent = is === undefined ? "" : was !== is ? ` ${was} → ${is}` : ` = ${is}`;
      box.badge.textContent = mark ? ` ${WORDS[mark]}` : "";
      box.group.setAttribute("class", classes(variable, mark, effect));
      // What is heard begins with what is seen, as speech recognition needs it.
      const seen = box.group.querySelectorAll("text");
      box.group.setAttribute("aria-label", `${[...seen].map((text) => text.textContent).join("")}${was !== is ? `, actually ${was}` : ""}. ${hint}`);
      box.title.textContent = [variable.label, variable.equation && `${name} = ${variable.equation}`, hint].filter(Boolean).join("\n");
    }
    for (const { from, to, line } of this.lines) {
      const live = values[from] !== actual[from] && marks[to] === "moved";
      line.setAttribute("class", live ? "edge live" : "edge");
      line.setAttribute("marker-end", live ? "url(#arrow-live)" : "url(#arrow)");
    }
  }

  /** Bring nodes into sight; if they are too far apart, the effect, or else the first of them. */
  follow(names) {
    const known = names.filter((name) => this.places.has(name));
    if (!known.length) return;
    const main = known.find((name) => this.about.includes(name)) ?? known[0];
    this.view.reveal(this.around(known), known.length > 1 ? this.around([main]) : undefined);
  }

  around(names) {
    const places = names.map((name) => this.places.get(name));
    const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
    return {
      left: Math.min(...xs) - this.width / 2, right: Math.max(...xs) + this.width / 2,
      top: Math.min(...ys) - HEIGHT / 2 - 16, bottom: Math.max(...ys) + HEIGHT / 2, // with the badge above
    };
  }

  find(name) {
    const found = this.boxes.get(name) ?? this.boxes.get(this.model.variables.find((each) => each.label === name)?.name);
    found?.group.focus();
  }

  /** With an arrow key to the nearest node on that side. */
  walk(event) {
    const towards = TOWARDS[event.key];
    const here = this.places.get(event.target.closest?.(".node")?.dataset.name);
    if (!towards || !here || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    let best = null;
    for (const place of this.places.values()) {
      const [dx, dy] = [place.x - here.x, place.y - here.y];
      const ahead = dx * towards[0] + dy * towards[1];
      const distance = ahead + 2 * Math.abs(dx * towards[1] + dy * towards[0]);
      if (ahead > 1 && (!best || distance < best.distance)) best = { place, distance };
    }
    if (best) this.boxes.get(best.place.name).group.focus();
  }
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
    svg("text", { class: "label", x, y: y + 16, text: ` ${label.length > most ? `${label.slice(0, most - 1)}…` : label}` }),
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

/** A smooth line from the far side of a node, along the bends, to the near side of another. */
function curve(from, bends, to, half) {
  const start = { x: from.x + half.x, y: from.y + half.y };
  const end = { x: to.x - half.x - (half.x && 6), y: to.y - half.y - (half.y && 6) };
  if (!bends.length) {
    const [dx, dy] = half.x ? [(end.x - start.x) / 2, 0] : [0, (end.y - start.y) / 2];
    return `M${start.x} ${start.y}C${start.x + dx} ${start.y + dy} ${end.x - dx} ${end.y - dy} ${end.x} ${end.y}`;
  }
  const middle = (one, other) => `${(one.x + other.x) / 2} ${(one.y + other.y) / 2}`;
  const parts = bends.map((bend, index) => `Q${bend.x} ${bend.y} ${index + 1 < bends.length ? middle(bend, bends[index + 1]) : `${end.x} ${end.y}`}`);
  return `M${start.x} ${start.y}${parts.join("")}`;
}
