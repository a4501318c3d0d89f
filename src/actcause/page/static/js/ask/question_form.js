// The question of the view Ask: an example or a model, what was the case, what happened, and an event to ask about.
import { buildEditor } from "../shared/model_editor.js";
import { buildPicker } from "../shared/example_picker.js";
import { buildRootControls } from "./root_controls.js";
import { buildSyntaxCard } from "./syntax_card.js";
import { explain } from "../shared/terms.js";
import { button, el, field, put } from "../shared/ui.js";

const OWN = "Your own model: one variable a line, with an equation if it follows from others.";
const BUTTONS = 6; // values of the outcome that have a button each
const KEYWORDS = new Set(["and", "or", "not", "if", "else", "in", "True", "False", "true", "false", "min", "max", "abs"]);
const TIMED = /^\s*[\p{L}_][\p{L}\p{N}_]*'\s*("[^"]*"\s*)?(in\b.*)?=/mu; // a line for what a variable is a step later

export class QuestionForm {
  /**
   * `listeners` hear of changes: onChoose(example), onType() while something is written, onLeave() when a field is
   * left, onChange() when there is another question, onJudge(text) for an event.
   */
  constructor(catalogue, listeners) {
    Object.assign(this, { catalogue, listeners, example: null, values: {}, judgedEvent: "", suggested: false, known: null });
    this.picker = buildPicker(catalogue, (example) => listeners.onChoose(example));
    this.story = el("p", { class: "story" });
    this.source = el("p", { class: "soft small source" });
    this.editor = buildEditor(() => this.handleEdit());
    this.roots = buildRootControls((root, value) => this.setRoot(root, value));
    const leave = { change: () => listeners.onLeave() };
    this.effect = this.line({ id: "effect", list: "effects" }, { input: () => this.handleEffect(), ...leave });
    this.effects = el("datalist", { id: "effects" });
    this.outcomes = el("div", { class: "row outcomes" });
    this.contrast = this.line({ id: "contrast", list: "effects", placeholder: "anything else" }, leave);
    this.rules = el("textarea", { id: "rules", class: "mono", rows: 3, spellcheck: "false", placeholder: "BT == 0", on: leave });
    this.order = el(
      "select",
      { id: "order", on: leave },
      el("option", { value: "inclusion", text: "which rules are broken" }),
      el("option", { value: "count", text: "how many, by weight" }),
    );
    const judgeOnEnter = (event) => event.key === "Enter" && listeners.onJudge(this.event.value);
    this.event = this.line({ id: "event", class: "mono grow", placeholder: "BT=1" }, { keydown: judgeOnEnter });
    this.sufficiency = this.line({ id: "sufficiency", placeholder: "as usual", size: 8 }, leave);
    this.necessity = this.line({ id: "necessity", placeholder: "as usual", size: 8 }, leave);
    this.steps = el("input", { type: "number", id: "steps", class: "mono", min: 1, max: 500, step: 1, placeholder: "one, x' and x", on: { input: () => listeners.onType(), ...leave } });
    this.inputs = {
      context: this.roots.element, effect: this.effect, contrast: this.contrast, normality: this.rules, event: this.event,
      alpha_sufficiency: this.sufficiency, alpha_necessity: this.necessity, steps: this.steps,
    };
    this.errors = Object.fromEntries(Object.keys(this.inputs).map((name) => [name, el("p", { class: "field-error", id: `${name}-error`, role: "alert" })]));
    for (const [name, input] of Object.entries(this.inputs)) input.setAttribute("aria-describedby", `${name}-error`);
    this.start = el("div", { class: "starting stack tight" }, this.picker.element);
    this.element = this.build();
  }

  line(properties, on) {
    return el("input", { type: "text", class: "mono", spellcheck: "false", autocomplete: "off", ...properties, on });
  }

