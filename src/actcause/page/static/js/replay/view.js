// Replay: an episode plays, with arrows from what caused the outcome, true and found.
import { hasEnded, get, post, remove, watch } from "../shared/api.js";
import { drawChain } from "./chain_drawing.js";
import { drawLocalGraph, listGraph } from "./local_graph.js";
import { paint } from "./scene.js";
import { buildFactorTable, formatPercent, buildPredictionTable, describeStep } from "./step_tables.js";
import { isEventful, measureHeight, paintTimeline, listRows } from "./timeline.js";
import { explain } from "../shared/terms.js";
import { button, debounce, el, fadeStale, field, keepNewest, notice, put, savePng, spinner, prefersStillness } from "../shared/ui.js";

const FIRST = "push"; // what is shown to who has chosen nothing
const FRAMES = 2000;
const SPEEDS = [0.5, 1, 2, 4, 8, 16]; // steps a second
const REST = 1.2; // seconds that the last step is shown before the episode begins again

/** Whether a run's names are those of a recording. */
export function fitsLayout(run, layout) {
  const plain = (one) => JSON.stringify([
    one.factors, one.factors.map((factor) => one.features[factor]), one.own, one.outcome_factor, one.outcome_features,
  ]);
  return Boolean(layout && run.layout?.factors) && plain(run.layout) === plain(layout);
}

/** Whether a run of all outcomes is of the factors and outcomes of a source of whole states. */
function fitsWhole(run, source) {
  const plain = (one, outcomes) => JSON.stringify([one.factors, one.factors.map((factor) => one.features[factor]), outcomes]);
  return Boolean(run.graphs?.factors && source?.outcomes && source.layout)
    && plain(run.graphs, run.graphs.outcomes) === plain(source.layout, source.outcomes);
}

/** The event in an address such as block@17, or nothing. */
function parseEvent(text) {
  const found = /^(.{1,200})@([1-9]\d{0,8})$/.exec(text ?? "");
  return found && { factor: found[1], step: Number(found[2]) - 1 };
}

/** The position of the episode with a number that someone wrote, -1 if it can have none. */
const parseNumber = (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) - 1 : -1);

/** What a run says of all rows: how often it is unsure, where it can be, and how often wrong, where that is known. */
function describeJudged(run, { error, unsure }) {
  const doubt = unsure === null ? "has judged every row" : `is unsure about ${formatPercent(unsure)} of the rows`;
  const known = error === null ? "" : ` It is wrong in ${formatPercent(error)} of the answers about these rows.`;
  return `${run} ${doubt}.${known}`;
}

export const view = {
  name: "replay",
  title: "Replay",
  async mount(root, state, app) {
    const replay = new Replay(root, state, app);
    await replay.begin();
    return () => replay.end();
  },
};

class Replay {
  constructor(root, state, app) {
    this.app = app;
    this.source = state.file ? { file: state.file } : { domain: state.domain ?? FIRST };
    this.seed = Number.parseInt(state.seed ?? "1", 10) || 0;
    this.run = state.run ?? "";
    this.outcome = state.outcome ?? "";
    this.event = parseEvent(state.event);
    this.hindsight = state.hindsight === "1";
    this.at = state.episode === undefined ? null : parseNumber(state.episode);
    this.step = Math.max(Number.parseInt(state.step ?? "1", 10) - 1 || 0, 0);
    this.share = 0;
    this.speed = SPEEDS.includes(Number(state.speed)) ? Number(state.speed) : 2;
    this.playing = !prefersStillness() && state.step === undefined;
    this.episode = null;
    this.latest = keepNewest();
    this.latestChain = keepNewest();
    this.remember = debounce(() => this.writeAddress(), 300);
    this.build(root);
  }

  // -- what is on the page ------------------------------------------------------------------------

