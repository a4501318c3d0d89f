// The view Ask: a model, what happened in it, and what caused the effect by every definition.
import { cards, eventText, glossary, overview } from "./answers.js";
import { get, post } from "./api.js";
import { editor } from "./editor.js";
import { draw, drawable } from "./graph.js";
import { packed, unpacked } from "./link.js";
import { picker } from "./picker.js";
import { rootControls } from "./roots.js";
import { button, copy, debounce, el, field, newest, notice, put, toast } from "./ui.js";
import { player, steps } from "./witness.js";

const FIRST = "rock-throwing";
const CYCLED = 8; // values of a root that a click goes through; more are chosen from a list or typed

let catalogue = null; // the same for every visit
let picked = false; // an example was just chosen: the keyboard stays where it was

export const view = {
  name: "ask",
  title: "Ask",
  async mount(root, state, app) {
    catalogue ??= await get("/api/ask/examples");
    const page = new Ask(root, app);
    if (picked) page.picker.focus();
    picked = false;
    await page.open(state);
    return () => page.close();
  },
};

class Ask {
  constructor(root, app) {
    this.app = app;
    this.closed = false;
    this.model = null; // what the server said of the text
    this.answer = null;
    this.verdicts = null;
    this.chosen = null; // the cause that is played, as definition:index
    this.put = null; // the question that was asked last, as text
    this.latest = { check: newest(), answer: newest(), judge: newest(), degrees: newest() };
    this.soon = debounce(() => this.look(), 300);
    this.build(root);
  }

  // -- the parts of the page -------------------------------------------------------------------------

  build(root) {
    this.picker = picker(catalogue, (example) => this.choose(example));
    this.story = el("p", { class: "story" });
    this.source = el("p", { class: "soft small source" });
    this.editor = editor(() => this.edited());
    this.roots = rootControls((root, value) => this.setRoot(root, value));
    this.effect = el("input", { type: "text", id: "effect", class: "mono", list: "effects", spellcheck: "false", autocomplete: "off", on: { input: () => this.soon(), change: () => this.settle() } });
    this.effects = el("datalist", { id: "effects" });
    this.outcomes = el("div", { class: "row outcomes" });
    this.event = el("input", { type: "text", id: "event", class: "mono grow", placeholder: "BT=1", spellcheck: "false", autocomplete: "off", on: { keydown: (event) => event.key === "Enter" && this.askEvent(this.event.value) } });
    this.sufficiency = el("input", { type: "text", class: "mono", placeholder: "weak", size: 8, on: { change: () => this.settle() } });
    this.necessity = el("input", { type: "text", class: "mono", placeholder: "any", size: 8, on: { change: () => this.settle() } });
    this.mistake = el("div", { class: "mistake" });
    this.headline = el("h1", { class: "headline" });
    this.busy = el("span", { class: "soft small busy", role: "status" });
    this.stage = el("div", { class: "stage" });
    this.player = player((step) => this.drawing?.show({ ...this.world(), ...step }), () => this.stopped());
    this.said = el("div", { class: "said" });
    const left = el(
      "div",
      { class: "asking stack" },
      el("section", { class: "stack tight" }, this.picker.element, this.story, this.source),
      el("section", { "aria-label": "Model" }, el("h2", { text: "Model" }), this.editor.element),
      el("section", { "aria-label": "Context" }, el("h2", { text: "What the roots were" }), this.roots.element),
      el("section", { "aria-label": "Effect", class: "stack tight" }, el("h2", {}, el("label", { for: "effect", text: "What happened" })), this.effect, this.effects, this.outcomes),
      el(
        "section",
        { "aria-label": "Event" },
        el("h2", {}, el("label", { for: "event", text: "Was this a cause of it?" })),
        el("div", { class: "row" }, this.event, button("Ask", () => this.askEvent(this.event.value)), button("Clear", () => this.askEvent(""), { class: "quiet" })),
      ),
      el(
        "details",
        { class: "small" },
        el("summary", { text: "Shares of the functional definition" }),
        el("div", { class: "row" }, field("sufficiency", this.sufficiency), field("necessity", this.necessity)),
        el("p", { class: "soft", text: "Numbers from 0 to 1: how many other states may undo the outcome, how many other values must." }),
      ),
    );
    const right = el(
      "div",
      { class: "seeing stack" },
      el("div", { class: "row" }, this.headline, el("span", { class: "grow" }), this.busy, this.tools()),
      this.mistake,
      el("div", { class: "panel graph-panel" }, this.stage, this.player.element),
      this.said,
    );
    root.append(el("div", { class: "ask" }, left, right));
  }

