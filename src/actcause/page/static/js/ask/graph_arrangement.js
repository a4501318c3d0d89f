// Asks the worker where the nodes of a graph go. A newer question ends the one before it.

let worker = null;
let refuse = null; // who waits for the answer that is being computed

const start = () => new Worker(new URL("./layout_worker.js", import.meta.url), { type: "module" });

/** The layout of variables as nodes of a width; undefined if a newer question came meanwhile. */
export async function arrange(variables, width) {
  if (refuse) {
    worker.terminate();
    worker = null;
    refuse(undefined);
  }
  worker ??= start();
  const asked = worker;
  try {
    return await new Promise((resolve, reject) => {
      refuse = resolve;
      asked.onmessage = ({ data }) => resolve(data);
      asked.onerror = (event) => {
        event.preventDefault();
        reject(new Error("The graph could not be laid out."));
      };
      asked.postMessage({ variables: variables.map(({ name, parents }) => ({ name, parents })), width });
    });
  } finally {
    if (worker === asked) refuse = null;
  }
}
