// The local graph of a step: on the left what every factor was, on the right what it became, an arrow from each cause.
// What a factor is by itself has no arrow: nearly all are so at every step, and the list below says where nothing else is.
import { el, svg } from "../shared/ui.js";

const ROW = 34; // pixels
const BOX = 28;
const HEAD = 24;
const WIDE = 420;
const INNER = [112, 302]; // where arrows begin and end
const TIP = 8;
const APART = 9; // pixels between two arrows at a factor, if there is room
const MOST_ROWS = 18;
const NAMES = { cause: "true", found: "found" };

const listKinds = (graph) => ["cause", "found"].filter((kind) => graph[kind]);

/** The causes of an outcome at a step other than itself, by name. */
function listOthers(episode, step, kind, place) {
  const { graph } = episode;
  return graph[kind][step][place].map((factor) => episode.factors[factor]).filter((name) => name !== graph.outcomes[place]);
}

/** All arrows of a step: {kind, from, to}. */
function listArrows(episode, step) {
  return listKinds(episode.graph).flatMap((kind) =>
    episode.graph.outcomes.flatMap((to, place) => listOthers(episode, step, kind, place).map((from) => ({ kind, from, to }))));
}

/** The factors that are shown: all, or where there are many those with an arrow at this step. */
function listShown(episode, arrows) {
  if (episode.factors.length <= MOST_ROWS) return episode.factors;
  const joined = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  return episode.factors.filter((name) => joined.has(name) || name === episode.outcome_factor).slice(0, MOST_ROWS);
}

/** Who caused whom, in words. */
export function describeGraph(episode, step, kind) {
  const parts = episode.graph.outcomes.map((outcome, place) => {
    const others = listOthers(episode, step, kind, place);
    return others.length ? `${outcome} by ${others.join(", ")}` : null;
  });
  return parts.filter(Boolean).join("; ") || "nothing but each by itself";
}

/** The same as a list: what became of each factor, and which others caused it. */
export function listGraph(episode, step) {
  const { graph } = episode;
  const kinds = listKinds(graph);
  const shown = listShown(episode, listArrows(episode, step));
  const rows = graph.outcomes.map((outcome, place) => ({ outcome, place })).filter(({ outcome }) => shown.includes(outcome));
  const name = (kind) => (kinds.length > 1 ? `caused by (${NAMES[kind]})` : "caused by");
  const cell = (kind, { place }) => {
    const others = listOthers(episode, step, kind, place);
    const otherwise = graph[kind][step][place].length ? "only itself" : "nothing";
    return el("td", { class: others.length ? `acted ${kind}` : "soft", text: others.join(", ") || otherwise });
  };
  return el(
    "table",
    { class: "replay-acts" },
    el("thead", {}, el("tr", {}, ["next", ...kinds.map(name)].map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row", text: row.outcome }), kinds.map((kind) => cell(kind, row))))),
  );
}

/** Where each arrow leaves or reaches a factor: apart from the others there, in the order of their other ends. */
function spread(arrows, end, other, at) {
  const places = new Map();
  for (const name of new Set(arrows.map((arrow) => arrow[end]))) {
    const here = arrows.filter((arrow) => arrow[end] === name).sort((one, next) => at(one[other]) - at(next[other]));
    const gap = Math.min(APART, (BOX - 4) / here.length);
    here.forEach((arrow, index) => places.set(arrow, at(name) + (index - (here.length - 1) / 2) * gap));
  }
  return places;
}

/** Draw the graph; `choose` is called with the outcome that someone asks about. */
export function drawLocalGraph(episode, step, chosen, choose) {
  const { graph } = episode;
  const all = listArrows(episode, step);
  const shown = listShown(episode, all);
  const arrows = all.filter(({ from, to }) => shown.includes(from) && shown.includes(to));
  const height = HEAD + shown.length * ROW;
  const at = (name) => HEAD + shown.indexOf(name) * ROW + ROW / 2;
  const kinds = listKinds(graph);
  const spoken = kinds.map((kind) => `${NAMES[kind]}: ${describeGraph(episode, step, kind)}`).join(". ");
  const [leaving, reaching] = [spread(arrows, "from", "to", at), spread(arrows, "to", "from", at)];
  const bend = 0.3 * (INNER[1] - INNER[0]);
  const edges = arrows.map((arrow) => svg("path", {
    class: `edge ${arrow.kind}`,
    d: `M${INNER[0]} ${leaving.get(arrow)}C${INNER[0] + bend} ${leaving.get(arrow)} ${INNER[1] - bend} ${reaching.get(arrow)} ${INNER[1] - TIP} ${reaching.get(arrow)}`,
    "marker-end": `url(#tip-${arrow.kind})`,
  }));
  const tip = (kind) => svg(
    "marker",
    { id: `tip-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: TIP, markerHeight: TIP, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d: "M0 1L8 4L0 7Z" }),
  );
  const acts = new Set(arrows.map(({ from }) => from));
  const before = shown.map((name) =>
    svg("text", { class: acts.has(name) ? "before" : "before idle", x: INNER[0] - 8, y: at(name) + 5, "text-anchor": "end", text: shorten(name) }, svg("title", { text: name })));
  const after = shown.filter((name) => graph.outcomes.includes(name)).map((name) => {
    const act = () => choose(name);
    const onKey = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    const single = (alone) => () => edges.forEach((edge, index) => edge.classList.toggle("aside", alone && arrows[index].to !== name));
    return svg(
      "g",
      {
        class: `after${name === chosen ? " chosen" : ""}`, role: "button", tabindex: 0, "aria-label": `Why ${name}?`,
        on: { click: act, keydown: onKey, pointerenter: single(true), pointerleave: single(false), focus: single(true), blur: single(false) },
      },
      svg("rect", { x: INNER[1], y: at(name) - BOX / 2, width: WIDE - INNER[1] - 2, height: BOX, rx: 4 }),
      svg("text", { x: INNER[1] + 8, y: at(name) + 5, text: shorten(name) }),
      svg("title", { text: `Why? Trace ${name} at this step back to the actions behind it` }),
    );
  });
  return svg(
    "svg",
    { class: "local-graph", viewBox: `0 0 ${WIDE} ${height}`, role: "group", "aria-label": `Local graph of step ${step + 1}; ${spoken}` },
    svg("defs", {}, kinds.map(tip)),
    svg("text", { class: "head", x: INNER[0] - 8, y: 14, "text-anchor": "end", text: "now" }),
    svg("text", { class: "head", x: INNER[1] + 8, y: 14, text: "next" }),
    edges, before, after,
  );
}

const shorten = (name) => (name.length > 13 ? `${name.slice(0, 12)}…` : name);