  tools() {
    return el(
      "div",
      { class: "row copies" },
      button("Copy link", () => this.copyLink()),
      button("Copy Python", () => this.copyCode("python")),
      button("Copy command", () => this.copyCode("command")),
      button("All states", () => this.toPreimages(), { title: "The same model in Preimages: every state at once" }),
    );
  }

  // -- from the address and back ---------------------------------------------------------------------

  async open(state) {
    let text = null;
    try {
      text = await unpacked(state);
    } catch (error) {
      notice(this.mistake, error.message, "bad");
    }
    const known = catalogue.find((example) => example.name === state.example);
    if (state.example && !known) toast(`There is no example named '${state.example}'.`);
    this.example = text === null ? known ?? catalogue.find((example) => example.name === FIRST) : null;
    const from = this.example;
    this.editor.set(text ?? from.text);
    this.values = state.context !== undefined ? assignments(state.context) : { ...(from?.context ?? {}) };
    this.effect.value = state.effect ?? from?.effect ?? "";
    this.sufficiency.value = state.as ?? from?.alpha_sufficiency ?? "";
    this.necessity.value = state.an ?? from?.alpha_necessity ?? "";
    this.event.value = state.event ?? "";
    this.asked = state.event ?? "";
    this.wanted = state.cause ?? null;
    this.introduce();
    await this.look();
  }

  /** What the address says of the question; values that are the example's own are left out. */
  async state() {
    const own = this.example;
    const state = own ? { example: own.name } : await packed(this.editor.get());
    if (state === null) return null;
    const context = written(this.values);
    if (!own || context !== written(own.context)) state.context = context;
    if (!own || this.effect.value !== own.effect) state.effect = this.effect.value;
    if (this.sufficiency.value !== (own?.alpha_sufficiency ?? "")) state.as = this.sufficiency.value || "none";
    if (this.necessity.value !== (own?.alpha_necessity ?? "")) state.an = this.necessity.value || "none";
    if (this.asked) state.event = this.asked;
    if (this.chosen) state.cause = this.chosen;
    if (own?.name === FIRST && Object.keys(state).length === 1) return {};
    return state;
  }

  async remember() {
    const state = await this.state();
    if (!this.closed) this.app.remember(state ?? {});
  }

  choose(example) {
    picked = true;
    this.app.go("ask", { example: example.name });
  }

  introduce() {
    this.picker.show(this.example);
    this.story.textContent = this.example?.story ?? "Write a model: one variable a line, with an equation if it follows from others.";
    this.source.textContent = this.example ? this.example.source : "";
  }

  edited() {
    // Typing an example's text again, to the letter, makes it that example.
    this.example = catalogue.find((example) => example.text === this.editor.get()) ?? null;
    this.introduce();
    this.soon();
  }

  close() {
    this.closed = true;
    this.soon.cancel();
    this.player.clear();
  }

  // -- asking ----------------------------------------------------------------------------------------

  question(more = {}) {
    const share = (input) => (["", "none"].includes(input.value.trim()) ? null : input.value.trim());
    return {
      text: this.editor.get(),
      context: this.values,
      effect: this.effect.value,
      alpha_sufficiency: share(this.sufficiency),
      alpha_necessity: share(this.necessity),
      ...more,
    };
  }

  /** A field was left: ask, unless just this was asked already while typing. */
  settle() {
    if (JSON.stringify(this.question()) !== this.put) this.look();
  }

  async look() {
    this.soon.cancel();
    let model;
    try {
      model = await this.latest.check(() => post("/api/ask/check", { text: this.editor.get() }));
    } catch (error) {
      this.editor.mark(error.line, error.message);
      this.refuse("There is a mistake in the model.");
      return;
    }
    if (model === undefined || this.closed) return;
    this.editor.mark(null, null);
    if (JSON.stringify(model) !== JSON.stringify(this.model)) this.newModel(model);
    await this.askAll();
  }

  newModel(model) {
    this.model = model;
    this.byName = new Map(model.variables.map((variable) => [variable.name, variable]));
    const roots = model.roots.map((name) => this.byName.get(name));
    this.values = Object.fromEntries(roots.map((root) => [root.name, fitting(root, this.values[root.name])]));
    if (!this.effect.value) this.effect.value = `${model.last} == ${this.byName.get(model.last)?.range.high ?? 1}`;
    this.roots.build(roots, this.values);
    this.buildOutcomes();
    if (drawable(model)) {
      this.drawing = draw(model, { act: (variable) => this.act(variable), hint: (variable) => hint(variable) });
      put(this.stage, this.drawing.element);
    } else {
      this.drawing = null;
      put(this.stage, el("p", { class: "soft", text: `${model.count} variables: too many to draw. The answers are below.` }));
    }
  }

