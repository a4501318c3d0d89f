// What Runs and Data share about trainings: a form that starts one, and a line that follows one.
import { hasEnded, post, remove, watch } from "../shared/api.js";
import { nameStage, nameValue } from "./training_words.js";
import { explain } from "../shared/terms.js";
import { button, el, field, notice, put } from "../shared/ui.js";

const OPTIONS = [
  ["steps", "Steps", 200000],
  ["distil_steps", "Steps to compress (distil)", 200000, "distil"],
  ["batch", "Rows of a step", 8192],
  ["width", "Width of the networks", 1024],
  ["layers", "Layers", 8],
];

/** A number, or nothing where nothing was written; what is no number is sent as it is, to be refused. */
const readNumber = (input) => (input.value.trim() === "" ? undefined : Number(input.value));

/**
 * A form that starts a training.
 *
 * known: {domains, recordings, methods}; options: file (a recording that is chosen already), onStart({job, run}).
 */
export function buildTrainingForm(known, { file = null, onStart }) {
  const said = el("div");
  const number = (value, most, label) =>
    el("input", { type: "number", min: 0, max: most, step: 1, value, "aria-label": label, placeholder: "as usual" });
  const source = el(
    "select",
    { on: { change: () => { frames.hidden = source.value.startsWith("file:"); } } },
    el("optgroup", { label: "Domains" }, known.domains.map((one) => el("option", { value: `domain:${one.name}`, text: one.name }))),
    el("optgroup", { label: "Recordings" }, known.recordings.filter((one) => one.layout).map((one) =>
      el("option", { value: `file:${one.name}`, text: one.name }))),
  );
  const count = number("20000", 500000, "Frames");
  const frames = field("Frames to record", count, explain("frames"));
  const about = el("p", { class: "soft small method-words", "aria-live": "polite" });
  const describe = () => { about.textContent = known.about?.[method.value] ?? ""; };
  const method = el("select", { on: { change: describe } }, known.methods.map((name) => el("option", { value: name, text: name })));
  describe();
  const seed = number("0", 2 ** 31, "Seed");
  const minutes = number("", 1440, "Minutes at most");
  minutes.placeholder = "no limit";
  const options = OPTIONS.map(([name, label, most, term]) => [name, label, number("", most, label), term]);

  const inputs = { frames: count, seed, draw: seed, minutes, ...Object.fromEntries(options.map(([name, , input]) => [name, input])) };

  async function start(event) {
    event.preventDefault();
    notice(said, "");
    for (const input of Object.values(inputs)) input.removeAttribute("aria-invalid");
    const domain = source.value.startsWith("domain:") ? source.value.slice(7) : null;
    const rows = file ?? (domain ? null : source.value.slice(5));
    const body = {
      source: rows ? { file: rows } : { domain, frames: readNumber(count), seed: readNumber(seed), draw: readNumber(seed) },
      method: method.value,
      seed: readNumber(seed),
      minutes: readNumber(minutes),
      options: Object.fromEntries(options.map(([name, , input]) => [name, readNumber(input)])),
    };
    submit.disabled = true;
    try {
      onStart(await post("/api/runs", body));
    } catch (error) {
      notice(said, error.message, "bad");
      markWrong(inputs[error.parameter], said, actions);
    } finally {
      submit.disabled = false;
    }
  }

  const submit = el("button", { type: "submit", class: "main", text: "Start training" });
  const actions = el("div", { class: "row" }, submit);
  return el(
    "form",
    { class: "stack training", novalidate: true, on: { submit: start } },
    el("div", { class: "row" }, file ? null : field("Learn from", source, explain("domain")), file ? null : frames, field("Method", method, explain("method")),
      field("Seed", seed, explain("seed")), field("Minutes at most", minutes)),
    about,
    el("details", {}, el("summary", { text: "Options of the method" }),
      el("div", { class: "row" }, options.map(([, label, input, term]) => field(label, input, explain(term ?? "options"))))),
    actions,
    said,
  );
}

/** Lead to the field that has the mistake, and say it right below; below the button where no field has it. */
function markWrong(input, said, actions) {
  (input ?? actions).closest(".row").after(said);
  if (!input) return;
  input.setAttribute("aria-invalid", "true");
  const folded = input.closest("details");
  if (folded) folded.open = true;
  input.focus();
}

/** A line about a training that is under way: stage, bar, losses, and a way to cancel it. Returns {node, stop}. */
export function buildTrainingLine(job, onEnd) {
  const bar = el("progress", { max: 1, "aria-label": "Training" });
  const text = el("span", { class: "numbers", text: "waiting" });
  const cancel = button("Cancel", () => remove(`/api/jobs/${encodeURIComponent(job)}`).catch(() => {}));
  const node = el("div", { class: "notice note row training-line", role: "status" }, el("strong", { text: "Training" }), bar, text, cancel);
  const stop = watch(job, (found) => {
    put(text, describeJob(found));
    if (typeof found.progress?.share === "number") bar.value = found.progress.share;
    if (hasEnded(found)) {
      node.remove();
      onEnd(found);
    }
  });
  return { node, stop };
}

/** How long a training will take still, as its pace so far says; nothing before there is one. */
export function describeTimeLeft({ share, seconds } = {}) {
  if (!(share > 0.02 && share < 1 && seconds > 1)) return "";
  const left = (seconds * (1 - share)) / share;
  if (left < 50) return `about ${Math.max(5, 5 * Math.round(left / 5))} s left`;
  if (left < 5400) return `about ${Math.max(1, Math.round(left / 60))} min left`;
  return `about ${Math.round(left / 3600)} h left`;
}

/** Where a training stands, in words. */
export function describeJob(job) {
  if (job.state === "waiting") return "waiting for its turn";
  const { stage, step, steps, values = {} } = job.progress ?? {};
  const losses = Object.entries(values).map(([name, value]) => `${nameValue(name)} ${Number(value).toPrecision(3)}`);
  const place = steps ? `, step ${step.toLocaleString("en")} of ${steps.toLocaleString("en")}` : "";
  const left = describeTimeLeft(job.progress);
  return [`${nameStage(stage)}${place}`, ...(left ? [left] : []), ...losses].join(" · ");
}
