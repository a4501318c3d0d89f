// Small helpers for building the page. Text gets in by textContent only; nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `properties` are attributes; `on` maps events to listeners, `class` and `text` mean what they say. */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "style") for (const [key, setting] of Object.entries(value)) node.style.setProperty(key, setting);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replace everything inside a node. */
export function put(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/** Show one line in `root`: kind is note, good, warn or bad. An empty message clears it. */
export function notice(root, message, kind = "note") {
  root.replaceChildren();
  if (!message) return;
  const role = kind === "bad" ? "alert" : "status";
  root.append(el("p", { class: `notice ${kind}`, role, text: String(message) }));
}

/** Fade what is not the answer to what is asked now, and tell assistive technology; or take that back. */
export function fadeStale(part, stale) {
  part.classList.toggle("stale", stale);
  if (stale) part.setAttribute("aria-disabled", "true");
  else part.removeAttribute("aria-disabled");
}

let fieldErrors = 0;

/** A control with its label; `more` stands beside the label. */
export function field(label, control, more = null) {
  const labelled = el("label", { class: "field" }, el("span", { text: label }), control);
  return more ? el("div", { class: "field explained" }, labelled, more) : labelled;
}

/** Where a control's mistake is said, right beside it; put it there, and `markField` writes into it. */
export function buildFieldError(control) {
  fieldErrors += 1;
  const error = el("p", { class: "field-error", role: "alert", id: `field-error-${fieldErrors}` });
  control.setAttribute("aria-describedby", error.id);
  return error;
}

/** Mark a control as wrong and say why beside it; an empty message takes both back. */
export function markField(control, error, message) {
  error.textContent = message;
  if (message) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}

export function button(label, onClick, properties = {}) {
  return el("button", { type: "button", ...properties, text: label, on: { click: onClick } });
}

export function spinner(label = "working") {
  return el("span", { class: "spinner", role: "status", "aria-label": label });
}

/** A table of text or nodes; cells that are numbers are aligned to the right. */
export function table(head, rows, properties = {}) {
  const cell = (tag, value) => {
    const number = typeof value === "number";
    const node = el(tag, { class: number ? "number" : null, scope: tag === "th" ? "col" : null });
    append(node, [value]);
    return node;
  };
  return el(
    "table",
    properties,
    el("thead", {}, el("tr", {}, ...head.map((value) => cell("th", value)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value) => cell("td", value))))),
  );
}

let toastTimer = 0;

/** Say something for a moment. */
export function toast(message) {
  const node = document.getElementById("toast");
  node.textContent = message;
  node.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => node.classList.remove("shown"), 2500);
}

/** Put text on the clipboard and say so. */
export async function copy(text, said = "Copied.") {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    // Without permission, or on a page that is not secure: the old way, through a selection.
    const area = el("textarea", { class: "spoken", value: text, "aria-hidden": "true" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    toast(done ? said : "This browser does not let the page copy.");
  }
}

/** Let the user save text or a Blob as a file. */
export function download(name, content) {
  const blob = content instanceof Blob ? content : new Blob([content], { type: "text/plain;charset=utf-8" });
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const PAINTED = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity",
  "stroke-opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "visibility", "display",
];

const MOST_PIXELS = 8000; // a side of a picture; browsers draw nothing on a larger canvas

/** Save an SVG element or a canvas as a PNG file, twice as fine as it is shown; `full` for all of a larger drawing. */
export async function savePng(source, name, full) {
  const canvas = source instanceof HTMLCanvasElement ? source : await paintCopy(source, full);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(name, blob);
}

/** Save an SVG element as a file of its own. */
export function saveSvg(source, name, full) {
  const copied = copyDrawing(source, full);
  copied.prepend(svg("rect", { width: "100%", height: "100%", fill: paperColour() }));
  download(name, new Blob([new XMLSerializer().serializeToString(copied)], { type: "image/svg+xml" }));
}

const paperColour = () => getComputedStyle(document.body).getPropertyValue("--paper").trim() || "#ffffff";

/** A copy of a drawing that needs no style sheet. */
function copyDrawing(source, full) {
  const { width, height } = full ?? source.getBoundingClientRect();
  const copied = source.cloneNode(true);
  const originals = [source, ...source.querySelectorAll("*")];
  const copies = [copied, ...copied.querySelectorAll("*")];
  originals.forEach((original, index) => {
    const style = getComputedStyle(original);
    for (const property of PAINTED) copies[index].setAttribute(property, style.getPropertyValue(property));
    copies[index].removeAttribute("style");
    copies[index].removeAttribute("class");
  });
  copied.setAttribute("width", width);
  copied.setAttribute("height", height);
  if (full) copied.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copied.setAttribute("xmlns", SVG);
  return copied;
}

async function paintCopy(source, full) {
  const { width, height } = full ?? source.getBoundingClientRect();
  const text = new XMLSerializer().serializeToString(copyDrawing(source, full));
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const finer = Math.min(2, MOST_PIXELS / Math.max(width, height));
    const canvas = el("canvas", { width: Math.ceil(width * finer), height: Math.ceil(height * finer) });
    const context = canvas.getContext("2d");
    context.fillStyle = paperColour();
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** A function that waits until it has not been called for a while; `.cancel()` forgets a call that waits. */
export function debounce(action, milliseconds = 250) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Run the newest of several asynchronous questions: replies to older ones are dropped (undefined comes instead). */
export function keepNewest() {
  let asked = 0;
  return async (question) => {
    asked += 1;
    const mine = asked;
    try {
      const reply = await question();
      return mine === asked ? reply : undefined;
    } catch (error) {
      if (mine !== asked) return undefined;
      throw error;
    }
  };
}

/** Whether the user asked the system for less movement. */
export function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
