// A worker that lays out graphs, so that the page stays responsive while a large one is laid out.
import { layOut } from "./graph_layout.js";

addEventListener("message", ({ data: { variables, width } }) => postMessage(layOut(variables, width)));
