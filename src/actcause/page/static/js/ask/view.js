// The view Ask: a question about a model, and what caused the effect by every definition.
import { AnswerPanel } from "./answer_panel.js";
import { get, post } from "../shared/api.js";
import { buildFurther } from "./further_questions.js";
import { completeDegrees } from "./open_degrees.js";
import { buildShelf } from "./model_shelf.js";
import { MyModels } from "./my_models.js";
import { packText } from "../shared/model_link.js";
import { QuestionForm } from "./question_form.js";
import { readQuestion, shortenState, writeQuestion } from "./question_link.js";
import { buildTour } from "./tour.js";
import { button, copy, debounce, el, keepNewest, toast } from "../shared/ui.js";

const CYCLED = 8; // values of a root that a click goes through; more are chosen from a list or typed
const AT_ONCE = 60; // variables of a graph that is awaited, so that it comes with its answer
const NARROW = matchMedia("(max-width: 999px)");
const STARTER = 'First "the first cause"\nSecond "the second cause"\nEffect "the effect" = First or Second\n';
const ANEW = { example: null, values: {}, effect: "", sufficiency: "", necessity: "", contrast: "", rules: "", order: "inclusion", event: "", steps: "" };

let catalogue = null; // the same for every visit
let picked = false; // an example was just chosen: the keyboard stays where it was

export const view = {
  name: "ask",
  title: "Ask",
  async mount(root, state, app) {
    catalogue ??= await get("/api/ask/examples");
    const page = new Ask(root, app);
    if (picked) page.form.picker.focus();
    picked = false;
    await page.open(state);
    return () => page.close();
  },
};

class Ask {
  constructor(root, app) {
    this.app = app;
    this.model = null; // what the server said of the text
    this.put = null; // the question that was asked last, as text
    this.drawn = null; // the drawing of the model, when it is there
    this.mine = new MyModels();
    this.id = null; // of the own model that is shown
    this.opened = null; // what was opened, for undo
    this.latest = Object.fromEntries(["check", "answer", "judge", "degrees", "address"].map((each) => [each, keepNewest()]));
    this.soon = debounce(() => this.look(), 300);
    this.form = new QuestionForm(catalogue, {
      onChoose: (example) => this.choose(example),
      onType: () => this.type(),
      onLeave: () => this.settle(),
      onChange: () => this.askAll(),
      onJudge: (text) => this.askEvent(text),
    });
    this.shelf = buildShelf(this.mine, {
      onNew: () => this.turnTo({ ...ANEW, text: STARTER }),
      onOpen: (id) => this.turnTo(this.mine.find(id).question, id),
      onStep: (forward) => this.undo(forward),
      current: () => this.id,
    });
    this.unfollow = this.mine.follow(() => this.shelf.show());
    this.further = buildFurther(() => (this.panel.answer ? this.question() : null));
    this.panel = new AnswerPanel(this.tools(), this.further.element, {
      onAct: (variable) => this.act(variable),
      onHint: hint,
      onPlay: (definition, index) => this.play(definition, index),
      onStop: () => this.stop(),
      onJudge: (text) => this.askEvent(text),
      onSearchLonger: (definition) => this.searchLonger(definition),
      onAsk: (effect) => this.form.setEffect(effect),
      onRetry: () => this.look(),
    });
    this.form.start.append(this.shelf.element, this.form.story, this.form.source);
    this.element = el("div", { class: "ask" }, this.form.start, this.form.element, this.panel.element);
    this.tour = buildTour(this.element);
    root.append(this.tour.element, this.element);
    // On a narrow screen the answer comes before the long form, for the keyboard too.
    this.arrange = () => this.element.append(...(NARROW.matches ? [this.panel.element, this.form.element] : [this.form.element, this.panel.element]));
    this.arrange();
    NARROW.addEventListener("change", this.arrange);
  }

  tools() {
    return [
      button("Copy link", () => this.copyLink()),
      button("Copy Python", () => this.copyCode("python")),
      button("Copy command", () => this.copyCode("command")),
      button("See all states", () => this.toPreimages(), { title: "The same model in every state at once, starting at this one" }),
      button("Tour", () => this.tour.start(), { class: "quiet", title: "How to read this page, in three steps" }),
    ];
  }

  // -- from the address and back ---------------------------------------------------------------------

  async open(state) {
    const question = await readQuestion(state, catalogue, this.mine);
    if (this.closed) return;
    this.form.fill(question);
    this.id = question.example ? null : this.mine.findText(question.text)?.id ?? null;
    this.opened = { ...this.form.written, example: undefined };
    this.shelf.show();
    this.wanted = question.cause;
    await this.look();
    if (question.mistake) this.panel.showMistake(question.mistake);
  }

