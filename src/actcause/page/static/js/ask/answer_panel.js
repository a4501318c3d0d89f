// What the view Ask shows: the causal graph, a witness that is played on it, and what every definition says.
import { buildCards, eventText, buildGlossary, buildOverview } from "./answer_cards.js";
import { drawGraph, canDraw } from "./graph.js";
import { drawOnRelease } from "../shared/draw_on_release.js";
import { el, notice, put } from "../shared/ui.js";
import { buildPlayer, listSteps } from "./witness_player.js";

export class AnswerPanel {
  /**
   * `listeners` hear of clicks: onAct(variable), onHint(variable), onPlay(definition, index), onStop(), onJudge(event),
   * onSearchLonger(definition).
   */
  constructor(tools, listeners) {
    Object.assign(this, { listeners, answer: null, verdicts: null, chosen: null, drawing: null });
    this.mistake = el("div", { class: "mistake" });
    this.headline = el("h1", { class: "headline" });
    this.working = el("span", { class: "soft small busy", role: "status" });
    this.stage = el("div", { class: "stage" });
    this.player = buildPlayer((step) => this.drawing?.show({ ...this.world(), ...step }), () => listeners.onStop());
    this.said = el("div", { class: "said" });
    this.element = el(
      "div",
      { class: "seeing stack" },
      el("div", { class: "row" }, this.headline, el("span", { class: "grow" }), this.working, el("div", { class: "row copies" }, tools)),
      this.mistake,
      el("div", { class: "panel graph-panel" }, this.stage, this.player.element),
      this.said,
    );
  }

  busy(text) {
    this.working.textContent = text;
  }

  /** Say what is wrong; nothing if the message is empty. */
  showMistake(message) {
    notice(this.mistake, message, "bad");
  }

  /** What was seen before stays, faded. */
  fade() {
    this.busy("");
    this.said.classList.add("stale");
    this.stage.classList.add("stale");
  }

  drawModel(model) {
    this.drawing = canDraw(model) ? drawGraph(model, this.listeners) : null;
    const many = `${model.count} variables: too many to draw. The answers are below.`;
    put(this.stage, this.drawing?.element ?? el("p", { class: "soft", text: many }));
  }

  world() {
    const { actual, about, effect } = this.answer;
    return { actual, about, effect };
  }

  /** Show what happened and what the definitions say of it. */
  show(answer) {
    Object.assign(this, { answer, verdicts: null, chosen: null });
    this.player.clear();
    this.redraw();
    this.drawing?.show(this.world());
  }

  judge(verdicts) {
    this.verdicts = verdicts;
    this.redraw();
    this.said.querySelector(".verdict")?.scrollIntoView({ block: "nearest" });
  }

  /** Draw what is said anew, as soon as nothing of it is being clicked. */
  refresh() {
    drawOnRelease(this, () => this.redraw());
  }

  redraw() {
    const { answer, verdicts, chosen, listeners } = this;
    this.said.classList.remove("stale");
    this.stage.classList.remove("stale");
    this.headline.textContent = verdicts ? `Was ${eventText(verdicts.event)} a cause of ${answer.question}?` : `What caused ${answer.question}?`;
    const actions = {
      play: (definition, index) => listeners.onPlay(definition, index),
      ask: (event) => listeners.onJudge(event),
      playVerdict: (verdict) => this.playSteps(verdict.event, verdict.witness, verdict.title),
      longer: (definition) => listeners.onSearchLonger(definition),
    };
    const byDefinition = verdicts && Object.fromEntries(verdicts.verdicts.map((verdict) => [verdict.definition, { ...verdict, event: verdicts.event }]));
    const open = this.said.querySelector(".glossary")?.open;
    const focused = this.said.contains(document.activeElement) ? readLabel(document.activeElement) : null;
    put(
      this.said,
      answer.happened ? buildOverview(answer, answer.answers, actions) : el("p", { class: "notice note", text: explainNoCause(answer) }),
      answer.happened || verdicts ? buildCards(answer, answer.answers, byDefinition, chosen, actions) : null,
      buildGlossary(),
    );
    if (open) this.said.querySelector(".glossary").open = true;
    if (focused) [...this.said.querySelectorAll("button")].find((node) => readLabel(node) === focused)?.focus();
  }

  // -- a witness on the graph ------------------------------------------------------------------------

  /** Play a cause's witness; whether there is such a cause. */
  play(definition, index) {
    const found = this.answer.answers.find((answer) => answer.definition === definition);
    const cause = found?.causes[index];
    if (!cause) return false;
    this.chosen = `${definition}:${index}`;
    this.redraw();
    this.playSteps(cause.event, cause.witness, found.title);
    return true;
  }

  playSteps(event, witness, title) {
    this.player.play(listSteps(this.world(), event, witness), `Why ${eventText(event)}? ${title}`);
    this.stage.scrollIntoView({ block: "nearest" });
  }

  /** Back to what happened. */
  rest() {
    this.chosen = null;
    this.drawing?.show(this.world());
    this.redraw();
  }
}

const readLabel = (node) => node.getAttribute("aria-label") ?? node.textContent;

const explainNoCause = ({ actual }) => {
  const some = Object.entries(actual).slice(0, 8).map(([name, value]) => `${name}=${value}`).join(", ");
  return `Nothing caused this: the effect does not hold. Actually ${some}. Change the roots or the effect.`;
};
