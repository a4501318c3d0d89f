// Playing a witness again: what happened, what is changed, what is held, what comes out.
import { drawOnRelease } from "../shared/draw_on_release.js";
import { explain } from "../shared/terms.js";
import { button, el, put, prefersStillness } from "../shared/ui.js";
import { joinWords } from "./verdict_line.js";

const PAUSE = 1700;

const few = (parts, most = 6) =>
  parts.length > most ? joinWords([...parts.slice(0, most), `${parts.length - most} more`]) : joinWords(parts);

/** The steps of a witness: each `{title, text, values, marks, news}`, to be shown on the graph; `news` is to be in sight. */
export function listSteps(world, event, witness) {
  const { actual } = world;
  const was = (name) => actual[name] ?? event[name];
  const entries = (assignment) => Object.entries(assignment ?? {});
  const found = [];
  const values = Object.assign(Object.create(null), actual); // a variable may be called constructor
  const marks = Object.create(null);
  const step = (title, text, news) => found.push({ title, text, values: { ...values }, marks: { ...marks }, news });
  const namesOf = (assignment) => Object.keys(assignment ?? {});
  const fix = (assignment, mark) => {
    for (const [name, value] of entries(assignment)) {
      values[name] = value;
      marks[name] = mark;
    }
  };
  step("What happened", `${few(entries(event).map(([name, value]) => `${name}=${value}`))}, and ${world.effect}.`, [...namesOf(event), ...world.about]);
  fix(witness.changed, "changed");
  step("Change", `Let ${few(entries(witness.changed).map(([name, value]) => `${name} be ${value} instead of ${was(name)}`))}.`, namesOf(witness.changed));
  if (entries(witness.frozen).length) {
    fix(witness.frozen, "held");
    const kept = entries(witness.frozen).map(([name, value]) => (value === actual[name] ? `${name} at ${value}, as it was` : `${name} at ${value}`));
    step("Hold", `Hold ${few(kept)}.`, namesOf(witness.frozen));
  }
  if (entries(witness.others).length) {
    fix(witness.others, "given");
    step("Set the rest", `Set ${few(entries(witness.others).map(([name, value]) => `${name}=${value}`))}.`, namesOf(witness.others));
  }
  const followed = entries(witness.moved).filter(([name]) => !(name in marks));
  fix(Object.fromEntries(followed), "moved");
  const out = followed.length ? `Then ${few(followed.map(([name, value]) => `${name} becomes ${value}`))}. ` : "";
  step("What comes out", witness.effect ? `${out}${world.effect} is still there.` : `${out}${world.effect} is gone: this made the difference.`, [...followed.map(([name]) => name), ...world.about]);
  return found;
}

/** The controls under the graph; `show(step)` draws one. `{element, play(steps, title), clear()}` */
export function buildPlayer(show, cleared) {
  const element = el("div", { class: "player", hidden: true });
  let playing = null;
  let at = 0;
  let timer = 0;
  let running = false;
  let stepping = [];

  function go(index, onward = false) {
    clearTimeout(timer);
    running = onward;
    at = Math.min(Math.max(index, 0), stepping.length - 1);
    show(stepping[at]);
    paint();
    if (running && at < stepping.length - 1) timer = setTimeout(() => drawOnRelease(element, next), PAUSE);
  }

  function next() {
    if (running) go(at + 1, true);
  }

  function paint() {
    const dots = stepping.map((step, index) =>
      el("button", {
        type: "button",
        class: "step",
        "aria-current": index === at ? "step" : null,
        text: `${index + 1} ${step.title}`,
        on: { click: () => go(index) },
      }),
    );
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset.role ?? "step" : null;
    put(
      element,
      el(
        "div",
        { class: "row" },
        el("span", { class: "grow" }, el("strong", { text: playing }), explain("witness", { "data-role": "witness" })),
        button("‹ Back", () => go(at - 1), { class: "small", "data-role": "back", disabled: at === 0 }),
        button("Next ›", () => go(at + 1), { class: "small", "data-role": "next", disabled: at === stepping.length - 1 }),
        button("Play again", () => go(0, true), { class: "small", "data-role": "again" }),
        button("Close", clear, { "data-role": "close", class: "quiet small" }),
      ),
      el("div", { class: "steps row" }, dots),
      el("p", { class: "caption", "aria-live": "polite", text: stepping[at].text }),
    );
    if (focused) {
      const again = focused === "step" ? dots[at] : element.querySelector(`[data-role="${focused}"]:not(:disabled)`) ?? dots[at];
      again.focus();
    }
  }

  function hide() {
    clearTimeout(timer);
    running = false;
    element.hidden = true;
  }

  function clear() {
    hide();
    cleared();
  }

  return {
    element,
    play(given, title) {
      stepping = given;
      playing = title;
      element.hidden = false;
      if (prefersStillness()) go(stepping.length - 1);
      else go(0, true);
    },
    clear: hide,
  };
}
