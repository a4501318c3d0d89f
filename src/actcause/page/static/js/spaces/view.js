// The view All states (preimages): a state space coloured by what matters, sliders for the shares, maps to step through, and reasons.

import { get } from "../shared/api.js";
import { writeCsv } from "../shared/chart.js";
import { buildEditor } from "../shared/model_editor.js";
import { chooseLooks, assignSlots } from "./heatmap.js";
import { NewestQuestion } from "./newest_question.js";
import { packText, unpackText } from "../shared/model_link.js";
import { buildPicker } from "../shared/example_picker.js";
import { drawSavedPicture } from "./saved_picture.js";
import { drawOnRelease } from "../shared/draw_on_release.js";
import { buildViewOptions } from "./view_options.js";
import { ShareSlider } from "./share_slider.js";
import { explain } from "../shared/terms.js";
import { StateBrowser } from "./state_browser.js";
import * as report from "./partition_report.js";
import { buildFieldError, button, copy, debounce, download, el, fadeStale, field, keepNewest, markField, notice, put, savePng, spinner, toast } from "../shared/ui.js";

const FIRST = "mover-1d"; // for those who have not chosen yet: small enough to be read state by state
const COUNTED = 64; // states up to which all valid pairs are counted
// What stands in the address, besides the model itself; `at` is the state that is looked at.
const KEYS = ["example", "outcome", "as", "an", "where", "pair", "x", "y", "slice", "show", "at"];
// What is left behind when the model, or its outcome, changes.
const VIEWED = { pair: "", x: "", y: "", slice: "", show: "" };
const USUAL = { as: "0.2", an: "0.01" }; // what the guide says to start with, for a model of one's own
const QUESTION = { outcome: "", where: "", as: "", an: "", ...VIEWED };

export const view = {
  name: "preimages",
  title: "All states",
  async mount(root, state, app) {
    const shown = new Preimages(root, app, await get("/api/ask/examples"));
    await shown.open(state);
    return () => shown.close();
  },
};

class Preimages {
  constructor(root, app, examples) {
    Object.assign(this, { root, app, examples, reply: null, slots: new Map(), text: "", latestAddress: keepNewest() });
    this.pictures = new NewestQuestion("/api/preimages/picture", (reply) => drawOnRelease(this, () => this.show(reply)), (error) => this.refuse(error));
    this.reasons = new NewestQuestion("/api/preimages/why", (reply) => this.tell(reply), (error) => this.tellNothing(error.message));
    this.histograms = new NewestQuestion("/api/preimages/histogram", (reply) => this.count(reply), (error) => this.explainNoCount(error.message));
    this.picker = buildPicker(examples, (example) => this.turnTo({ example: example.name, ...QUESTION }, ""));
    this.editor = buildEditor(debounce((text) => this.handleEdit(text), 400));
    this.outcome = this.line("outcome", { list: "outcomes" }, { ...VIEWED });
    this.where = this.line("where", { placeholder: "all states" }, { pair: "" });
    this.sufficiency = new ShareSlider(
      "May be undone (share)",
      "alpha sufficiency",
      "The share of changes of all other variables that may undo the outcome.",
      ["none (weak sufficiency)", 1],
      (as) => this.change({ as, pair: "" }),
    );
    this.necessity = new ShareSlider(
      "Must undo it (share)",
      "alpha necessity",
      "The share of changes of the variables that matter that must undo it.",
      ["none (one change is enough)", 0],
      (an) => this.change({ an, pair: "" }),
    );
    this.number = el("input", { type: "number", min: 1, "aria-label": "Number of the map", on: { change: () => this.change({ pair: this.number.value }) } });
    this.mistakes = { outcome: buildFieldError(this.outcome), where: buildFieldError(this.where), pair: buildFieldError(this.number) };
    this.fields = {
      outcome: [this.outcome, this.mistakes.outcome],
      where: [this.where, this.mistakes.where],
      pair: [this.number, this.mistakes.pair],
      alpha_sufficiency: [this.sufficiency.number, this.sufficiency.error],
      alpha_necessity: [this.necessity.number, this.necessity.error],
    };
    this.stage = new StateBrowser({ onLook: () => this.explainState(), onLeaveSlice: (state) => this.keep(state) });
    this.build();
  }

  async open(state) {
    this.state = Object.fromEntries(KEYS.map((key) => [key, state[key] ?? ""]));
    this.stage.cursor = values(this.state.at);
    try {
      this.text = (await unpackText(state)) ?? "";
    } catch (error) {
      notice(this.errors, error.message, "bad");
    }
    this.redraw = () => this.draw();
    this.shortcut = (event) => this.key(event);
    this.resized = new ResizeObserver(() => {
      if (this.columns.clientWidth !== this.drawnWidth) this.draw(); // its height is what drawing makes it
    });
    this.resized.observe(this.columns);
    document.addEventListener("theme", this.redraw);
    document.addEventListener("keydown", this.shortcut);
    if (this.closed) return;
    this.introduce();
    this.ask();
  }

