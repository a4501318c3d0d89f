// What is seen of a drawing that may be larger than its place: zoom, drag, fit, and bringing something into sight.

const STEP = 1.3; // by which a click zooms
const LARGEST = 2.5;
const LEGIBLE = 0.55; // a drawing that would have to be smaller to be seen whole starts at what matters instead
const CLOSE = 0.75; // at this scale, at which every name is read with ease
const DISTANT = 0.4; // small print is left out below this
const FAR = 0.15; // and below this the names too, which nobody could read
const SHY = 4; // pixels a press may move before it is a drag
const MARGIN = 40;

export class Viewport {
  /** `drawing` is an SVG element whose contents are `full` ({width, height}) large; it is shown inside `place`. */
  constructor(place, drawing, full) {
    Object.assign(this, { place, drawing, full, scale: 1, x: full.width / 2, y: full.height / 2, moved: false, centre: null });
    this.watcher = new ResizeObserver(() => this.fitPlace());
    this.watcher.observe(place);
    drawing.addEventListener("wheel", (event) => this.handleWheel(event), { passive: false });
    drawing.addEventListener("pointerdown", (event) => this.startDrag(event));
  }

  close() {
    this.watcher.disconnect();
  }

  get box() {
    return { width: this.place.clientWidth || 1, height: this.place.clientHeight || 1 };
  }

  /** The scale at which all is seen. */
  get whole() {
    const { width, height } = this.box;
    return Math.min(width / this.full.width, height / this.full.height, this.natural);
  }

  /** Small drawings are a little larger on a projector. */
  get natural() {
    return innerWidth >= 1700 ? 1.4 : 1;
  }

  /** The place is as high as the drawing needs at its width, within what its style allows. */
  fitPlace() {
    const width = this.place.clientWidth;
    if (!width || (width === this.width && innerHeight === this.height)) return;
    [this.width, this.height] = [width, innerHeight];
    const scale = Math.max(Math.min(width / this.full.width, this.natural), Math.min(LEGIBLE, this.natural));
    this.place.style.height = `${Math.ceil(this.full.height * scale)}px`;
    if (this.moved) this.paint();
    else this.start();
  }

  /** Show all of it, or if that would be illegible what matters. */
  start() {
    this.moved = false;
    if (this.whole >= LEGIBLE || !this.centre) this.fit(false);
    else this.lookInside(this.centre.x, this.centre.y, CLOSE);
  }

  fit(byHand = true) {
    this.moved = byHand;
    this.look(this.full.width / 2, this.full.height / 2, this.whole);
  }

  zoom(direction) {
    this.moved = true;
    this.look(this.x, this.y, this.scale * STEP ** direction);
  }

  /** Bring a box ({left, top, right, bottom}) into sight, with all of it legible if that can be; else `otherwise`. */
  reveal(box, otherwise = box) {
    const { width, height } = this.box;
    const seen = { left: this.x - width / 2 / this.scale, top: this.y - height / 2 / this.scale };
    const inside = (one) => one.left >= seen.left && one.top >= seen.top && one.right <= seen.left + width / this.scale && one.bottom <= seen.top + height / this.scale;
    if (inside(box) && this.scale >= Math.min(DISTANT, this.whole)) return;
    const needed = Math.min(width / (box.right - box.left + MARGIN), height / (box.bottom - box.top + MARGIN));
    if (needed < DISTANT && otherwise !== box) {
      this.reveal(otherwise);
      return;
    }
    this.moved = true;
    this.lookInside((box.left + box.right) / 2, (box.top + box.bottom) / 2, Math.min(needed, Math.max(this.scale, Math.min(LEGIBLE, this.natural))));
  }

  /** Look there, but not past the edge of the drawing: what is empty shows nothing. */
  lookInside(x, y, scale) {
    const keep = (centre, full, seen) => (full <= seen ? full / 2 : Math.min(Math.max(centre, seen / 2), full - seen / 2));
    const { width, height } = this.box;
    this.look(keep(x, this.full.width, width / scale), keep(y, this.full.height, height / scale), scale);
  }

  look(x, y, scale) {
    this.scale = Math.min(LARGEST, Math.max(Math.min(this.whole, LEGIBLE) / 2, scale));
    [this.x, this.y] = [x, y];
    this.paint();
  }

  paint() {
    const width = this.box.width / this.scale;
    const height = this.box.height / this.scale;
    // Some of the drawing always stays in sight.
    this.x = Math.min(Math.max(this.x, 0), this.full.width);
    this.y = Math.min(Math.max(this.y, 0), this.full.height);
    this.drawing.setAttribute("viewBox", `${this.x - width / 2} ${this.y - height / 2} ${width} ${height}`);
    this.drawing.classList.toggle("distant", this.scale < DISTANT);
    this.drawing.classList.toggle("far", this.scale < FAR);
  }

  handleWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    this.moved = true;
    const box = this.drawing.getBoundingClientRect();
    const [dx, dy] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
    const [x, y] = [this.x + dx / this.scale, this.y + dy / this.scale]; // stays under the pointer
    const scale = Math.min(LARGEST, Math.max(this.whole / 2, this.scale * Math.exp(-event.deltaY / 400)));
    this.look(x - dx / scale, y - dy / scale, scale);
  }

  startDrag(event) {
    if (event.button !== 0) return;
    const from = { left: event.clientX, top: event.clientY, x: this.x, y: this.y };
    let dragged = false;
    const drag = (now) => {
      const [dx, dy] = [now.clientX - from.left, now.clientY - from.top];
      if (!dragged && Math.hypot(dx, dy) < SHY) return;
      if (!dragged) this.drawing.setPointerCapture(event.pointerId);
      dragged = true;
      this.moved = true;
      this.drawing.classList.add("dragged");
      this.look(from.x - dx / this.scale, from.y - dy / this.scale, this.scale);
    };
    const stop = () => {
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", stop);
      removeEventListener("pointercancel", stop);
      this.drawing.classList.remove("dragged");
      if (!dragged) return;
      addEventListener("click", swallow, true); // the end of a drag is no click
      setTimeout(() => removeEventListener("click", swallow, true), 0);
    };
    const swallow = (click) => click.stopPropagation();
    addEventListener("pointermove", drag);
    addEventListener("pointerup", stop);
    addEventListener("pointercancel", stop);
  }
}
