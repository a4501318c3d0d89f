// How model text is written, in a card that can be folded away.
import { el } from "../shared/ui.js";

const LINES = [
  ['Rain', "a variable that is set: 0 or 1"],
  ['Match "a match is dropped"', "the same, with words for it"],
  ["Wind in 0..3", "with values of its own; also in {-1, 0, 5}"],
  ["Fire = Match and not Rain", "what follows from others: and, or, not"],
  ["Burnt = 2 if Fire and Wind > 1 else Fire", "if … else, and == != < <= > >="],
  ["Loss = min(3, Burnt * 2)", "+ - * // % min max abs"],
  ["exogenous U", "sets the scene, and is never a cause"],
  ["# a remark", "up to the end of the line"],
];

export function buildSyntaxCard() {
  return el(
    "details",
    { class: "syntax small" },
    el("summary", { text: "How to write a model" }),
    el("dl", {}, LINES.map(([line, meaning]) => el("div", {}, el("dt", {}, el("code", { text: line })), el("dd", { class: "soft", text: meaning })))),
  );
}
