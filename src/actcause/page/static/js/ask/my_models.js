// Models of one's own, kept in this browser: a list, and for each the questions that it was before, for undo.

const KEY = "actcause-models";
const MOST = 30; // models
const MOST_PAST = 40; // versions of each
const MOST_SIZE = 2_000_000; // characters in all; browsers keep about five million

export class MyModels {
  constructor() {
    this.models = read() ?? []; // newest first
    this.unwritten = false; // what could not be written is known here alone
  }

  /** Take in what other tabs have kept. */
  renew() {
    if (!this.unwritten) this.models = read() ?? this.models;
  }

  /** Call `onChange` when another tab has kept something; returns what stops that. */
  follow(onChange) {
    const listen = (event) => {
      if (event.key !== KEY) return;
      this.renew();
      onChange();
    };
    addEventListener("storage", listen);
    return () => removeEventListener("storage", listen);
  }

  find(id) {
    return this.models.find((model) => model.id === id);
  }

  findText(text) {
    return this.models.find(({ question }) => question.text === text);
  }

  /** Keep a question; a new model if `id` is null, with `before` to go back to. The id that it is kept by. */
  keep(id, question, before = null) {
    this.renew();
    const kept = this.find(id) ?? { id: crypto.getRandomValues(new Uint32Array(1))[0].toString(36), name: null, past: before ? [before] : [], ahead: [] };
    const changed = kept.question && kept.question.text !== question.text;
    if (changed) Object.assign(kept, { past: [...kept.past, kept.question].slice(-MOST_PAST), ahead: [] });
    kept.question = question;
    kept.name = kept.renamed ?? nameText(question.text);
    this.models = [kept, ...this.models.filter((model) => model !== kept)].slice(0, MOST);
    this.write();
    return kept.id;
  }

  /** The question before (or with `forward` after) the one that is kept; undefined if there is none. */
  step(id, forward) {
    this.renew();
    const kept = this.find(id);
    const [from, to] = forward ? ["ahead", "past"] : ["past", "ahead"];
    if (!kept?.[from].length) return undefined;
    kept[to].push(kept.question);
    kept.question = kept[from].pop();
    this.write();
    return kept.question;
  }

  rename(id, name) {
    this.renew();
    const kept = this.find(id);
    if (!kept) return;
    kept.renamed = name || null;
    kept.name = kept.renamed ?? nameText(kept.question.text);
    this.write();
  }

  /** Forget a model; a function that takes it back. */
  remove(id) {
    this.renew();
    const place = this.models.findIndex((model) => model.id === id);
    const gone = this.models[place];
    this.models = this.models.filter((model) => model !== gone);
    this.write();
    return () => {
      this.renew();
      if (gone && !this.find(id)) this.models.splice(place, 0, gone);
      this.write();
    };
  }

  write() {
    let size = 0;
    this.models.forEach((model) => {
      const length = JSON.stringify(model).length;
      if (size + length > MOST_SIZE) Object.assign(model, { past: [], ahead: [] });
      size += JSON.stringify(model).length;
    });
    try {
      localStorage.setItem(KEY, JSON.stringify(this.models));
      this.unwritten = false;
    } catch {
      this.unwritten = true;
      // no storage, or no room left in it: they are kept as long as the page is open
    }
  }
}

/** What a model is called until it is given a name: its last variables. */
function nameText(text) {
  const names = [...text.matchAll(/^\s*(?:exogenous\s+)?([\p{L}_][\p{L}\p{N}_]*'*)/gmu)].map((match) => match[1]);
  if (!names.length) return "Empty model";
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 2).join(", ")}, … ${names.at(-1)} (${names.length})`;
}

/** Read what is kept; null if the browser keeps nothing. */
function read() {
  let text;
  try {
    text = localStorage.getItem(KEY) ?? "[]";
  } catch {
    return null;
  }
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) ? found.filter((model) => typeof model?.question?.text === "string" && Array.isArray(model.past) && Array.isArray(model.ahead)) : [];
  } catch {
    return [];
  }
}