  /** Whether the user has left, be it before all was there. */
  get closed() {
    return !this.app.isShown();
  }

  close() {
    this.resized.disconnect();
    document.removeEventListener("theme", this.redraw);
    document.removeEventListener("keydown", this.shortcut);
    for (const question of [this.pictures, this.reasons, this.histograms]) question.stop();
  }

  // -- what the page is made of -----------------------------------------------------------------------

  build() {
    this.details = el("details", {}, el("summary", { text: "Model text" }), this.editor.element);
    this.outcomes = el("datalist", { id: "outcomes" });
    this.previous = button("◀ previous", () => this.step(-1), { title: "Key [", "aria-keyshortcuts": "[" });
    this.following = button("next ▶", () => this.step(1), { title: "Key ]", "aria-keyshortcuts": "]" });
    this.most = el("span", {});
    this.changes = el("div", { class: "changes small", "aria-live": "polite" });
    this.shape = el("div", { class: "stack" });
    this.errors = el("div", {});
    this.summary = el("div", {});
    this.story = el("p", { class: "soft" });
    this.legend = el("section", { "aria-label": "Binaries" });
    this.why = el("section", { class: "why panel", "aria-live": "polite", "aria-label": "Why this matters here" });
    this.lengths = el("section", { "aria-label": "Cost" });
    this.costs = el("section", { "aria-label": "All valid maps" });
    this.columns = el(
      "div",
      { class: "two", hidden: true },
      el("div", { class: "stack" }, this.stage.element, this.legend, this.lengths),
      el("div", { class: "stack" }, this.stage.closeup, this.why, this.costs),
    );
    put(this.summary, spinner("computing"), " Computing…");
    put(this.root, el("div", { class: "preimages" }, this.controls(), this.main()));
  }

  controls() {
    return el(
      "aside",
      { class: "panel stack", "aria-label": "What is asked" },
      this.picker.element,
      this.details,
      field("Outcome (a variable or a formula)", this.outcome, explain("outcome")),
      this.outcomes, this.mistakes.outcome,
      field("Only states in which", this.where),
      this.mistakes.where,
      this.sufficiency.element,
      this.necessity.element,
      el(
        "fieldset",
        {},
        el("legend", {}, "Best map", explain("minimal pair")),
        el("div", { class: "pairs" }, this.previous, this.following),
        el("div", { class: "row" }, "map", this.number, this.most),
        this.mistakes.pair,
        this.changes,
      ),
      this.shape,
      el(
        "div",
        { class: "row small" },
        button("Copy link", () => this.copyLink()),
        button("Copy command", () => this.copyCommand()),
        button("PNG", () => this.savePicture(), { title: "Save the picture" }),
        button("CSV", () => this.saveCsv(), { title: "Save the table, or what matters where" }),
      ),
    );
  }

  main() {
    return el(
      "section",
      { class: "stack", "aria-label": "The state space" },
      this.errors,
      el("div", {}, this.summary, this.story),
      this.columns,
    );
  }

  /** A line of text that is part of the question. */
  line(key, properties, reset) {
    const input = el("input", {
      type: "text",
      autocomplete: "off",
      maxlength: 2000,
      ...properties,
      on: { change: () => this.change({ ...reset, [key]: input.value.trim() }) },
    });
    return input;
  }

  // -- asking -----------------------------------------------------------------------------------------

  /** Change some of the question, or with `text` the model, and ask anew. */
  change(some, text = this.text) {
    Object.assign(this.state, some);
    this.text = text;
    this.ask();
  }

  handleEdit(text) {
    if (text === (this.text || textOf(this.example))) return;
    this.turnTo({ example: "", ...VIEWED, ...(this.text ? {} : USUAL) }, text); // those of an example are its own
  }

  /** Ask about another model. */
  turnTo(some, text) {
    this.stage.cursor = null;
    this.change(some, text);
  }

  /** The question itself, which every request has. */
  question() {
    const { example, outcome, where, as, an, pair } = this.state;
    return {
      example: this.text ? null : example || FIRST,
      text: this.text || null,
      outcome: outcome || null,
      where: where || null,
      alpha_sufficiency: as || null,
      alpha_necessity: an || null,
      pair: /^[1-9]\d{0,8}$/.test(pair) ? Number(pair) : 1,
    };
  }

