// Runs: trainings that are under way or done, their curves, and their errors beside the paper's.
import { hasEnded, get, post, remove, watch } from "../shared/api.js";
import { writeCsv, drawLines, writeSeriesCsv, formatNumber } from "../shared/chart.js";
import { drawOnRelease } from "../shared/draw_on_release.js";
import { describeJob, buildTrainingForm } from "./training_form.js";
import { nameValue } from "./training_words.js";
import { explain } from "../shared/terms.js";
import { button, download, el, field, keepNewest, notice, put, spinner, savePng, svg } from "../shared/ui.js";

const LIVE = 1000; // milliseconds between two looks while something trains
const IDLE = 5000;
const AT_ONCE = 3; // runs that are chosen for a newcomer
const ALL = "every value";
const TELLING = ["full", "error", "forward"]; // what a newcomer sees of a training, if it has one of them
const SHAPES = ["circle", "square", "triangle", "diamond"];
const TICKS = [0, 1, 5, 10, 20, 30, 40, 50];

export const view = {
  name: "runs",
  title: "Runs",
  async mount(root, state, app) {
    const runs = new Runs(root, state, app);
    await runs.begin();
    return () => runs.end();
  },
};

class Runs {
  constructor(root, state, app) {
    this.app = app;
    this.chosen = state.runs ? new Set(state.runs.split(",")) : null;
    this.asked = state.value ?? ""; // the value that the user chose to see, if any
    this.value = "";
    this.latest = keepNewest();
    this.curves = new Map(); // name: what /api/runs/name said
    this.said = el("div");
    this.list = el("div");
    this.values = el("select", { on: { change: () => this.pick(this.values.value) } });
    this.choice = field("Show", this.values);
    this.chart = el("div", { class: "runs-chart" });
    this.start = el("div");
    this.accuracy = el("div", { class: "stack" });
    root.append(
      el("h1", { text: "Runs", class: "spoken" }),
      this.said,
      el(
        "div",
        { class: "runs-parts" },
        el("section", { class: "stack", "aria-label": "Runs" }, el("h2", {}, "Trainings", explain("run")), this.list,
          el("details", { class: "panel", open: true }, el("summary", { text: "Start a training" }), this.start)),
        el(
          "section",
          { class: "panel stack", "aria-label": "Training curves" },
          el("div", { class: "row" }, el("h2", { class: "grow" }, "Training curves", explain("training curve")), this.choice),
          this.chart,
          (this.saves = el("div", { class: "row" }, button("Save as CSV", () => download("curves.csv", writeSeriesCsv(this.series, "step"))),
            button("Save as PNG", () => this.chart.querySelector("svg") && savePng(this.chart.querySelector("svg"), "curves.png")))),
        ),
      ),
      el("section", { class: "panel stack runs-accuracy", "aria-label": "Accuracy" },
        el("h2", {}, "Error in percent, beside the paper's", explain("error")), this.accuracy),
    );
    this.series = [];
    this.stops = [];
  }

  async begin() {
    put(this.start, spinner("looking for what can be learned from"));
    await this.look();
    if (!this.away) await this.offerTraining();
  }

  async offerTraining() {
    try {
      const known = await get("/api/data/files");
      this.offered = true;
      put(this.start, buildTrainingForm({ ...known, methods: this.found?.methods ?? [], about: this.found?.about }, { onStart: (begun) => this.followTraining(begun) }));
    } catch (error) {
      notice(this.start, error.message, "bad");
    }
  }

  end() {
    this.over = true;
    clearTimeout(this.timer);
    this.stops.forEach((stop) => stop());
  }

  followTraining({ job, run }) {
    this.chosen = new Set([...(this.chosen ?? []), run]);
    notice(this.said, `${run}: the job has begun.`, "good");
    this.stops.push(watch(job, (found) => {
      if (!hasEnded(found)) return;
      if (found.state === "failed") notice(this.said, found.error, "bad");
      if (found.state === "cancelled") notice(this.said, describeStop(run), "warn");
      if (found.state === "done") notice(this.said, [`${run} is ${found.result.status}.`, ...found.result.notes].join(" "), "good");
      this.look();
    }));
    this.remember();
    this.look();
  }