  build(root) {
    this.sources = el("select", { on: { change: () => this.choose(this.sources.value) } });
    this.runs = el("select", { on: { change: () => this.judge(this.runs.value) } });
    this.judged = el(
      "select",
      { on: { change: () => this.judge(this.run, this.judged.value === "1") } },
      el("option", { value: "0", text: "from the state alone" }),
      el("option", { value: "1", text: "knowing the outcome" }),
    );
    this.outcomes = el("select", { on: { change: () => this.view(this.outcomes.value) } });
    this.outcomeField = field("Outcome", this.outcomes, explain("outcome"));
    this.anew = button("Record anew", () => this.record(), { title: "Record other episodes, with another seed" });
    this.judgedField = field("Judged", this.judged, explain("hindsight"));
    this.note = el("div", { class: "replay-note" });
    this.canvas = el("canvas", { class: "replay-canvas", role: "img", "aria-label": "No episode is shown yet" });
    this.strip = el("canvas", { class: "replay-strip", role: "img", "aria-label": "Causes of each step" });
    this.play = button("", () => this.toggle(), { class: "main", "aria-label": "Play or pause", title: "Space" });
    this.slider = el("input", {
      type: "range", min: 1, "aria-label": "Step", class: "grow", on: { input: () => this.seek(Number(this.slider.value) - 1) },
    });
    this.place = el("output", { class: "replay-place" });
    this.number = el("input", {
      type: "number", min: 1, "aria-label": "Episode", on: { change: () => this.load(parseNumber(this.number.value)) },
    });
    this.count = el("span", { class: "soft" });
    this.speeds = el(
      "select",
      { "aria-label": "Speed", on: { change: () => this.pace(Number(this.speeds.value)) } },
      SPEEDS.map((speed) => el("option", { value: speed, text: `${speed} steps/s` })),
    );
    this.speeds.value = String(this.speed);
    this.legend = el("div", { class: "replay-legend row small" });
    this.said = el("p", { class: "replay-said" });
    this.factors = el("div");
    this.next = el("span");
    this.predictions = el("div");
    this.predicted = el("div", { hidden: true }, el("h3", {}, this.next, explain("left out")), this.predictions);
    this.graph = el("div");
    this.acts = el("div");
    this.graphed = el("div", { hidden: true }, el("h3", {}, "Who caused what", explain("local graph")), this.graph,
      el("p", { class: "soft small", text: "Click what became of a factor to trace it back to the actions behind it." }), this.acts);
    this.chain = el("section", { class: "panel stack replay-chain", "aria-label": "Chain", hidden: true });
    const small = (label, action, title) => button(label, action, { title, "aria-label": title });
    root.append(
      el("h1", { text: "Replay", class: "spoken" }),
      el(
        "div",
        { class: "row replay-choice" },
        field("Recording or domain", this.sources, explain("recording")),
        field("Causes found by", this.runs, explain("run")),
        this.judgedField,
        this.outcomeField,
        el(
          "div",
          { class: "field", role: "group", "aria-label": "Episode" },
          el("span", {}, "Episode", explain("episode")),
          el(
            "div",
            { class: "row replay-episode" },
            small("◂", () => this.turn(-1), "Previous episode"),
            this.number,
            this.count,
            small("▸", () => this.turn(1), "Next episode"),
            this.anew,
          ),
        ),
      ),
      this.note,
      (this.parts = el(
        "div",
        { class: "replay-parts" },
        el(
          "section",
          { class: "stack", "aria-label": "Episode" },
          this.canvas,
          this.legend,
          el(
            "div",
            { class: "row replay-transport" },
            small("|◂", () => this.seek(0), "To the first step (Home)"),
            small("◂", () => this.move(-1), "One step back (left arrow)"),
            this.play,
            small("▸", () => this.move(1), "One step on (right arrow)"),
            small("Next event", () => this.jump(), "Next event: to the next step in which a factor acts (n)"),
            this.slider,
            this.place,
          ),
          this.strip,
          el(
            "div",
            { class: "row" },
            this.speeds,
            button("Save picture", () => savePng(this.canvas, "episode.png"), { title: "Save the picture as PNG" }),
            el("span", { class: "soft small keys" }, el("kbd", { text: "Space" }), " play ", el("kbd", { text: "← →" }),
              " step ", el("kbd", { text: "n" }), " next event"),
          ),
        ),
        el(
          "section",
          { class: "panel stack", "aria-label": "This step" },
          el("h2", { text: "This step" }),
          this.said,
          this.factors,
          this.graphed,
          this.predicted,
        ),
      )),
      this.chain,
    );
    this.strip.addEventListener("pointerdown", (event) => {
      if (this.stepAt) this.seek(this.stepAt(event.offsetX));
    });
    this.keys = (event) => this.handleKey(event);
    this.redraw = () => this.draw();
    addEventListener("keydown", this.keys);
    document.addEventListener("theme", this.redraw);
    this.resized = new ResizeObserver(this.redraw);
    this.resized.observe(this.canvas);
    this.resized.observe(this.strip);
  }

