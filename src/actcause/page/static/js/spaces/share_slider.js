// A share between 0 and 1: a slider, the number beside it, and a box for asking for nothing.

import { explain } from "../shared/terms.js";
import { buildFieldError, el, markField } from "../shared/ui.js";

// Finer near 0, where the shares of large spaces lie.
const STOPS = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, ...Array.from({ length: 19 }, (_, k) => (k + 2) / 20)];

export class ShareSlider {
  /**
   * `term` is what it is called among the words, `says` explains it; `[none, like]` what it means to ask for nothing, and which share is most like it.
   * `onChange` gets a number as text, or "none".
   */
  constructor(name, term, says, [none, like], onChange) {
    this.onChange = onChange;
    this.like = like;
    this.slider = el("input", {
      type: "range",
      min: 0,
      max: STOPS.length - 1,
      step: 1,
      "aria-label": `${term}, slider`,
      on: { input: () => this.handleSlide() },
    });
    this.number = el("input", {
      type: "text",
      autocomplete: "off",
      maxlength: 40,
      "aria-label": `${term}, a number or a fraction`,
      on: { change: () => this.onChange(this.number.value.trim() || "none") },
    });
    this.none = el("input", {
      type: "checkbox",
      on: { change: () => this.onChange(this.none.checked ? "none" : this.readStop()) },
    });
    this.error = buildFieldError(this.number);
    this.element = el(
      "fieldset",
      { class: "share" },
      el("legend", {}, name, explain(term)),
      el("div", { class: "share-row" }, this.slider, this.number),
      this.error,
      el("label", { class: "row small" }, this.none, none),
      el("p", { class: "small soft", text: says }),
    );
  }

  readStop() {
    return String(STOPS[Number(this.slider.value)]);
  }

  handleSlide() {
    this.none.checked = false;
    this.number.value = this.readStop();
    this.slider.setAttribute("aria-valuetext", this.number.value);
    this.onChange(this.number.value);
  }

  /** Show what was written, right or wrong. */
  write(text) {
    this.number.value = text;
    this.none.checked = text === "none";
    this.slider.value = findNearest(this.none.checked ? this.like : parseFraction(text));
  }

  /** Show the share that is in force (a fraction such as "1/5", or null), unless the user is just changing it. */
  show(fraction) {
    const text = fraction === null ? "none" : formatShare(fraction);
    this.none.checked = fraction === null;
    if (document.activeElement !== this.number) this.number.value = text;
    markField(this.number, this.error, "");
    if (document.activeElement === this.slider && fraction !== null) return;
    this.slider.setAttribute("aria-valuetext", text);
    this.slider.value = findNearest(fraction === null ? this.like : parseFraction(fraction));
  }
}

/** The stop that is nearest; the first for what is no number. */
function findNearest(value) {
  return STOPS.reduce((best, stop, place) => (Math.abs(stop - value) < Math.abs(STOPS[best] - value) ? place : best), 0);
}

function parseFraction(fraction) {
  const [above, below = "1"] = fraction.split("/");
  return Number(above) / Number(below);
}

/** "1/5" as 0.2, and "1/3" as it is. */
export function formatShare(fraction) {
  const text = String(parseFraction(fraction));
  return text.length <= 8 ? text : fraction;
}
