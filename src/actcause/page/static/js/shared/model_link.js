// Model text in the address: plain while it is short, compressed when it is long.

const PLAIN = 600;
const MOST = 24_000; // characters of the address that text may take
const MOST_TEXT = 100_000; // what a compressed link may grow to

/** `{model}` or `{z}` for the address; null if the text is too long for one. */
export async function packText(text) {
  if (text.length <= PLAIN) return { model: text };
  const z = encode(await collect(stream(new TextEncoder().encode(text), new CompressionStream("deflate-raw")), Infinity));
  return z.length <= MOST ? { z } : null;
}

/** The text of a state that `packed` made; null if there is none, an error if the link is damaged. */
export async function unpackText({ model, z }) {
  if (model !== undefined) return model;
  if (z === undefined) return null;
  try {
    const bytes = await collect(stream(decode(z), new DecompressionStream("deflate-raw")), MOST_TEXT);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("The model in this link cannot be read: the link is damaged or was cut off.");
  }
}

const stream = (bytes, through) => new Blob([bytes]).stream().pipeThrough(through);

async function collect(readable, most) {
  const parts = [];
  let size = 0;
  for (const reader = readable.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error("too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const encode = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
