// The words of the explorer on a page of their own.
import { el } from "../shared/ui.js";
import { listTerms } from "../shared/terms.js";

export const view = {
  name: "words",
  title: "Words",
  async mount(root, { of }) {
    const list = el("div", {});
    listTerms(list);
    root.append(el("div", { class: "reading broad" }, el("h1", { text: "The words of this page" }), list));
    const sought = [...list.querySelectorAll("[data-term]")].find((node) => node.dataset.term === of);
    sought?.classList.add("sought");
    sought?.scrollIntoView({ block: "center" });
    return () => {};
  },
};
