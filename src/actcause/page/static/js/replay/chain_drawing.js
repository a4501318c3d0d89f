// The chain behind an event, drawn over the episode: a row for each factor, a column for each step.
import { svg } from "../shared/ui.js";

const ROW = 34; // pixels
const HEAD = 22;
const NAMES = 110;
const CELL = [22, 46]; // pixels of a step

/** The factors of a chain: inputs first, the event's own last, those between in the order in which they come in. */
function listRows(chain) {
  const seen = new Set();
  for (const link of chain.links) for (const cause of link.causes) seen.add(cause);
  for (const link of chain.links) seen.add(link.outcome);
  for (const name of chain.initial) seen.add(name);
  seen.delete(chain.factor);
  const rank = (name) => (chain.inputs.includes(name) ? 0 : 1);
  return [...[...seen].sort((one, other) => rank(one) - rank(other)), chain.factor];
}

/**
 * Draw a chain; a link of step t leads from what the cause was before the step to what the outcome was after it.
 * `seek` is called with the step (the first is 1) of a column that is clicked.
 */
export function drawChain(chain, width, step, seek) {
  const rows = listRows(chain);
  const columns = chain.step + 1; // times: before step 1, ..., after the event's step
  const cell = Math.min(Math.max((width - NAMES - 20) / columns, CELL[0]), CELL[1]);
  const x = (time) => NAMES + 12 + (time - 1) * cell;
  const y = (name) => HEAD + rows.indexOf(name) * ROW + ROW / 2;
  const times = new Map(rows.map((name) => [name, new Set()]));
  const note = (name, time) => times.get(name).add(time);
  for (const name of chain.initial) note(name, 1);
  for (const link of chain.links) {
    note(link.outcome, link.step + 1);
    for (const cause of link.causes) note(cause, link.step);
  }
  note(chain.factor, chain.step + 1);

  const kept = rows.filter((name) => !chain.inputs.includes(name) && times.get(name).size > 1).map((name) => {
    const all = [...times.get(name)];
    return svg("path", { class: "own", d: `M${x(Math.min(...all))} ${y(name)}H${x(Math.max(...all))}` });
  });
  const links = chain.links.flatMap((link) => link.causes.map((cause) =>
    svg("path", { class: "edge", d: `M${x(link.step)} ${y(cause)}L${x(link.step + 1)} ${y(link.outcome)}` })));
  const nodes = rows.flatMap((name) => [...times.get(name)].map((time) => {
    const event = name === chain.factor && time === chain.step + 1;
    const input = chain.inputs.includes(name);
    const size = event ? 8 : 5;
    const mark = input
      ? svg("rect", { class: "input", x: x(time) - 5, y: y(name) - 5, width: 10, height: 10 })
      : svg("circle", { class: event ? "event" : "node", cx: x(time), cy: y(name), r: size });
    mark.append(svg("title", { text: event ? `${name}: the event, step ${chain.step}` : `${name} at step ${time}` }));
    return mark;
  }));
  const every = cell < 30 ? 5 : 1;
  const heads = Array.from({ length: chain.step }, (_, k) => k + 1).flatMap((number) => {
    const label = number === chain.step || number % every === 0 || number === 1;
    return [
      svg(
        "rect",
        {
          class: `column${number === step ? " now" : ""}`, x: x(number) - cell / 2, y: 0, width: cell, height: HEAD + rows.length * ROW,
          on: { click: () => seek(number) },
        },
        svg("title", { text: `To step ${number}` }),
      ),
      label && svg("text", { class: "head", x: x(number), y: 15, "text-anchor": "middle", text: number }),
    ];
  });
  const wide = x(columns) + 20;
  return svg(
    "svg",
    {
      class: "chain", width: wide, height: HEAD + rows.length * ROW + 4, viewBox: `0 0 ${wide} ${HEAD + rows.length * ROW + 4}`,
      role: "img", "aria-label": `Chain: ${chain.sentence.replaceAll("\n", " ")}`,
    },
    heads, kept, links, nodes,
    rows.map((name) => svg("text", { class: "name", x: NAMES - 6, y: y(name) + 5, "text-anchor": "end", text: name.length > 14 ? `${name.slice(0, 13)}…` : name })),
  );
}
