// Small SVG charts that follow the theme: drawLines(series, options) and drawBars(values, options).
//
// Both return a <figure> with one <svg> in it (for savePng) and a line of text that says what is under the pointer.
// Series are told apart by dashes and by their names on the right, each with a piece of its line; nothing but values is
// drawn between the axes. The rules for .chart are in preimages.css.

import { svg as shape } from "./ui.js";

const COLOURS = 8; // --c0 .. --c7
const DASHES = ["", "8 4", "2 3", "10 3 2 3", "5 3", "14 4", "1 4", "8 2 2 2 2 2"];
const CHARACTER = 7; // about as wide as a letter is in the chart's font
const LINE = 15; // the height of a line of it

/** A number with as many digits as a reader needs. */
export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(Math.max(0, digits - 2));
  return value.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, String(Math.trunc(size)).length) });
}

/** Round numbers between low and high, about `wanted` of them. */
export function chooseTicks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

/** Comma-separated text of rows; what holds a comma, a quote or a line break is quoted. */
export function writeCsv(head, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(",") + "\n").join("");
}

/** The points of several series as one table: x, then a column for each series. */
export function writeSeriesCsv(series, x = "x") {
  const places = [...new Set(series.flatMap((one) => one.points.map((point) => point[0])))].sort((a, b) => a - b);
  const columns = series.map((one) => new Map(one.points));
  return writeCsv([x, ...series.map((one) => one.name)], places.map((at) => [at, ...columns.map((c) => c.get(at))]));
}

/**
 * A chart of lines.
 *
 * series: [{name, points: [[x, y], ...] in order of x}]; a point whose y is null leaves a gap.
 * options: title (said to screen readers), x and y (names of the axes), width, height, xRange and yRange ([low, high]).
 */
export function drawLines(series, options = {}) {
  const { title = "", x = "", y = "", width = 640, height = 300 } = options;
  const drawn = series.map((one, place) => ({ ...one, place, points: one.points.filter((p) => Number.isFinite(p[0])) }));
  const inside = { left: 58, top: 14, bottom: height - (x ? 44 : 26) };
  const longest = Math.max(0, ...drawn.map((one) => one.name.length));
  inside.right = width - Math.min(37 + longest * CHARACTER, width * 0.4);
  const across = scale(options.xRange ?? extent(drawn, 0), inside.left, inside.right);
  const up = scale(options.yRange ?? pad(extent(drawn, 1)), inside.bottom, inside.top);
  const known = new Set(drawn.flatMap((one) => one.points.map((point) => point[0])));
  if (known.size === 1) across.ticks = [...known]; // steps are whole: none lies between
  const svg = frame(title, width, height);
  svg.append(axes(across, up, inside, x, y));
  for (const one of drawn) svg.append(line(one, across, up));
  svg.append(...endLabels(drawn, up, inside, width));
  const readout = document.createElement("figcaption");
  readout.className = "chart-readout";
  const figure = document.createElement("figure");
  figure.className = "chart";
  figure.append(svg, readout);
  follow(svg, drawn, across, inside, readout, x);
  return figure;
}

/**
 * A chart of bars, one below the other, each with its name and its value in words.
 *
 * values: [{name, value, text}]; options: title, width, most (the value of a bar of full length), nameWidth.
 */
export function drawBars(values, options = {}) {
  const { title = "", width = 420 } = options;
  const row = 26;
  const most = options.most ?? Math.max(...values.map((one) => one.value), 1e-12);
  const nameWidth = options.nameWidth ?? 14 + CHARACTER * Math.max(...values.map((one) => one.name.length), 1);
  const textWidth = 14 + CHARACTER * Math.max(...values.map((one) => (one.text ?? formatNumber(one.value)).length), 1);
  const room = Math.max(width - nameWidth - textWidth, 40);
  const svg = frame(title, width, values.length * row + 8);
  values.forEach((one, place) => {
    const top = place * row + 4;
    const length = one.value > 0 ? Math.max((one.value / most) * room, 1.5) : 0;
    const text = one.text ?? formatNumber(one.value);
    svg.append(
      shape("text", { x: nameWidth - 8, y: top + 17, "text-anchor": "end" }, one.name),
      shape("rect", { class: "chart-bar", x: nameWidth, y: top + 3, width: length, height: row - 8 }),
      shape("text", { x: nameWidth + length + 6, y: top + 17 }, text),
    );
  });
  svg.append(shape("path", { class: "chart-axis", d: `M${nameWidth} 0V${values.length * row + 8}` }));
  svg.setAttribute("aria-label", `${title}: ${values.map((one) => `${one.name} ${one.text ?? formatNumber(one.value)}`).join("; ")}`);
  const figure = document.createElement("figure");
  figure.className = "chart";
  figure.append(svg);
  return figure;
}

// -- parts ------------------------------------------------------------------------------------------

function frame(title, width, height) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
  svg.append(shape("rect", { class: "chart-paper", x: 0, y: 0, width, height }));
  return svg;
}