  async askAll() {
    this.busy.textContent = "asking …";
    this.put = JSON.stringify(this.question());
    let answer;
    try {
      answer = await this.latest.answer(() => post("/api/ask/answer", this.question()));
    } catch (error) {
      const ofEffect = error.message.startsWith("The effect");
      this.effect.toggleAttribute("aria-invalid", false);
      if (ofEffect) this.effect.setAttribute("aria-invalid", "true");
      this.refuse(error.message);
      return;
    }
    if (answer === undefined || this.closed) return;
    this.effect.removeAttribute("aria-invalid");
    notice(this.mistake, "");
    this.busy.textContent = "";
    this.answer = answer;
    this.verdicts = null;
    this.chosen = null;
    this.player.clear();
    this.showAnswer();
    this.event.placeholder = answer.candidates.length ? `${answer.candidates.at(-1)}=${answer.actual[answer.candidates.at(-1)] ?? 1}` : "";
    this.drawing?.show(this.world());
    if (this.wanted) this.playWanted();
    if (this.asked) await this.judge();
    await this.remember();
    this.fillDegrees();
  }

  /** A question that cannot be answered: what was seen before stays, faded. */
  refuse(message) {
    this.busy.textContent = "";
    this.said.classList.add("stale");
    this.stage.classList.add("stale");
    notice(this.mistake, message, "bad");
    this.remember();
  }

  world() {
    const { actual, about, effect } = this.answer;
    return { actual, about, effect };
  }

  askEvent(text) {
    this.asked = text.trim();
    this.event.value = this.asked;
    if (this.asked) this.judge().then(() => this.remember());
    else {
      this.verdicts = null;
      this.event.removeAttribute("aria-invalid");
      notice(this.mistake, "");
      this.showAnswer();
      this.remember();
    }
  }

  async judge() {
    if (!this.answer) return;
    this.busy.textContent = "asking …";
    let reply;
    try {
      reply = await this.latest.judge(() => post("/api/ask/judge", this.question({ event: this.asked })));
    } catch (error) {
      this.busy.textContent = "";
      this.event.setAttribute("aria-invalid", "true");
      notice(this.mistake, error.message, "bad");
      return;
    }
    if (reply === undefined || this.closed) return;
    this.busy.textContent = "";
    this.event.removeAttribute("aria-invalid");
    notice(this.mistake, "");
    this.verdicts = reply;
    this.showAnswer();
    this.said.querySelector(".verdict")?.scrollIntoView({ block: "nearest" });
  }

  async longer(definition) {
    this.busy.textContent = "searching longer …";
    try {
      const reply = await this.latest.answer(() => post("/api/ask/answer", this.question({ definitions: [definition] })));
      if (reply === undefined || this.closed) return;
      const index = this.answer.answers.findIndex((answer) => answer.definition === definition);
      this.answer.answers[index] = reply.answers[0];
      this.showAnswer();
    } catch (error) {
      notice(this.mistake, error.message, "bad");
    }
    this.busy.textContent = "";
  }

  /** Degrees of responsibility that took too long for the first answer. */
  async fillDegrees() {
    const answer = this.answer;
    for (const each of answer.answers) {
      if (!each.causes.some((cause) => cause.responsibility === null)) continue;
      for (const cause of each.causes) cause.pending = cause.responsibility === null;
      this.showAnswer();
      let degrees = [];
      try {
        const reply = await this.latest.degrees(() => post("/api/ask/degrees", this.question({ definitions: [each.definition] })));
        if (reply === undefined) return;
        degrees = reply.degrees;
      } catch {
        // the degrees stay unknown, which the card shows by leaving them out
      }
      if (this.closed || this.answer !== answer) return;
      each.causes.forEach((cause, index) => {
        cause.pending = false;
        cause.responsibility ??= degrees[index] ?? null;
      });
      this.showAnswer();
    }
  }

  // -- showing ---------------------------------------------------------------------------------------

  showAnswer() {
    const { answer, verdicts } = this;
    this.said.classList.remove("stale");
    this.stage.classList.remove("stale");
    this.headline.textContent = verdicts ? `Was ${eventText(verdicts.event)} a cause of ${answer.effect}?` : `What caused ${answer.effect}?`;
    const actions = {
      play: (definition, index) => this.play(definition, index),
      ask: (event) => this.askEvent(event),
      playVerdict: (verdict) => this.playSteps(verdict.event, verdict.witness, verdict.title),
      longer: (definition) => this.longer(definition),
    };
    const byDefinition = verdicts && Object.fromEntries(verdicts.verdicts.map((verdict) => [verdict.definition, { ...verdict, event: verdicts.event }]));
    const open = this.said.querySelector(".glossary")?.open;
    const focused = this.said.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent : null;
    put(
      this.said,
      answer.happened
        ? overview(answer, answer.answers, actions)
        : el("p", { class: "notice note", text: `Nothing caused this: the effect does not hold. Actually ${few(answer)}. Change the roots or the effect.` }),
      answer.happened || verdicts ? cards(answer, answer.answers, byDefinition, this.chosen, actions) : null,
      glossary(),
    );
    if (open) this.said.querySelector(".glossary").open = true;
    if (focused) [...this.said.querySelectorAll("button")].find((node) => (node.getAttribute("aria-label") ?? node.textContent) === focused)?.focus();
  }