  /** What the address says of the question. */
  state() {
    return writeQuestion({ ...this.form.written, cause: this.panel.chosen });
  }

  async remember() {
    this.keepMine();
    const state = await this.latest.address(() => this.state()); // a long text is packed while the next is written
    if (state !== undefined && !this.closed) this.app.remember(shortenState(state) ?? (this.id ? { mine: this.id } : {}));
  }

  /** What is written by hand is kept in this browser. */
  keepMine() {
    const { example, ...question } = this.form.written;
    const untouched = this.id === null && question.text === this.opened?.text;
    this.id = example || untouched ? null : this.mine.keep(this.id, question, this.opened);
    this.shelf.show();
  }

  choose(example) {
    picked = true;
    this.app.go("ask", { example: example.name });
  }

  /** Show another model: one's own, or a new one. */
  async turnTo(question, id = null) {
    this.id = id;
    this.opened = null;
    this.fill(question);
    await this.look();
  }

  fill(question) {
    const example = catalogue.find(({ text }) => text === question.text) ?? null;
    this.form.fill({ ...question, example });
  }

  async undo(forward) {
    const question = this.mine.step(this.id, forward);
    if (!question) return;
    const { id } = this;
    this.fill(question);
    await this.look();
    this.id = id; // an example's own text can be where one's own model began
    this.shelf.show();
  }

  /** Whether the user has left, be it before all was there: what asks on would take the place of the next view's questions. */
  get closed() {
    return !this.app.isShown();
  }

  close() {
    this.soon.cancel();
    this.unfollow();
    this.panel.player.clear();
    this.panel.drawing?.close();
    NARROW.removeEventListener("change", this.arrange);
    this.keepMine();
    const { id } = this;
    writeQuestion(this.form.written).then((state) => this.app.keep(shortenState(state) ?? (id ? { mine: id } : {})));
  }

  // -- asking ----------------------------------------------------------------------------------------

  question(more = {}) {
    return this.form.question(more);
  }

  /** Something is being written: what is seen is not the answer to it. */
  type() {
    if (JSON.stringify(this.question()) !== this.put) this.panel.markStale(true);
    this.soon();
  }

  /** A field was left: ask, unless just this was asked already while typing. */
  settle() {
    if (JSON.stringify(this.question()) !== this.put) this.look();
  }

  async look() {
    this.soon.cancel();
    const { editor } = this.form;
    this.panel.markStale(true);
    let model;
    try {
      model = await this.latest.check(() => post("/api/ask/check", this.form.modelAsked));
    } catch (error) {
      this.put = null;
      if (this.form.markInvalid(error.parameter, error.message)) {
        editor.mark(null, null);
        this.refuse("");
        return;
      }
      if (error.status) editor.mark(error.line, error.message);
      this.refuse(error.status ? "There is a mistake in the model." : error.message, !error.status);
      return;
    }
    if (model === undefined || this.closed) return;
    editor.mark(null, null);
    if (JSON.stringify(model) !== JSON.stringify(this.model)) {
      this.model = model;
      this.form.offer(model);
      this.drawn = this.panel.drawModel(model);
    } else this.form.offer(model);
    await this.askAll();
  }

  async askAll() {
    const { form, panel } = this;
    panel.busy("asking …");
    panel.markStale(true);
    panel.showDepartures(form.listDepartures());
    form.openWhatDeparts();
    this.put = JSON.stringify(this.question());
    let answer;
    try {
      answer = await this.latest.answer(() => post("/api/ask/answer", this.question()));
    } catch (error) {
      this.put = null;
      this.refuse(form.markInvalid(error.parameter, error.message) ? "" : error.message, !error.status);
      return;
    }
    if (answer === undefined || this.closed) return;
    if (!answer.happened && form.suggestActual(answer.actual)) {
      await this.askAll();
      return;
    }
    if (this.model.count <= AT_ONCE) await this.drawn;
    if (this.closed || this.put !== JSON.stringify(this.question())) return;
    form.markInvalid(null);
    panel.showMistake("");
    panel.busy("");
    panel.show(answer);
    const last = answer.candidates.at(-1);
    form.event.placeholder = last ? `${last}=${answer.actual[last] ?? 1}` : "";
    this.further.renew(answer, this.suggestEvent(answer) ?? form.event.placeholder);
    if (this.wanted) this.playWanted();
    if (form.judgedEvent) await this.judge();
    await this.remember();
    this.fillDegrees();
  }

