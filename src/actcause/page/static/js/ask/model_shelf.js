// The row under the examples: a new model, one's own models, undo and redo.
import { button, el, put, toast } from "../shared/ui.js";

/** `{element, show()}`; `listeners`: onNew(), onOpen(id), onStep(forward), current() for the id of the model that is shown. */
export function buildShelf(mine, listeners) {
  const undo = button("↶ Undo", () => listeners.onStep(false), { class: "quiet small", title: "Back to how this model was before" });
  const redo = button("↷ Redo", () => listeners.onStep(true), { class: "quiet small" });
  const list = el("ul", { class: "shelf-list" });
  const summary = el("summary", {});
  const shelf = el("details", { class: "shelf small" }, summary, list);
  let forgotten = null; // takes back what was forgotten last

  function row({ id, name }) {
    const isShown = id === listeners.current();
    return el(
      "li",
      { class: "row" },
      button(name, () => listeners.onOpen(id), { class: "quiet grow opens", "aria-current": isShown ? "true" : null, title: "Open this model" }),
      button("Rename", () => askName(id, name), { class: "quiet small", "aria-label": `Rename ${name}` }),
      button("Forget", () => forget(id, name), { class: "quiet small", "aria-label": `Forget ${name}` }),
    );
  }

  function askName(id, name) {
    const input = el("input", { type: "text", class: "grow", value: name, "aria-label": "The model's name", maxlength: 60 });
    const keep = () => {
      mine.rename(id, input.value.trim());
      show();
    };
    input.addEventListener("change", keep);
    const place = [...list.children][mine.models.findIndex((model) => model.id === id)];
    put(place, input, button("Keep", keep, { class: "small" }));
    input.select();
  }

  function forget(id, name) {
    const takeBack = mine.remove(id);
    forgotten = () => {
      takeBack();
      forgotten = null;
      show();
    };
    toast(`${name} is forgotten.`);
    show();
  }

  function show() {
    const kept = mine.find(listeners.current());
    undo.disabled = !kept?.past.length;
    redo.disabled = !kept?.ahead.length;
    summary.textContent = `My models (${mine.models.length})`;
    put(
      list,
      mine.models.map(row),
      forgotten && el("li", {}, button("Take back what was forgotten", forgotten, { class: "small" })),
      !mine.models.length && !forgotten && el("li", { class: "soft", text: "What you write is kept here, in this browser." }),
    );
  }

  show();
  return {
    element: el("div", { class: "shelf-row" }, el("div", { class: "row" }, button("New model", () => listeners.onNew(), { class: "small" }), undo, redo), shelf),
    show,
  };
}