  async begin() {
    try {
      this.known = await get("/api/replay/sources");
    } catch (error) {
      this.end(); // which the page would ask for only once the view is there
      throw error;
    }
    const usable = this.known.recordings.filter((one) => one.layout);
    put(
      this.sources,
      el("optgroup", { label: "Domains, recorded on the spot" }, this.known.domains.map(({ name, title }) =>
        el("option", { value: `domain:${name}`, text: name === title ? name : `${name} · ${title}` }))),
      usable.length > 0 && el("optgroup", { label: "Recordings" }, usable.map(({ name }) =>
        el("option", { value: `file:${name}`, text: name }))),
    );
    this.sources.value = this.source.file ? `file:${this.source.file}` : `domain:${this.source.domain}`;
    if (!this.sources.value) {
      notice(this.note, "There is no such recording or domain; here is an episode of push instead.", "warn");
      this.source = { domain: FIRST };
      this.sources.value = `domain:${FIRST}`;
    }
    const wanted = this.run;
    this.offerRuns();
    if (wanted !== this.run) notice(this.note, `There is no run '${wanted}' that fits; here is the episode without it.`, "warn");
    this.tick(performance.now());
    if (this.run) await this.judge(this.run, this.hindsight, this.at);
    else await this.load(this.at);
  }

  end() {
    this.over = true;
    cancelAnimationFrame(this.frame);
    this.stopWatching?.();
    this.remember.cancel();
    this.resized.disconnect();
    removeEventListener("keydown", this.keys);
    document.removeEventListener("theme", this.redraw);
  }

  // -- what is chosen -----------------------------------------------------------------------------

  about() {
    const { file, domain } = this.source;
    const listed = file ? this.known.recordings : this.known.domains;
    return listed.find((one) => one.name === (file ?? domain));
  }

  /** Of whole states: whose view is shown, the source's own by default. */
  offerOutcomes() {
    const about = this.about();
    const own = about?.layout?.outcome_factor;
    if (!about?.outcomes?.includes(this.outcome)) this.outcome = own ?? "";
    put(this.outcomes, (about?.outcomes ?? []).map((name) => el("option", { value: name, text: name })));
    this.outcomes.value = this.outcome;
    this.outcomeField.hidden = (about?.outcomes ?? []).length < 2;
  }

  offerRuns() {
    this.offerOutcomes();
    const about = this.about();
    const first = this.outcome === about?.layout?.outcome_factor;
    const fitting = this.known.runs.filter((run) => fitsWhole(run, about) || ((first || !about?.outcomes) && fitsLayout(run, about?.layout)));
    if (!fitting.some((run) => run.name === this.run)) this.run = "";
    put(
      this.runs,
      el("option", { value: "", text: fitting.length ? "no run chosen" : "no run fits this" }),
      fitting.map((run) => el("option", { value: run.name, text: `${run.name} (${run.method})` })),
    );
    this.runs.value = this.run;
    this.runs.disabled = fitting.length === 0;
    this.judgedField.hidden = this.run === "";
    this.judged.value = this.hindsight ? "1" : "0";
    this.anew.hidden = Boolean(this.source.file);
  }