  // -- looking ------------------------------------------------------------------------------------

  async look() {
    clearTimeout(this.timer);
    try {
      const found = await this.latest(() => this.fetch());
      if (found === undefined || this.over) return; // a newer look is under way
      this.found = found;
      if (this.away) this.greet();
      drawOnRelease(this, () => this.draw());
    } catch (error) {
      this.away = true;
      notice(this.said, error.message, "bad");
    }
    const live = this.found?.jobs.length || this.found?.runs.some((run) => run.status === "elsewhere");
    if (!this.over) this.timer = setTimeout(() => this.look(), live ? LIVE : IDLE);
  }

  /** The server answers again: what was said of it is over, and what it could not say is asked again. */
  greet() {
    this.away = false;
    notice(this.said, "");
    if (!this.offered) this.offerTraining();
  }

  /** The runs there are, and the curves of those that are chosen. */
  async fetch() {
    const found = await get("/api/runs");
    this.chosen ??= new Set(chooseFirst(found.runs));
    await this.fetchCurves(found.runs);
    return found;
  }

  async fetchCurves(runs) {
    const wanted = runs.filter((run) => this.chosen.has(run.name));
    const stale = wanted.filter((run) => {
      const known = this.curves.get(run.name);
      return !known || known.status !== run.status || run.job || run.status === "elsewhere";
    });
    await Promise.all(stale.map(async (run) => this.curves.set(run.name, await get(`/api/runs/${encodeURIComponent(run.name)}`))));
  }

  async toggle(name, on) {
    if (on) this.chosen.add(name);
    else this.chosen.delete(name);
    this.remember();
    await this.look();
  }

  pick(value) {
    this.asked = value;
    this.remember();
    this.drawCurves();
  }

  remember() {
    this.app.remember({ runs: [...this.chosen].join(","), value: this.asked });
  }

  async act(question, message) {
    try {
      const reply = await question();
      if (reply?.run) this.followTraining(reply);
      else notice(this.said, message, "good");
    } catch (error) {
      notice(this.said, error.message, "bad");
    }
    await this.look();
  }

  // -- drawing ------------------------------------------------------------------------------------

  draw() {
    if (this.over) return;
    const focused = document.activeElement?.dataset?.key;
    this.drawList();
    this.drawCurves();
    put(this.accuracy, buildAccuracy(this.found));
    if (focused) [...this.list.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused)?.focus();
  }

  drawList() {
    const waiting = this.found.jobs.filter((job) => !this.found.runs.some((run) => run.name === job.run));
    const rows = [
      ...waiting.map((job) => this.waiting(job)),
      ...this.found.runs.map((run) => this.row(run)),
    ];
    if (!rows.length) {
      put(this.list, el("p", { class: "soft", text: "Nothing has been trained yet. Start a training below: 1-in takes a minute or two." }));
      return;
    }
    put(
      this.list,
      el(
        "table",
        { class: "runs-list" },
        el("thead", {}, el("tr", {}, ["Curve", "Run", "Data", "State", "Time", "Error", ""].map((text) =>
          el("th", { scope: "col", class: ["Time", "Error"].includes(text) ? "number" : null, text })))),
        el("tbody", {}, rows),
      ),
    );
  }

  waiting(job) {
    return el("tr", {}, el("td", {}), el("td", {}, el("strong", { text: job.run })), el("td", { text: job.title }),
      el("td", { text: describeJob(job) }), el("td", {}), el("td", {}), el("td", {}, this.cancel(job.id, job.run)));
  }

  cancel(job, name) {
    return button("Cancel", () => this.act(() => remove(`/api/jobs/${encodeURIComponent(job)}`), describeStop(name)),
      { "aria-label": `Cancel ${name}`, dataset: { key: `cancel ${name}` } });
  }

