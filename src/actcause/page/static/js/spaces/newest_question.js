// Questions of which only the newest matters: those of a slider, or of a pointer that moves.

import { post } from "../shared/api.js";

const PATIENCE = 700; // milliseconds after which a newer question takes the place of the one under way
const SUPERSEDED = 409; // what the server says to the older one

/** Asks one question at a time; meanwhile the newest waits, and its answer goes to `onReply` or its error to `onError`. */
export class NewestQuestion {
  constructor(path, onReply, onError) {
    Object.assign(this, { path, onReply, onError, under: null, next: null, timer: 0 });
  }

  ask(body) {
    this.next = body;
    clearTimeout(this.timer);
    const left = this.under ? this.under.since + PATIENCE - performance.now() : 0;
    // A quick answer is waited for: to take its place would cost the server more than to let it come.
    if (left > 0) this.timer = setTimeout(() => this.send(), left);
    else this.send();
  }

  async send() {
    clearTimeout(this.timer);
    const body = this.next;
    const mine = { since: performance.now() };
    this.next = null;
    this.under = mine;
    const newest = () => this.under === mine && this.next === null;
    try {
      const reply = await post(this.path, body);
      if (newest()) this.onReply(reply);
    } catch (error) {
      if (newest() && error.status !== SUPERSEDED) this.onError(error);
    }
    if (this.under !== mine) return;
    this.under = null;
    if (this.next !== null) this.send();
  }

  /** Forget what waits, and whatever is still answered. */
  stop() {
    clearTimeout(this.timer);
    this.next = null;
    this.under = null;
  }
}