  async choose(value) {
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    this.source = kind === "file" ? { file: name } : { domain: name };
    this.stopWatching?.();
    this.run = "";
    this.outcome = "";
    this.event = null;
    this.judgedYet = false;
    this.offerRuns();
    notice(this.note, "");
    await this.load(null);
  }

  /** Show another outcome of whole states; a run of one outcome alone is let go. */
  async view(outcome) {
    this.outcome = outcome;
    const run = this.run;
    this.offerRuns();
    if (run && run !== this.run) await this.judge("");
    else await this.load(this.at, true);
  }

  record() {
    this.seed += 1;
    return this.run ? this.judge(this.run) : this.load(null);
  }

  /** What is asked for; a domain's parameters are those that the run was trained in. */
  describeSource() {
    if (this.source.file) return { file: this.source.file };
    const trained = this.known.runs.find((run) => run.name === this.run)?.source;
    return { ...this.source, seed: this.seed, draw: trained?.draw ?? 0, frames: FRAMES };
  }

  /** Have a run judge the rows, and show the episode when it has. */
  async judge(run, hindsight = this.hindsight, at = null) {
    this.stopWatching?.();
    Object.assign(this, { run, hindsight, judgedYet: false });
    this.offerRuns();
    notice(this.note, "");
    if (!run) {
      await this.load(this.at);
      return;
    }
    try {
      const asked = { source: this.describeSource(), run, hindsight };
      const { ready, job } = await post("/api/replay/explain", asked);
      this.judgedYet = ready;
      if (!ready) this.wait(job, at);
      await this.load(at);
    } catch (error) {
      notice(this.note, error.message, "bad");
    }
  }

  wait(job, at) {
    const bar = el("progress", { max: 1, "aria-label": "Rows judged" });
    const cancel = button("Cancel", () => remove(`/api/jobs/${job}`));
    put(this.note, el("div", { class: "notice note row" }, spinner(), `${this.run} judges the rows …`, bar, cancel));
    this.stopWatching = watch(job, async (found) => {
      if (typeof found.progress?.share === "number") bar.value = found.progress.share;
      if (!hasEnded(found)) return;
      if (found.state === "done") {
        notice(this.note, describeJudged(this.run, found.result), "good");
        this.judgedYet = true;
        await this.load(this.at, true);
      } else {
        this.run = "";
        this.judgedYet = false;
        this.offerRuns();
        notice(this.note, found.error, found.state === "cancelled" ? "warn" : "bad");
        await this.load(this.at, true);
      }
    });
  }

  /** To the episode before or after this one, if there is one. */
  turn(by) {
    const at = this.at + by;
    if (this.episode && at >= 0 && at < this.episode.episodes) this.load(at);
  }

  /** Show the episode at a position; until the run has judged the rows, without what it found. */
  async load(at, stay = false) {
    const outcome = this.about()?.outcomes ? this.outcome : null;
    const source = this.describeSource();
    const body = { source, run: this.judgedYet ? this.run : null, hindsight: this.hindsight, at, outcome };
    this.markStale(true);
    try {
      const episode = await this.latest(() => post("/api/replay/episode", body));
      if (!episode || this.over) return;
      if (this.note.querySelector(".bad")) notice(this.note, "");
      this.asked = JSON.stringify(source);
      this.markStale(false);
      this.show(episode, stay);
    } catch (error) {
      this.markStale(this.asked !== JSON.stringify(source)); // else the episode of before is still the right one
      if (this.episode) this.number.value = this.at + 1;
      else if (at !== null) await this.load(null); // a wrong number in the address
      notice(this.note, error.message, "bad");
    }
  }

  /** What is seen, if anything, is not the episode that is asked for: it fades unless another comes at once. */
  markStale(stale) {
    for (const part of [this.parts, this.chain]) fadeStale(part, stale && this.episode !== null);
    this.parts.setAttribute("aria-busy", String(stale));
  }

