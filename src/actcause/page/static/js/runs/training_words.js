// The stages of trainings and what is measured in them, in plain words.

const STAGES = {
  loading: "starting", reading: "reading the rows", recording: "recording rows", scoring: "scoring on rows it has not seen",
  passive: "learning what happens by itself", warm: "learning what happens", "warm-up": "learning what happens",
  forward: "learning what happens", pretrain: "learning what happens", delay: "learning what happens",
  em: "choosing causes", joint: "learning causes", masks: "learning causes", threshold: "choosing the threshold",
  check: "checking itself", alone: "learning the outcome by itself", whole: "learning all that happens",
  sketch: "a first look at all that happens", exchange: "exchanging factors", judge: "judging what was chosen",
  remember: "compressing (distil)", distil: "compressing (distil)",
};

const VALUES = {
  full: "error seeing all factors", own: "error from the outcome's own state", chosen: "error under the chosen causes",
  length: "causes chosen per row", binary: "loss of the network that names causes", loose: "loss of a second, freer network that names causes",
  error: "error of the stage's model", forward: "loss of the model of what happens", masked: "loss under the chosen causes",
  alone: "loss from the outcome's own state", likelihood: "likelihood of what happens", held: "error on rows kept apart",
  attention: "loss of the network that names causes, by attention", sums: "loss of the network that names causes, by sums",
  price: "cost of the factors let through", entropy: "spread of the attention", surprise: "how surprising the outcome was",
  pairs: "error from pairs of factors",
};

/** A stage of a training in plain words. */
export const nameStage = (stage) => STAGES[stage] ?? stage ?? "starting";

/** A value of a training in plain words. */
export const nameValue = (name) => VALUES[name] ?? name;