  row(run) {
    const box = el("input", {
      type: "checkbox", "aria-label": `Show the curve of ${run.name}`, dataset: { key: `show ${run.name}` },
      on: { change: () => this.toggle(run.name, box.checked) },
    });
    box.checked = this.chosen.has(run.name);
    const actions = [
      run.job && this.cancel(run.job, run.name),
      run.resumable && button("Resume", () => this.act(() => post(`/api/runs/${encodeURIComponent(run.name)}/resume`, {})),
        { "aria-label": `Resume ${run.name}`, dataset: { key: `resume ${run.name}` } }),
      run.scorable && !run.job && button("Score", () => this.act(() => post(`/api/runs/${encodeURIComponent(run.name)}/score`, {})),
        { "aria-label": `Score ${run.name}`, title: "Compare with the true causes of its recording", dataset: { key: `score ${run.name}` } }),
      !run.job && button("Rename", () => this.rename(run), { "aria-label": `Rename ${run.name}`, dataset: { key: `rename ${run.name}` } }),
      !run.job && button("Delete", () => this.delete(run), { "aria-label": `Delete ${run.name}`, dataset: { key: `delete ${run.name}` } }),
      run.answers && !run.job && button("Replay", () => this.replay(run), { "aria-label": `Replay ${run.name}`, dataset: { key: `replay ${run.name}` } }),
    ];
    return el(
      "tr",
      {},
      el("td", {}, box),
      el("td", {}, el("strong", { text: run.name }), el("div", { class: "soft small", text: `${run.method ?? "?"}, seed\u00a0${run.seed ?? "?"}` })),
      el("td", { text: run.source ?? "" }),
      el("td", {}, status(run)),
      el("td", { class: "number", text: seconds(run.progress?.seconds ?? run.seconds) }),
      el("td", { class: "number", "data-name": "error", text: run.scores ? `${(100 * run.scores.edge_error).toFixed(2)}%` : "–" }),
      el("td", {}, el("div", { class: "row" }, actions)),
    );
  }

  async rename(run) {
    const wanted = prompt(`Another name for ${run.name}`, run.name)?.trim();
    if (!wanted || wanted === run.name) return;
    await this.act(async () => {
      const { name } = await post(`/api/runs/${encodeURIComponent(run.name)}/rename`, { name: wanted });
      this.forget(run.name, name);
    }, `${run.name} has another name now.`);
  }

  async delete(run) {
    if (!confirm(`Delete the run ${run.name} for good?`)) return;
    await this.act(async () => {
      await remove(`/api/runs/${encodeURIComponent(run.name)}`);
      this.forget(run.name);
    }, `${run.name} was deleted.`);
  }

  /** Drop what is known of a run; its curve stays shown under its new name, if it has one. */
  forget(name, renamed = null) {
    const shown = this.chosen.delete(name);
    this.curves.delete(name);
    if (shown && renamed) this.chosen.add(renamed);
    this.remember();
  }

  /** Show what a run says of the rows that it learned from; of one that was not begun on this page, they are looked up. */
  async replay(run) {
    const source = run.asked ?? (await this.findSource(run.source));
    if (!this.over) this.app.go("replay", { run: run.name, ...(source.file ? { file: source.file } : { domain: source.domain }) });
  }

  async findSource(name) {
    try {
      const { recordings } = await get("/api/data/files");
      if (recordings.some((one) => one.name === name)) return { file: name };
    } catch {
      // Replay says what is the matter
    }
    return { domain: name };
  }