function extent(series, part) {
  let low = Infinity;
  let high = -Infinity;
  for (const one of series) {
    for (const point of one.points) {
      if (Number.isFinite(point[part])) {
        low = Math.min(low, point[part]);
        high = Math.max(high, point[part]);
      }
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function pad([low, high]) {
  const more = (high - low) * 0.04;
  return [low >= 0 && low < (high - low) * 0.5 ? 0 : low - more, high + more];
}

function scale([low, high], from, to) {
  const at = (value) => from + ((value - low) / (high - low || 1)) * (to - from);
  return Object.assign(at, { low, high, from, to });
}

/** Ticks whose numbers are written as they are: several that are rounded to one would be no scale. */
function chooseLabelled(low, high, wanted) {
  const ticks = chooseTicks(low, high, wanted);
  const written = ticks.filter((value) => Math.abs(Number(formatNumber(value).replaceAll(",", "")) - value) <= 1e-9 * Math.abs(value));
  return written.length ? written : ticks.slice(0, 1);
}

function axes(across, up, inside, x, y) {
  const group = shape("g", {});
  for (const value of chooseLabelled(up.low, up.high, 5)) {
    const at = up(value);
    group.append(
      shape("path", { class: "chart-grid", d: `M${inside.left} ${at}H${inside.right}` }),
      shape("text", { x: inside.left - 7, y: at + 4, "text-anchor": "end" }, formatNumber(value)),
    );
  }
  for (const value of across.ticks ?? chooseLabelled(across.low, across.high, 6)) {
    group.append(shape("text", { x: across(value), y: inside.bottom + 17, "text-anchor": "middle" }, formatNumber(value)));
  }
  group.append(shape("path", { class: "chart-axis", d: `M${inside.left} ${inside.top}V${inside.bottom}H${inside.right}` }));
  const middle = (inside.left + inside.right) / 2;
  if (x) group.append(shape("text", { class: "chart-name", x: middle, y: inside.bottom + 36, "text-anchor": "middle" }, x));
  if (y) {
    const at = (inside.top + inside.bottom) / 2;
    group.append(
      shape("text", { class: "chart-name", x: 12, y: at, "text-anchor": "middle", transform: `rotate(-90 12 ${at})` }, y),
    );
  }
  return group;
}

function line(one, across, up) {
  let path = "";
  let pen = "M";
  for (const [at, value] of one.points) {
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${across(at).toFixed(1)} ${up(value).toFixed(1)}`;
    pen = "L";
  }
  const group = shape("g", { class: `chart-line series-${one.place % COLOURS}` });
  group.append(shape("path", { d: path, "stroke-dasharray": dashes(one.place) }));
  const last = one.points.findLast((point) => Number.isFinite(point[1]));
  if (last) group.append(shape("circle", { class: "chart-end", cx: across(last[0]), cy: up(last[1]), r: 3.5 }));
  return group;
}

/** The ninth series has the colour of the first, and other dashes. */
function dashes(place) {
  return DASHES[(place + Math.floor(place / COLOURS)) % DASHES.length];
}

/** The names of the series, each with a piece of its line, at the height of its last point or moved apart from others. */
function endLabels(series, up, inside, width) {
  const placed = series
    .map((one) => ({ one, last: one.points.findLast((point) => Number.isFinite(point[1])) }))
    .filter((label) => label.last)
    .map((label) => ({ ...label, at: up(label.last[1]) }))
    .sort((a, b) => a.at - b.at);
  let free = inside.top;
  for (const label of placed) {
    label.y = Math.max(label.at, free);
    free = label.y + LINE;
  }
  for (let place = placed.length - 1, end = inside.bottom; place >= 0; place -= 1) {
    placed[place].y = Math.min(placed[place].y, end);
    end = placed[place].y - LINE;
  }
  const room = Math.floor((width - inside.right - 35) / CHARACTER);
  return placed.map(({ one, y }) => {
    const name = one.name.length > room ? one.name.slice(0, Math.max(room - 1, 1)) + "…" : one.name;
    return shape(
      "g",
      { class: `chart-line series-${one.place % COLOURS}` },
      shape("path", { class: "chart-key", d: `M${inside.right + 6} ${y}h22`, "stroke-dasharray": dashes(one.place) }),
      shape("text", { x: inside.right + 32, y: y + 4 }, name, shape("title", {}, one.name)),
    );
  });
}

/** A vertical line at the pointer, or moved by the arrow keys, and every series' value there. */
function follow(svg, series, across, inside, readout, x) {
  const places = [...new Set(series.flatMap((one) => one.points.map((point) => point[0])))].sort((a, b) => a - b);
  if (!places.length) {
    readout.textContent = "Nothing to show yet.";
    return;
  }
  const columns = series.map((one) => new Map(one.points));
  const cursor = shape("path", { class: "chart-cursor", visibility: "hidden" });
  svg.append(cursor);
  svg.setAttribute("tabindex", "0");
  let now = places.length - 1;
  const say = (place) => {
    now = Math.min(Math.max(place, 0), places.length - 1);
    const at = places[now];
    cursor.setAttribute("d", `M${across(at)} ${inside.top}V${inside.bottom}`);
    const values = series.map((one, index) => [one.name, columns[index].get(at)]).filter((pair) => pair[1] !== undefined);
    readout.textContent = `${x || "at"} ${formatNumber(at)}: ${values.map(([name, value]) => `${name} ${formatNumber(value)}`).join(", ")}`;
  };
  const show = (visible) => cursor.setAttribute("visibility", visible ? "visible" : "hidden");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let best = 0;
    for (let place = 1; place < places.length; place += 1) {
      if (Math.abs(across(places[place]) - wanted) < Math.abs(across(places[best]) - wanted)) best = place;
    }
    say(best);
    show(true);
  });
  svg.addEventListener("pointerleave", () => show(false));
  svg.addEventListener("focus", () => show(true));
  svg.addEventListener("blur", () => show(false));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    say(now + step);
    show(true);
  });
  say(now);
}
