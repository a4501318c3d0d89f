// A text area for model text, with line numbers and a mark at the line that is wrong.
import { el, put } from "./ui.js";

/** `{element, area, mark(line, message), set(text), get()}`; `changed(text)` is called while typing. */
export function editor(changed) {
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
    on: { input: () => typed(), scroll: () => follow() },
  });
  const gutter = el("div", { class: "gutter", "aria-hidden": "true" });
  const stripe = el("div", { class: "stripe", hidden: true, "aria-hidden": "true" });
  const error = el("p", { class: "line-error", id: "model-error", "aria-live": "polite" });
  let wrong = null;

  function number() {
    const count = area.value.split("\n").length;
    area.rows = Math.min(18, Math.max(5, count + 1));
    put(
      gutter,
      Array.from({ length: Math.min(count, 5000) }, (_, index) =>
        el("div", { class: index + 1 === wrong ? "wrong" : null, text: index + 1 === wrong ? `✗ ${index + 1}` : index + 1 }),
      ),
    );
    follow();
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

  function typed() {
    number();
    changed(area.value);
  }

  return {
    element: el("div", { class: "editor" }, el("div", { class: "lines" }, gutter, stripe, area), error),
    area,
    get: () => area.value,
    set(text) {
      area.value = text;
      number();
    },
    mark(line, message) {
      wrong = line;
      error.textContent = message ?? "";
      if (message) area.setAttribute("aria-invalid", "true");
      else area.removeAttribute("aria-invalid");
      number();
    },
  };
}