  drawCurves() {
    const runs = [...this.chosen].map((name) => this.curves.get(name)).filter((run) => run?.history.length);
    const names = [...new Set(runs.flatMap((run) => run.history.flatMap((line) => Object.keys(line))))]
      .filter((name) => name !== "stage" && name !== "step");
    const offered = [...names, ...(runs.length === 1 && names.length > 1 ? [ALL] : [])];
    const telling = TELLING.find((name) => names.includes(name)) ?? offered[0] ?? "";
    this.value = offered.includes(this.asked) ? this.asked : telling;
    put(this.values, offered.map((name) => el("option", { value: name, text: nameValue(name) === name ? name : `${nameValue(name)} (${name})` })));
    this.values.value = this.value;
    this.choice.hidden = this.saves.hidden = offered.length === 0;
    const points = (run, name) => trimPoints(run.history.map((line) => [line.step, line[name] ?? null]));
    this.series = this.value === ALL
      ? names.map((name) => ({ name, points: points(runs[0], name) }))
      : runs.map((run) => ({ name: nameCurve(run), points: points(run, this.value) }));
    if (!runs.length) {
      put(this.chart, el("p", { class: "soft", text: this.chosen.size
        ? "No curve was written for what is chosen; choose another run in the list."
        : "Choose a run in the list to see how it learned." }));
      return;
    }
    const without = [...this.chosen].filter((name) => this.curves.has(name) && !runs.includes(this.curves.get(name)));
    const title = this.value === ALL ? runs[0].name : nameValue(this.value);
    const width = Math.max(Math.round(this.chart.clientWidth), 320);
    put(this.chart, drawLines(this.series, { title: `Training curves: ${title}`, x: "step", y: this.value === ALL ? "" : title, width, height: 330 }),
      without.length > 0 && el("p", { class: "soft small", text: `No curve was written for ${without.join(", ")}.` }));
  }
}

const describeStop = (name) => `${name} was stopped; it can be resumed once it has saved something.`;

/** The runs whose curves a newcomer sees: those that train, else the newest ones. */
function chooseFirst(runs) {
  const live = runs.filter((run) => run.job);
  return (live.length ? live : runs.slice(0, AT_ONCE)).map((run) => run.name);
}

/** A run's name beside its curve; of one that did not come to its end that is said. */
function nameCurve(run) {
  return ["interrupted", "stopped"].includes(run.status) ? `${run.name} (cut off)` : run.name;
}

/** The points without those before the first value and after the last. */
function trimPoints(points) {
  const known = points.map(([, value]) => value !== null);
  return points.slice(Math.max(known.indexOf(true), 0), known.lastIndexOf(true) + 1);
}

function status(run) {
  const words = {
    running: "running", waiting: "waiting", elsewhere: "running elsewhere", finished: "finished", stopped: "out of time",
    interrupted: "interrupted",
  };
  const text = words[run.status] ?? String(run.status ?? "unknown");
  const share = run.progress?.share;
  return el("div", {}, text, run.job && el("progress", { max: 1, value: share ?? null, "aria-label": `Progress of ${run.name}` }),
    run.job && el("div", { class: "soft small", text: describeJob({ state: run.status, progress: { ...run.progress, values: {} } }) }));
}

function seconds(value) {
  if (value === null || value === undefined) return "";
  return value < 90 ? `${value.toFixed(1)} s` : `${(value / 60).toFixed(1)} min`;
}

// -- accuracy ---------------------------------------------------------------------------------------

