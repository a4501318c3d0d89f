// A picture of a state space to take along: what it shows, the picture, and what each binary means.

import { drawSwatch } from "./heatmap.js";
import { formatShare } from "./share_slider.js";
import { countWords, formatCount } from "./partition_report.js";
import { el } from "../shared/ui.js";

const ROW = 30;
const MOST_ROWS = 16;
const EDGE = 20;

/** A canvas with a heading, the picture and the legend, as fine as the picture is. */
export function drawSavedPicture(picture, reply, looks) {
  const ratio = picture.width / picture.clientWidth;
  const rows = reply.legend.slice(0, MOST_ROWS);
  const width = Math.max(picture.clientWidth + 2 * EDGE, 560);
  const height = picture.clientHeight + (rows.length + 1) * ROW + 90;
  const canvas = el("canvas", { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context.scale(ratio, ratio);
  context.fillStyle = style.getPropertyValue("--paper");
  context.fillRect(0, 0, width, height);
  const write = (text, x, y, font = "14px system-ui, sans-serif", align = "left") => {
    Object.assign(context, { fillStyle: style.getPropertyValue("--ink"), font, textAlign: align, textBaseline: "middle" });
    context.fillText(text, x, y, width - x - EDGE);
  };
  write(`What ${reply.outcome} hangs on, in every state`, EDGE, 24, "600 18px system-ui, sans-serif");
  write(describeSettings(reply), EDGE, 50);
  context.drawImage(picture, EDGE, 66, picture.clientWidth, picture.clientHeight);
  rows.forEach((one, place) => {
    const y = picture.clientHeight + 66 + (place + 0.7) * ROW;
    context.drawImage(drawSwatch(looks.get(one.code)), EDGE, y - 12);
    write(`${one.binary}  ${one.words}: ${countWords(one.states, "state")}, ${one.share}`, EDGE + 56, y);
  });
  return canvas;
}

function describeSettings(reply) {
  const { alpha_sufficiency: sufficiency, alpha_necessity: necessity, cost, states, pair, where } = reply;
  const share = (name, fraction) => `alpha ${name} ${fraction === null ? "none" : formatShare(fraction)}`;
  const parts = [share("sufficiency", sufficiency), share("necessity", necessity)];
  parts.push(countWords(states, "state"), `${formatCount(cost)} variables in all`, `map ${formatCount(pair)}`);
  if (where) parts.push(`only ${where}`);
  for (const [name, value] of Object.entries(reply.held)) parts.push(`${name} = ${value}`);
  return parts.join(" · ");
}
