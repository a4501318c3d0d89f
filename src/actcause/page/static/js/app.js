// The shell: which view is shown, what the address says, the theme, and the jobs that run.
import { hasEnded, get, remove } from "./shared/api.js";
import { drawOnRelease } from "./shared/draw_on_release.js";
import { button, el, keepNewest, notice, put } from "./shared/ui.js";

const VIEWS = [
  { name: "ask", title: "Ask", folder: "ask" },
  { name: "preimages", title: "All states", folder: "spaces" },
  { name: "replay", title: "Replay", folder: "replay" },
  { name: "runs", title: "Runs", folder: "runs" },
  { name: "data", title: "Data", folder: "data" },
  { name: "words", title: "Words", folder: "words", hidden: true }, // reached from the "?"s
  { name: "guide", title: "Guide", folder: "guide", hidden: true }, // and from the words
];
const TABS = VIEWS.filter(({ hidden }) => !hidden);
const MEMORY = "actcause-views"; // by view: the address at which it was left, while the browser's tab is open

const root = document.getElementById("view");
const tabs = document.querySelector(".tabs");
let unmount = null;
let shown = null; // the address that is mounted
let mounting = 0;
const left = readMemory();

/** `#/ask?example=loader` as its view and a plain object of strings. */
function parseAddress(hash) {
  const [path, query = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const name = VIEWS.some((view) => view.name === path) ? path : VIEWS[0].name;
  return { name, state: Object.fromEntries(new URLSearchParams(query)) };
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function writeAddress(name, state) {
  const kept = Object.entries(state ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${name}${query ? `?${query}` : ""}`;
}

/** Go to a view, as it was left unless a state is given; a new entry in the browser's history. */
function go(name, state) {
  const next = state ? writeAddress(name, state) : left[name] ?? writeAddress(name);
  if (location.hash === next) show();
  else location.hash = next;
}

/** The full address of a view in a state. */
const link = (name, state = {}) => `${location.origin}${location.pathname}${writeAddress(name, state)}`;

/** Write the state of a view that is shown into the address, without showing it anew. */
function remember(mine, name, state) {
  // A view that the user has just left may still be told of an answer; the address is not its own any more.
  if (mine !== mounting || location.hash !== shown) return;
  history.replaceState(null, "", writeAddress(name, state));
  shown = location.hash;
  keepAddress(name, shown);
}

function readMemory() {
  try {
    return JSON.parse(sessionStorage.getItem(MEMORY)) ?? {};
  } catch {
    return {};
  }
}

/** Where a view was left: its tab, and for the first one the logo, lead back there. */
function keepAddress(name, address) {
  left[name] = address;
  for (const link of document.querySelectorAll(`[data-view="${name}"]`)) link.setAttribute("href", address);
  try {
    sessionStorage.setItem(MEMORY, JSON.stringify(left));
  } catch {
    // it is remembered until the page is loaded anew
  }
}

/** What a view says of its state as it is left. */
function keep(name, state) {
  if (parseAddress(location.hash).name !== name) keepAddress(name, writeAddress(name, state));
}

async function show() {
  mounting += 1;
  const mine = mounting;
  shown = location.hash;
  const { name, state } = parseAddress(location.hash);
  if (shown) keepAddress(name, shown);
  for (const link of tabs.children) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (unmount) unmount();
  unmount = null;
  const place = el("div", {}); // its own, so that a view that comes too late is not seen
  put(root, place);
  root.className = `view-${name}`;
  const { title, folder } = VIEWS.find((each) => each.name === name);
  document.title = `${title} · actcause explorer`;
  try {
    const { view } = await import(`./${folder}/view.js`);
    if (mine !== mounting) return;
    const leave = await view.mount(place, state, { go, link, isShown: () => mine === mounting, remember: (now) => remember(mine, name, now), keep: (now) => keep(name, now) });
    if (mine === mounting) unmount = leave;
    else leave();
  } catch (error) {
    if (mine !== mounting) return;
    showFailure(place, error);
  }
}

/** A view that could not be loaded: mostly the server is gone, which the browser says in words of its own. */
async function showFailure(place, error) {
  const gone = error.status === 0 || (error instanceof TypeError && /module/.test(error.message));
  if (!gone) console.error(error);
  notice(place, gone ? "The server does not answer; is 'actcause serve' still running?" : `This view could not be shown: ${error.message}`, "bad");
  if (gone) place.firstChild.append(" ", button("Try again", () => retry(place, error), { class: "small" }));
}

/** Load the page anew once the server is there: a browser may remember that a module could not be had. */
async function retry(place, error) {
  try {
    await get("/api/jobs");
    location.reload();
  } catch {
    showFailure(place, error);
  }
}

addEventListener("hashchange", () => {
  if (location.hash !== shown) show();
});

// -- tabs and keys -----------------------------------------------------------------------------------

put(
  tabs,
  TABS.map(({ name, title }, index) =>
    el("a", { href: left[name] ?? `#/${name}`, dataset: { view: name }, title: `${title} (Alt+${index + 1})`, text: title }),
  ),
);

addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const view = TABS[Number(event.code.replace("Digit", "")) - 1];
  if (view) {
    event.preventDefault();
    go(view.name);
  }
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address is the view's
  root.focus();
});

// -- light and dark ----------------------------------------------------------------------------------

const themeButton = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemDark.matches;
};

function paintTheme() {
  themeButton.textContent = isDark() ? "☀ Light" : "☾ Dark";
  document.dispatchEvent(new CustomEvent("theme", { detail: { dark: isDark() } }));
}

themeButton.addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
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
const latestJobs = keepNewest();
let looking = 0;

async function lookAtJobs() {
  clearTimeout(looking);
  let listed;
  try {
    listed = await latestJobs(() => get("/api/jobs"));
  } catch {
    return; // the view itself says that the server is gone
  }
  if (listed === undefined) return;
  const running = listed.filter((job) => !hasEnded(job));
  drawOnRelease(jobs, () => showJobs(running));
  if (running.length) looking = setTimeout(lookAtJobs, 1000);
}

function showJobs(running) {
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
}

const shorten = (text) => (text.length > 32 ? `${text.slice(0, 31)}…` : text);

document.addEventListener("jobs", lookAtJobs);
lookAtJobs();
show();
