// The answer in one line: how many of the definitions name what.
import { el } from "../shared/ui.js";

const CUT = ["out-of-time", "out-of-steps", "too-large"]; // statuses of a search that did not come to its end
const NAMED = 3; // variables that a line names

export const eventText = (event) => Object.entries(event).map(([name, value]) => `${name}=${value}`).join(", ");

/** An event in words: labels first, then the code. `labels` has those of the variables that have one. */
export function eventWords(event, labels) {
  const said = Object.keys(event).filter((name) => labels.has(name)).map((name) => `${labels.get(name)}${whenOf(name)}`);
  return said.length === Object.keys(event).length ? `${joinWords(said)} (${eventText(event)})` : eventText(event);
}

/** The step that a variable of a model in time is of, in words: many steps have one label. */
const whenOf = (name) => (/@\d+$/.test(name) ? ` at step ${name.split("@").at(-1)}` : "");

export const joinWords = (parts) => (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** What most definitions name, and what else some do: `{first, rest, names}`, two sentences and the variables of the first. */
export function sumUp({ answers, actual, happened, about }, labels, roots) {
  if (!happened) return { first: "Nothing caused this: the effect does not hold.", rest: "", names: [] };
  const counts = new Map(); // by variable: the definitions that name it, and whether one does so by itself
  for (const { causes } of answers) {
    const named = new Map();
    for (const { event } of causes) for (const [name, value] of Object.entries(event)) named.set(name, { value, alone: named.get(name)?.alone || Object.keys(event).length === 1 });
    for (const [name, { value, alone }] of named) {
      const { count = 0, single = 0 } = counts.get(name) ?? {};
      counts.set(name, { name, value: actual[name] ?? value, count: count + 1, single: single + Number(alone) });
    }
  }
  const cut = answers.filter(({ status }) => CUT.includes(status)).length; // a longer search might find more
  const refused = answers.filter(({ status }) => status === "refused").length;
  const unsettled = `${cut ? ` ${cut} of ${answers.length} could not be settled.` : ""}${refused ? ` ${refused} of ${answers.length} could not answer.` : ""}`;
  if (!counts.size && about.every((name) => roots.has(name)))
    return { first: `Nothing in this model comes before ${joinWords(about)}.`, rest: "Write an equation for it, or ask about a variable that has one.", names: [] };
  if (!counts.size) return { first: cut ? "No cause was found so far." : `0 of ${answers.length} definitions: none of them finds a cause.`, rest: unsettled.trim(), names: [] };
  // What lies between the beginning and the effect is named by nearly all; where it began says more, unless few name it.
  const every = [...counts.values()];
  const first = every.filter(({ name }) => roots.has(name));
  const countMost = (some) => Math.max(0, ...some.map(({ count }) => count));
  const telling = 2 * countMost(first) >= countMost(every) ? first : every;
  const most = countMost(telling);
  const named = telling.filter(({ count }) => count === most);
  const words = named.slice(0, NAMED).map(({ name, value }) => eventWords({ [name]: value }, labels));
  if (named.length > NAMED) words.push(`${named.length - NAMED} more`);
  const together = named.length > 1 && named.every(({ single }) => !single) ? " (only together)" : "";
  const [{ single }] = named; // of them those that name it by itself
  const partly = named.length === 1 && single && single < most ? `${most - single} of them only together with others. ` : "";
  const others = every.filter((each) => !named.includes(each)).sort((one, other) => other.count - one.count);
  const also = others.slice(0, NAMED).map(({ name, value, count }) => `${eventWords({ [name]: value }, labels)} by ${count}`);
  if (others.length > NAMED) also.push(`${others.length - NAMED} more`);
  return {
    first: `${most} of ${answers.length} definitions: ${joinWords(words)}${together}`,
    rest: `${partly}${also.length ? `Also named: ${joinWords(also)}.` : ""}${unsettled}`.trim(),
    names: named.map(({ name }) => name),
  };
}

/** What the definitions say of one event: `{first, rest}`. */
export function sumUpVerdicts({ event, verdicts }, labels) {
  const yes = verdicts.filter(({ holds }) => holds).length;
  const open = verdicts.filter(({ holds }) => holds === null).length;
  const word = yes === verdicts.length ? "Yes" : yes === 0 && !open ? "No" : "It depends";
  const some = verdicts.filter(({ holds }) => holds).map(({ title }) => title);
  return {
    first: `${word}: ${yes} of ${verdicts.length} definitions count ${eventWords(event, labels)} as a cause`,
    rest: `${yes && yes < verdicts.length ? `Yes by ${joinWords(some)}.` : ""}${open ? ` ${open} could not be settled.` : ""}`.trim(),
  };
}

export function buildVerdictLine({ first, rest }) {
  return [el("p", { class: "first", text: first }), rest && el("p", { class: "soft", text: rest })];
}
