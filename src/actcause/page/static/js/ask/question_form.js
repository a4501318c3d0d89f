// The question of the view Ask: an example or a model, what the roots were, what happened, and an event to ask about.
import { buildEditor } from "../shared/model_editor.js";
import { buildPicker } from "../shared/example_picker.js";
import { buildRootControls } from "./root_controls.js";
import { button, el, field, put } from "../shared/ui.js";

const OWN = "Write a model: one variable a line, with an equation if it follows from others.";
const BUTTONS = 6; // values of the outcome that have a button each

export class QuestionForm {
  /**
   * `listeners` hear of changes: onChoose(example), onType() while something is written, onLeave() when a field is
   * left, onChange() when there is another question, onJudge(text) for an event, onMistake(sentence).
   */
  constructor(catalogue, listeners) {
    Object.assign(this, { catalogue, listeners, example: null, values: {}, judgedEvent: "" });
    this.picker = buildPicker(catalogue, (example) => listeners.onChoose(example));
    this.story = el("p", { class: "story" });
    this.source = el("p", { class: "soft small source" });
    this.editor = buildEditor(() => this.handleEdit());
    this.roots = buildRootControls((root, value) => this.setRoot(root, value));
    this.effect = this.line({ id: "effect", list: "effects" }, { input: () => listeners.onType(), change: () => listeners.onLeave() });
    this.effects = el("datalist", { id: "effects" });
    this.outcomes = el("div", { class: "row outcomes" });
    this.contrast = this.line({ id: "contrast", class: "mono grow", list: "effects", placeholder: "anything else" }, { change: () => listeners.onLeave() });
    this.rules = el("textarea", {
      id: "rules", class: "mono", rows: 3, spellcheck: "false", placeholder: "BT == 0", on: { change: () => listeners.onLeave() },
    });
    this.order = el(
      "select",
      { id: "order", on: { change: () => listeners.onLeave() } },
      el("option", { value: "inclusion", text: "which rules are broken" }),
      el("option", { value: "count", text: "how many, by weight" }),
    );
    const judgeOnEnter = (event) => event.key === "Enter" && listeners.onJudge(this.event.value);
    this.event = this.line({ id: "event", class: "mono grow", placeholder: "BT=1" }, { keydown: judgeOnEnter });
    this.sufficiency = this.line({ placeholder: "weak", size: 8 }, { change: () => listeners.onLeave() });
    this.necessity = this.line({ placeholder: "any", size: 8 }, { change: () => listeners.onLeave() });
    this.element = this.build();
  }

  line(properties, on) {
    return el("input", { type: "text", class: "mono", spellcheck: "false", autocomplete: "off", ...properties, on });
  }

  build() {
    const { listeners } = this;
    const heading = (id, text) => el("h2", {}, el("label", { for: id, text }));
    return el(
      "div",
      { class: "asking stack" },
      el("section", { class: "stack tight" }, this.picker.element, this.story, this.source),
      el("section", { "aria-label": "Model" }, el("h2", { text: "Model" }), this.editor.element),
      el("section", { "aria-label": "Context" }, el("h2", { text: "What the roots were" }), this.roots.element),
      el("section", { "aria-label": "Effect", class: "stack tight" }, heading("effect", "What happened"), this.effect, this.effects, this.outcomes, field("rather than", this.contrast)),
      el(
        "section",
        { "aria-label": "Event" },
        heading("event", "Was this a cause of it?"),
        el("div", { class: "row" }, this.event, button("Ask", () => listeners.onJudge(this.event.value)), button("Clear", () => listeners.onJudge(""), { class: "quiet" })),
      ),
      el(
        "details",
        { class: "small" },
        el("summary", { text: "Shares of the functional definition" }),
        el("div", { class: "row" }, field("sufficiency", this.sufficiency), field("necessity", this.necessity)),
        el("p", { class: "soft", text: "Numbers from 0 to 1: how many other states may undo the outcome, how many other values must." }),
      ),
      (this.normally = el(
        "details",
        { class: "small" },
        el("summary", { text: "What is normal" }),
        field("rules, one a line", this.rules),
        field("compare worlds by", this.order),
        el("p", { class: "soft", text: "A witness may not be less normal than what happened, and causes are ranked by how normal theirs are. A rule can have a weight: 2: A == B." }),
      )),
    );
  }

