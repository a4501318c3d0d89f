// A page of the documentation, inside the explorer: what the words' "More" leads to.
import { get } from "../shared/api.js";
import { el, notice, put } from "../shared/ui.js";
import { buildMarkdown } from "./markdown.js";

const FIRST = "glossary";

export const view = {
  name: "guide",
  title: "Guide",
  async mount(root, { page = FIRST, at }) {
    const text = el("article", { class: "guide" });
    root.append(el("div", { class: "reading" }, el("p", { class: "soft small" }, "From the documentation. ", el("a", { href: "#/words", text: "All words of this page" })), text));
    let found;
    try {
      found = await get(`/api/guide/${encodeURIComponent(page)}`);
    } catch (error) {
      notice(text, error.message, "bad");
      return () => {};
    }
    const linkTo = (href) => {
      const [file, anchor] = href.split("#");
      const name = file === "" ? found.name : file.replace(/\.md$/, "");
      if (/^https?:/.test(href)) return href;
      if (!found.pages.includes(name)) return null;
      return `#/guide?${new URLSearchParams({ page: name, ...(anchor && { at: anchor }) })}`;
    };
    put(text, buildMarkdown(found.text, linkTo));
    const sought = at && [...text.querySelectorAll("[data-anchor]")].find((node) => node.dataset.anchor === at);
    if (sought) {
      sought.classList.add("sought");
      sought.scrollIntoView({ block: "start" });
    }
    return () => {};
  },
};
