// What the view Ask shows: the verdict, the causal graph, a witness that is played on it, and what every definition says.
import { buildCards, buildOverview } from "./answer_cards.js";
import { drawGraph, canDraw } from "./graph.js";
import { drawOnRelease } from "../shared/draw_on_release.js";
import { button, el, fadeStale, notice, put } from "../shared/ui.js";
import { buildVerdictLine, eventText, sumUp, sumUpVerdicts } from "./verdict_line.js";
import { buildPlayer, listSteps } from "./witness_player.js";

export class AnswerPanel {
  /**
   * `listeners` hear of clicks: onAct(variable), onHint(variable, isEffect), onPlay(definition, index), onStop(),
   * onJudge(event), onSearchLonger(definition), onAsk(effect), onRetry().
   */
  constructor(tools, further, listeners) {
    Object.assign(this, { listeners, answer: null, verdicts: null, chosen: null, drawing: null, step: null, opened: new Set(), model: null });
    this.mistake = el("div", { class: "mistake" });
    this.headline = el("h1", { class: "headline" });
    this.working = el("span", { class: "soft small busy", role: "status" });
    this.inForce = el("div", { class: "row in-force" });
    this.verdict = el("div", { class: "verdict-line", "aria-live": "polite" });
    this.stage = el("div", { class: "stage" });
    this.player = buildPlayer((step) => this.showStep(step), () => listeners.onStop());
    this.said = el("div", { class: "said" });
    this.element = el(
      "div",
      { class: "seeing stack" },
      el("div", { class: "row" }, this.headline, el("span", { class: "grow" }), this.working, el("div", { class: "row copies" }, tools)),
      this.mistake,
      this.verdict,
      this.inForce,
      el("div", { class: "panel graph-panel" }, this.stage, this.player.element),
      this.said,
      further,
    );
  }

  busy(text) {
    this.working.textContent = text;
  }

  /** Say what is wrong; nothing if the message is empty. `again` for what another try may mend. */
  showMistake(message, again = false) {
    notice(this.mistake, message, "bad");
    if (message && again) this.mistake.firstChild.append(" ", button("Try again", () => this.listeners.onRetry(), { class: "small" }));
  }

  /** What was seen before stays, faded: it is not the answer to what is asked now. */
  fade() {
    this.busy("");
    this.markStale(true);
  }

  markStale(stale) {
    for (const part of [this.headline, this.verdict, this.stage, this.said]) fadeStale(part, stale);
    this.element.setAttribute("aria-busy", String(stale));
  }

  /** What is asked otherwise than by default. */
  showDepartures(departures) {
    put(this.inForce, departures.map(({ said, clear }) => button(`${said} ✕`, clear, { class: "small chip", title: "Take this back", "aria-label": `${said}: take this back` })));
  }

  async drawModel(model) {
    this.model = model;
    this.labels = new Map(model.variables.filter(({ label }) => label).map(({ name, label }) => [name, label]));
    this.step = null;
    this.drawing?.close();
    this.drawing = null;
    if (!canDraw(model)) {
      put(this.stage, el("p", { class: "soft", text: `${model.count} variables: too many to draw. The answers are below.` }));
      return;
    }
    if (model.count > 60) put(this.stage, el("p", { class: "soft", role: "status", text: `Drawing ${model.count} variables …` }));
    let drawing;
    try {
      drawing = await drawGraph(model, this.listeners);
    } catch (error) {
      put(this.stage, el("p", { class: "soft", text: error.message }));
      return;
    }
    if (!drawing || this.model !== model) return;
    this.drawing = drawing;
    put(this.stage, drawing.element);
    if (this.answer) drawing.show({ ...this.world(), ...this.step });
  }

  world() {
    const { actual, about, effect } = this.answer;
    return { actual, about, effect };
  }

  /** Show what happened and what the definitions say of it. */
  show(answer) {
    Object.assign(this, { answer, verdicts: null, chosen: null, step: null });
    this.player.clear();
    this.redraw();
    this.drawing?.show(this.world());
  }