  // -- the question ----------------------------------------------------------------------------------

  fill({ example, text, values, effect, sufficiency, necessity, contrast, rules, order, event }) {
    Object.assign(this, { example, values, judgedEvent: event });
    this.editor.set(text);
    this.effect.value = effect;
    this.sufficiency.value = sufficiency;
    this.necessity.value = necessity;
    this.contrast.value = contrast;
    this.rules.value = rules;
    this.order.value = order;
    this.normally.open = rules !== "";
    this.event.value = event;
    this.introduce();
  }

  /** The question as the address has it. */
  get written() {
    const { example, values, judgedEvent } = this;
    const [effect, sufficiency, necessity] = [this.effect.value, this.sufficiency.value, this.necessity.value];
    const [contrast, rules, order] = [this.contrast.value.trim(), this.rules.value.trim(), this.order.value];
    return { example, text: this.editor.get(), values, effect, sufficiency, necessity, contrast, rules, order, event: judgedEvent };
  }

  /** The question as the server is asked it. */
  question(more = {}) {
    const share = (input) => (["", "none"].includes(input.value.trim()) ? null : input.value.trim());
    const rules = this.rules.value.split("\n").map((rule) => rule.trim()).filter((rule) => rule);
    return {
      text: this.editor.get(),
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

  /** Mark the field that a parameter is written in, and no other. */
  markInvalid(parameter) {
    for (const [name, input] of Object.entries({ effect: this.effect, contrast: this.contrast, normality: this.rules })) {
      if (name === parameter) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  introduce() {
    this.picker.show(this.example);
    this.story.textContent = this.example?.story ?? OWN;
    this.source.textContent = this.example?.source ?? "";
  }

  handleEdit() {
    // Typing an example's text again, to the letter, makes it that example.
    this.example = this.catalogue.find((example) => example.text === this.editor.get()) ?? null;
    this.introduce();
    this.listeners.onType();
  }

  // -- what follows from the model -------------------------------------------------------------------

  /** Offer what the variables of a model can be; values that it does not have are left behind. */
  offer(model) {
    const byName = new Map(model.variables.map((variable) => [variable.name, variable]));
    const roots = model.roots.map((name) => byName.get(name));
    this.values = Object.fromEntries(roots.map((root) => [root.name, fitValue(root, this.values[root.name])]));
    if (!this.effect.value) this.effect.value = `${model.last} == ${byName.get(model.last)?.range.high ?? 1}`;
    this.roots.build(roots, this.values);
    const outcome = byName.get(this.example?.outcome ?? model.last) ?? model.variables.at(-1);
    const values = outcome?.range.values ?? [];
    const formulas = values.length <= BUTTONS ? values.map((value) => `${outcome.name} == ${value}`) : [];
    put(this.outcomes, formulas.map((formula) => button(formula, () => this.setEffect(formula), { class: "mono small" })));
    const inner = model.variables.filter((variable) => !variable.exogenous);
    put(this.effects, inner.flatMap(({ name, range }) => [range.high, range.low].map((value) => el("option", { value: `${name} == ${value}` }))));
  }

  setRoot({ name, range }, value) {
    if (!Number.isInteger(value)) {
      this.listeners.onMistake(`${name} must be a whole number from ${range.low} to ${range.high}.`);
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
    this.listeners.onChange();
  }
}

/** The value if it is one of the root's, else its highest. */
function fitValue({ range }, value) {
  if (!Number.isInteger(value) || value < range.low || value > range.high) return range.high;
  return range.values && !range.values.includes(value) ? range.high : value;
}
