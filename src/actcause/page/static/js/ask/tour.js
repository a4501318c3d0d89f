// Three steps that show how the view Ask is read. Offered once in a line of its own; nothing is covered.
import { button, el, put } from "../shared/ui.js";

const KEY = "actcause-tour";
const STEPS = [
  [".starting", "Start here: choose one of the literature's examples, or press New model and write your own. Below, switch what was the case and say what happened."],
  [".verdict-line", "The answer comes first: how many of the seven definitions of cause agree on what. The table has a row for each; a “?” explains a word."],
  [".graph-panel", "Click a mark ● in the table, and the graph replays why: what is changed, what is held, and how the effect is gone."],
];

/** An element with the offer, or with the tour; `root` is where its steps are looked up. */
export function buildTour(root) {
  const element = el("div", { class: "tour", hidden: wasSeen() });
  let at = -1;

  function show(step) {
    root.querySelector(".toured")?.classList.remove("toured");
    at = step;
    element.hidden = at >= STEPS.length;
    element.classList.toggle("running", at >= 0);
    if (at < 0) {
      put(element, el("span", { class: "grow", text: "New here? Three steps show how to read this page." }), button("Show me", () => show(0), { class: "small" }), button("No, thanks", () => show(STEPS.length), { class: "quiet small" }));
      return;
    }
    if (at >= STEPS.length) {
      remember();
      return;
    }
    const [target, text] = STEPS[at];
    put(
      element,
      el("strong", { text: `${at + 1} of ${STEPS.length}` }),
      el("span", { class: "grow", role: "status", text }),
      at > 0 && button("‹ Back", () => show(at - 1), { class: "small" }),
      button(at + 1 < STEPS.length ? "Next ›" : "Done", () => show(at + 1), { class: "small main" }),
      button("End", () => show(STEPS.length), { class: "quiet small" }),
    );
    const shown = root.querySelector(target);
    shown?.classList.add("toured");
    shown?.scrollIntoView({ block: "nearest" });
  }

  show(-1);
  element.hidden = wasSeen();
  return { element, start: () => show(0) };
}

function wasSeen() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // it is offered again next time
  }
}