  show(episode, stay) {
    const kept = stay || this.episode === null;
    this.episode = episode;
    this.at = episode.at;
    this.seek(kept ? Math.min(this.step, episode.steps - 1) : 0, false);
    this.number.value = episode.at + 1;
    this.number.max = episode.episodes;
    put(this.count, `of ${episode.episodes.toLocaleString("en")}${episode.named ? "" : " (blocks of 100 rows)"}`);
    this.slider.max = episode.steps;
    this.strip.style.setProperty("height", `${measureHeight(episode)}px`);
    this.strip.hidden = listRows(episode).length === 0 || (!episode.cause && !episode.found);
    const key = (name, text) => el("span", { class: "row" }, el("span", { class: `key ${name}`, "aria-hidden": "true" }), text);
    put(
      this.legend,
      episode.cause ? key("true", "true cause (solid, ■)") : el("span", { class: "soft", text: "True causes are not known." }),
      episode.found && key("found", "found cause (dashed, ○)"),
      episode.steps < episode.length && el("span", { class: "soft", text: `the first ${episode.steps} of ${episode.length} steps` }),
    );
    if (!episode.graph) this.event = null;
    this.draw();
    this.remember();
    this.trace(this.event);
  }

  // -- the chain behind an event --------------------------------------------------------------------

  /** Ask for the chain behind what became of a factor at a step; by the run's graphs where there are any. */
  async trace(event) {
    this.event = event;
    if (!event) {
      this.chain.hidden = true;
      return;
    }
    const by = this.episode.graph.found ? "found" : "cause";
    const asked = {
      source: this.describeSource(), run: this.judgedYet ? this.run : null, hindsight: this.hindsight, at: this.at,
      outcome: this.outcome || null, ...event, by: this.chainBy ?? by,
    };
    if (asked.by === "found" && !this.episode.graph.found) asked.by = "cause";
    fadeStale(this.chain, true); // until it is that of this event
    try {
      const chain = await this.latestChain(() => post("/api/replay/chain", asked));
      if (!chain || this.over || this.event !== event) return;
      this.traced = chain;
      fadeStale(this.chain, false);
      this.showChain();
    } catch (error) {
      fadeStale(this.chain, false);
      this.chain.hidden = false;
      put(this.chain, el("h2", { text: "Chain" }), el("p", { class: "notice bad", role: "alert", text: error.message }));
    }
  }

  showChain() {
    const chain = this.traced;
    const { graph } = this.episode;
    const both = graph.cause && graph.found;
    const choice = both && el(
      "select",
      { "aria-label": "Graphs of the chain", on: { change: () => { this.chainBy = choice.value; this.trace(this.event); } } },
      el("option", { value: "cause", text: "by true graphs" }),
      el("option", { value: "found", text: `by graphs of ${this.run}` }),
    );
    if (both) choice.value = chain.by;
    this.chain.hidden = false;
    const room = el("div", { class: "replay-chain-room", tabindex: 0, role: "group", "aria-label": "The chain over the episode" });
    put(
      this.chain,
      el("div", { class: "row" }, el("h2", {}, `Why ${chain.factor} at step ${chain.step}?`, explain("chain")), choice,
        button("Close", () => { this.trace(null); this.remember(); this.draw(); }, { title: "Close the chain" })),
      el("div", { class: "replay-chain-said" }, chain.sentence.split("\n").map((line) => el("p", { text: line }))),
      room,
      el("p", { class: "soft small", text: "■ what was done, ● what a factor was, the large ● what is explained; a thick line: a factor by itself; a blue one: caused by another. Click a column to go to its step." }),
    );
    this.chainRoom = room;
    this.drawChain();
  }

  drawChain() {
    if (!this.event || !this.traced || !this.chainRoom) return;
    put(this.chainRoom, drawChain(this.traced, this.chainRoom.clientWidth, this.step + 1, (step) => this.seek(step - 1)));
  }

  // -- time ---------------------------------------------------------------------------------------

