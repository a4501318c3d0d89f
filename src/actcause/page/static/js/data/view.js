// Data: a file of one's own, what its columns mean, a training on it, and the causes that were found.
import { hasEnded, get, post, upload, remove, watch } from "../shared/api.js";
import { drawBars, formatNumber } from "../shared/chart.js";
import { fitsLayout } from "../replay/view.js";
import { buildTrainingForm, buildTrainingLine } from "../runs/training_form.js";
import { explain } from "../shared/terms.js";
import { button, copy, el, field, keepNewest, notice, put, spinner, table } from "../shared/ui.js";

const ROLES = [
  ["state", "state of a factor"],
  ["next", "next outcome"],
  ["episode", "episode"],
  ["cause", "true cause, yes or no"],
  ["present", "is there, yes or no"],
  ["none", "not used"],
];
const WITH_FACTOR = ["state", "cause", "present"];
const WITH_FEATURE = ["state", "next"];
const NAMED = /(?:[Cc]olumns?|Both|and) '([^']+)'/g; // columns that a mistake names
const OTHER = "outcome"; // what is explained is called so where it is no factor
const ACCEPTED = ".parquet,.pq,.csv,.tsv,.npz";

// A ball that drifts, and jumps where the paddle is near; the wind does nothing.
const EXAMPLE = { head: ["ball_x", "paddle_x", "wind", "ball_x_next", "episode"], rows: 3000, length: 30 };

function example(rows) {
  let seed = 38;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  return Array.from({ length: rows }, (_, row) => {
    const [ball, paddle, wind] = [10 * random(), 10 * random(), 2 * random() - 1];
    const next = ball + (Math.abs(ball - paddle) < 1.5 ? 2 : 0.1);
    return [ball, paddle, wind, next].map((value) => value.toFixed(3)).concat(String(Math.floor(row / EXAMPLE.length)));
  });
}

const exampleFile = () => new File([[EXAMPLE.head, ...example(EXAMPLE.rows)].map((row) => row.join(",")).join("\n")], "example.csv");

export const view = {
  name: "data",
  title: "Data",
  async mount(root, state, app) {
    const data = new Data(root, state, app);
    await data.begin();
    return () => data.end();
  },
};

class Data {
  constructor(root, state, app) {
    this.app = app;
    this.name = state.file ?? "";
    this.run = state.run ?? "";
    this.hindsight = state.hindsight === "1";
    this.stops = [];
    this.latestList = keepNewest();
    this.subject = 0; // counts the files that were turned to: what comes late, of an earlier one, is dropped
    this.build(root);
  }

  build(root) {
    this.input = el("input", { type: "file", accept: ACCEPTED, class: "spoken", id: "data-file", on: { change: () => this.upload(this.input.files[0]) } });
    this.drop = el(
      "div",
      { class: "data-drop" },
      el("p", {}, el("strong", { text: "Drop a Parquet, CSV or NPZ file anywhere" }), ", or"),
      this.input,
      el("label", { for: "data-file", class: "button main", text: "Choose a file …" }),
      el("p", { class: "soft small", text: "A row is one step: what every factor was, and what the outcome became. It stays on this machine." }),
    );
    this.files = el("div");
    this.said = el("div", { class: "data-said" });
    this.columns = el("section", { class: "panel stack", "aria-label": "Columns", hidden: true });
    this.learn = el("section", { class: "panel stack", "aria-label": "Training", hidden: true });
    this.causes = el("section", { class: "panel stack", "aria-label": "Causes", hidden: true });
    root.append(
      el("h1", { text: "Data", class: "spoken" }),
      el("div", { class: "data-parts" },
        el("section", { class: "stack", "aria-label": "Files" }, this.drop, el("h2", {}, "Recordings", explain("recording")), this.files),
        el("div", { class: "stack" }, this.said, this.columns, this.learn, this.causes)),
    );
    // A file may be dropped anywhere: elsewhere the browser would leave the page and open it.
    const over = (event) => this.handleDrag(event, true);
    const out = (event) => this.handleDrag(event, false);
    const drop = (event) => {
      this.handleDrag(event, false);
      this.upload(event.dataTransfer?.files[0]);
    };
    for (const [kind, listener] of [["dragenter", over], ["dragover", over], ["dragleave", out], ["drop", drop]]) {
      document.addEventListener(kind, listener);
      this.stops.push(() => document.removeEventListener(kind, listener));
    }
  }

