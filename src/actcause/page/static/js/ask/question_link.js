// A question in the address: an example by its name or the model itself, and whatever is not the example's own.
import { packText, unpackText } from "../shared/model_link.js";

const FIRST = "rock-throwing"; // for those who have not asked anything yet

/** The question that an address asks; `mistake` is what is wrong with the address, in a sentence. */
export async function readQuestion(state, catalogue, mine) {
  const kept = state.mine === undefined ? undefined : mine.find(state.mine);
  if (kept) return { ...kept.question, example: null, mistake: "", cause: null };
  let text = null;
  let mistake = "";
  try {
    text = await unpackText(state);
  } catch (error) {
    mistake = error.message;
  }
  if (state.mine !== undefined) mistake = "This model is not kept in this browser any more.";
  const known = catalogue.find((example) => example.name === state.example);
  if (state.example && !known) mistake = `There is no example named '${state.example}'.`;
  const example = text === null ? known ?? catalogue.find(({ name }) => name === FIRST) : null;
  return {
    mistake,
    example,
    text: text ?? example.text,
    values: state.context !== undefined ? parseAssignments(state.context) : { ...example?.context },
    effect: state.effect ?? example?.effect ?? "",
    sufficiency: state.as ?? example?.alpha_sufficiency ?? "",
    necessity: state.an ?? example?.alpha_necessity ?? "",
    contrast: state.rather ?? "",
    rules: state.normally ?? "",
    order: state.order === "count" ? "count" : "inclusion",
    event: state.event ?? "",
    steps: readSteps(state.steps ?? String(example?.steps ?? "")),
    cause: state.cause ?? null,
  };
}

/** What the address says of a question; null if its model is too long for one. */
export async function writeQuestion({ example, text, values, effect, sufficiency, necessity, contrast, rules, order, event, steps, cause }) {
  const state = example ? { example: example.name } : await packText(text);
  if (state === null) return null;
  if (!example || !areSame(values, example.context)) state.context = joinAssignments(values);
  if (!example || effect !== example.effect) state.effect = effect;
  if (sufficiency !== (example?.alpha_sufficiency ?? "")) state.as = sufficiency || "none";
  if (necessity !== (example?.alpha_necessity ?? "")) state.an = necessity || "none";
  if (contrast) state.rather = contrast;
  if (rules) state.normally = rules;
  if (rules && order !== "inclusion") state.order = order;
  if (event) state.event = event;
  if (steps !== String(example?.steps ?? "")) state.steps = steps || "none";
  if (cause) state.cause = cause;
  return state;
}

/** The same, but nothing for the question that an empty address asks. */
export function shortenState(state) {
  return state?.example === FIRST && Object.keys(state).length === 1 ? {} : state;
}

const readSteps = (text) => (/^\d{1,3}$/.test(text) ? text : "");

const areSame = (one, other) => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
};

const joinAssignments = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}`).join(",");

/** `ST=1,BT=0` as an object; what is no number is left out. */
function parseAssignments(text) {
  const pairs = text.split(",").map((part) => part.split("=")).filter(([name, value]) => name && /^-?\d{1,15}$/.test(value ?? ""));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}
