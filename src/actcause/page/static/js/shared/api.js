// The server's JSON interface.

// Names this tab, so that a newer question can take the place of an older one of the same tab.
const TAB = crypto.getRandomValues(new Uint32Array(2)).join("-");
let asked = 0; // numbers its requests: the server may get them in another order

/** Something the server refused, in a sentence; `line` is that of the model text, `parameter` the field, or null. */
export class ApiError extends Error {
  constructor(message, { line = null, parameter = null, status = 0 } = {}) {
    super(message);
    Object.assign(this, { line, parameter, status });
  }
}

export const get = (path) => request("GET", path);
export const post = (path, body) => request("POST", path, JSON.stringify(body), "application/json");
export const remove = (path) => request("DELETE", path);

async function request(method, path, body, type) {
  asked += 1;
  const headers = { "X-Tab": TAB, "X-Order": String(asked) };
  if (type) headers["Content-Type"] = type;
  let response;
  try {
    response = await fetch(path, { method, body, headers, cache: "no-store" });
  } catch {
    throw new ApiError("The server does not answer; is 'actcause serve' still running?");
  }
  let reply = null;
  try {
    reply = await response.json();
  } catch {
    // an answer without a body, or cut off
  }
  if (!response.ok) {
    const { error = `The server answered ${response.status}.`, line, parameter } = reply ?? {};
    throw new ApiError(error, { line, parameter, status: response.status });
  }
  return reply;
}

/** Send a file; `onProgress` is called with the share that has been sent. Not by fetch, which does not say. */
export function upload(path, blob, onProgress = () => {}) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("PUT", path);
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.responseType = "json";
    sending.upload.addEventListener("progress", (event) => event.total && onProgress(event.loaded / event.total));
    sending.addEventListener("error", () => reject(new ApiError("The file did not arrive; is 'actcause serve' still running?")));
    sending.addEventListener("load", () => {
      const { status, response } = sending;
      if (status >= 200 && status < 300) resolve(response);
      else reject(new ApiError(response?.error ?? `The server answered ${status}.`, { status }));
    });
    sending.send(blob);
  });
}

const POLL = 500;
const ENDED = ["done", "failed", "cancelled"];

/** Whether a job has come to its end. */
export const hasEnded = (job) => ENDED.includes(job.state);

/** Call `onChange` with a job (or its id) whenever it was looked at, until it ends or `stop()` is called. */
export function watch(job, onChange) {
  const id = typeof job === "object" ? job.id : job;
  let stopped = false;
  let timer = 0;
  const look = async () => {
    let found;
    try {
      found = await get(`/api/jobs/${encodeURIComponent(id)}`);
    } catch (error) {
      if (error.status === 404) found = { id, state: "failed", error: error.message, progress: {}, result: null };
    }
    if (stopped) return;
    if (found) onChange(found);
    if (!found || !hasEnded(found)) timer = setTimeout(look, POLL);
  };
  look();
  document.dispatchEvent(new CustomEvent("jobs"));
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
