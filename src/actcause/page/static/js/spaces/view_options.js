// How the states are shown: a picture or a table, which roots are its axes, and what the others keep.

import { el, field } from "../shared/ui.js";

/** The controls; `listeners`: onChange(some) for a change of the address, onKeep(state) for another slice. */
export function buildViewOptions(reply, listeners) {
  const rows = [kinds(reply, listeners)];
  const others = reply.roots.filter((root) => root.name in reply.held);
  if (reply.show === "picture" && reply.axes.length > 1) rows.push(axes(reply, listeners));
  if (reply.show === "picture" && others.length) {
    const slices = el("div", { class: "slices" }, others.map((root) => slice(root, reply.held, listeners)));
    rows.push(el("fieldset", {}, el("legend", { text: "Slice: the others keep" }), slices));
  }
  return rows;
}

function kinds(reply, listeners) {
  const choices = ["picture", "table"].map((kind) => {
    const on = { change: () => listeners.onChange({ show: kind }) };
    const radio = el("input", { type: "radio", name: "show", id: `show-${kind}`, checked: reply.show === kind, on });
    return el("label", { class: "row" }, radio, kind);
  });
  return el("fieldset", {}, el("legend", { text: "Show as" }), el("div", { class: "row" }, choices));
}

function axes(reply, listeners) {
  const [x, y] = reply.axes;
  const names = reply.roots.map((root) => root.name);
  const choice = (label, id, chosen, change) => {
    const on = { change: (event) => listeners.onChange(change(event.target.value)) };
    return field(label, el("select", { id, on }, options(names, chosen)));
  };
  return el(
    "div",
    { class: "axes" },
    choice("Across", "across", x, (name) => ({ x: name, y: name === y ? x : y, slice: "" })),
    choice("Up", "up", y, (name) => ({ x: name === x ? y : x, y: name, slice: "" })),
  );
}

/** A list of a root's values, or a slider where they are many. */
function slice(root, held, listeners) {
  const now = held[root.name];
  const id = `slice-${root.name}`;
  const on = { change: (event) => listeners.onKeep({ ...held, [root.name]: Number(event.target.value) }) };
  if (root.values) return field(root.name, el("select", { id, on }, options(root.values.map(String), String(now))));
  const { low: min, high: max } = root;
  return field(`${root.name} = ${now}`, el("input", { type: "range", id, min, max, value: now, on }));
}

const options = (names, chosen) => names.map((name) => el("option", { value: name, selected: name === chosen, text: name }));
