// A click counts only if what was pressed is still there when it is released; so drawing anew waits for the release.

const CLICKED = "button, a, label, summary, select, [role=button]";

let down = false;
let presses = 0; // so far: a release that comes to be handled late must not end the next press
const waiting = new Map(); // by who draws: what is drawn last is enough

addEventListener("pointerdown", (event) => {
  presses += 1;
  down = event.target instanceof Element && event.target.closest(CLICKED) !== null;
}, true);
for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, () => setTimeout(drawWaiting, 0, presses), true); // after the click
}

function drawWaiting(released) {
  if (released !== presses) return;
  down = false;
  const drawings = [...waiting.values()];
  waiting.clear();
  for (const draw of drawings) draw();
}

/** Call `draw` now, or when nothing is pressed any more; a newer one of the same `owner` takes its place. */
export function drawOnRelease(owner, draw) {
  if (down) waiting.set(owner, draw);
  else draw();
}
