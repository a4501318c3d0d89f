// What the definitions say, side by side: a table of variables, and a card of sentences for each definition.
import { explain } from "../shared/terms.js";
import { button, el } from "../shared/ui.js";
import { eventText } from "./verdict_line.js";

const COLUMNS = 10;
const SHOWN = 3; // causes of a card before the rest is folded away
const CONDITIONS = {
  AC1: "it happened, and so did the effect",
  AC2a: "changing it, as the definition allows, undoes the effect",
  AC2b: "it is enough for the effect, in the sense of the definition",
  AC3: "nothing less of it would do",
};
const FAILURES = {
  AC1: "it did not happen, or the effect did not",
  AC2a: "changing it would not have undone the effect",
  AC2b: "it is not enough for the effect",
  AC3: "less of it would do",
};

/** One row for each definition, one column for each variable that could be a cause. */
export function buildOverview(world, answers, verdicts, opened, { play, ask, toggle, labels }) {
  const names = chooseColumns(world, answers);
  const value = (name) => world.actual[name] ?? answers.flatMap((answer) => answer.causes).find((cause) => Object.hasOwn(cause.event, name))?.event[name];
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, "Definition", explain("definition")),
    verdicts && el("th", { scope: "col" }, "A cause?", explain("cause")),
    names.map((name) => el("th", { scope: "col" }, labels.has(name) && el("span", { class: "label", text: labels.get(name) }), el("code", { text: `${name}=${value(name)}` }))),
  );
  const rows = answers.map((answer) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", title: answer.citation }, opener(answer, opened, toggle), explain(answer.definition)),
      verdicts && el("td", { class: "judged" }, judgement(verdicts[answer.definition])),
      names.map((name) => el("td", {}, cell(answer, name, value(name), play, ask))),
    ),
  );
  const left = world.candidates.length - names.length;
  const all = answers.every(({ definition }) => opened.has(definition));
  return el(
    "div",
    { class: "overview" },
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What each definition says of each variable" }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows))),
    el(
      "p",
      { class: "soft small legend" },
      names.length ? "● a cause by itself   ◐ only together with others   ○ no cause. Click one to see why. The fraction is the degree of responsibility" : "",
      names.length ? explain("responsibility") : "",
      left > 0 && names.length > 0 ? ` ${left} more ${left === 1 ? "variable is" : "variables are"} not shown.` : "",
      left > 0 && !names.length ? `None of the ${left} variables that could be causes is named by a definition.` : "",
    ),
    button(all ? "Hide the reasons" : "Show all reasons", () => toggle(null, !all), { class: "small reasons", "aria-expanded": String(all) }),
  );
}

/** Of many variables, those that the line above the graph names, and those that most definitions name. */
function chooseColumns({ candidates, told }, answers) {
  if (candidates.length <= COLUMNS) return candidates;
  const weights = new Map(); // by variable: the definitions that name it
  for (const { causes } of answers)
    for (const name of new Set(causes.flatMap(({ event }) => Object.keys(event)))) weights.set(name, (weights.get(name) ?? 0) + 1);
  const named = candidates.filter((name) => weights.has(name) && !told.includes(name));
  return [...told, ...named.sort((one, other) => weights.get(other) - weights.get(one))].slice(0, COLUMNS);
}

const opener = ({ definition, title }, opened, toggle) =>
  button(title, () => toggle(definition), { class: "quiet opens", "aria-expanded": String(opened.has(definition)), title: "Show or hide its reasons" });

function judgement(verdict) {
  if (verdict.holds === null) return el("span", { class: "warn", text: "not known" });
  if (verdict.holds) return el("strong", { class: "good", text: "yes" });
  return [el("strong", { class: "bad", text: "no" }), FAILURES[verdict.failed] ? `, ${FAILURES[verdict.failed]}` : ""];
}

function cell(answer, name, value, play, ask) {
  const own = answer.causes.map((cause, index) => ({ cause, index })).filter(({ cause }) => Object.hasOwn(cause.event, name));
  const best = own.find(({ cause }) => Object.keys(cause.event).length === 1) ?? own[0];
  if (!best) {
    const open = answer.status !== "complete";
    const mark = open ? "?" : "○";
    const said = `${name}=${value}, ${answer.title}: ${open ? "not known" : "no cause"}. Ask why.`;
    return button(mark, () => ask(`${name}=${value}`), { class: "quiet mark no", "aria-label": said, title: said });
  }
  const alone = Object.keys(best.cause.event).length === 1;
  const degree = best.cause.responsibility;
  const said = `${name}=${value}, ${answer.title}: ${alone ? "a cause" : "part of a cause"}${degree ? `, responsibility ${degree}` : ""}. See why.`;
  return button(`${alone ? "●" : "◐"}${degree ? ` ${degree}` : ""}`, () => play(answer.definition, best.index), {
    class: `quiet mark ${alone ? "cause" : "part"}`,
    "aria-label": said,
    title: said,
  });
}