  judge(verdicts) {
    this.verdicts = verdicts;
    this.redraw();
    if (verdicts) this.headline.scrollIntoView({ block: "nearest" });
  }

  /** Draw what is said anew, as soon as nothing of it is being clicked. */
  refresh() {
    drawOnRelease(this, () => this.redraw());
  }

  /** Show or hide the reasons of a definition; of all, if it is null. */
  toggle(definition, open = !this.opened.has(definition)) {
    const names = definition === null ? this.answer.answers.map((answer) => answer.definition) : [definition];
    for (const name of names) if (open) this.opened.add(name); else this.opened.delete(name);
    this.redraw();
    if (open && definition !== null) this.said.querySelector(`.card[data-definition="${definition}"]`)?.scrollIntoView({ block: "nearest" });
  }

  redraw() {
    const { answer, verdicts, chosen, listeners, labels, opened } = this;
    this.markStale(false);
    this.headline.textContent = verdicts ? `Was ${eventText(verdicts.event)} a cause of ${answer.question}?` : `What caused ${answer.question}?`;
    const summary = sumUp(answer, labels, new Set(this.model.roots));
    put(this.verdict, buildVerdictLine(verdicts ? sumUpVerdicts(verdicts, labels) : summary));
    const actions = {
      play: (definition, index) => listeners.onPlay(definition, index),
      ask: (event) => listeners.onJudge(event),
      playVerdict: (verdict) => this.playSteps(verdict.event, verdict.witness, verdict.title),
      longer: (definition) => listeners.onSearchLonger(definition),
      toggle: (definition, open) => this.toggle(definition, open),
      labels,
    };
    const byDefinition = verdicts && Object.fromEntries(verdicts.verdicts.map((verdict) => [verdict.definition, { ...verdict, event: verdicts.event }]));
    const focused = this.said.contains(document.activeElement) ? readLabel(document.activeElement) : null;
    const shown = answer.happened || verdicts;
    put(
      this.said,
      !answer.happened && this.explainNoCause(answer),
      shown && buildOverview({ ...answer, told: summary.names }, answer.answers, byDefinition, opened, actions),
      shown && buildCards(answer, answer.answers, byDefinition, opened, chosen, actions),
    );
    if (focused) [...this.said.querySelectorAll("button")].find((node) => readLabel(node) === focused)?.focus();
  }

  explainNoCause({ actual, about }) {
    const some = Object.entries(actual).slice(0, 8).map(([name, value]) => `${name}=${value}`).join(", ");
    const [name] = about;
    const instead = about.length === 1 && actual[name] !== undefined ? `${name} == ${actual[name]}` : null;
    return el(
      "p",
      { class: "notice note" },
      `Actually ${some}. Change what was the case, or the effect. `,
      instead && button(`Ask about ${instead}`, () => this.listeners.onAsk(instead), { class: "small" }),
    );
  }

  // -- a witness on the graph ------------------------------------------------------------------------

  /** Play a cause's witness; whether there is such a cause. */
  play(definition, index) {
    const found = this.answer.answers.find((answer) => answer.definition === definition);
    const cause = found?.causes[index];
    if (!cause) return false;
    this.chosen = `${definition}:${index}`;
    this.opened.add(definition);
    this.redraw();
    this.playSteps(cause.event, cause.witness, found.title);
    return true;
  }

  playSteps(event, witness, title) {
    this.player.play(listSteps(this.world(), event, witness), `Why ${eventText(event)}? ${title}`);
    this.stage.parentElement.scrollIntoView({ block: "nearest" }); // the step in words is below the graph
  }

  /** One step of a witness: what it is about is in sight. */
  showStep(step) {
    this.step = step;
    this.drawing?.show({ ...this.world(), ...step });
    this.drawing?.follow(step.news);
  }

  /** Back to what happened. */
  rest() {
    this.chosen = null;
    this.step = null;
    this.drawing?.show(this.world());
    this.redraw();
  }
}

const readLabel = (node) => node.getAttribute("aria-label") ?? node.textContent;
