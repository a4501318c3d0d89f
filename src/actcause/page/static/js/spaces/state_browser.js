// The states themselves: a picture of the space with a close-up beside it, or a table; and which state is looked at.

import { decodeGrid, Heatmap } from "./heatmap.js";
import { StateTable } from "./state_table.js";
import { el, put } from "../shared/ui.js";

const LENS = { width: 11, height: 9 }; // cells
const SMALL_CELL = 16; // pixels: the close-up is of use below that
const STRIP = 130; // pixels of height of a space of one variable

export class StateBrowser {
  /** `listeners`: onLook() when another state is looked at, onLeaveSlice(state) when one of another slice should be. */
  constructor(listeners) {
    this.listeners = listeners;
    this.cursor = null; // the values of the roots of the state that was chosen
    this.hovered = null; // and of the one under the pointer
    const moving = { onHover: (cell) => this.hover(cell), onStep: (dx, dy) => this.move(dx, dy) };
    this.overview = new Heatmap("The state space: the arrow keys move the cursor, with Shift by ten", {
      ...moving,
      onPick: (cell) => this.look(this.stateAt(cell)),
    });
    this.lens = new Heatmap("Close-up around the cursor: the arrow keys move it", {
      ...moving,
      onPick: (cell) => this.look(this.stateAt(cell), false),
    });
    this.readout = el("p", { class: "state-line", "aria-live": "polite" });
    this.element = el("div", { class: "space" });
    this.closeup = el(
      "figure",
      { class: "closeup", hidden: true },
      el("figcaption", { class: "small soft", text: "Close-up: click in the picture, or use the arrow keys." }),
      this.lens.element,
    );
  }

  /** The state that is spoken of: under the pointer, else the one chosen. */
  get state() {
    return this.hovered ?? this.cursor;
  }

  /** Whether each cell is one state, so that something can be said about it. */
  get single() {
    return !this.grid || [this.grid.across, this.grid.up].every((axis) => !axis || axis.each === 1);
  }

  show(reply, looks) {
    Object.assign(this, { reply, looks });
    this.grid = reply.grid ? decodeGrid(reply.grid) : null;
    this.hovered = null;
    this.settle();
    this.draw();
  }

  /** A cursor on a state that is shown: where it was, else at the rarest binary. */
  settle() {
    const { reply, grid, cursor } = this;
    const known = cursor && reply.roots.every((root) => root.name in cursor);
    if (known && (grid ? this.place(cursor) : reply.why)) return;
    if (!grid) {
      this.cursor = reply.table.rows[0]?.context ?? null;
      return;
    }
    const rarest = [...reply.legend].sort((a, b) => a.states - b.states);
    const cell = rarest.map((one) => this.place(one.sample) ?? firstCell(grid, one.code)).find(Boolean);
    this.cursor = cell ? this.stateAt(cell) : null;
  }

  // -- drawing ----------------------------------------------------------------------------------------

  draw(looks = this.looks) {
    if (!this.reply) return;
    this.looks = looks;
    if (this.grid) this.drawPicture();
    else this.drawTable();
  }

  drawPicture() {
    this.table = null;
    if (!this.element.contains(this.overview.element)) put(this.element, this.overview.element, this.readout);
    this.rarity = [];
    for (const one of this.reply.legend) this.rarity[one.code] = one.states;
    const strip = this.grid.height === 1;
    const width = Math.max(260, Math.min(this.element.clientWidth, 820));
    const height = strip ? STRIP : Math.round(Math.min(width * 0.9, Math.max(320, window.innerHeight - 320)));
    this.overview.draw(this.grid, this.looks, this.rarity, null, { width, height });
    const { cell } = this.overview;
    this.closeup.hidden = Math.min(cell.width, strip ? Infinity : cell.height) >= SMALL_CELL;
    this.centre();
    this.drawLens();
    this.mark();
  }

  drawLens() {
    if (this.closeup.hidden || !this.window) return;
    const width = Math.max(240, Math.min(this.closeup.clientWidth, 620));
    const height = this.grid.height === 1 ? STRIP : Math.round(width * 0.66);
    this.lens.draw(this.grid, this.looks, this.rarity, this.window, { width, height });
  }

  drawTable() {
    const focused = this.element.contains(document.activeElement) && document.activeElement.matches("tr");
    this.closeup.hidden = true;
    this.table = new StateTable(this.reply, this.looks, {
      onPoint: (state) => this.point(state),
      onLook: (state) => this.look(state),
    });
    put(this.element, this.table.element);
    const row = this.table.mark(this.cursor);
    if (focused) row?.focus();
  }