/** The mean error in percent of this folder's runs, by method and domain: {method: {domain: {error, runs, frames}}}. */
export function averageErrors(runs) {
  const found = {};
  for (const run of runs) {
    const domain = run.scores?.domain;
    if (!domain || run.status !== "finished") continue;
    const cell = ((found[run.method] ??= {})[domain] ??= { errors: [], frames: [] });
    cell.errors.push(100 * run.scores.edge_error);
    if (run.asked?.frames) cell.frames.push(run.asked.frames);
  }
  return found;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function buildAccuracy({ runs, paper }) {
  const domains = Object.keys(Object.values(paper.errors)[0]);
  const own = averageErrors(runs);
  const methods = Object.keys(own).filter((method) => domains.some((domain) => own[method][domain]));
  const papers = Object.keys(paper.errors);
  const cellOf = (method, domain) => own[method][domain] && mean(own[method][domain].errors);
  const head = ["Domain", ...methods.map((method) => `${method}, here`), ...papers.map((method) => `${method}, paper`)];
  const rows = domains.map((domain) => [
    domain, ...methods.map((method) => cellOf(method, domain) ?? null), ...papers.map((method) => paper.errors[method][domain]),
  ]);
  const text = (value) => (value === null ? "–" : value.toFixed(value < 10 ? 2 : 1));
  const about = (method, domain) => {
    const cell = own[method]?.[domain];
    if (!cell) return null;
    const frames = cell.frames.length ? `, ${Math.round(mean(cell.frames)).toLocaleString("en")} frames` : "";
    return `${cell.errors.length} ${cell.errors.length === 1 ? "run" : "runs"}${frames}`;
  };
  const table = el(
    "table",
    { class: "runs-table" },
    el("thead", {}, el("tr", {}, head.map((name, place) => el("th", { scope: "col", class: place ? "number" : null, text: name })))),
    el("tbody", {}, rows.map((row) =>
      el("tr", {}, el("th", { scope: "row", text: row[0] }), row.slice(1).map((value, place) =>
        el("td", { class: place < methods.length ? "number mine" : "number" }, text(value),
          place < methods.length && value !== null && el("div", { class: "soft small", text: about(methods[place], row[0]) })))))),
  );
  const chart = dots(domains, [
    ...methods.map((method) => ({ name: `${method}, here`, filled: true, values: domains.map((domain) => cellOf(method, domain) ?? null) })),
    ...papers.map((method) => ({ name: `${method}, paper`, filled: false, values: domains.map((domain) => paper.errors[method][domain]) })),
  ]);
  return [
    el("div", { class: "row" },
      button("Save as CSV", () => download("accuracy.csv", writeCsv(head, rows))),
      button("Save as PNG", () => savePng(chart, "accuracy.png"))),
    el("div", { class: "runs-both" }, el("div", { class: "data-columns", tabindex: "0", role: "region", "aria-label": "Errors" }, table), chart),
    el("p", { class: "soft small", text:
      `Paper: ${paper.source}; 100,000 frames (push and break 500,000), half of the states scored in push and break non-trivial. ` +
      "Here: the mean over finished runs that were started on this page from a domain, or from a recording of one, scored on rows that were not learned from in the same way." }),
  ];
}

/** A row for each domain, a mark for each method; the scale is a root, since errors are many small and some large. */
function dots(domains, series) {
  const [left, top, row, width] = [66, 14, 28, 540];
  const legend = 130;
  const bottom = top + domains.length * row;
  const at = (value) => left + (Math.sqrt(Math.min(value, 55)) / Math.sqrt(55)) * (width - left - legend);
  const node = svg("svg", { viewBox: `0 0 ${width} ${bottom + 42}`, class: "dots", role: "img", "aria-label": "Error of each method in each domain" });
  for (const value of TICKS) {
    node.append(svg("path", { class: "dots-grid", d: `M${at(value)} ${top}V${bottom}` }),
      svg("text", { x: at(value), y: bottom + 16, "text-anchor": "middle", text: formatNumber(value) }));
  }
  node.append(svg("text", { x: (left + width - legend) / 2, y: bottom + 36, "text-anchor": "middle", class: "dots-name", text: "error in percent" }));
  domains.forEach((domain, place) => node.append(svg("text", { x: left - 10, y: top + place * row + row / 2 + 4, "text-anchor": "end", text: domain })));
  series.forEach((one, place) => {
    const group = svg("g", { class: `dots-mark ${one.filled ? "filled" : "hollow"} dots-${place % 8}` });
    one.values.forEach((value, index) => {
      if (value !== null) group.append(mark(place, at(value), top + index * row + row / 2, `${one.name}, ${domains[index]}: ${formatNumber(value)}%`));
    });
    group.append(mark(place, width - legend + 14, top + 12 + place * 22, one.name));
    node.append(group, svg("text", { x: width - legend + 26, y: top + 16 + place * 22, text: one.name }));
  });
  return node;
}

function mark(place, x, y, title) {
  const r = 6;
  const kind = SHAPES[place % 4];
  const paths = {
    circle: `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
    square: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
    triangle: `M${x} ${y - r - 1}l${r + 1} ${2 * r}h${-2 * r - 2}Z`,
    diamond: `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}Z`,
  };
  return svg("path", { d: paths[kind] }, svg("title", { text: title }));
}
