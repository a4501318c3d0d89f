// Degrees of responsibility that took too long for the first answer: asked for one definition after another.

/**
 * Complete an answer. `ask(definition)` gives the degrees of its causes, [] if they are not to be had, undefined if
 * nobody wants them any more; `drawn()` is called whenever there is something new to see.
 */
export async function completeDegrees({ answers }, ask, drawn) {
  for (const { definition, causes } of answers) {
    const open = causes.filter((cause) => cause.responsibility === null && !cause.unknown);
    if (!open.length) continue;
    for (const cause of open) cause.pending = true;
    drawn();
    const degrees = await ask(definition);
    if (degrees === undefined) return;
    causes.forEach((cause, index) => {
      cause.pending = false;
      cause.responsibility ??= degrees[index] ?? null;
      cause.unknown = cause.responsibility === null;
    });
    drawn();
  }
}