  build() {
    const { listeners, errors } = this;
    const heading = (id, text, term) => el("h2", {}, el("label", { for: id, text }), term && explain(term));
    this.fine = el(
      "details",
      { class: "small" },
      el("summary", { text: "Fine print of the functional definition" }),
      el(
        "div",
        { class: "row" },
        field("may be undone (share)", this.sufficiency, explain("alpha sufficiency")),
        field("must undo it (share)", this.necessity, explain("alpha necessity")),
      ),
      errors.alpha_sufficiency, errors.alpha_necessity,
      el("p", { class: "soft", text: "Numbers from 0 to 1: how many changes of everything else may undo the effect, and how many changes of the cause must." }),
    );
    this.normally = el(
      "details",
      { class: "small" },
      el("summary", { text: "What is normal" }),
      field("rules, one a line", this.rules, explain("normality")),
      errors.normality,
      field("compare worlds by", this.order),
      el("p", { class: "soft", text: "What would have undone the effect may not be less normal than what happened. A rule can have a weight: 2: A == B." }),
    );
    this.timed = el(
      "section",
      { "aria-label": "Time", hidden: true },
      heading("steps", "How many steps", "steps"),
      this.steps, errors.steps,
      el("p", { class: "soft small", text: "x' is what x is a step later. With a number, the model is repeated so many times, and x@3 is x at step 3." }),
    );
    return el(
      "div",
      { class: "asking stack" },
      el("section", { "aria-label": "Model" }, el("h2", {}, "Model", explain("model")), this.editor.element, buildSyntaxCard()),
      this.timed,
      el("section", { "aria-label": "Context" }, el("h2", {}, "What was the case", explain("roots")), this.roots.element, errors.context),
      el(
        "section",
        { "aria-label": "Effect", class: "stack tight" },
        heading("effect", "What happened", "effect"), this.effect, this.effects, errors.effect, this.outcomes,
        field("rather than", this.contrast, explain("contrast")), errors.contrast,
      ),
      el(
        "section",
        { "aria-label": "Event" },
        heading("event", "Was this a cause of it?", "event"),
        el("div", { class: "row" }, this.event, button("Ask", () => listeners.onJudge(this.event.value)), button("Clear", () => listeners.onJudge(""), { class: "quiet" })),
        errors.event,
      ),
      this.fine,
      this.normally,
    );
  }

  // -- the question ----------------------------------------------------------------------------------

  fill({ example, text, values, effect, sufficiency, necessity, contrast, rules, order, event, steps = "" }) {
    Object.assign(this, { example, values, judgedEvent: event, suggested: effect === "", known: null });
    this.editor.set(text);
    this.effect.value = effect;
    this.sufficiency.value = sufficiency;
    this.necessity.value = necessity;
    this.contrast.value = contrast;
    this.rules.value = rules;
    this.order.value = order;
    this.steps.value = steps;
    this.event.value = event;
    this.event.placeholder = ""; // the view proposes one of this model
    this.normally.open = this.fine.open = false;
    this.openWhatDeparts();
    this.introduce();
  }

  /** Sections that hold something other than the default are open, so that it is seen. */
  openWhatDeparts() {
    this.normally.open ||= this.rules.value.trim() !== "";
    this.fine.open ||= !isUsual(this.sufficiency) || !isUsual(this.necessity);
  }

  /** What is asked otherwise than by default: `[{said, clear()}]`. */
  listDepartures() {
    const some = (input, said) => (isUsual(input) ? [] : [{ said, clear: () => this.clear(input) }]);
    const { alpha_sufficiency: sufficiency, alpha_necessity: necessity } = this.example ?? {};
    const own = (input, value) => (input.value === value ? ", as the example has it" : "");
    return [
      ...some(this.sufficiency, `functional: a share of ${this.sufficiency.value.trim()} may be undone${own(this.sufficiency, sufficiency)}`),
      ...some(this.necessity, `functional: a share of ${this.necessity.value.trim()} must undo it${own(this.necessity, necessity)}`),
      ...some(this.contrast, `rather than ${this.contrast.value.trim()}`),
      ...some(this.rules, `normally ${this.rules.value.trim().split("\n").join(", ")}`),
      ...(this.isTimed ? some(this.steps, `${this.steps.value.trim()} steps${own(this.steps, String(this.example?.steps))}`) : []),
    ];
  }

  clear(input) {
    input.value = input === this.sufficiency || input === this.necessity ? "none" : ""; // not the example's either
    this.listeners.onLeave();
  }

  get isTimed() {
    return TIMED.test(this.editor.get());
  }

  /** The model itself, as the server is asked about it. */
  get modelAsked() {
    const steps = this.steps.value.trim();
    return { text: this.editor.get(), steps: this.isTimed && steps ? Number(steps) : null };
  }

  /** The question as the address has it. */
  get written() {
    const { example, values, judgedEvent } = this;
    const [effect, sufficiency, necessity] = [this.effect.value, this.sufficiency.value, this.necessity.value];
    const [contrast, rules, order] = [this.contrast.value.trim(), this.rules.value.trim(), this.order.value];
    return { example, text: this.editor.get(), values, effect, sufficiency, necessity, contrast, rules, order, event: judgedEvent, steps: this.steps.value };
  }

  /** The question as the server is asked it. */
  question(more = {}) {
    const share = (input) => (isUsual(input) ? null : input.value.trim());
    const rules = this.rules.value.split("\n").map((rule) => rule.trim()).filter((rule) => rule);
    return {
      ...this.modelAsked,
      context: this.values,
      effect: this.effect.value,
      alpha_sufficiency: share(this.sufficiency),
      alpha_necessity: share(this.necessity),
      contrast: this.contrast.value.trim() || null,
      normality: rules.length ? rules : null,
      normality_order: rules.length ? this.order.value : null,
      ...more,
    };
  }

