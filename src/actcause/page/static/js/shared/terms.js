// The words of the explorer: each in a sentence, behind a "?", and all of them on a page of their own (#/words).
import { button, el, put } from "./ui.js";

/** By name: `said`, a sentence; `docs`, the page of the guide that has more. */
export const TERMS = {
  "model": { said: "A list of variables: some are set, the others follow from them by an equation each.", docs: "model-text.md" },
  "roots": { title: "What was the case", said: "The variables without an equation, and the values that they had. Nothing in the model explains them. The literature calls them roots, and all their values together the context.", docs: "glossary.md#root" },
  "effect": { said: "What happened and is to be explained: a formula such as BS == 1 that holds.", docs: "glossary.md#effect" },
  "event": { said: "One or more variables with values that they had, such as ST=1: what may or may not have been a cause.", docs: "glossary.md#event" },
  "cause": { said: "Something without which, in the sense of a definition, the effect would not have happened; nothing less of it would do.", docs: "choosing-a-definition.md" },
  "definition": { said: "What counts as a cause. There are seven in use, and they disagree; this page asks all of them.", docs: "choosing-a-definition.md" },
  "but-for": { said: "A cause is what the effect would not have happened without, all else following from it.", docs: "choosing-a-definition.md#but-for" },
  "original-hp": { title: "Halpern-Pearl, original", said: "Changing the cause undoes the effect while some other variables are set to any values, and with the cause as it was, the effect stays.", docs: "choosing-a-definition.md#halpernpearl-original" },
  "updated-hp": { title: "Halpern-Pearl, updated", said: "As the original one, but the effect must stay for every part of those settings too.", docs: "choosing-a-definition.md#halpernpearl-updated" },
  "modified-hp": { title: "Halpern-Pearl, modified", said: "Changing the cause undoes the effect while some other variables are held at what they actually were.", docs: "choosing-a-definition.md#halpernpearl-modified" },
  "direct": { title: "Direct sufficiency", said: "The cause acts on the effect at the last step, whatever everything in between is set to.", docs: "choosing-a-definition.md#direct-sufficiency" },
  "strong": { title: "Strong sufficiency", said: "As direct sufficiency, but along a chain: the cause settles a network of variables in between.", docs: "choosing-a-definition.md#strong" },
  "functional": { title: "Functional actual cause", said: "The variables that the effect depends on in this state: changing them undoes it, changing the others does not.", docs: "choosing-a-definition.md#functional-actual-cause" },
  "responsibility": { said: "How near a cause was to being decisive: 1 if it alone was, 1/2 if one more thing must be changed or held for it to make the difference, and so on.", docs: "responsibility-and-blame.md" },
  "witness": { said: "The change that shows why something is a cause: what is changed, what is held, and how the effect is gone then.", docs: "glossary.md#witness" },
  "contrast": { title: "rather than", said: "What happened instead of the effect when it is undone: why this rather than that?", docs: "contrast-and-normality.md#contrast" },
  "normality": { title: "What is normal", said: "Rules that normally hold; what would have undone the effect may not break more of them than what happened.", docs: "contrast-and-normality.md#normality" },
  "rank": { said: "1 for the causes whose undoing would have been most normal, 2 for the next, and so on.", docs: "contrast-and-normality.md" },
  "alpha sufficiency": { title: "may be undone (alpha sufficiency)", said: "Of all changes of everything else, the share that may undo the effect although the cause stays. 0 is strict; left empty, one way in which it stays is enough.", docs: "state-spaces.md" },
  "alpha necessity": { title: "must undo it (alpha necessity)", said: "Of all changes of the cause itself, the share that must undo the effect. Left empty, one is enough.", docs: "state-spaces.md" },
  "steps": { said: "How often a model with next values (x' for x) is applied, one step after another.", docs: "time.md" },
  "explanation": { said: "What someone who does not know what was the case would have to find out to understand the effect.", docs: "explanations.md" },
  "probability": { title: "Probabilities of causation", said: "How probably an event was necessary for the effect, sufficient for it, or a cause of it, if what was the case is uncertain.", docs: "probabilities.md" },
  "all states": { title: "All states (preimages)", said: "Every combination of values at once, coloured by the variables that the outcome depends on there. The states of one colour are a preimage.", docs: "state-spaces.md" },
  "binary": { title: "what matters (binary)", said: "A digit for each variable, 1 where it matters: 10 of P and X says that P matters and X does not.", docs: "state-spaces.md" },
  "minimal pair": { title: "map (minimal pair)", said: "A choice for every state of the variables that matter there, with as few of them in all as can be. There may be several.", docs: "state-spaces.md" },
  "least cost": { title: "variables in all (least cost)", said: "How many variables matter, added up over all states, in a map that has as few as possible.", docs: "state-spaces.md" },
  "distil": { title: "compress (distil)", said: "To train one small network to say at once what a search over many found.", docs: "learning.md" },
  "outcome": { said: "What is explained where all states, or all rows, are looked at together: a variable of a model, or what a factor of a recording is next.", docs: "glossary.md#outcome" },
  "recording": { said: "Steps of a process, one a row: what the things were before, and what the outcome was after.", docs: "data.md" },
  "factor": { said: "A thing in a recording with its columns: the ball, the paddle, the action.", docs: "data.md" },
  "feature": { said: "A number that is known of a factor at each step: where it is, how fast, on or off.", docs: "data.md#your-own-csv" },
  "own factor": { said: "The factor that the outcome is the next value of: the ball before, if the ball is what is explained. It always counts as a cause.", docs: "glossary.md#own-factor" },
  "episode": { said: "Steps that follow each other, from one start to the next.", docs: "glossary.md#episode" },
  "domain": { said: "A simulated world that knows the true cause of every step, so that answers can be checked.", docs: "domains.md" },
  "frames": { said: "How many steps are recorded in the domain to learn from. More of them make better answers, and take longer.", docs: "data.md#from-a-domain" },
  "run": { said: "A training and what it made: a network that says of each step what caused its outcome.", docs: "learning.md" },
  "method": { said: "How causes are learned. Start with jaci-auto; the others are there to be compared with it.", docs: "learning.md#the-other-methods" },
  "seed": { said: "The number that all chance starts from: the same seed gives the same run again, another one another run.", docs: "glossary.md#draw" },
  "options": { title: "options of a method", said: "How long and how large: more steps, more rows a step, wider networks and more layers can learn more, and take longer. Left empty, the method chooses.", docs: "learning.md#how-it-works" },
  "training curve": { said: "What is measured while a run trains, step by step. Errors and losses should fall and then stay.", docs: "learning.md#how-it-works" },
  "error": { title: "error (edge error)", said: "Of all answers whether a factor was a cause in a row that was not learned from, the share that is wrong. A dash: it was not measured, or the true causes are not known.", docs: "glossary.md#edge" },
  "hindsight": { title: "with and without hindsight", said: "From the state alone: what would make a difference here, whatever comes. Knowing the outcome: what did, given what came.", docs: "learning.md#two-answers" },
  "unsure": { said: "The model predicts such a row so badly that its answer cannot be trusted.", docs: "glossary.md#unsure" },
  "left out": { title: "without a factor", said: "What the model predicts when it is not told of a factor. The further that is off, the more the factor mattered in this step.", docs: "learning.md#by-masks" },
  "whole states": { said: "What every factor was and what every one became, not one outcome alone, so that all can be asked about.", docs: "local-graphs.md" },
  "local graph": { title: "who caused what (local graph)", said: "Which factors caused the next value of which, in this one step.", docs: "local-graphs.md" },
  "chain": { said: "What an event goes back to: from what became of a factor, cause by cause and step by step, to the actions behind it.", docs: "local-graphs.md#chains" },
};