  handleDrag(event, over) {
    event.preventDefault();
    this.drop.classList.toggle("over", over);
  }

  async begin() {
    const mine = this.turnTo(this.name);
    await this.list();
    if (this.lost && !this.known) {
      this.end(); // which the page would ask for only once the view is there
      throw this.lost;
    }
    if (!this.isAbout(mine)) return; // a file was dropped or chosen meanwhile
    if (this.name) await this.open(this.name);
    else if (!this.said.hasChildNodes()) put(this.said, this.help()); // a file may be on its way
  }

  /** Turn to a file, or to none; returns what `isAbout` is asked with later. */
  turnTo(name) {
    if (name !== this.name) this.run = "";
    this.name = name;
    this.subject += 1;
    return this.subject;
  }

  /** Whether the user has neither left nor turned to another file since. */
  isAbout(subject) {
    return !this.over && subject === this.subject;
  }

  /** For who has chosen nothing: what a file looks like, and one to try. */
  help() {
    return el(
      "section",
      { class: "panel stack", "aria-label": "How it works" },
      el("h2", { text: "Find causes in data of your own" }),
      el("p", { text: "Every row of the table is a step: what each factor was, and what the outcome was right after. Nothing needs to be labelled." }),
      scroller("Such a table", table(EXAMPLE.head, example(4), { class: "data-example" })),
      el("p", { text: "You say which column is what, train a model, and see for every row which factors caused the outcome." }),
      el("div", { class: "row" }, button("Try it with an example", () => this.upload(exampleFile()), { class: "main" }),
        this.known?.recordings.length > 0 && el("span", { class: "soft", text: "or choose one of the recordings." })),
    );
  }

  end() {
    this.over = true;
    this.stops.forEach((stop) => stop());
  }

  remember() {
    this.app.remember({ file: this.name, run: this.run, hindsight: this.run && this.hindsight ? 1 : "" });
  }

  /**
   * Do something for the file that is shown; a mistake is said and nothing is lost. Undefined where it failed or came late.
   * `where` is where a mistake is said, or a function that says it.
   */
  async attempt(action, where = this.said) {
    const mine = this.subject;
    try {
      const done = await action();
      return this.isAbout(mine) ? done : undefined;
    } catch (error) {
      if (!this.isAbout(mine)) return undefined;
      if (typeof where === "function") where(error.message);
      else notice(where, error.message, "bad");
      return undefined;
    }
  }

  // -- files --------------------------------------------------------------------------------------

  async list() {
    try {
      const known = await this.latestList(() => get("/api/data/files"));
      if (!known || this.over) return;
      this.known = known;
      put(
        this.files,
        this.known.recordings.length === 0 && el("p", { class: "soft", text: "None yet." }),
        el("ul", { class: "data-files" }, this.known.recordings.map((one) =>
          el("li", { class: one.name === this.name ? "shown" : null }, button(one.name, () => this.open(one.name), { class: "quiet", "aria-pressed": one.name === this.name ? "true" : "false" }),
            el("span", { class: "soft small", text: describeFile(one) }),
            one.name === this.name && el("span", { class: "row small" },
              button("Rename", () => this.rename(one.name), { "aria-label": `Rename ${one.name}` }),
              button("Delete", () => this.delete(one.name), { "aria-label": `Delete ${one.name}` }))))),
      );
    } catch (error) {
      this.lost = error;
      if (!this.over) notice(this.said, error.message, "bad");
    }
  }

  async rename(name) {
    const wanted = prompt(`Another name for ${name}`, name)?.trim();
    if (!wanted || wanted === name) return;
    const renamed = await this.attempt(() => post(`/api/data/files/${encodeURIComponent(name)}/rename`, { name: wanted }));
    if (!renamed) return;
    await this.open(renamed.name);
    notice(this.said, `${name} is called ${renamed.name} now.`, "good");
  }

