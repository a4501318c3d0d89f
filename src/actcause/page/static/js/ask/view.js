// The view Ask: a question about a model, and what caused the effect by every definition.
import { AnswerPanel } from "./answer_panel.js";
import { get, post } from "../shared/api.js";
import { completeDegrees } from "./open_degrees.js";
import { packText } from "../shared/model_link.js";
import { QuestionForm } from "./question_form.js";
import { readQuestion, shortenState, writeQuestion } from "./question_link.js";
import { button, copy, debounce, el, keepNewest, toast } from "../shared/ui.js";

const CYCLED = 8; // values of a root that a click goes through; more are chosen from a list or typed

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
    this.latest = Object.fromEntries(["check", "answer", "judge", "degrees", "address"].map((each) => [each, keepNewest()]));
    this.soon = debounce(() => this.look(), 300);
    this.form = new QuestionForm(catalogue, {
      onChoose: (example) => this.choose(example),
      onType: () => this.soon(),
      onLeave: () => this.settle(),
      onChange: () => this.askAll(),
      onJudge: (text) => this.askEvent(text),
      onMistake: (sentence) => this.panel.showMistake(sentence),
    });
    this.panel = new AnswerPanel(this.tools(), {
      onAct: (variable) => this.act(variable),
      onHint: hint,
      onPlay: (definition, index) => this.play(definition, index),
      onStop: () => this.stop(),
      onJudge: (text) => this.askEvent(text),
      onSearchLonger: (definition) => this.searchLonger(definition),
    });
    root.append(el("div", { class: "ask" }, this.form.element, this.panel.element));
  }

  tools() {
    return [
      button("Copy link", () => this.copyLink()),
      button("Copy Python", () => this.copyCode("python")),
      button("Copy command", () => this.copyCode("command")),
      button("All states", () => this.toPreimages(), { title: "The same model in Preimages: every state at once" }),
    ];
  }

  // -- from the address and back ---------------------------------------------------------------------

  async open(state) {
    const question = await readQuestion(state, catalogue);
    if (this.closed) return;
    this.form.fill(question);
    this.wanted = question.cause;
    await this.look();
    if (question.mistake) this.panel.showMistake(question.mistake);
  }

  /** What the address says of the question. */
  state() {
    return writeQuestion({ ...this.form.written, cause: this.panel.chosen });
  }

  async remember() {
    const state = await this.latest.address(() => this.state()); // a long text is packed while the next is written
    if (state !== undefined && !this.closed) this.app.remember(shortenState(state) ?? {});
  }

  choose(example) {
    picked = true;
    this.app.go("ask", { example: example.name });
  }

  /** Whether the user has left, be it before all was there: what asks on would take the place of the next view's questions. */
  get closed() {
    return !this.app.isShown();
  }

  close() {
    this.soon.cancel();
    this.panel.player.clear();
  }

  // -- asking ----------------------------------------------------------------------------------------

  /** A field was left: ask, unless just this was asked already while typing. */
  settle() {
    if (JSON.stringify(this.form.question()) !== this.put) this.look();
  }

  async look() {
    this.soon.cancel();
    const { editor } = this.form;
    let model;
    try {
      model = await this.latest.check(() => post("/api/ask/check", { text: editor.get() }));
    } catch (error) {
      editor.mark(error.line, error.message);
      this.refuse("There is a mistake in the model.");
      return;
    }
    if (model === undefined || this.closed) return;
    editor.mark(null, null);
    if (JSON.stringify(model) !== JSON.stringify(this.model)) {
      this.model = model;
      this.form.offer(model);
      this.panel.drawModel(model);
    }
    await this.askAll();
  }

  async askAll() {
    const { form, panel } = this;
    panel.busy("asking …");
    this.put = JSON.stringify(form.question());
    let answer;
    try {
      answer = await this.latest.answer(() => post("/api/ask/answer", form.question()));
    } catch (error) {
      form.markInvalid(error.parameter);
      this.refuse(error.message);
      return;
    }
    if (answer === undefined || this.closed) return;
    form.markInvalid(null);
    panel.showMistake("");
    panel.busy("");
    panel.show(answer);
    const last = answer.candidates.at(-1);
    form.event.placeholder = last ? `${last}=${answer.actual[last] ?? 1}` : "";
    if (this.wanted) this.playWanted();
    if (form.judgedEvent) await this.judge();
    await this.remember();
    this.fillDegrees();
  }

  /** A question that cannot be answered. */
  refuse(message) {
    this.panel.fade();
    this.panel.showMistake(message);
    this.remember();
  }

  async askEvent(text) {
    const { form, panel } = this;
    form.judgedEvent = text.trim();
    form.event.value = form.judgedEvent;
    if (form.judgedEvent) await this.judge();
    else if (panel.answer) {
      form.event.removeAttribute("aria-invalid");
      panel.showMistake("");
      panel.judge(null);
    }
    await this.remember();
  }

  async judge() {
    const { form, panel } = this;
    if (!panel.answer) return;
    panel.busy("asking …");
    let verdicts;
    try {
      verdicts = await this.latest.judge(() => post("/api/ask/judge", form.question({ event: form.judgedEvent })));
    } catch (error) {
      panel.busy("");
      form.event.setAttribute("aria-invalid", "true");
      panel.showMistake(error.message);
      return;
    }
    if (verdicts === undefined || this.closed) return;
    panel.busy("");
    if (!form.judgedEvent) return; // it was cleared meanwhile
    form.event.removeAttribute("aria-invalid");
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
    if (!variable.root) this.askEvent(`${variable.name}=${panel.answer.actual[variable.name]}`);
    else if (variable.range.count <= CYCLED && variable.range.values) form.cycle(variable);
    else form.roots.focus(variable.name);
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
      const code = await post("/api/ask/code", this.form.question({ event: this.form.judgedEvent || null }));
      await copy(code[kind], kind === "python" ? "The Python is copied." : "The command is copied.");
    } catch (error) {
      toast(error.message);
    }
  }

  async toPreimages() {
    const { example, editor } = this.form;
    const outcome = this.panel.answer?.about[0] ?? this.model?.last;
    const state = example ? { example: example.name } : await packText(editor.get());
    if (state === null) toast("This model is too long to be handed over.");
    else this.app.go("preimages", { ...state, outcome });
  }
}

const hint = (variable) => {
  if (!variable.root) return "Click to ask whether it was a cause.";
  return variable.range.count <= CYCLED ? "Click to change it." : "Click to set it.";
};
