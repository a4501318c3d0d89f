// What the definitions say, side by side: a table of variables, and a card of sentences for each definition.
import { button, el } from "../shared/ui.js";

const COLUMNS = 10;
const SHOWN = 3; // causes of a card before the rest is folded away
const CONDITIONS = {
  AC1: "it happened, and so did the effect",
  AC2a: "changing it, as the definition allows, undoes the effect",
  AC2b: "it is enough for the effect, in the sense of the definition",
  AC3: "nothing less of it would do",
};

export const eventText = (event) => Object.entries(event).map(([name, value]) => `${name}=${value}`).join(", ");

/** One row for each definition, one column for each variable that could be a cause. */
export function buildOverview(world, answers, { play, ask }) {
  const blamed = new Set(answers.flatMap((answer) => answer.causes.flatMap((cause) => Object.keys(cause.event))));
  const some = world.candidates.length > COLUMNS ? world.candidates.filter((name) => blamed.has(name)) : world.candidates;
  const names = some.slice(0, COLUMNS);
  if (!names.length) return null;
  const value = (name) => world.actual[name] ?? answers.flatMap((answer) => answer.causes).find((cause) => Object.hasOwn(cause.event, name))?.event[name];
  const head = el(
    "tr",
    {},
    el("th", { scope: "col", text: "Definition" }),
    names.map((name) => el("th", { scope: "col" }, el("code", { text: `${name}=${value(name)}` }))),
  );
  const rows = answers.map((answer) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", text: answer.title, title: answer.citation }),
      names.map((name) => el("td", {}, cell(answer, name, value(name), play, ask))),
    ),
  );
  const left = world.candidates.length - names.length;
  return el(
    "div",
    { class: "overview" },
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows))),
    el(
      "p",
      { class: "soft small" },
      "● a cause by itself   ◐ only together with others   ○ no cause. The fraction is the degree of responsibility. " +
        "Click one to see why.",
      left > 0 ? ` ${left} more ${left === 1 ? "variable is" : "variables are"} not shown.` : "",
    ),
  );
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

/** A card for each definition; `chosen` is the cause that is being played, `verdicts` what is said of one event. */
export function buildCards(world, answers, verdicts, chosen, actions) {
  return el(
    "div",
    { class: "cards" },
    answers.map((answer) => card(world, answer, verdicts?.[answer.definition], chosen, actions)),
  );
}

function card(world, answer, verdict, chosen, actions) {
  const key = (index) => `${answer.definition}:${index}`;
  const causes = answer.causes.map((cause, index) => causeItem(cause, chosen === key(index), () => actions.play(answer.definition, index)));
  const [first, rest] = [causes.slice(0, SHOWN), causes.slice(SHOWN)];
  const openRest = answer.causes.some((_, index) => index >= SHOWN && chosen === key(index));
  return el(
    "section",
    { class: "card panel", "data-definition": answer.definition, "aria-label": answer.title },
    el("h3", { text: answer.title, title: answer.citation }),
    verdict && verdictPart(verdict, actions),
    causes.length
      ? [
          el("ul", {}, first),
          rest.length > 0 && el("details", { open: openRest }, el("summary", { text: `${rest.length} more` }), el("ul", {}, rest)),
          el("p", { class: "soft small", text: `${causes.length === 1 ? "It" : "Each"} meets AC1, AC2a, AC2b and AC3.` }),
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

function causeItem(cause, pressed, play) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "row" },
      el("button", {
        type: "button",
        class: "cause",
        "aria-pressed": String(pressed),
        title: "Replay on the graph why this is a cause",
        text: `▷ ${eventText(cause.event)}`,
        on: { click: play },
      }),
      cause.rank && el("span", { class: "degree", title: "rank by how normal its best witness is", text: `rank ${cause.rank}` }),
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
        el("li", { class: held === null ? "open" : held ? "met" : "failed", title: CONDITIONS[name] }, `${held === null ? "–" : held ? "✓" : "✗"} ${name}`),
      ),
    ),
    el("p", { class: "sentence", text: verdict.sentence }),
    verdict.responsibility && el("p", { class: "degree", text: `responsibility ${verdict.responsibility}` }),
    verdict.witness && button("▷ Replay", () => playVerdict(verdict), { class: "small" }),
  );
}

/** What AC1 to AC3 mean. */
export function buildGlossary() {
  return el(
    "details",
    { class: "glossary small" },
    el("summary", { text: "What do AC1 to AC3 and the degree of responsibility mean?" }),
    el("dl", {}, Object.entries(CONDITIONS).flatMap(([name, meaning]) => [el("dt", { text: name }), el("dd", { text: `${meaning}.` })])),
    el("p", {
      text:
        "The degree of responsibility is 1/k, where k counts the cause and what must be changed (original and updated " +
        "Halpern-Pearl) or held (modified) for it to make the difference. But-for and the two definitions by " +
        "sufficiency have no degrees.",
    }),
  );
}