  async delete(name) {
    if (!confirm(`Delete the recording ${name} for good?`)) return;
    const deleted = await this.attempt(() => remove(`/api/data/files/${encodeURIComponent(name)}`));
    if (!deleted) return;
    this.turnTo("");
    this.remember();
    for (const part of [this.columns, this.learn, this.causes]) part.hidden = true;
    notice(this.said, `${name} was deleted.`, "good");
    await this.list();
  }

  async upload(file) {
    if (!file) return;
    const bar = el("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
    const words = el("span", { text: ` ${file.name} is on its way …` });
    put(this.said, el("p", { class: "notice note", role: "status" }, bar, words));
    const onProgress = (share) => {
      bar.value = share;
      words.textContent = share < 1 ? ` ${file.name}: ${Math.floor(100 * share)}% sent` : ` ${file.name} is being read …`;
    };
    let looked = null;
    try {
      looked = await upload(`/api/data/files/${encodeURIComponent(file.name)}`, file, onProgress);
    } catch (error) {
      if (!this.over) notice(this.said, error.message, "bad");
    }
    this.input.value = "";
    if (!looked || this.over) return;
    const mine = this.turnTo(looked.name);
    await this.list();
    if (!this.isAbout(mine)) return;
    notice(this.said, looked.name === file.name ? `${file.name} is here.` : `${file.name} is here as ${looked.name}.`, "good");
    await this.showFile(looked);
  }

  async open(name) {
    const mine = this.turnTo(name);
    notice(this.said, "");
    for (const part of [this.columns, this.learn, this.causes]) part.hidden = true;
    const looked = await this.attempt(() => get(`/api/data/files/${encodeURIComponent(name)}`));
    if (!looked) return;
    await this.list();
    if (this.isAbout(mine)) await this.showFile(looked);
  }

  async showFile(looked) {
    this.looked = looked;
    this.remember();
    this.learn.hidden = this.causes.hidden = true;
    if (looked.whole) {
      this.showWhole(looked);
      return;
    }
    this.showColumns(looked);
    if (looked.ours || looked.recognised) await this.summarise();
  }

  /** A recording with the next state of every factor, not of one outcome: what can be done with it. */
  showWhole(looked) {
    const command = `actcause train ${this.name} --outcome all --out graphs`;
    put(
      this.columns,
      el("h2", { text: `${this.name}: ${looked.rows.toLocaleString("en")} rows of whole states` }, explain("whole states")),
      el("p", { text: "Every row has what each factor was and what each became, so that causes of all of them can be asked for at once: a local graph for every step." }),
      el("div", { class: "row" }, button("See it in Replay", () => this.app.go("replay", { file: this.name }), { class: "main" })),
      el("p", {}, "To learn the local graphs, in a terminal where the file is: ", el("code", { text: command }), " ", button("Copy command", () => copy(command, "The command is copied."), { class: "small" })),
      el("p", { class: "soft small", text: "Replay draws them beside the true ones once the folder graphs is in the explorer's folder of runs (actcause serve --runs)." }),
    );
    this.columns.hidden = false;
  }

  // -- columns ------------------------------------------------------------------------------------

  showColumns(looked) {
    const rows = looked.rows === null ? `more than ${looked.looked_at.toLocaleString("en")} rows` : `${looked.rows.toLocaleString("en")} rows`;
    this.outcome = el("select", { "aria-label": "Outcome" });
    this.own = el("select", { "aria-label": "Own previous value" });
    this.wanted = { outcome: looked.outcome, own: looked.own ?? "" };
    this.roles = this.names = null;
    this.roles = looked.roles.map((role) => this.roleOf(role));
    this.mistake = el("div");
    this.summary = el("div");
    const missing = looked.columns.some((column) => column.missing);
    const head = ["Column", "Type", "Range", ...(missing ? ["Missing"] : [])];
    const columns = looked.columns.map((column, place) => {
      const { role, factor, feature } = this.roles[place];
      const few = column.words.length ? column.words.join(", ") : "";
      const range = column.low === null ? few : `${formatNumber(column.low)} to ${formatNumber(column.high)}`;
      return [el("code", { text: column.name }), column.type, range, ...(missing ? [column.missing || ""] : []), role, factor, feature];
    });
    const editor = el(
      "div",
      { class: "stack" },
      scroller("Columns and what they mean",
        table([...head, "What it is", el("span", {}, "Factor", explain("factor")), el("span", {}, "Feature", explain("feature"))], columns)),
      el("div", { class: "row data-ends" },
        field("What is explained (the outcome)", this.outcome, explain("outcome")),
        field("Factor with its own previous value", this.own, explain("own factor")),
        button("Check and keep", () => this.keep(), { class: "main" })),
      this.mistake,
    );
    const introduction = looked.ours && !looked.mapped
      ? el("p", { text: "This is one of our own recordings: it says itself what its columns are." })
      : areNumbers(looked.columns)
        ? el("p", { class: "notice warn", role: "status", text: "The first row holds numbers, and they were taken for the names of the columns: write a row of names above it, and send the file again." })
      : looked.recognised
        ? el("p", { text: "The columns are understood. You can change what they mean." })
        : el("p", { text: "Say what the columns are; what is filled in is a guess from their names." });
    put(
      this.columns,
      el("h2", { text: `${looked.name}: ${rows}, ${looked.columns.length} columns` }),
      introduction,
      looked.first.length > 0 && el("details", { open: !looked.recognised }, el("summary", { text: `The first ${looked.first.length} rows` }),
        scroller("The first rows", table(looked.columns.map((column) => column.name), looked.first, { class: "data-example" }))),
      looked.ours && !looked.mapped
        ? el("details", {}, el("summary", { text: "Columns" }), scroller("Columns of the file",
          table(head, columns.map((cells) => cells.slice(0, head.length)))))
        : el("details", { open: !looked.recognised }, el("summary", { text: "Columns and what they mean" }), editor),
      this.summary,
    );
    this.columns.hidden = false;
    this.offerNames();
  }

  roleOf(given) {
    const factor = el("input", { type: "text", value: given.factor, "aria-label": `Factor of ${given.column}`, on: { input: () => this.offerNames() } });
    const feature = el("input", { type: "text", value: given.feature, "aria-label": `Feature of ${given.column}` });
    const fit = () => {
      factor.hidden = !WITH_FACTOR.includes(role.value);
      feature.hidden = !WITH_FEATURE.includes(role.value);
      if (this.roles) this.offerNames();
    };
    const role = el("select", { "aria-label": `What ${given.column} is`, on: { change: fit } },
      ROLES.map(([value, text]) => el("option", { value, text })));
    role.value = given.role;
    fit();
    return { column: given.column, role, factor, feature };
  }

  /** Offer the factors that there are as the outcome, and as the one that holds its previous value. */
  offerNames() {
    const factors = this.roles.filter((one) => one.role.value === "state").map((one) => one.factor.value.trim());
    const names = [...new Set(factors)].filter(Boolean);
    const fill = (select, wanted, none) => {
      const offered = wanted && !names.includes(wanted) ? [...names, wanted] : names;
      put(select, el("option", { value: "", text: none }), offered.map((name) => el("option", { value: name, text: name })),
        select === this.outcome && !offered.includes(OTHER) && el("option", { value: OTHER, text: "none of the factors" }));
      select.value = wanted;
    };
    for (const [key, none] of [["outcome", "choose …"], ["own", "not recorded"]]) {
      const chosen = this[key].options.length ? this[key].value : this.wanted[key];
      // A factor that was given another name is still the one that was chosen.
      const renamed = this.names?.indexOf(chosen) ?? -1;
      fill(this[key], names.includes(chosen) || renamed < 0 ? chosen : (names.length === this.names.length ? names[renamed] : chosen), none);
    }
    this.names = names;
  }

  async keep() {
    const roles = this.roles.map(({ column, role, factor, feature }) => ({
      column, role: role.value, factor: factor.value.trim(), feature: feature.value.trim(),
    }));
    this.unmark();
    put(this.mistake, spinner("checking every row"));
    const body = { roles, outcome: this.outcome.value, own: this.own.value };
    const address = `/api/data/files/${encodeURIComponent(this.name)}/mapping`;
    const found = await this.attempt(() => post(address, body), (message) => this.showMistake(message));
    if (!found) return;
    notice(this.mistake, "Every row was checked; the meaning of the columns is kept beside the file.", "good");
    const mine = this.subject;
    await this.list();
    if (this.isAbout(mine)) await this.summarise(found);
  }

  /** Say what is wrong with the meanings below the first column that it names, else beside the button. */
  showMistake(message) {
    const named = new Set([...message.matchAll(NAMED)].map((match) => match[1]));
    const wrong = this.roles.filter(({ column }) => named.has(column));
    for (const { role } of wrong) role.setAttribute("aria-invalid", "true");
    const row = wrong[0]?.role.closest("tr");
    notice(this.mistake, row ? "The column that is marked says what is wrong." : message, row ? "warn" : "bad");
    if (!row) return;
    this.told = el("tr", {}, el("td", { colspan: row.cells.length }, el("p", { class: "notice bad", role: "alert", text: message })));
    row.after(this.told);
    wrong[0].role.focus();
  }

  unmark() {
    this.told?.remove();
    for (const { role } of this.roles) role.removeAttribute("aria-invalid");
  }

  /** What the file holds once its columns are understood; then one can learn from it. */
  async summarise(known = null) {
    put(this.summary, spinner("reading every row"));
    const address = `/api/data/files/${encodeURIComponent(this.name)}/summary`;
    const found = known ?? (await this.attempt(() => get(address), this.summary));
    if (!found) return;
    const rate = (factor) => (factor.rate === null ? "not known" : `${(100 * factor.rate).toFixed(1)}%`);
    const features = (factor) => factor.features.map((one) => `${one.name} (${formatNumber(one.low)} to ${formatNumber(one.high)})`).join(", ");
    put(
      this.summary,
      el("h3", { text: describeSummary(found) }),
      table(["Factor", "Features and ranges", "Truly a cause in"], found.factors.map((factor) => [factor.name, features(factor), rate(factor)])),
      found.notes.map((note) => el("p", { class: "notice warn", text: note })),
    );
    await this.offerTraining();
  }

  // -- learning -----------------------------------------------------------------------------------

  async offerTraining() {
    const [listed, replayed] = (await this.attempt(() => Promise.all([get("/api/runs"), get("/api/replay/sources")]))) ?? [];
    if (!listed) return;
    const layout = replayed.recordings.find((one) => one.name === this.name)?.layout;
    const fitting = replayed.runs.filter((run) => fitsLayout(run, layout));
    this.progress = el("div");
    const running = listed.jobs.find((job) => job.file === this.name); // it may have no folder yet
    const choose = el("select", { on: { change: () => this.judge(choose.value) } },
      el("option", { value: "", text: "choose …" }), fitting.map((run) => el("option", { value: run.name, text: `${run.name} (${run.method})` })));
    if (!fitting.some((run) => run.name === this.run)) this.run = "";
    choose.value = this.run;
    put(
      this.learn,
      el("h2", { text: "Learn what causes the outcome" }),
      fitting.length > 0 && field("A run that fits is there already", choose, explain("run")),
      buildTrainingForm({ ...this.known, methods: listed.methods, about: listed.about }, { file: this.name, onStart: (begun) => this.follow(begun.job) }),
      this.progress,
    );
    this.learn.hidden = false;
    if (running) this.follow(running.id);
    if (this.run) await this.judge(this.run, this.hindsight);
  }

  follow(job) {
    const mine = this.subject;
    const { node, stop } = buildTrainingLine(job, (found) => this.isAbout(mine) && this.showTraining(found));
    this.stops.push(stop);
    put(this.progress, node);
  }

  async showTraining(job) {
    if (job.state !== "done") {
      notice(this.progress, job.state === "cancelled" ? "The training was cancelled; under Runs it can be resumed." : job.error, job.state === "cancelled" ? "warn" : "bad");
      return;
    }
    put(this.progress, job.result.notes.map((note) => el("p", { class: "notice warn", text: note })));
    await this.judge(job.result.run);
  }

  // -- causes -------------------------------------------------------------------------------------

  async judge(run, hindsight = this.hindsight) {
    Object.assign(this, { run, hindsight });
    this.remember();
    this.causes.hidden = !run;
    if (!run) return;
    const judged = el("select", { on: { change: () => this.judge(run, judged.value === "1") } },
      el("option", { value: "0", text: "from the state alone" }), el("option", { value: "1", text: "knowing the outcome" }));
    judged.value = hindsight ? "1" : "0";
    const body = el("div", { class: "stack" });
    put(this.causes, el("div", { class: "row" }, el("h2", { class: "grow", text: `What ${run} found` }), field("Judged", judged, explain("hindsight"))), body);
    const asked = { source: { file: this.name }, run, hindsight };
    const reply = await this.attempt(() => post("/api/replay/explain", asked), body);
    if (!reply) return;
    if (reply.ready) {
      put(body, reply.result.rates && this.shares(reply.result), this.downloads());
      return;
    }
    const bar = el("progress", { max: 1, "aria-label": "Rows judged" });
    put(body, el("div", { class: "row" }, "Judging every row …", bar, button("Cancel", () => remove(`/api/jobs/${reply.job}`))));
    this.stops.push(watch(reply.job, (found) => {
      if (typeof found.progress?.share === "number") bar.value = found.progress.share;
      if (!hasEnded(found)) return;
      if (found.state === "done") put(body, this.shares(found.result), this.downloads());
      else notice(body, found.error, found.state === "cancelled" ? "warn" : "bad");
    }));
  }

  shares(found) {
    const values = Object.entries(found.rates).map(([name, value]) => ({ name, value, text: `${(100 * value).toFixed(1)}%` }));
    const error = found.error === null ? "" : ` Beside the true causes, ${(100 * found.error).toFixed(2)}% of the answers are wrong.`;
    return [
      el("p", { text: `Share of the ${found.rows.toLocaleString("en")} rows in which each factor was found to be a cause${found.unsure === null ? "" : `; unsure in ${(100 * found.unsure).toFixed(1)}%`}.${error}` }, explain("unsure")),
      drawBars(values, { title: "Share of rows in which a factor is a cause", most: 1, width: 560 }),
    ];
  }

  downloads() {
    const query = (kind) => new URLSearchParams({ file: this.name, run: this.run, hindsight: this.hindsight, kind });
    const link = (kind, text) => el("a", { class: "button", href: `/api/replay/found?${query(kind)}`, download: "", text });
    return el("div", { class: "row" }, link("parquet", "Download as Parquet"), link("csv", "Download as CSV"),
      button("See them in Replay", () => this.app.go("replay", { file: this.name, run: this.run, hindsight: this.hindsight ? 1 : "" })));
  }
}

/** A table that goes on to the side where there is no room, by keyboard too. */
const scroller = (label, content) => el("div", { class: "data-columns", tabindex: "0", role: "region", "aria-label": label }, content);

/** Whether the names of the columns are numbers, as where the first row was data. */
const areNumbers = (columns) => columns.every(({ name }) => name.trim() !== "" && Number.isFinite(Number(name)));

function describeFile(one) {
  if (one.whole) return `${one.rows.toLocaleString("en")} rows · whole states`;
  if (!one.layout) return "columns to be explained";
  const rows = one.rows === null ? "" : `${one.rows.toLocaleString("en")} rows · `;
  return `${rows}${one.layout.factors.length} factors`;
}

function describeSummary(found) {
  const episodes = found.episodes === null ? "no episodes" : `${found.episodes.toLocaleString("en")} episodes`;
  const still = found.still === null ? "" : `; it stays as it was in ${(100 * found.still).toFixed(1)}% of the rows`;
  return `${found.rows.toLocaleString("en")} rows, ${episodes}; the outcome is ${found.outcome}${still}.`;
}
