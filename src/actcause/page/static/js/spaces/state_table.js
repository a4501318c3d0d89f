// Every state of a small space as a row: its values, its outcome, its binary.

import { drawSwatch } from "./heatmap.js";
import { el } from "../shared/ui.js";

export class StateTable {
  /** `listeners`: onPoint(context|null) for a row under the pointer, onLook(context) for one that was chosen. */
  constructor(reply, look, listeners) {
    const { columns, rows, more } = reply.table;
    this.rows = rows.map((row) => [row.context, this.row(row, look.get(row.code), listeners)]);
    const head = [...columns, reply.outcome].map((text) => el("th", { scope: "col", class: "number", text }));
    head.unshift(el("th", { scope: "col", colspan: 2, text: "what matters" }));
    this.element = el(
      "div",
      {},
      el(
        "div",
        { class: "states" },
        el(
          "table",
          { "aria-label": "Every state with what matters there; the arrow keys go from row to row" },
          el("thead", {}, el("tr", {}, head)),
          el(
            "tbody",
            { on: { keydown: (event) => this.key(event), pointerleave: () => this.point(null, listeners) } },
            this.rows.map(([, node]) => node),
          ),
        ),
      ),
      more ? el("p", { class: "small soft", text: `${more.toLocaleString("en")} more states; a restriction brings others here.` }) : "",
    );
  }

  row(row, look, listeners) {
    return el(
      "tr",
      {
        class: row.changed ? "changed" : null,
        on: {
          pointermove: () => this.point(row.context, listeners), // not when it enters: a row may come under one that rests
          focus: () => listeners.onLook(row.context),
          click: () => listeners.onLook(row.context),
        },
      },
      el("td", {}, look ? drawSwatch(look) : ""),
      el("td", {}, el("code", { text: row.binary }), row.changed ? " changed" : ""),
      [...row.values, row.outcome].map((value) => el("td", { class: "number", text: value })),
    );
  }

  point(context, listeners) {
    if (context === this.pointed) return;
    this.pointed = context;
    listeners.onPoint(context);
  }

  /** Mark the row of a state; it is the one that Tab reaches. */
  mark(context) {
    const at = Math.max(0, this.rows.findIndex(([state]) => same(state, context)));
    this.rows.forEach(([, node], place) => {
      node.tabIndex = place === at ? 0 : -1;
      node.classList.toggle("current", place === at);
    });
    return this.rows[at]?.[1];
  }

  key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const at = this.rows.findIndex(([, node]) => node === document.activeElement);
    if (!by || at < 0 || !this.rows[at + by]) return;
    event.preventDefault();
    this.rows[at + by][1].focus();
  }
}

function same(one, other) {
  return Boolean(other) && Object.entries(one).every(([name, value]) => other[name] === value);
}
