// A text area for model text, with line numbers and a mark at the line that is wrong.
import { el } from "./ui.js";

const MOST_NUMBERED = 5000; // lines

/** `{element, area, mark(line, message), set(text), get()}`; `onChange(text)` is called while typing. */
export function buildEditor(onChange) {
  const area = el("textarea", {
    class: "code",
    id: "model-text",
    rows: 8,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    "aria-label": "Model text",
    "aria-describedby": "model-error",
    on: { input: () => handleInput(), scroll: () => follow() },
  });
  const gutter = el("div", { class: "gutter", "aria-hidden": "true" });
  const stripe = el("div", { class: "stripe", hidden: true, "aria-hidden": "true" });
  const error = el("p", { class: "line-error", id: "model-error", "aria-live": "polite" });
  let wrong = null;

  /** As many line numbers as lines; those that are there stay, since a long text may come line by line. */
  function number() {
    const count = area.value.split("\n").length;
    const rows = Math.min(18, Math.max(5, count + 1));
    if (area.rows !== rows) area.rows = rows;
    while (gutter.childElementCount > count) gutter.lastChild.remove();
    while (gutter.childElementCount < Math.min(count, MOST_NUMBERED)) gutter.append(el("div", { text: gutter.childElementCount + 1 }));
  }

  function label(line) {
    const node = gutter.children[line - 1];
    if (!node) return;
    node.className = line === wrong ? "wrong" : "";
    node.textContent = line === wrong ? `✗ ${line}` : line;
  }

  function follow() {
    gutter.scrollTop = area.scrollTop;
    const style = getComputedStyle(area);
    const height = parseFloat(style.lineHeight);
    stripe.hidden = wrong === null;
    if (wrong === null || !height) return;
    const top = parseFloat(style.paddingTop) + (wrong - 1) * height - area.scrollTop;
    stripe.hidden = top < 0 || top > area.clientHeight - height;
    stripe.style.top = `${top}px`;
    stripe.style.height = `${height}px`;
  }

  function handleInput() {
    number();
    onChange(area.value);
  }

  return {
    element: el("div", { class: "editor" }, el("div", { class: "lines" }, gutter, stripe, area), error),
    area,
    get: () => area.value,
    set(text) {
      area.value = text;
      number();
      follow();
    },
    mark(line, message) {
      const before = wrong;
      wrong = line;
      label(before);
      label(wrong);
      error.textContent = message ?? "";
      if (message) area.setAttribute("aria-invalid", "true");
      else area.removeAttribute("aria-invalid");
      follow();
    },
  };
}