  /** Put the close-up's window around the cursor. */
  centre() {
    const cell = this.cursor && this.place(this.cursor);
    if (!cell) return;
    const around = (at, size, whole) => Math.max(0, Math.min(at - Math.floor(size / 2), whole - size));
    const width = Math.min(LENS.width, this.grid.width);
    const height = Math.min(LENS.height, this.grid.height);
    const [column, row] = [around(cell.column, width, this.grid.width), around(cell.row, height, this.grid.height)];
    this.window = { width, height, column, row };
  }

  mark() {
    if (this.table) {
      this.table.mark(this.cursor);
      return;
    }
    const cursor = this.cursor && this.place(this.cursor);
    const hovered = this.hovered && this.place(this.hovered);
    this.overview.mark(cursor, hovered, this.closeup.hidden ? null : this.window);
    if (!this.closeup.hidden) this.lens.mark(cursor, hovered, null);
    this.readout.textContent = this.describe(this.state);
  }

  /** A state in a line: its values on the axes and its binary. */
  describe(state) {
    const cell = state && this.place(state);
    if (!cell) return "";
    const code = this.grid.cells[cell.row * this.grid.width + cell.column] - 1;
    const one = this.reply.legend.find((entry) => entry.code === code);
    const axis = ({ name, values, each }, at) => (each > 1 ? `${name} from ${values[at]} on` : `${name}=${values[at]}`);
    const where = [axis(this.grid.across, cell.column)];
    if (this.grid.up) where.push(axis(this.grid.up, cell.row));
    return `${where.join(", ")}: ${one ? `${one.words} (${one.binary})` : "something rare"}`;
  }

  // -- states and cells -------------------------------------------------------------------------------

  /** The cell of a state, null if it is not in the slice that is shown. */
  place(state) {
    const { grid, reply } = this;
    if (Object.entries(reply.held).some(([name, value]) => state[name] !== value)) return null;
    const along = (axis) => (axis ? placeOf(axis, state[axis.name]) : 0);
    const [column, row] = [along(grid.across), along(grid.up)];
    return column >= 0 && row >= 0 && grid.cells[row * grid.width + column] ? { column, row } : null;
  }

  stateAt({ column, row }) {
    const { across, up } = this.grid;
    const found = { ...this.reply.held, [across.name]: across.values[column] };
    if (up) found[up.name] = up.values[row];
    return found;
  }

  // -- looking ----------------------------------------------------------------------------------------

  hover(cell) {
    if (this.grid) this.point(cell ? this.stateAt(cell) : null);
  }

  point(state) {
    if (state === null && this.hovered === null) return;
    this.hovered = state;
    if (this.grid) this.mark();
    this.listeners.onLook();
  }

  /** Choose a state; the close-up follows if `recentre`. */
  look(state, recentre = true) {
    this.cursor = state;
    this.hovered = null;
    if (this.grid && recentre) {
      this.centre();
      this.drawLens();
    }
    this.mark();
    this.listeners.onLook();
  }

  /** Choose a state wherever it is. */
  go(state) {
    if (this.grid && !this.place(state)) {
      this.cursor = state;
      this.listeners.onLeaveSlice(state);
      return;
    }
    this.look(state);
    if (this.table) this.table.mark(state)?.scrollIntoView({ block: "nearest" });
  }

  /** Choose a state with a binary of the legend: of this slice if there is one, else of another. */
  seek(one) {
    const here = this.grid && (this.place(one.sample) ?? firstCell(this.grid, one.code));
    this.go(here ? this.stateAt(here) : one.sample);
  }

  /** Move the cursor by cells, over those that have no state. */
  move(dx, dy) {
    let cell = this.cursor && this.place(this.cursor);
    if (!cell) return;
    const { width, height, cells } = this.grid;
    const within = (at, size) => Math.max(0, Math.min(at, size - 1));
    for (;;) {
      const next = { column: within(cell.column + dx, width), row: within(cell.row + dy, height) };
      if (next.column === cell.column && next.row === cell.row) return;
      cell = next;
      if (cells[cell.row * width + cell.column]) break;
    }
    this.look(this.stateAt(cell));
  }
}

/** The place of a value along an axis, -1 if it has none; a place may stand for several values. */
function placeOf({ values, each }, value) {
  if (value === undefined || value < values[0]) return -1;
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return each === 1 && values[low] !== value ? -1 : low;
}

function firstCell(grid, code) {
  const place = grid.cells.indexOf(code + 1);
  return place < 0 ? null : { column: place % grid.width, row: Math.floor(place / grid.width) };
}
