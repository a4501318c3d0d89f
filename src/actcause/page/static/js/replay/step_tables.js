// The present step of an episode in words and tables.
import { formatAlike, formatBrief } from "./canvas_drawing.js";
import { el } from "../shared/ui.js";

export const formatPercent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;

function listCauses(episode, kind, step) {
  return episode.factors.filter((name, position) => name !== episode.own && episode[kind][step][position]);
}

/** What caused the outcome of a step, in words. */
export function describeStep(episode, step) {
  const own = episode.own ? `only ${episode.own} itself` : "nothing";
  const list = (kind) => listCauses(episode, kind, step).join(", ") || own;
  const parts = [];
  if (episode.cause) parts.push(`${episode.found ? "True cause" : "Cause"} of the next ${episode.outcome_factor}: ${list("cause")}.`);
  if (episode.found) parts.push(`Found: ${list("found")}${episode.unsure?.[step] ? " (unsure: the model predicts this step badly)" : ""}.`);
  return parts.join(" ") || `The next ${episode.outcome_factor} is ${episode.outcome[step].map(formatBrief).join(", ")}.`;
}

/** Every factor with its value, how likely it is a cause, and whether it truly was and was found to be one. */
export function buildFactorTable(episode, step) {
  const chances = episode.probability?.[step];
  const head = ["Factor", "Now", chances && "Probability", episode.cause && "True", episode.found && "Found"];
  const rows = episode.factors.map((name, position) => {
    const values = episode.state[step][position];
    const shown = values.length > 5 ? `${values.length} values` : values.map(formatBrief).join(", ");
    const own = name === episode.own;
    const absent = episode.present && !episode.present[step][position];
    const chance = chances && (own ? el("span", { class: "soft", text: "always" }) : meter(chances[position]));
    const mark = (kind, sign) => (episode[kind][step][position] ? el("span", { class: `mark ${kind}`, text: sign }) : "");
    return [
      name, absent ? el("span", { class: "soft", text: "absent" }) : el("span", { class: "numbers", text: shown }),
      chance, episode.cause && mark("cause", "■"), episode.found && mark("found", "○"),
    ];
  });
  const dropEmpty = (cells) => cells.filter((cell) => cell !== undefined && cell !== null && cell !== false);
  return el(
    "table",
    { class: "replay-factors" },
    el("thead", {}, el("tr", {}, dropEmpty(head).map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, dropEmpty(cells).map((cell) => el("td", {}, cell))))),
  );
}

function meter(value) {
  return el(
    "span",
    { class: "meter" },
    el("span", { class: "meter-bar", "aria-hidden": "true" }, el("span", { style: { "--share": value } })),
    el("span", { class: "numbers", text: value.toFixed(2) }),
  );
}

/** What happened beside what the model predicts with all factors and without each of them. */
export function buildPredictionTable(episode, step) {
  if (!episode.probability) return null;
  if (!episode.expected) return el("p", { class: "soft small", text: "This run says nothing of what comes without each factor." });
  const happened = episode.outcome[step];
  const names = episode.outcome_features;
  const few = names.length <= 4;
  const lines = [["with all factors", episode.expected[step]]];
  for (const [factor, values] of Object.entries(episode.without ?? {})) lines.push([`without ${factor}`, values[step]]);
  const most = findLargestGap(episode);
  const columns = names.map((_, k) => formatAlike([happened, ...lines.map(([, values]) => values)].map((values) => values[k])));
  const cells = (row) => (few ? columns.map((column) => el("td", { class: "number", text: column[row] })) : []);
  const gaps = lines.map(([, values]) => measureGap(values, happened));
  const written = formatAlike(gaps);
  return el(
    "table",
    { class: "replay-predictions" },
    el("thead", {}, el("tr", {}, el("th", { text: "" }), few ? names.map((name) => el("th", { class: "number", text: name })) : null,
      el("th", { text: "off by", title: "mean absolute difference from what happened; a full bar is the largest of this episode" }))),
    el(
      "tbody",
      {},
      el("tr", { class: "happened" }, el("th", { scope: "row", text: "what happened" }), cells(0), el("td", { text: "" })),
      lines.map(([name], line) =>
        el("tr", {}, el("th", { scope: "row", text: name }), cells(line + 1), el("td", {}, buildGap(gaps[line] / most, written[line])))),
    ),
  );
}

/** The mean absolute difference of what was predicted and what happened. */
function measureGap(values, happened) {
  return values.reduce((sum, value, k) => sum + Math.abs(value - happened[k]), 0) / values.length;
}

const LARGEST = new WeakMap(); // by episode

/** The largest gap of all steps of an episode: bars of one step can then be compared with those of another. */
function findLargestGap(episode) {
  if (!LARGEST.has(episode)) {
    let most = 1e-9;
    for (const predicted of [episode.expected, ...Object.values(episode.without ?? {})]) {
      predicted.forEach((values, step) => { most = Math.max(most, measureGap(values, episode.outcome[step])); });
    }
    LARGEST.set(episode, most);
  }
  return LARGEST.get(episode);
}

function buildGap(share, text) {
  return el(
    "span",
    { class: "meter" },
    el("span", { class: "meter-bar off", "aria-hidden": "true" }, el("span", { style: { "--share": share } })),
    el("span", { class: "numbers", text }),
  );
}
