// A grid of states coloured by binary, drawn on a canvas: the whole of it, or a window into it.
//
// A binary is told by its colour, by a pattern, and, where a cell is large enough, by its label. Where several cells
// share a pixel, the pixel shows the rarest binary among them, so that a single odd state is never lost.

import { el } from "../shared/ui.js";
import { formatNumber, chooseTicks } from "../shared/chart.js";

const MARGIN = { left: 58, right: 24, top: 12, bottom: 46 };
const LABELLED = 18; // pixels of a cell from which on it shows its label, if that fits
const GRID_LINES = 8; // and its outline

// Whether a pixel is inked, for each pattern; the first is plain.
const PATTERNS = [
  () => false,
  (x, y) => (x + y) % 9 < 2,
  (x, y) => x % 6 < 2 && y % 6 < 2,
  (x, y) => y % 7 < 2,
  (x, y) => (((x - y) % 9) + 9) % 9 < 2,
  (x, y) => x % 7 < 2,
  (x, y) => x % 9 < 1 || y % 9 < 1,
  (x, y) => (x + y) % 14 < 1 || (((x - y) % 14) + 14) % 14 < 1,
];
const COLOURS = 8;

/** How each binary of a legend looks. `slots` remembers the places of binaries, so that colours stay as sliders move. */
export function chooseLooks(legend, slots) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => rgb(style.getPropertyValue(name).trim());
  const ink = colour("--ink");
  const found = new Map();
  for (const one of legend) {
    const slot = one.length ? slots.get(one.binary) : -1;
    found.set(one.code, {
      colour: slot < 0 ? colour("--sunk") : colour(`--c${slot % COLOURS}`),
      ink,
      // The ninth binary has the colour of the first and another pattern.
      pattern: slot < 0 ? 0 : (slot + Math.floor(slot / COLOURS)) % PATTERNS.length,
      label: label(one, slot),
    });
  }
  return found;
}

/** What a cell says: the variables where they are few and short, else a letter that the legend repeats. */
function label(one, slot) {
  if (!one.length) return "–";
  const names = one.names.join(" ");
  return names.length <= 5 ? names : String.fromCharCode(65 + (slot % 26)) + (slot >= 26 ? Math.floor(slot / 26) : "");
}

/** Give each binary a place: a fixed one for up to three variables, else in the order in which they turn up. */
export function assignSlots(slots, { variables, legend }) {
  const width = variables.length;
  if (width <= 3 && !slots.size) {
    const all = Array.from({ length: 2 ** width }, (_, k) => k.toString(2).padStart(width, "0"));
    const length = (binary) => binary.replaceAll("0", "").length;
    all.sort((a, b) => length(a) - length(b) || b.localeCompare(a));
    for (const binary of all.slice(1)) slots.set(binary, slots.size);
  }
  const frequent = [...legend].sort((a, b) => b.states - a.states);
  for (const one of frequent) if (one.length && !slots.has(one.binary)) slots.set(one.binary, slots.size);
}

const probe = document.createElement("canvas").getContext("2d");