/** A card for each definition that is opened; `chosen` is the cause that is being played, `verdicts` what is said of one event. */
export function buildCards(world, answers, verdicts, opened, chosen, actions) {
  return el(
    "div",
    { class: "cards" },
    answers.filter(({ definition }) => opened.has(definition)).map((answer) => card(world, answer, verdicts?.[answer.definition], chosen, actions)),
  );
}

function card(world, answer, verdict, chosen, actions) {
  const key = (index) => `${answer.definition}:${index}`;
  const causes = answer.causes.map((cause, index) => causeItem(cause, actions.labels, chosen === key(index), () => actions.play(answer.definition, index)));
  const [first, rest] = [causes.slice(0, SHOWN), causes.slice(SHOWN)];
  const openRest = answer.causes.some((_, index) => index >= SHOWN && chosen === key(index));
  return el(
    "section",
    { class: "card panel", "data-definition": answer.definition, "aria-label": answer.title },
    el("h3", { title: answer.citation }, answer.title, explain(answer.definition)),
    verdict && verdictPart(verdict, actions),
    causes.length
      ? [
          el("ul", {}, first),
          rest.length > 0 && el("details", { open: openRest }, el("summary", { text: `${rest.length} more` }), el("ul", {}, rest)),
        ]
      : answer.status !== "refused" && el("p", { class: "none", text: nothing(world, answer) }),
    answer.said &&
      el(
        "p",
        { class: "notice warn small" },
        answer.said,
        " ",
        answer.status === "out-of-time" && button("Search longer", () => actions.longer(answer.definition), { class: "small" }),
      ),
  );
}

function nothing(world, answer) {
  if (!world.happened) return `Nothing caused this: the effect does not hold.`;
  return answer.status === "complete" ? `By this definition ${world.question} has no cause.` : "No cause was found so far.";
}

function causeItem(cause, labels, pressed, play) {
  const words = Object.keys(cause.event).map((name) => labels.get(name));
  return el(
    "li",
    {},
    el(
      "div",
      { class: "row" },
      words.every(Boolean) && el("span", { class: "who", text: words.join(", ") }),
      el("button", {
        type: "button",
        class: "cause",
        "aria-pressed": String(pressed),
        title: "Replay on the graph why this is a cause",
        text: `▷ ${eventText(cause.event)}`,
        on: { click: play },
      }),
      cause.rank && el("span", { class: "degree", title: "rank by how normal its best witness is", text: `rank ${cause.rank}` }, explain("rank")),
      el("span", { class: "degree", title: "degree of responsibility", text: degreeText(cause) }),
    ),
    el("p", { class: "sentence", text: cause.sentence }),
  );
}

function degreeText({ responsibility, pending, unknown }) {
  if (responsibility) return `responsibility ${responsibility}`;
  if (pending) return "responsibility …";
  return unknown ? "responsibility not found in its time" : "";
}

function verdictPart(verdict, { playVerdict }) {
  const word = verdict.holds === null ? "not known" : verdict.holds ? "yes" : "no";
  const kind = verdict.holds === null ? "warn" : verdict.holds ? "good" : "bad";
  return el(
    "div",
    { class: `verdict notice ${kind}` },
    el("strong", { text: `${eventText(verdict.event)}: ${word}` }),
    el(
      "ul",
      { class: "conditions", "aria-label": "Conditions" },
      Object.entries(verdict.conditions).map(([name, held]) =>
        el("li", { class: held === null ? "open" : held ? "met" : "failed" }, `${held === null ? "–" : held ? "✓" : "✗"} ${CONDITIONS[name]} `, el("span", { class: "soft", text: name })),
      ),
    ),
    el("p", { class: "sentence", text: verdict.sentence }),
    verdict.responsibility && el("p", { class: "degree", text: `responsibility ${verdict.responsibility}` }),
    verdict.witness && button("▷ Replay", () => playVerdict(verdict), { class: "small" }),
  );
}
