// What the page says about a partition: its numbers, what each binary means, why a state has its own.

import { explain } from "../shared/terms.js";
import { drawBars } from "../shared/chart.js";
import { drawSwatch } from "./heatmap.js";
import { formatShare } from "./share_slider.js";
import { button, el } from "../shared/ui.js";

const LONG_BINARY = 16;
const MOST_COSTS = 24;
const MOST_OTHERS = 6;

/** The heading and the numbers. */
export function buildSummary(reply) {
  const figure = (value, words, term) => el("div", { class: "figure" }, el("b", {}, value), el("span", {}, words, term && explain(term)));
  return [
    el("h1", {}, `What ${reply.outcome} hangs on, in every state`, explain("all states")),
    el(
      "div",
      { class: "figures" },
      figure(formatCount(reply.states), reply.states === 1 ? "state" : "states"),
      figure(formatCount(reply.cost), "variables in all", "least cost"),
      figure(showPowers(reply.count), reply.count === "1" ? "best map" : "best maps", "minimal pair"),
      figure(formatCount(reply.binaries), reply.binaries === 1 ? "set of variables" : "sets of variables", "binary"),
      figure(`${reply.seconds.toFixed(2)} s`, "to compute"),
    ),
    el("p", { class: "small", text: `Each state has a colour for the variables that ${reply.outcome} depends on there; a best map has as few of them in all as can be.` }),
  ];
}

/** What each binary means, and how many states have it; `seek` shows one of them. */
export function buildLegend(reply, look, seek) {
  const rows = reply.legend.map((one) =>
    el(
      "tr",
      {},
      el("td", {}, drawSwatch(look.get(one.code))),
      el("td", { text: one.words }),
      el("td", {}, el("code", { text: one.binary.length > LONG_BINARY ? "" : one.binary })),
      el("td", { class: "number", text: formatCount(one.states) }),
      el("td", { class: "number", text: one.share }),
      el("td", {}, button("show", () => seek(one), { class: "small", "aria-label": `Show a state with ${one.words}` })),
    ),
  );
  const head = ["", "what matters", "in digits", "states", "share", ""].map((text, place) =>
    el("th", { scope: "col", class: place === 3 || place === 4 ? "number" : null, text }),
  );
  const left = reply.binaries - reply.legend.length;
  return [
    el("h2", {}, "What matters", explain("binary")),
    el("div", { class: "binaries" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))),
    left ? el("p", { class: "small soft", text: `${formatCount(left)} rarer sets of variables are not listed; they are grey.` }) : "",
  ];
}

/** How many states cost how much. */
export function buildLengths(reply, width) {
  const values = reply.lengths.map((one) => ({
    name: one.length === 1 ? "1 variable" : `${one.length} variables`,
    value: one.states,
    text: `${countWords(one.states, "state")}, ${one.share}`,
  }));
  return [
    el("h2", { text: "How many variables matter" }),
    drawBars(values, { title: "States by how many variables matter there", width }),
    el("p", { class: "small soft", text: `Added up over all states: ${formatCount(reply.cost)} in this map.` }),
  ];
}

/** How many valid pairs there are of each cost. */
export function buildCosts(reply, width) {
  const values = reply.costs
    .slice(0, MOST_COSTS)
    .map((one) => ({ name: countWords(one.cost, "variable"), value: one.part, text: one.pairs }));
  return [
    el("h2", { text: "All valid maps by variables in all" }),
    drawBars(values, { title: "Valid maps by variables in all", width }),
    el("p", { class: "small soft" }, showPowers(reply.total), values.length > 1 ? " valid maps; those of the first row are the best ones." : ` valid ${reply.total === "1" ? "map" : "maps, all of them best ones"}.`),
  ];
}

/** Why all valid pairs are not counted here. */
export function explainNoCosts(sentence) {
  return [el("h2", { text: "All valid maps by variables in all" }), el("p", { class: "small soft", text: `Not counted. ${sentence}` })];
}

/** Why a state has its binary; `go` leads to its neighbour. */
export function buildReasons(reply, go) {
  const list = (items) => el("ul", {}, items.map((text) => el("li", { text })));
  const { reasons, shorter, others, neighbour } = reply;
  return [
    el("h2", { text: `${reply.state}: ${reply.outcome}` }),
    el("p", {}, el("strong", { text: "What matters: " }), `${reply.words} (`, el("code", { text: reply.binary }), ")."),
    reasons.length ? list(reasons) : "",
    shorter.length ? [el("h3", { text: reasons.length ? "Nothing shorter does" : "No variables pass" }), list(shorter)] : "",
    others.length ? el("p", { text: `In other best maps it has ${listBinaries(others)}` }) : "",
    neighbour
      ? [
          el("h3", { text: "The nearest state in which something else matters" }),
          el("p", { text: neighbour.text }),
          button("Go there", () => go(neighbour.context), { class: "small" }),
        ]
      : el("p", { class: "soft", text: "The same matters in every state." }),
  ];
}

/** Where a pair differs from the one before it; `go` leads there. */
export function buildChanges({ pair, changes: { count, listed } }, go) {
  if (!count) return "";
  const first = listed.slice(0, 3);
  return [
    el("p", { text: `Map ${formatCount(pair)} differs from map ${formatCount(pair - 1)} in ${countWords(count, "state")}:` }),
    first.map((one) => button(`${one.state}: ${one.from} → ${one.to}`, () => go(one.context), { class: "small" })),
    count > first.length ? el("p", { text: `and ${formatCount(count - first.length)} more.` }) : "",
  ];
}

/** The same question for the command line. */
export function writeCommand(reply, model) {
  const quote = (text) => (/^[\w.=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const parts = ["actcause partition", model, "--outcome", quote(reply.outcome)];
  if (reply.alpha_sufficiency !== null) parts.push("--alpha-sufficiency", formatShare(reply.alpha_sufficiency));
  if (reply.alpha_necessity !== null) parts.push("--alpha-necessity", formatShare(reply.alpha_necessity));
  if (reply.where) parts.push("--where", quote(reply.where));
  return parts.join(" ");
}

/** Text with 2^40 set as a power. */
export function showPowers(text) {
  return text.split(/(\^\d+)/).map((part) => (part.startsWith("^") ? el("sup", { text: part.slice(1) }) : part));
}

export function formatCount(number) {
  return number.toLocaleString("en");
}

export const countWords = (count, word) => `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;
const listBinaries = (binaries) => binaries.slice(0, MOST_OTHERS).join(", ") + (binaries.length > MOST_OTHERS ? ", …" : ".");