  /** An event whose probability can be asked about as it stands: a cause that could have been otherwise in one way. */
  suggestEvent(answer) {
    const switches = new Set(this.model.variables.filter(({ range }) => range.count === 2).map(({ name }) => name));
    const events = answer.answers.flatMap(({ causes }) => causes.map(({ event }) => Object.entries(event)));
    const found = events.find((event) => event.length === 1 && switches.has(event[0][0]));
    return found && `${found[0][0]}=${found[0][1]}`;
  }

  /** A question that cannot be answered. */
  refuse(message, again = false) {
    this.panel.fade();
    this.panel.showMistake(message, again);
    this.remember();
  }

  async askEvent(text) {
    const { form, panel } = this;
    form.judgedEvent = text.trim();
    form.event.value = form.judgedEvent;
    if (form.judgedEvent) await this.judge();
    else if (panel.answer) {
      form.markInvalid(null);
      panel.showMistake("");
      panel.judge(null);
    }
    await this.remember();
  }

  async judge() {
    const { form, panel } = this;
    if (!panel.answer) return;
    panel.busy("asking …");
    panel.markStale(true);
    let verdicts;
    try {
      verdicts = await this.latest.judge(() => post("/api/ask/judge", this.question({ event: form.judgedEvent })));
    } catch (error) {
      panel.fade();
      if (error.status) form.markInvalid(error.parameter ?? "event", error.message);
      else panel.showMistake(error.message, true);
      return;
    }
    if (verdicts === undefined || this.closed) return;
    panel.busy("");
    if (!form.judgedEvent) return; // it was cleared meanwhile
    form.markInvalid(null);
    panel.showMistake("");
    panel.judge(verdicts);
  }

  async searchLonger(definition) {
    const { form, panel } = this;
    panel.busy("searching longer …");
    try {
      const reply = await this.latest.answer(() => post("/api/ask/answer", form.question({ definitions: [definition] })));
      if (reply === undefined || this.closed) return;
      const { answers } = panel.answer;
      answers[answers.findIndex((answer) => answer.definition === definition)] = reply.answers[0];
      panel.refresh();
    } catch (error) {
      panel.showMistake(error.message);
    }
    panel.busy("");
    this.fillDegrees();
  }

  fillDegrees() {
    const { answer } = this.panel;
    const measure = (definition) => post("/api/ask/degrees", this.form.question({ definitions: [definition] }));
    const ask = async (definition) => {
      if (this.closed) return undefined;
      const reply = await this.latest.degrees(() => measure(definition).catch(() => ({ degrees: [] })));
      return this.closed || this.panel.answer !== answer ? undefined : reply?.degrees;
    };
    return completeDegrees(answer, ask, () => this.panel.refresh());
  }

  // -- clicks ----------------------------------------------------------------------------------------

  act(variable) {
    const { form, panel } = this;
    if (!panel.answer) return;
    if (variable.root && variable.range.count <= CYCLED && variable.range.values) form.cycle(variable);
    else if (variable.root) form.roots.focus(variable.name);
    else if (panel.answer.about.includes(variable.name)) form.effect.focus();
    else this.askEvent(`${variable.name}=${panel.answer.actual[variable.name]}`);
  }

  play(definition, index) {
    if (this.panel.play(definition, index)) this.remember();
  }

  playWanted() {
    const [definition, index] = this.wanted.split(":");
    this.wanted = null;
    this.play(definition, Number(index));
  }

  stop() {
    this.panel.rest();
    this.remember();
  }

  // -- taking it elsewhere ---------------------------------------------------------------------------

  async copyLink() {
    const state = await this.state();
    if (state === null) toast("This model is too long for a link; copy the Python or the command instead.");
    else await copy(this.app.link("ask", state), "The link to this question is copied.");
  }

  async copyCode(kind) {
    try {
      const code = await post("/api/ask/code", this.question({ event: this.form.judgedEvent || null }));
      await copy(code[kind], kind === "python" ? "The Python is copied." : "The command is copied.");
    } catch (error) {
      toast(error.message);
    }
  }

  async toPreimages() {
    const { example, editor, values } = this.form;
    const outcome = this.panel.answer?.about[0] ?? this.model?.last;
    const unrolled = this.model?.unrolled; // that view has no steps: it is handed the model with all of them
    const own = example && String(example.steps ?? "") === this.form.steps.value;
    const state = own ? { example: example.name } : await packText(unrolled ?? editor.get());
    const at = Object.entries(values).map(([name, value]) => `${name}=${value}`).join(",");
    if (state === null) toast("This model is too long to be handed over.");
    else this.app.go("preimages", { ...state, outcome, at, slice: at });
  }
}

const hint = (variable, isEffect) => {
  if (variable.root) return variable.range.count <= CYCLED ? "Click to change it." : "Click to set it.";
  return isEffect ? "This is the effect. Click to ask about another." : "Click to ask whether it was a cause.";
};
