// The shell: which view is shown, what the address says, the theme, and the jobs that run.
import { ended, get, remove } from "./api.js";
import { button, el, notice, put } from "./ui.js";

const VIEWS = [
  { name: "ask", title: "Ask" },
  { name: "preimages", title: "Preimages" },
  { name: "replay", title: "Replay" },
  { name: "runs", title: "Runs" },
  { name: "data", title: "Data" },
];

const root = document.getElementById("view");
const tabs = document.querySelector(".tabs");
let unmount = null;
let shown = null; // the address that is mounted
let mounting = 0;

/** `#/ask?example=loader` as its view and a plain object of strings. */
function parsed(hash) {
  const [path, query = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const name = VIEWS.some((view) => view.name === path) ? path : VIEWS[0].name;
  return { name, state: Object.fromEntries(new URLSearchParams(query)) };
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function address(name, state) {
  const kept = Object.entries(state ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${name}${query ? `?${query}` : ""}`;
}

const app = {
  /** Go to a view; a new entry in the browser's history. */
  go(name, state = {}) {
    const next = address(name, state);
    if (location.hash === next) show();
    else location.hash = next;
  },
  /** Write the state of the present view into the address without showing it anew. */
  remember(state) {
    const next = address(parsed(location.hash).name, state);
    history.replaceState(null, "", next);
    shown = next;
  },
  /** The full address of a view in a state. */
  link(name, state = {}) {
    return `${location.origin}${location.pathname}${address(name, state)}`;
  },
};

async function show() {
  mounting += 1;
  const mine = mounting;
  shown = location.hash;
  const { name, state } = parsed(location.hash);
  for (const link of tabs.children) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (unmount) unmount();
  unmount = null;
  root.replaceChildren();
  root.className = `view-${name}`;
  document.title = `${VIEWS.find((view) => view.name === name).title} · actcause explorer`;
  try {
    const { view } = await import(`./${name}.js`);
    if (mine !== mounting) return;
    const left = await view.mount(root, state, app);
    if (mine === mounting) unmount = typeof left === "function" ? left : null;
    else if (typeof left === "function") left();
  } catch (error) {
    console.error(error);
    notice(root, `This view could not be shown: ${error.message}`, "bad");
  }
}

addEventListener("hashchange", () => {
  if (location.hash !== shown) show();
});

// -- tabs and keys -----------------------------------------------------------------------------------

put(
  tabs,
  VIEWS.map(({ name, title }, index) =>
    el("a", { href: `#/${name}`, dataset: { view: name }, title: `${title} (Alt+${index + 1})`, text: title }),
  ),
);

addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const view = VIEWS[Number(event.code.replace("Digit", "")) - 1];
  if (view) {
    event.preventDefault();
    app.go(view.name);
  }
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address is the view's
  root.focus();
});

// -- light and dark ----------------------------------------------------------------------------------

const themeButton = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemDark.matches;
};

function paintTheme() {
  themeButton.textContent = dark() ? "☀ Light" : "☾ Dark";
  document.dispatchEvent(new CustomEvent("theme", { detail: { dark: dark() } }));
}

themeButton.addEventListener("click", () => {
  const next = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("actcause-theme", next);
  } catch {
    // it holds for this visit
  }
  paintTheme();
});
systemDark.addEventListener("change", paintTheme);
paintTheme();

// -- jobs that run, wherever one is --------------------------------------------------------------------

const jobs = document.getElementById("jobs");
let looking = 0;

async function lookAtJobs() {
  clearTimeout(looking);
  let running = [];
  try {
    running = (await get("/api/jobs")).filter((job) => !ended(job));
  } catch {
    return; // the view itself says that the server is gone
  }
  jobs.hidden = running.length === 0;
  put(
    jobs,
    running.slice(0, 1).map((job) =>
      el(
        "span",
        { class: "row", title: job.title },
        el("progress", { max: 1, value: job.progress?.share ?? null, "aria-label": job.title }),
        el("span", { text: shorten(job.title) }),
        button("Cancel", () => remove(`/api/jobs/${encodeURIComponent(job.id)}`).then(lookAtJobs), {
          class: "quiet small",
          "aria-label": `Cancel ${job.title}`,
        }),
      ),
    ),
    running.length > 1 && el("span", { class: "soft", text: `and ${running.length - 1} more` }),
  );
  if (running.length) looking = setTimeout(lookAtJobs, 1000);
}

const shorten = (text) => (text.length > 32 ? `${text.slice(0, 31)}…` : text);

document.addEventListener("jobs", lookAtJobs);
lookAtJobs();
show();
