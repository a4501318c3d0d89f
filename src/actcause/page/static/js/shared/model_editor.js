// A text area for model text, with line numbers and a mark at the line that is wrong. Long lines are wrapped.
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
    "aria-label": "Model text",
    "aria-describedby": "model-error",
    on: { input: () => handleInput(), scroll: () => follow() },
  });
  const gutter = el("div", { class: "gutter", "aria-hidden": "true" });
  const mirror = el("div", { class: "mirror", "aria-hidden": "true" }); // the same lines, to see how high each is
  const stripe = el("div", { class: "stripe", hidden: true, "aria-hidden": "true" });
  const error = el("p", { class: "line-error", id: "model-error", "aria-live": "polite" });
  let wrong = null;
  let width = 0;
  let waiting = 0;

  /** As many line numbers as lines; those that are there stay, since a long text may come line by line. */
  function number() {
    const lines = area.value.split("\n");
    const count = Math.min(lines.length, MOST_NUMBERED);
    while (gutter.childElementCount > count) gutter.lastChild.remove();
    while (gutter.childElementCount < count) gutter.append(el("div", { text: gutter.childElementCount + 1 }));
    while (mirror.childElementCount > count) mirror.lastChild.remove();
    while (mirror.childElementCount < count) mirror.append(el("div", {}));
    for (let index = 0; index < count; index += 1) {
      const row = mirror.children[index];
      const text = lines[index] || "\u200b"; // an empty line is as high as any
      if (row.textContent !== text) row.textContent = text;
    }
    measure();
  }

  /** Each number is as high as its line, and the area as high as its text, within reason. */
  function measure() {
    width = area.clientWidth;
    if (!width) return; // it is not on the page yet
    mirror.style.width = `${width}px`;
    const line = parseFloat(getComputedStyle(area).lineHeight);
    const heights = [...mirror.children].map((row) => row.offsetHeight);
    heights.forEach((height, index) => {
      const wanted = height > 1.5 * line ? `${height}px` : "";
      if (gutter.children[index].style.height !== wanted) gutter.children[index].style.height = wanted;
    });
    const rows = heights.reduce((sum, height) => sum + height, 0) / line;
    area.rows = Math.min(18, Math.max(5, Math.ceil(rows) + 1));
    follow();
  }

  function label(line) {
    const node = gutter.children[line - 1];
    if (!node) return;
    node.className = line === wrong ? "wrong" : "";
    node.textContent = line === wrong ? `✗ ${line}` : line;
  }

  function follow() {
    gutter.scrollTop = area.scrollTop;
    const row = wrong === null ? null : mirror.children[wrong - 1];
    stripe.hidden = !row;
    if (!row) return;
    const top = row.offsetTop - area.scrollTop;
    stripe.hidden = top < 0 || top > area.clientHeight - row.offsetHeight;
    stripe.style.top = `${top}px`;
    stripe.style.height = `${row.offsetHeight}px`;
  }

  /** A long text may come line by line: the numbers are written once for all that comes before the next picture. */
  function handleInput() {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      number();
    });
    onChange(area.value);
  }

  new ResizeObserver(() => {
    if (area.clientWidth !== width) measure();
  }).observe(area);

  return {
    element: el("div", { class: "editor" }, el("div", { class: "lines" }, gutter, mirror, stripe, area), error),
    area,
    get: () => area.value,
    set(text) {
      area.value = text;
      number();
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
