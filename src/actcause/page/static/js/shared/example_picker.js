// The examples: a list by theme that can be searched, opened by a button.
import { el, put } from "./ui.js";

const ALL_WORDS = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** `{element, show(example), focus()}`; `onChoose(example)` is called when one is picked. */
export function buildPicker(examples, onChoose) {
  const name = el("span", { class: "chosen" });
  const opener = el(
    "button",
    { type: "button", class: "opener", "aria-haspopup": "listbox", "aria-expanded": "false", on: { click: () => toggle() } },
    name,
    el("span", { class: "soft small", text: `${examples.length} examples ▾` }),
  );
  const list = el("div", { class: "options", role: "listbox", id: "examples", "aria-label": "Examples" });
  const search = el("input", {
    type: "search",
    placeholder: "Search titles, stories, sources",
    role: "combobox",
    "aria-label": "Search the examples",
    "aria-controls": "examples",
    "aria-expanded": "true",
    autocomplete: "off",
    on: { input: () => fill(), keydown: (event) => key(event) },
  });
  const sheet = el("div", { class: "sheet", hidden: true }, search, list);
  const element = el("div", { class: "picker", on: { focusout: (event) => closeWhenLeft(event) } }, opener, sheet);
  let shown = [];
  let at = 0;

  function fill() {
    const words = ALL_WORDS(search.value);
    shown = examples.filter((example) => {
      const text = `${example.name} ${example.title} ${example.story} ${example.source} ${example.theme}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    at = 0;
    const rows = [];
    let group = null;
    shown.forEach((example, index) => {
      if (example.theme !== group) {
        group = example.theme;
        rows.push(el("div", { class: "group", role: "presentation", text: group }));
      }
      rows.push(
        el(
          "div",
          { class: "option", role: "option", id: `example-${example.name}`, on: { mousedown: (event) => press(event, example), mousemove: () => move(index) } },
          el("span", { text: example.title }),
          el("span", { class: "soft small", text: example.name }),
        ),
      );
    });
    put(list, rows.length ? rows : el("p", { class: "soft", text: "No example has all these words." }));
    move(0);
  }

  function move(index) {
    at = Math.min(Math.max(index, 0), shown.length - 1);
    list.querySelectorAll(".option").forEach((option, place) => {
      option.setAttribute("aria-selected", String(place === at));
      if (place === at) {
        search.setAttribute("aria-activedescendant", option.id);
        option.scrollIntoView({ block: "nearest" });
      }
    });
  }

  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) move(at + step);
    else if (event.key === "Enter" && shown[at]) pick(shown[at]);
    else if (event.key === "Escape") close(true);
    else return;
    event.preventDefault();
  }

  function press(event, example) {
    event.preventDefault();
    pick(example);
  }

  function pick(example) {
    close(true);
    onChoose(example);
  }

  function toggle() {
    if (!sheet.hidden) {
      close(true);
      return;
    }
    sheet.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    search.value = "";
    fill();
    search.focus();
  }

  function close(back) {
    if (sheet.hidden) return;
    sheet.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    if (back) opener.focus();
  }

  function closeWhenLeft(event) {
    if (!element.contains(event.relatedTarget)) close(false);
  }

  return {
    element,
    focus: () => opener.focus(),
    show(example) {
      name.textContent = example ? example.title : "Your own model";
    },
  };
}