  /** Say what is wrong beside the field that a parameter is written in, and nowhere else; whether there is one. */
  markInvalid(parameter, message = "") {
    for (const [name, input] of Object.entries(this.inputs)) {
      const wrong = name === parameter;
      this.errors[name].textContent = wrong ? message : "";
      if (wrong) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      if (wrong && input.closest("details")) input.closest("details").open = true;
    }
    return Object.hasOwn(this.inputs, parameter ?? "");
  }

  introduce() {
    this.picker.show(this.example);
    this.timed.hidden = !this.isTimed;
    this.story.textContent = this.example?.story ?? OWN;
    this.source.textContent = this.example?.source ?? "";
  }

  handleEdit() {
    const before = this.example;
    // Typing an example's text again, to the letter, makes it that example.
    this.example = this.catalogue.find((example) => example.text === this.editor.get()) ?? null;
    if (before && !this.example) this.leaveExample(before);
    this.introduce();
    this.listeners.onType();
  }

  /** What an example brings along is the example's, not that of the model it is made into. */
  leaveExample({ alpha_sufficiency: sufficiency, alpha_necessity: necessity }) {
    if (this.sufficiency.value === (sufficiency ?? "")) this.sufficiency.value = "";
    if (this.necessity.value === (necessity ?? "")) this.necessity.value = "";
  }

  handleEffect() {
    this.suggested = false;
    this.listeners.onType();
  }

  // -- what follows from the model -------------------------------------------------------------------

  /** Offer what the variables of a model can be; what is about variables that it does not have is left behind. */
  offer(model) {
    const byName = new Map(model.variables.map((variable) => [variable.name, variable]));
    const roots = model.roots.map((name) => byName.get(name));
    const sink = byName.get(this.example?.outcome ?? model.sink) ?? model.variables.at(-1);
    const isForeign = (text) => model.count === model.variables.length && namesOf(text).some((name) => !byName.has(name));
    // A name that the same model never had is a mistake, which is told beside its field.
    const another = this.known && this.known.variables.map(({ name }) => name).join() !== [...byName.keys()].join();
    if (another && isForeign(this.effect.value)) this.startAnew();
    else if (another) for (const input of [this.contrast, this.rules, this.event]) if (isForeign(input.value)) this.drop(input);
    this.known = model;
    this.values = Object.fromEntries(roots.map((root) => [root.name, fitValue(root, this.values[root.name])]));
    if (this.suggested && sink) this.effect.value = `${sink.name} == ${sink.range.high}`;
    this.roots.build(roots, this.values);
    const asked = byName.get(namesOf(this.effect.value)[0]);
    const outcome = this.example || !asked ? sink : asked;
    const values = outcome?.range.values ?? [];
    const formulas = values.length <= BUTTONS ? values.map((value) => `${outcome.name} == ${value}`) : [];
    put(this.outcomes, formulas.map((formula) => button(formula, () => this.setEffect(formula), { class: "mono small" })));
    const inner = model.variables.filter((variable) => !variable.exogenous);
    put(this.effects, inner.flatMap(({ name, range }) => [range.high, range.low].map((value) => el("option", { value: `${name} == ${value}` }))));
  }

  /** Another model: everything by default. */
  startAnew() {
    for (const input of [this.effect, this.contrast, this.rules, this.event, this.sufficiency, this.necessity]) this.drop(input);
    if (!this.isTimed) this.drop(this.steps); // else they are why it is another model
    this.suggested = true;
  }

  drop(input) {
    input.value = "";
    if (input === this.event) this.judgedEvent = "";
  }

  /** The effect that was suggested did not happen: suggest what did. Whether there is another suggestion. */
  suggestActual(actual) {
    if (!this.suggested) return false;
    const [name] = namesOf(this.effect.value);
    if (!name || actual[name] === undefined) return false;
    this.effect.value = `${name} == ${actual[name]}`;
    return true;
  }

  setRoot({ name, range }, value) {
    if (!Number.isInteger(value)) {
      this.markInvalid("context", `${name} must be a whole number from ${range.low} to ${range.high}.`);
      return;
    }
    this.values = { ...this.values, [name]: value };
    this.roots.show(name, value);
    this.listeners.onChange();
  }

  /** Give a root the next value of its range. */
  cycle(root) {
    const { values } = root.range;
    this.setRoot(root, values[(values.indexOf(this.values[root.name]) + 1) % values.length]);
  }

  setEffect(formula) {
    this.effect.value = formula;
    this.suggested = false;
    this.listeners.onChange();
  }
}

const isUsual = (input) => ["", "none"].includes(input.value.trim());

/** The variables that a formula or an event names. */
const namesOf = (text) => (text.match(/[\p{L}_][\p{L}\p{N}_]*'*(@\d+)?/gu) ?? []).filter((word) => !KEYWORDS.has(word));

/** The value if it is one of the root's, else its highest. */
function fitValue({ range }, value) {
  if (!Number.isInteger(value) || value < range.low || value > range.high) return range.high;
  return range.values && !range.values.includes(value) ? range.high : value;
}