/** The address of a page of the guide, `glossary.md#root`. */
function guideTo(docs) {
  const [page, at] = docs.split(/\.md#?/);
  return `#/guide?${new URLSearchParams({ page, ...(at && { at }) })}`;
}

export const titleOf = (name) => TERMS[name].title ?? name;

let open = null; // the term whose sentence is shown

/** A "?" that says a term in a sentence. */
export function explain(name, properties = {}) {
  const said = `What is meant by ${titleOf(name)}?`;
  return button("?", (event) => toggle(name, event.currentTarget), { class: "term", "aria-label": said, title: said, "aria-expanded": "false", ...properties });
}

function toggle(name, asked) {
  const again = open?.asked === asked;
  close();
  if (again) return;
  const { said, docs } = TERMS[name];
  const element = el(
    "div",
    { class: "term-said", role: "note", tabindex: "-1" },
    el("strong", { text: titleOf(name) }),
    el("p", { text: said }),
    el(
      "p",
      { class: "row" },
      el("a", { href: guideTo(docs), target: "_blank", rel: "noopener", text: "More in the guide", on: { click: close } }),
      el("a", { href: `#/words?of=${encodeURIComponent(name)}`, target: "_blank", rel: "noopener", text: "All words", on: { click: close } }),
    ),
  );
  document.body.append(element);
  asked.setAttribute("aria-expanded", "true");
  const box = asked.getBoundingClientRect();
  const [width, height] = [element.offsetWidth, element.offsetHeight];
  element.style.left = `${scrollX + Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
  const below = box.bottom + height + 12 < innerHeight || box.top < height + 12;
  element.style.top = `${scrollY + (below ? box.bottom + 6 : box.top - height - 6)}px`;
  open = { asked, element };
  element.focus({ preventScroll: true });
}

function close() {
  if (!open) return;
  const { asked, element } = open;
  open = null;
  asked.setAttribute("aria-expanded", "false");
  if (element.contains(document.activeElement)) asked.focus({ preventScroll: true });
  element.remove();
}

addEventListener("keydown", (event) => event.key === "Escape" && close());
addEventListener("hashchange", close);
addEventListener("pointerdown", (event) => {
  if (open && !open.element.contains(event.target) && !open.asked.contains(event.target)) close();
});

/** All words on a page. */
export function listTerms(root) {
  put(
    root,
    el("dl", { class: "words" }, Object.entries(TERMS).map(([name, { said, docs }]) =>
      el("div", { "data-term": name, tabindex: "-1" }, el("dt", { text: titleOf(name) }), el("dd", {}, said, " ", el("a", { href: guideTo(docs), text: "More" }))),
    )),
  );
}
