// Questions for those who do not know what was the case: what explains the effect, and how probably was it a cause?
import { post } from "../shared/api.js";
import { explain } from "../shared/terms.js";
import { button, el, field, keepNewest, notice, put, spinner, table } from "../shared/ui.js";

/** `{element, renew(answer, event)}`; `question()` is what the view asks now, or null. */
export function buildFurther(question) {
  const explanations = buildExplanations(question);
  const probabilities = buildProbabilities(question);
  return {
    element: el("div", { class: "further stack" }, explanations.element, probabilities.element),
    renew(answer, event) {
      explanations.renew();
      probabilities.renew(event);
    },
  };
}

/** A section that asks when it is opened, and again with every new question while it is open. */
function buildSection(title, term, inputs, ask) {
  const result = el("div", { class: "result stack", "aria-live": "polite" });
  const newest = keepNewest();
  const element = el("details", { class: "panel further-part" }, el("summary", { text: title }), el("div", { class: "row" }, inputs, el("span", { class: "with-ask" }, button("Ask", () => run()), explain(term))), result);

  async function run() {
    for (const input of element.querySelectorAll("input")) input.removeAttribute("aria-invalid");
    put(result, spinner("asking"), " asking …");
    let shown;
    try {
      shown = await newest(ask);
    } catch (error) {
      element.querySelector(`[name="${error.parameter}"]`)?.setAttribute("aria-invalid", "true");
      notice(result, error.message, "bad");
      return;
    }
    if (shown !== undefined) put(result, shown);
  }

  element.addEventListener("toggle", () => element.open && run());
  element.addEventListener("keydown", (event) => event.key === "Enter" && event.target.tagName === "INPUT" && run());
  return { element, renew: () => element.open && run() };
}

const line = (name, properties) => el("input", { type: "text", name, class: "mono", spellcheck: "false", autocomplete: "off", ...properties });

function buildExplanations(question) {
  const known = line("contexts", { id: "known", placeholder: "nothing" });
  return buildSection("What explains it to someone who does not know what was the case?", "explanation", field("What is known, as a formula", known), async () => {
    const asked = question();
    if (!asked) return "";
    const reply = await post("/api/ask/explanations", { ...asked, contexts: known.value.trim() || null });
    return [
      el("p", { class: "soft small", text: `Of ${reply.count} possible ${reply.count === "1" ? "case" : "cases"}; causes by ${reply.title}.` }),
      reply.explanations.length
        ? el("ul", {}, reply.explanations.map(({ sentence }) => el("li", { text: sentence })))
        : el("p", { text: "Nothing explains it." }),
      reply.said && el("p", { class: "notice warn small", text: reply.said }),
    ];
  });
}

function buildProbabilities(question) {
  const event = line("event", { id: "probable", placeholder: "ST=1" });
  const prior = line("prior", { id: "prior", value: "uniform" });
  const evidence = line("evidence", { id: "evidence", placeholder: "nothing" });
  const instead = line("instead", { id: "instead", placeholder: "its other value" });
  const inputs = [field("Event", event), field("Instead of it", instead), field("How probable what was the case is", prior), field("What is known, as a formula", evidence)];
  const section = buildSection("How probably was it necessary, sufficient, a cause?", "probability", inputs, async () => {
    const asked = question();
    if (!asked) return "";
    const reply = await post("/api/ask/probabilities", {
      ...asked, event: event.value.trim() || event.placeholder, prior: prior.value.trim(), evidence: evidence.value.trim() || null,
      instead: instead.value.trim() || null,
    });
    return [
      table(["", "probability", ""], reply.measures.map(({ name, value, sentence }) => [name, value, sentence]), { class: "measures" }),
      table(["definition", "a cause, how probably"], reply.causes.map(({ title, value }) => [title, value])),
      !reply.exact && el("p", { class: "soft small", text: "These are estimates from samples, with intervals that hold with confidence 0.95." }),
      reply.said && el("p", { class: "notice warn small", text: reply.said }),
    ];
  });
  return {
    ...section,
    renew(example) {
      event.placeholder = example;
      section.renew();
    },
  };
}
