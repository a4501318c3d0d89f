"""What each method does, in a sentence for those who choose one on the page."""

ABOUT = {
    "jaci-auto": "Learns what happens and which few factors foresee it, checks itself, and tries again. Start here.",
    "jaci-em": "Learns to foresee the outcome from as few factors as will do in each row; those are the causes.",
    "jaci-exchange": "Exchanges factors for those of other rows; for many alike bodies, categories and noise.",
    "jaci": "The method as the paper gives it, for comparison.",
    "grad": "Baseline: factors to which the foreseen outcome is sensitive.",
    "attn": "Baseline: factors to which a network pays attention.",
    "cf": "Baseline: factors whose replacement changes what is foreseen.",
    "cmi": "Baseline: factors without which the outcome is less likely.",
    "ncd": "Baseline: factors that a learned filter lets through.",
    "ncii": "Baseline: factors whose absence would have changed the outcome.",
    "granger": "Baseline: factors that help to foresee the outcome in a pair with its own past.",
    "proximity": "Baseline without training: factors near the outcome.",
    "never": "No training: says that nothing is ever a cause.",
    "always": "No training: says that everything is always a cause.",
}
