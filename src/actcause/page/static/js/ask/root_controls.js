// What the roots were: a control for each, by the size of its range.
import { button, el, put } from "../shared/ui.js";

const LISTED = 60; // values that a list offers; more are typed

/** `{element, build(roots, values), show(name, value), focus(name)}`; `onChoose(root, value)` is called with a change. */
export function buildRootControls(onChoose) {
  const element = el("div", { class: "context" });
  const find = (name) => document.getElementById(`root-${name}`);

  function control(root, value) {
    const { range, name } = root;
    const id = `root-${name}`;
    const change = (event) => onChoose(root, Number(event.target.value));
    if (range.count <= 2 && range.values) {
      const next = (now) => range.values[(range.values.indexOf(now) + 1) % range.values.length];
      const toggle = (event) => onChoose(root, next(Number(event.currentTarget.textContent)));
      return button(String(value), toggle, { class: "toggle mono", id, "aria-label": `${name} is ${value}` });
    }
    if (range.count <= LISTED && range.values) {
      const options = range.values.map((each) => el("option", { value: each, text: each, selected: each === value }));
      return el("select", { id, class: "mono", on: { change } }, options);
    }
    return el("input", { type: "number", id, class: "mono", min: range.low, max: range.high, step: 1, value, on: { change } });
  }

  return {
    element,
    build(roots, values) {
      const row = (root) =>
        el(
          "label",
          { class: "root", title: root.label ?? "" },
          el("code", { text: root.name }),
          el("span", { class: "soft small", text: root.label ?? "" }),
          control(root, values[root.name]),
        );
      put(element, roots.length ? roots.map(row) : el("p", { class: "soft", text: "This model has no roots." }));
    },
    show(name, value) {
      const node = find(name);
      if (node?.tagName === "BUTTON") {
        node.textContent = String(value);
        node.setAttribute("aria-label", `${name} is ${value}`);
      } else if (node) node.value = String(value);
    },
    focus: (name) => find(name)?.focus(),
  };
}