  tick(now) {
    if (this.over) return;
    const passed = Math.min((now - (this.before ?? now)) / 1000, 0.25);
    this.before = now;
    if (this.playing && this.episode) {
      this.share += passed * this.speed;
      const last = this.step >= this.episode.steps - 1;
      if (last && this.share >= Math.max(1, REST * this.speed)) this.seek(0, false);
      else if (!last && this.share >= 1) this.seek(Math.min(this.step + Math.floor(this.share), this.episode.steps - 1), false);
      this.drawPicture();
    }
    this.frame = requestAnimationFrame((later) => this.tick(later));
  }

  toggle(playing = !this.playing) {
    this.playing = playing;
    this.share = 0;
    this.draw();
    this.remember();
  }

  pace(speed) {
    this.speed = speed;
    this.remember();
  }

  move(by) {
    if (this.episode) this.seek(this.step + by);
  }

  /** Go to a step; a user who does so wants to look at it, so playing stops. */
  seek(step, byUser = true) {
    if (!this.episode) return;
    if (byUser) this.playing = false;
    this.step = Math.min(Math.max(step, 0), this.episode.steps - 1);
    this.share = 0;
    this.draw();
    if (byUser) this.remember();
  }

  /** To the next step in which something acts, in this episode or in a later one. */
  async jump() {
    if (!this.episode) return;
    for (let step = this.step + 1; step < this.episode.steps; step += 1) {
      if (isEventful(this.episode, step)) {
        this.seek(step);
        return;
      }
    }
    if (this.episode.next === null) {
      notice(this.note, "There is no later event in this recording.", "note");
      return;
    }
    await this.load(this.episode.next);
    this.playing = false;
    if (!isEventful(this.episode, 0)) await this.jump();
    else this.seek(0);
  }

  handleKey(event) {
    const target = event.target;
    const typing = target.matches?.("input:not([type=range]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    const keys = { " ": () => this.toggle(), n: () => this.jump() };
    if (!target.matches?.("input")) {
      Object.assign(keys, {
        ArrowRight: () => this.move(1), ArrowLeft: () => this.move(-1), Home: () => this.seek(0), End: () => this.seek(Infinity),
      });
    }
    const action = keys[event.key];
    if (!action || (event.key === " " && target.matches?.("button, a, summary"))) return;
    event.preventDefault();
    action();
  }

  writeAddress() {
    this.app.remember({
      ...(this.source.file ? { file: this.source.file } : { domain: this.source.domain, seed: this.seed }),
      run: this.run, hindsight: this.run && this.hindsight ? 1 : "", episode: this.at + 1,
      step: this.playing ? "" : this.step + 1, speed: this.speed,
      outcome: this.outcome && this.outcome !== this.about()?.layout?.outcome_factor ? this.outcome : "",
      event: this.event ? `${this.event.factor}@${this.event.step + 1}` : "",
    });
  }

  // -- drawing ------------------------------------------------------------------------------------

  drawPicture() {
    paint(this.canvas, this.episode, this.step, this.playing && !prefersStillness() ? Math.min(this.share, 1) : 0);
  }

  draw() {
    if (!this.episode || this.over) return;
    const { episode, step } = this;
    this.drawPicture();
    this.stepAt = paintTimeline(this.strip, episode, step);
    this.play.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    this.slider.value = step + 1;
    this.place.textContent = `step ${step + 1} of ${episode.steps}`;
    const said = describeStep(episode, step);
    this.said.textContent = said;
    this.canvas.setAttribute("aria-label", `${episode.domain ?? episode.source}, step ${step + 1}: ${said}`);
    put(this.factors, buildFactorTable(episode, step));
    this.next.textContent = `The next ${episode.outcome_factor}`;
    this.predicted.hidden = !episode.probability;
    put(this.predictions, buildPredictionTable(episode, step));
    const chosen = this.event?.step === step ? this.event.factor : null;
    const ask = (factor) => {
      this.seek(step);
      this.trace({ factor, step });
      this.draw();
      this.graph.querySelector(".after.chosen")?.focus();
    };
    this.graphed.hidden = !episode.graph;
    put(this.graph, episode.graph && drawLocalGraph(episode, step, chosen, ask));
    put(this.acts, episode.graph && listGraph(episode, step));
    this.drawChain();
  }
}
