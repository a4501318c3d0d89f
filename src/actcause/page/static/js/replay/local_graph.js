// The local graph of a step: on the left what every factor was, on the right what it became, an edge from each cause.
import { svg } from "../shared/ui.js";

const ROW = 30; // pixels
const WIDE = 340;
const INNER = [104, 236]; // where edges begin and end
const MOST_ROWS = 18;

const isOwn = (graph, episode, place, factor) => graph.outcomes[place] === episode.factors[factor];

/** The factors that are shown: all, or where there are many those with an edge to another at this step. */
function listShown(episode, step) {
  const { graph } = episode;
  if (episode.factors.length <= MOST_ROWS) return episode.factors;
  const joined = new Set();
  for (const kind of ["cause", "found"]) {
    graph[kind]?.[step].forEach((causes, place) => causes.forEach((factor) => {
      if (isOwn(graph, episode, place, factor)) return;
      joined.add(episode.factors[factor]);
      joined.add(graph.outcomes[place]);
    }));
  }
  return episode.factors.filter((name) => joined.has(name) || name === episode.outcome_factor).slice(0, MOST_ROWS);
}

/** Who caused whom, in words. */
export function describeGraph(episode, step, kind) {
  const { graph } = episode;
  const parts = graph[kind][step].map((causes, place) => {
    const others = causes.filter((factor) => !isOwn(graph, episode, place, factor)).map((factor) => episode.factors[factor]);
    return others.length ? `${graph.outcomes[place]} by ${others.join(", ")}` : null;
  });
  return parts.filter(Boolean).join("; ") || "nothing but each by itself";
}

/** Draw the graph; `choose` is called with the outcome that someone asks about. */
export function drawLocalGraph(episode, step, chosen, choose) {
  const { graph } = episode;
  const shown = listShown(episode, step);
  const height = 24 + shown.length * ROW;
  const at = (name) => 24 + shown.indexOf(name) * ROW + ROW / 2;
  const kinds = ["cause", "found"].filter((kind) => graph[kind]);
  const spoken = kinds.map((kind) => `${kind === "cause" ? "true" : "found"}: ${describeGraph(episode, step, kind)}`).join(". ");
  const edges = kinds.flatMap((kind) => graph[kind][step].flatMap((causes, place) =>
    causes.filter((factor) => shown.includes(episode.factors[factor]) && shown.includes(graph.outcomes[place])).map((factor) => {
      const own = isOwn(graph, episode, place, factor);
      const shift = kinds.length > 1 ? (kind === "cause" ? -3 : 3) : 0; // beside each other where both know it
      const [from, to] = [at(episode.factors[factor]) + shift, at(graph.outcomes[place]) + shift];
      const middle = (INNER[0] + INNER[1]) / 2;
      return svg("path", {
        class: `edge ${kind}${own ? " own" : ""}`,
        d: `M${INNER[0]} ${from}C${middle} ${from} ${middle} ${to} ${INNER[1] - 7} ${to}`,
        "marker-end": own ? null : `url(#tip-${kind})`,
      });
    })));
  const tip = (kind) => svg(
    "marker",
    { id: `tip-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" },
    svg("path", { d: "M0 0L8 4L0 8Z" }),
  );
  const before = shown.map((name) =>
    svg("text", { x: INNER[0] - 8, y: at(name) + 5, "text-anchor": "end", text: shorten(name) }, svg("title", { text: name })));
  const after = shown.filter((name) => graph.outcomes.includes(name)).map((name) => {
    const act = () => choose(name);
    const onKey = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    return svg(
      "g",
      { class: `after${name === chosen ? " chosen" : ""}`, role: "button", tabindex: 0, "aria-label": `Why ${name}?`, on: { click: act, keydown: onKey } },
      svg("rect", { x: INNER[1], y: at(name) - 12, width: WIDE - INNER[1] - 2, height: 24, rx: 4 }),
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