  ask() {
    const { x, y, slice, show } = this.state;
    this.remember();
    this.reasons.stop(); // they are those of the picture that is being replaced
    for (const part of [this.stage.element, this.why]) part.setAttribute("aria-busy", "true");
    this.markStale(true, this.costs);
    this.pictures.ask({
      ...this.question(),
      axes: [x, y].filter(Boolean),
      held: values(slice) ?? {},
      show: ["picture", "table"].includes(show) ? show : "auto",
      context: this.stage.cursor,
    });
    this.explained = this.stage.cursor;
  }

  /** What the address says; null if the model is too long for one. */
  async address() {
    const at = this.stage.cursor ? formatAssignment(this.stage.cursor) : "";
    const model = this.text ? await packText(this.text) : {};
    return model && { ...this.state, ...model, at };
  }

  async remember() {
    const state = await this.latestAddress(() => this.address()); // a long text is packed while the next is written
    if (state !== undefined && !this.closed) this.app.remember(state ?? {});
  }

  step(by) {
    if (!this.reply) return;
    const next = Math.min(Math.max(this.reply.pair + by, 1), this.reply.pairs);
    if (next !== this.reply.pair) this.change({ pair: String(next) });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.target.matches("input:not([type=range]), textarea, select")) return;
    if (event.key === "[") this.step(-1);
    else if (event.key === "]") this.step(1);
  }

  // -- answers ----------------------------------------------------------------------------------------

  /** What is seen is not, or is again, the answer to what is asked; the number of maps comes after the rest. */
  markStale(stale, ...more) {
    for (const part of [this.summary, this.legend, this.lengths, ...more]) fadeStale(part, stale);
  }

  /** Say what is wrong beside the field that is to blame; above the answer what no field is. */
  refuse(error) {
    for (const part of [this.stage.element, this.why]) part.removeAttribute("aria-busy");
    this.root.classList.add("outdated");
    this.columns.setAttribute("aria-disabled", "true");
    for (const [name, [control, place]] of Object.entries(this.fields)) markField(control, place, name === error.parameter ? error.message : "");
    this.editor.mark(error.line, error.line ? error.message : "");
    if (error.line) this.details.open = true;
    const told = error.line || Object.hasOwn(this.fields, error.parameter ?? "");
    const what = error.line ? "There is a mistake in the model text." : "What is asked for cannot be: the field that is marked says why.";
    notice(this.errors, told ? what : error.message, told ? "warn" : "bad");
    if (this.reply) return;
    put(this.summary);
    this.introduce();
  }

  /** The example that is asked about, if it is one. */
  get example() {
    const name = this.state.example || FIRST;
    return this.text ? null : this.examples.find((example) => example.name === name);
  }

  show(reply) {
    if (this.closed) return;
    if (!this.reply || this.reply.text !== reply.text || this.reply.outcome !== reply.outcome) this.slots.clear();
    this.reply = reply;
    notice(this.errors, "");
    this.root.classList.remove("outdated");
    this.columns.removeAttribute("aria-disabled");
    this.markStale(false);
    this.stage.element.removeAttribute("aria-busy");
    assignSlots(this.slots, reply);
    this.introduce();
    this.fillControls();
    this.fillShape();
    this.columns.hidden = false;
    put(this.summary, report.buildSummary(reply));
    this.draw();
    // The reply explains the state that was looked at when it was asked for, if that is still shown.
    if (reply.why && this.stage.cursor === this.explained && this.stage.single) this.tell(reply.why);
    else this.explainState();
    if (reply.states <= COUNTED) this.histograms.ask({ ...this.question(), pair: 1 });
    else this.explainNoCount(`They are counted for up to ${COUNTED} states.`);
  }

  /** Everything that has colours or a width. */
  draw() {
    const { reply } = this;
    if (!reply) return;
    this.drawnWidth = this.columns.clientWidth;
    const look = chooseLooks(reply.legend, this.slots);
    if (this.stage.reply === reply) this.stage.draw(look);
    else this.stage.show(reply, look);
    put(this.legend, report.buildLegend(reply, look, (one) => this.stage.seek(one)));
    put(this.lengths, report.buildLengths(reply, this.lengths.clientWidth));
  }

  introduce() {
    const { example } = this;
    this.picker.show(example);
    this.story.textContent = example?.story ?? "";
    if (document.activeElement !== this.editor.area) this.editor.set(this.text || textOf(example));
    if (this.reply) return;
    // Nothing is answered yet: what the address asks for is shown, so that it can be put right if it is wrong.
    this.outcome.value = this.state.outcome || (example?.outcome ?? "");
    this.where.value = this.state.where;
    this.number.value = this.state.pair || 1;
    this.sufficiency.write(this.state.as || (example?.alpha_sufficiency ?? "none"));
    this.necessity.write(this.state.an || (example?.alpha_necessity ?? "none"));
  }

  fillControls() {
    const { reply } = this;
    const unless = (control, value) => {
      if (document.activeElement !== control) control.value = value;
    };
    for (const [control, place] of Object.values(this.fields)) markField(control, place, "");
    this.editor.mark(null, "");
    unless(this.outcome, reply.outcome);
    unless(this.where, reply.where);
    put(this.outcomes, reply.outcomes.map((name) => el("option", { value: name })));
    this.sufficiency.show(reply.alpha_sufficiency);
    this.necessity.show(reply.alpha_necessity);
    this.number.value = reply.pair;
    this.number.max = reply.pairs;
    this.previous.disabled = reply.pair <= 1;
    this.following.disabled = reply.pair >= reply.pairs;
    const all = reply.count === report.formatCount(reply.pairs);
    put(this.most, "of ", report.showPowers(reply.count), all ? "" : ` (up to ${report.formatCount(reply.pairs)} here)`);
    put(this.changes, report.buildChanges(reply, (state) => this.stage.go(state)));
  }

  fillShape() {
    const held = this.shape.contains(document.activeElement) ? document.activeElement.id : null;
    put(this.shape, buildViewOptions(this.reply, { onChange: (some) => this.change(some), onKeep: (state) => this.keep(state) }));
    if (held) document.getElementById(held)?.focus();
  }

  /** Show the slice in which the roots that are no axes have these values. */
  keep(state) {
    const [x, y = ""] = this.reply.axes;
    const kept = Object.fromEntries(Object.keys(this.reply.held).map((name) => [name, state[name]]));
    this.change({ x, y, slice: formatAssignment(kept) });
  }

  // -- one state --------------------------------------------------------------------------------------

  explainState() {
    const { state, single } = this.stage;
    this.remember();
    if (!state) this.tellNothing("There is no state in this slice; choose other values for it.");
    else if (!single) this.tellNothing("A cell stands for several states here; a restriction shows single ones.");
    else {
      this.why.setAttribute("aria-busy", "true");
      this.reasons.ask({ ...this.question(), context: state });
    }
  }

  tell(reply) {
    this.why.removeAttribute("aria-busy");
    put(this.why, report.buildReasons(reply, (state) => this.stage.go(state)));
  }

  tellNothing(sentence) {
    this.reasons.stop();
    this.why.removeAttribute("aria-busy");
    put(this.why, el("p", { class: "soft", text: sentence }));
  }

  count(reply) {
    fadeStale(this.costs, false);
    put(this.costs, report.buildCosts(reply, this.costs.clientWidth));
  }

  explainNoCount(sentence) {
    fadeStale(this.costs, false);
    put(this.costs, report.explainNoCosts(sentence));
  }

  // -- taking it along --------------------------------------------------------------------------------

  async copyLink() {
    const state = await this.address();
    if (state) await copy(this.app.link("preimages", state), "The link to this picture is copied.");
    else toast("This model is too long for a link; copy the command instead.");
  }

  async copyCommand() {
    if (!this.reply) return;
    await copy(report.writeCommand(this.reply, this.example?.name ?? "model.txt"), "The command is copied.");
  }

  savePicture() {
    const { grid, overview, looks: look } = this.stage;
    if (grid) savePng(drawSavedPicture(overview.picture, this.reply, look), "preimages.png");
    else if (this.reply) savePng(this.lengths.querySelector("svg"), "preimages-cost.png");
  }

  saveCsv() {
    const { table, legend, outcome } = this.reply ?? {};
    if (!legend) return;
    const binaries = new Map(legend.map((one) => [one.code, one.binary]));
    const text = table
      ? writeCsv([...table.columns, outcome, "binary"], table.rows.map((row) => [...row.values, row.outcome, binaries.get(row.code)]))
      : writeCsv(["binary", "variables", "length", "states"], legend.map((one) => [one.binary, one.names.join(" "), one.length, one.states]));
    download("preimages.csv", text);
  }
}

/** The text of an example's model; of one with time, that of all its steps. */
const textOf = (example) => example?.unrolled ?? example?.text ?? "";

/** "P=1,X=2" as an object; null if it is nothing of the kind. */
function values(text) {
  const pairs = (text ?? "").split(",").map((part) => part.match(/^\s*(.+)=(-?\d{1,15})\s*$/));
  return pairs.every(Boolean) ? Object.fromEntries(pairs.map(([, name, value]) => [name.trim(), Number(value)])) : null;
}

const formatAssignment = (assignment) => Object.entries(assignment).map(([name, value]) => `${name}=${value}`).join(",");
