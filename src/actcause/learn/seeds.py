"""Several seeds of one learner, trained side by side: how far they differ, and which is kept, without labels.

A learner that compares its network with hindsight on held-out rows (`jaci-em`) is judged by how far the two disagree;
any other by the held-out error of its forward model. A seed that never names a factor, or always all, is kept only
where all do: to agree on nothing is easy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..data import Transitions
from ..errors import quote
from .errors import LearnError
from .learner import Learner
from .training.diagnostics import NOTHING
from .training.loop import TrainingProgress
from .training.session import fit_many

MOST = 64  # seeds trained side by side
COMPARED = 10_000  # rows that answers are compared on, at most
CRITERIA = ("disagreement", "held_error")  # of what was learned, the first that there is
FAR = 0.05  # answers that differ in more of the edges than this are worth a note


@dataclass(frozen=True)
class SeedComparison:
    """Learners that differ in their seeds, and the `best` of them by `criterion`, the smaller the better.

    `scores` are the seeds' values of it (None where the method has none), `difference` is the mean share of edges in
    which the answers of two seeds differ, `most` the largest.
    """

    learners: tuple[Learner, ...]
    best: Learner
    criterion: str | None
    scores: Mapping[int, float | None]
    difference: float
    most: float

    def to_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "kept": self.best.seed,
            "criterion": self.criterion,
            "scores": {str(seed): score for seed, score in self.scores.items()},
            "difference": self.difference,
            "most": self.most,
        }

    @property
    def notes(self) -> list[str]:
        """A sentence where seeds say different things."""
        if self.difference <= FAR:
            return []
        return [
            f"The answers of {len(self.learners)} seeds differ in {self.difference:.1%} of the edges "
            f"(two of them in {self.most:.1%}): do not trust one alone; record more rows, or train for longer."
        ]

    def __str__(self) -> str:
        differ = f"their answers differ in {self.difference:.2%} of the edges, at most in {self.most:.2%}"
        if self.criterion is None:
            return f"Seed {self.best.seed} is kept, the first of {len(self.scores)}; {differ}."
        listed = ", ".join(f"{seed}: {score:.4f}" for seed, score in self.scores.items() if score is not None)
        words = self.criterion.replace("_", " ")
        return f"Seed {self.best.seed} is kept, by {words} without labels ({listed}); {differ}."


def fit_best(
    learner: Learner,
    data: Transitions,
    seeds: int = 3,
    *,
    callback: Callable[[TrainingProgress], None] | None = None,
) -> SeedComparison:
    """Fit a learner with this many seeds, from its own on, as one computation, and compare them.

    Weights of all are drawn together, so a seed that is trained beside others is not the same seed trained alone.

    >>> from actcause.data import collect
    >>> from actcause.learn import Counterfactual
    >>> found = fit_best(Counterfactual(steps=20, width=8, device="cpu"), collect("1-in", 500), 2)
    >>> found.criterion, sorted(found.scores), found.best in found.learners
    ('held_error', [0, 1], True)
    """
    learners = with_seeds(learner, seeds)
    fit_many(learners, [data] * seeds, callback=callback)
    return compare_seeds(learners, data)


def with_seeds(learner: Learner, seeds: int) -> list[Learner]:
    """Return the learner, and copies of it with the seeds that follow its own."""
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MOST:
        raise LearnError(
            "The number of {parameter} must be an integer from 1 to {most}. Got {got} instead.",
            parameter="seeds",
            most=MOST,
            got=quote(seeds),
        )
    learner.check_options()
    return [learner, *(dataclasses.replace(learner, seed=learner.seed + more) for more in range(1, seeds))]


def compare_seeds(learners: Sequence[Learner], data: Transitions) -> SeedComparison:
    """Compare fitted learners on at most 10,000 rows, and choose one; true causes are not looked at."""
    criterion = next((name for name in CRITERIA if all(name in one.learned_ for one in learners)), None)
    scores = {one.seed: None if criterion is None else float(one.learned_[criterion]) for one in learners}
    best = min(learners, key=lambda one: (_has_collapsed(one), scores[one.seed] or 0.0))
    rows = np.unique(np.linspace(0, len(data) - 1, min(COMPARED, len(data))).astype(np.int64))
    part = data.subset(rows)
    counted = np.ones(part.state.shape[:2], dtype=bool) if part.mask is None else part.mask.copy()
    if part.own is not None:
        counted[:, part.layout.index(part.own)] = False
    answers = [one.predict(part)[counted] for one in learners]
    differences = [float((a != b).mean()) for a, b in combinations(answers, 2)] or [0.0]
    return SeedComparison(tuple(learners), best, criterion, scores, float(np.mean(differences)), max(differences))


def _has_collapsed(learner: Learner) -> bool:
    """Tell whether a learner names nothing, or everything, in all held-out rows."""
    shares = list(learner.learned_.get("shares", {}).values())
    return bool(shares) and (all(s < NOTHING for s in shares) or all(s > 1 - NOTHING for s in shares))