  play(definition, index) {
    const cause = this.answer.answers.find((answer) => answer.definition === definition)?.causes[index];
    if (!cause) return;
    this.chosen = `${definition}:${index}`;
    this.showAnswer();
    this.playSteps(cause.event, cause.witness, this.answer.answers.find((answer) => answer.definition === definition).title);
    this.remember();
  }

  playSteps(event, witness, title) {
    this.player.play(steps(this.world(), event, witness), `Why ${eventText(event)}? ${title}`);
    this.stage.scrollIntoView({ block: "nearest" });
  }

  playWanted() {
    const [definition, index] = this.wanted.split(":");
    this.wanted = null;
    this.play(definition, Number(index));
  }

  stopped() {
    this.chosen = null;
    this.drawing?.show(this.world());
    this.showAnswer();
    this.remember();
  }

  // -- the context -----------------------------------------------------------------------------------

  setRoot(root, value) {
    if (!Number.isInteger(value)) {
      notice(this.mistake, `${root.name} must be a whole number from ${root.range.low} to ${root.range.high}.`, "bad");
      return;
    }
    this.values = { ...this.values, [root.name]: value };
    this.roots.show(root.name, value);
    this.askAll();
  }

  cycle(root) {
    const { values } = root.range;
    this.setRoot(root, values[(values.indexOf(this.values[root.name]) + 1) % values.length]);
  }

  act(variable) {
    if (!this.answer) return;
    if (!variable.root) this.askEvent(`${variable.name}=${this.answer.actual[variable.name]}`);
    else if (variable.range.count <= CYCLED && variable.range.values) this.cycle(variable);
    else this.roots.focus(variable.name);
  }

  buildOutcomes() {
    const outcome = this.byName.get(this.example?.outcome ?? this.model.last) ?? this.model.variables.at(-1);
    const values = outcome?.range.values ?? [];
    put(
      this.outcomes,
      values.length <= 6 && values.map((value) => button(`${outcome.name} == ${value}`, () => this.setEffect(`${outcome.name} == ${value}`), { class: "mono small" })),
    );
    put(
      this.effects,
      this.model.variables.filter((variable) => !variable.exogenous).flatMap((variable) => [variable.range.high, variable.range.low].map((value) => el("option", { value: `${variable.name} == ${value}` }))),
    );
  }

  setEffect(formula) {
    this.effect.value = formula;
    this.askAll();
  }

  // -- taking it elsewhere ---------------------------------------------------------------------------

  async copyLink() {
    const state = await this.state();
    if (state === null) toast("This model is too long for a link; copy the Python or the command instead.");
    else await copy(this.app.link("ask", Object.keys(state).length ? state : { example: FIRST }), "The link to this question is copied.");
  }

  async copyCode(kind) {
    const code = (this.verdicts ?? this.answer)?.[kind];
    if (code) await copy(code, kind === "python" ? "The Python is copied." : "The command is copied.");
    else toast("Ask a question first.");
  }

  async toPreimages() {
    const outcome = this.answer?.about[0] ?? this.model?.last;
    const state = this.example ? { example: this.example.name } : await packed(this.editor.get());
    if (state === null) toast("This model is too long to be handed over.");
    else this.app.go("preimages", { ...state, outcome });
  }
}

const hint = (variable) => {
  if (!variable.root) return "Click to ask whether it was a cause.";
  return variable.range.count <= CYCLED ? "Click to change it." : "Click to set it.";
};

const written = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}`).join(",");

const few = ({ actual }) => Object.entries(actual).slice(0, 8).map(([name, value]) => `${name}=${value}`).join(", ");

/** `ST=1,BT=0` as an object; what is no number is left out. */
function assignments(text) {
  const pairs = text.split(",").map((part) => part.split("=")).filter(([name, value]) => name && /^-?\d{1,15}$/.test(value ?? ""));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}

/** The value if it is one of the root's, else its highest. */
function fitting({ range }, value) {
  if (!Number.isInteger(value) || value < range.low || value > range.high) return range.high;
  return range.values && !range.values.includes(value) ? range.high : value;
}