function rgb(text) {
  probe.fillStyle = "#888888";
  probe.fillStyle = text;
  const hex = probe.fillStyle;
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

const mix = (a, b, share) => a.map((value, place) => Math.round(value * (1 - share) + b[place] * share));
const css = (colour) => `rgb(${colour.join(" ")})`;

/** Black or white, whichever is read better on a colour. */
function readable([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000000" : "#ffffff";
}

/** Fill a rectangle of pixels with a look. */
function paint(pixels, width, x, y, look) {
  const inked = PATTERNS[look.pattern](x, y);
  const at = 4 * (y * width + x);
  const [red, green, blue] = inked ? look.inked : look.colour;
  pixels[at] = red;
  pixels[at + 1] = green;
  pixels[at + 2] = blue;
  pixels[at + 3] = 255;
}

/** A small canvas that shows how a binary looks. */
export function drawSwatch(look) {
  const [width, height] = [44, 24];
  const canvas = el("canvas", { class: "swatch", width, height, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const drawn = { ...look, inked: mix(look.colour, look.ink, 0.45) };
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) paint(image.data, width, x, y, drawn);
  context.putImageData(image, 0, 0);
  plate(context, look, width / 2, height / 2, width);
  return canvas;
}

/** The label of a binary on a plate of its colour. */
function plate(context, look, x, y, room) {
  context.font = "600 12px system-ui, sans-serif";
  const width = context.measureText(look.label).width + 4;
  if (width > room) return;
  context.fillStyle = css(look.colour);
  context.fillRect(x - width / 2, y - 8, width, 16);
  context.fillStyle = readable(look.colour);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(look.label, x, y + 0.5);
}

/** The cells of a reply of the server, as numbers. */
export function decodeGrid(grid) {
  const text = atob(grid.cells);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  const cells = grid.bytes === 1 ? bytes : new Uint16Array(bytes.buffer);
  const { across, up } = grid;
  return { cells, across, up, width: across.values.length, height: up ? up.values.length : 1 };
}

export class Heatmap {
  /** `listeners`: onHover(cell|null), onPick(cell), onStep(dx, dy); a cell is {column, row}. */
  constructor(title, listeners) {
    this.listeners = listeners;
    this.picture = el("canvas", { class: "heat-cells" });
    this.marks = el("canvas", { class: "heat-marks" });
    this.element = el(
      "div",
      { class: "heat", tabindex: 0, role: "application", "aria-label": title, "aria-roledescription": "picture" },
      this.picture,
      this.marks,
    );
    this.listen();
  }

  /** Draw a grid, or `view` of it ({column, row, width, height}), `size` pixels wide and at most `size` high. */
  draw(grid, look, counts, view, size) {
    const whole = view ?? { column: 0, row: 0, width: grid.width, height: grid.height };
    const inside = { width: size.width - MARGIN.left - MARGIN.right, height: size.height - MARGIN.top - MARGIN.bottom };
    Object.assign(this, { grid, look, counts, view: whole, size, inside });
    this.cell = { width: inside.width / whole.width, height: inside.height / whole.height };
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.picture, this.marks]) {
      canvas.width = Math.round(size.width * ratio);
      canvas.height = Math.round(size.height * ratio);
      canvas.style.setProperty("width", `${size.width}px`);
      canvas.style.setProperty("height", `${size.height}px`);
    }
    this.element.style.setProperty("width", `${size.width}px`);
    this.element.style.setProperty("height", `${size.height}px`);
    this.ratio = ratio;
    this.fillCells();
    this.decorate();
  }

  /** Which cell each pixel shows: of all those it covers, the one with the rarest binary. */
  fillCells() {
    const { grid, view, ratio, inside } = this;
    const width = Math.max(1, Math.round(inside.width * ratio));
    const height = Math.max(1, Math.round(inside.height * ratio));
    const context = this.picture.getContext("2d");
    const image = context.createImageData(width, height);
    const drawn = [];
    for (const [code, look] of this.look) drawn[code + 1] = { ...look, inked: mix(look.colour, look.ink, 0.45) };
    const other = { ...(drawn.find(Boolean) ?? {}), colour: [136, 136, 136], inked: [100, 100, 100], pattern: 7 };
    this.shown = new Int32Array(width * height).fill(-1);
    const columns = spans(width, view.width);
    const rows = spans(height, view.height);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        let best = -1;
        let rarest = Infinity;
        for (let row = rows[y][0]; row <= rows[y][1]; row += 1) {
          // The first row of the grid is drawn at the bottom.
          const start = (view.row + view.height - 1 - row) * grid.width + view.column;
          for (let column = columns[x][0]; column <= columns[x][1]; column += 1) {
            const code = grid.cells[start + column];
            if (code && (this.counts[code - 1] ?? 0) < rarest) {
              rarest = this.counts[code - 1] ?? 0;
              best = start + column;
            }
          }
        }
        if (best >= 0) {
          this.shown[y * width + x] = best;
          paint(image.data, width, x, y, drawn[grid.cells[best]] ?? other);
        }
      }
    }
    this.pixels = { width, height };
    context.putImageData(image, Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
  }

  decorate() {
    const context = this.picture.getContext("2d");
    const { view, grid, cell, inside, ratio } = this;
    const style = getComputedStyle(this.element);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    if (cell.width >= GRID_LINES && cell.height >= GRID_LINES) {
      context.beginPath();
      for (let column = 0; column <= view.width; column += 1) {
        const x = MARGIN.left + column * cell.width;
        context.moveTo(x, MARGIN.top);
        context.lineTo(x, MARGIN.top + inside.height);
      }
      for (let row = 0; row <= view.height; row += 1) {
        const y = MARGIN.top + row * cell.height;
        context.moveTo(MARGIN.left, y);
        context.lineTo(MARGIN.left + inside.width, y);
      }
      context.stroke();
    } else {
      context.strokeRect(MARGIN.left - 0.5, MARGIN.top - 0.5, inside.width + 1, inside.height + 1);
    }
    if (cell.width >= LABELLED && cell.height >= LABELLED) {
      for (let row = view.row; row < view.row + view.height; row += 1) {
        for (let column = view.column; column < view.column + view.width; column += 1) {
          const look = this.look.get(grid.cells[row * grid.width + column] - 1);
          const box = this.box({ column, row });
          if (look) plate(context, look, box.x + box.width / 2, box.y + box.height / 2, box.width);
        }
      }
    }
    this.scales(context, style.getPropertyValue("--ink"));
  }

  /** The values along both axes, and their names. */
  scales(context, ink) {
    const { view, grid, inside, cell } = this;
    context.fillStyle = ink;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "top";
    context.textAlign = "center";
    const bottom = MARGIN.top + inside.height;
    for (const place of places(grid.across.values, view.column, view.width, inside.width / 56)) {
      const text = formatNumber(grid.across.values[place]);
      context.fillText(text, MARGIN.left + (place - view.column + 0.5) * cell.width, bottom + 6);
    }
    context.font = "600 13px system-ui, sans-serif";
    context.fillText(grid.across.name, MARGIN.left + inside.width / 2, bottom + 25);
    if (!grid.up) return;
    context.save();
    context.translate(14, MARGIN.top + inside.height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(grid.up.name, 0, 0);
    context.restore();
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const place of places(grid.up.values, view.row, view.height, inside.height / 32)) {
      context.fillText(formatNumber(grid.up.values[place]), MARGIN.left - 7, bottom - (place - view.row + 0.5) * cell.height);
    }
  }

  /** Mark the cursor, and the window that another picture shows. */
  mark(cursor, hovered, frame) {
    if (!this.grid) return;
    const context = this.marks.getContext("2d");
    const style = getComputedStyle(this.element);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const outline = (box, colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
    };
    const [ink, paper] = [style.getPropertyValue("--ink"), style.getPropertyValue("--paper")];
    if (frame) {
      const from = this.box({ column: frame.column, row: frame.row + frame.height - 1 });
      const whole = { ...from, width: this.cell.width * frame.width, height: this.cell.height * frame.height };
      outline(atLeast(whole, 10), paper, 4);
      outline(atLeast(whole, 10), ink, 2);
    }
    for (const [cell, width] of [[hovered, 1.5], [cursor, 2.5]]) {
      if (!cell || !this.holds(cell)) continue;
      const box = atLeast(this.box(cell), 5);
      outline(box, paper, width + 2);
      outline(box, ink, width);
    }
  }

  holds({ column, row }) {
    const { view } = this;
    return column >= view.column && column < view.column + view.width && row >= view.row && row < view.row + view.height;
  }

  box({ column, row }) {
    const { view, cell } = this;
    return {
      x: MARGIN.left + (column - view.column) * cell.width,
      y: MARGIN.top + (view.row + view.height - 1 - row) * cell.height,
      width: cell.width,
      height: cell.height,
    };
  }

  /** The cell that is shown under the pointer, null beside the picture. */
  at(event) {
    if (!this.grid) return null;
    const box = this.picture.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - MARGIN.left) * this.ratio);
    const y = Math.floor((event.clientY - box.top - MARGIN.top) * this.ratio);
    if (x < 0 || y < 0 || x >= this.pixels.width || y >= this.pixels.height) return null;
    const place = this.shown[y * this.pixels.width + x];
    return place < 0 ? null : { column: place % this.grid.width, row: Math.floor(place / this.grid.width) };
  }

  listen() {
    this.element.addEventListener("pointermove", (event) => {
      const cell = this.at(event);
      if (event.buttons & 1 && cell) this.listeners.onPick(cell);
      else this.listeners.onHover(cell);
    });
    this.element.addEventListener("pointerleave", () => this.listeners.onHover(null));
    this.element.addEventListener("pointerdown", (event) => {
      const cell = this.at(event);
      if (cell) this.listeners.onPick(cell);
    });
    this.element.addEventListener("keydown", (event) => {
      const far = event.shiftKey ? 10 : 1;
      const step = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] }[event.key];
      if (!step) return;
      event.preventDefault();
      this.listeners.onStep(...step);
    });
  }
}

/** For each of `pixels`, the first and the last of `cells` that it shows. */
function spans(pixels, cells) {
  return Array.from({ length: pixels }, (_, place) => {
    const first = Math.floor((place * cells) / pixels);
    return [first, cells <= pixels ? first : Math.ceil(((place + 1) * cells) / pixels) - 1];
  });
}

/** The places of an axis that get a number: all, or those of round values where not all fit. */
function places(values, from, count, most) {
  const every = Array.from({ length: count }, (_, place) => from + place);
  if (count <= most) return every;
  const round = new Set(chooseTicks(values[from], values[from + count - 1], Math.max(2, most)));
  const found = every.filter((place) => round.has(values[place]));
  const each = Math.ceil(count / Math.max(2, most));
  return found.length > 1 && found.length <= most + 2 ? found : every.filter((place) => (place - from) % each === 0);
}

function atLeast(box, least) {
  const [width, height] = [Math.max(box.width, least), Math.max(box.height, least)];
  return { x: box.x - (width - box.width) / 2, y: box.y - (height - box.height) / 2, width, height };
}
