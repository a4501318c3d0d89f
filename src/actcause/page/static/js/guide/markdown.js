// The documentation's Markdown as elements: headings, paragraphs, lists, tables and code. Nothing in it is read as HTML.
import { el } from "../shared/ui.js";

const HEADING = /^(#{1,6})\s+(.*?)(?:\s*\{\s*#([\w-]+)\s*\})?$/;
const ITEM = /^(\s*)([-*]|\d+\.)\s+(.*)$/;
const BRIEF = 20; // letters of code that are not broken over two lines
const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

/** The elements of a text; `linkTo(href)` gives an address for a link, or null if there is nothing to lead to. */
export function buildMarkdown(text, linkTo) {
  const lines = text.replace(/<!--[^]*?-->/g, "").split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (line.startsWith("```")) {
      const end = lines.findIndex((other, index) => index > at && other.startsWith("```"));
      const last = end < 0 ? lines.length : end;
      blocks.push(el("pre", { tabindex: "0" }, el("code", { text: lines.slice(at + 1, last).join("\n") })));
      at = last + 1;
    } else if (HEADING.test(line)) {
      const [, marks, words, id] = line.match(HEADING);
      blocks.push(el(`h${marks.length}`, { "data-anchor": id ?? slugOf(words) }, buildInline(words, linkTo)));
      at += 1;
    } else if (line.startsWith("|")) {
      const rows = takeWhile(lines, at, (other) => other.startsWith("|"));
      blocks.push(buildTable(rows.map(splitRow), linkTo));
      at += rows.length;
    } else if (ITEM.test(line)) {
      const rows = takeWhile(lines, at, (other, index) => ITEM.test(other) || /^\s+\S/.test(other) || (other === "" && /^(\s+\S|\s*([-*]|\d+\.)\s)/.test(lines[index + 1] ?? "")));
      blocks.push(buildList(rows, linkTo));
      at += rows.length;
    } else if (line.trim() === "") at += 1;
    else {
      const rows = takeWhile(lines, at, (other) => other.trim() !== "" && !other.startsWith("```") && !HEADING.test(other) && !other.startsWith("|"));
      blocks.push(el("p", {}, buildInline(rows.join(" "), linkTo)));
      at += rows.length;
    }
  }
  return blocks;
}

/** The anchor of a heading, as the documentation's site has it. */
export const slugOf = (words) => words.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/[\s-]+/g, "-");

function takeWhile(lines, from, holds) {
  let to = from + 1;
  while (to < lines.length && holds(lines[to], to)) to += 1;
  return lines.slice(from, to);
}

function buildList(rows, linkTo) {
  const ordered = /^\s*\d/.test(rows[0]);
  const items = [];
  for (const row of rows) {
    const item = row.match(ITEM);
    if (item) items.push(item[3]);
    else items[items.length - 1] += ` ${row.trim()}`;
  }
  return el(ordered ? "ol" : "ul", {}, items.map((item) => el("li", {}, buildInline(item, linkTo))));
}

const splitRow = (row) => row.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

function buildTable([head, , ...rows], linkTo) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, buildInline(cell, linkTo))))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) => el("td", {}, buildInline(cell, linkTo)))))),
    ),
  );
}

function buildInline(text, linkTo) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, ticks, code, strong, emphasis, image, words, href] = found;
    parts.push(text.slice(from, found.index));
    from = found.index + whole.length;
    if (ticks) parts.push(el("code", { class: code.trim().length <= BRIEF ? "brief" : null, text: code.trim() }));
    else if (strong) parts.push(el("strong", {}, buildInline(strong, linkTo)));
    else if (emphasis) parts.push(el("em", {}, buildInline(emphasis, linkTo)));
    else if (image) parts.push(el("span", { class: "soft", text: `[${words}]` }));
    else {
      const address = linkTo(href);
      parts.push(address ? el("a", { href: address }, buildInline(words, linkTo)) : el("span", {}, buildInline(words, linkTo)));
    }
  }
  return [...parts, text.slice(from)];
}
