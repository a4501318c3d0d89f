"""Functional actual causes of a black box: shares, counted where values are few and sampled where they are many.

Below `alpha_sufficiency` 1/2 states do not compete (docs/semantics.md), so the state observed is enough: its causes are
the smallest sets of inputs that are necessary (enough of their values undo the effect, or bring the contrast about) and
sufficient (few values of all others undo the effect). A share that cannot be counted is estimated from samples until
its Clopper-Pearson interval lies on one side of the bound; the errors of all looks at all sets sum to at most 1 -
confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, inf, prod
from typing import Any, NamedTuple

import numpy as np

from ..definitions.functional import enough, few
from ..estimate import estimate
from .answer import LIKELY, PROVED, BoxCause, BoxWitness, Progress
from .changes import MOST_TRIED, Changes, part_of
from .inputs import Interval, Settings
from .query import BoxQuery
from .trials import BoxTrial, Trials

FIRST_LOOK, LOOKS = 64, 9  # samples at the first look; each further look doubles them


class Decision(NamedTuple):
    """Whether a share meets its bound, None if samples could not tell; and a change that undoes the effect, if seen."""

    meets: bool | None
    exact: bool
    undoing: Settings | None = None


class FunctionalSearch:
    """Finds the smallest sets of inputs that are necessary and sufficient, in shares."""

    def __init__(self, query: BoxQuery, trials: Trials, changes: Changes, progress: Progress) -> None:
        self.query, self.trials, self.changes, self.progress = query, trials, changes, progress
        self.names = tuple(query.box.inputs)

    def causes(self) -> Iterator[BoxCause]:
        """Yield the causes, all of one size."""
        found, exact = False, True
        for size in range(1, len(self.names) + 1):
            for names in combinations(self.names, size) if self.query.happened else ():
                cause, certain = self.admit(names)
                exact = exact and certain
                if cause is not None:
                    found = True
                    yield cause
            self._claim(size, exact)
            if found:
                break
        self._claim(len(self.names), exact)

    def _claim(self, size: int, exact: bool) -> None:
        if not self.progress.undecided:
            self.progress.likely_size = size
            if exact:
                self.progress.proved_size = size

    def admit(self, names: tuple[str, ...]) -> tuple[BoxCause | None, bool]:
        """Decide whether a set is necessary and sufficient; and whether that is certain."""
        necessary = self._measure(names, names, sufficiency=False)
        if necessary.meets is False:
            return None, necessary.exact
        others = [name for name in self.names if name not in names]
        sufficient = self._measure(names, others, sufficiency=True)
        if sufficient.meets is False:
            return None, sufficient.exact
        if necessary.meets is None or sufficient.meets is None or necessary.undoing is None:
            self.progress.undecided.append(names)
            return None, False
        certain = necessary.exact and sufficient.exact
        changed = {name: necessary.undoing[name] for name in names}
        event = part_of(self.query.actual, names)
        return BoxCause(event, BoxWitness(changed), PROVED if certain else LIKELY, self.query), certain

    def _measure(self, names: tuple[str, ...], varied: Sequence[str], *, sufficiency: bool) -> Decision:
        """Decide whether the share of values of `varied` that undo the effect is small enough, or large enough."""
        ranges = [self.query.box.inputs[name] for name in varied]
        alpha = self.query.alpha_sufficiency if sufficiency else self.query.alpha_necessity
        if prod(inf if isinstance(values, Interval) else len(values) for values in ranges) > MOST_TRIED:
            return self._estimate(names, varied, alpha, sufficiency=sufficiency)
        worlds = [dict(zip(varied, values, strict=True)) for values in product(*ranges)]  # type: ignore[arg-type]
        if not sufficiency and alpha is None:
            undoing = self._first_undoing(worlds)
            return Decision(undoing is not None, True, undoing)
        trials = zip(worlds, self.trials.each(worlds), strict=True)
        gone = [world for world, trial in trials if _counts(trial, sufficiency=sufficiency)]
        meets = (few if sufficiency else enough)(len(gone), len(worlds), alpha)
        return Decision(meets, True, gone[0] if gone else None)

    def _first_undoing(self, worlds: Sequence[Settings]) -> Settings | None:
        trials = self.trials.each(worlds)
        return next((world for world, trial in zip(worlds, trials, strict=False) if trial.undone), None)

    def _estimate(
        self, names: tuple[str, ...], varied: Sequence[str], alpha: Fraction | None, *, sufficiency: bool
    ) -> Decision:
        place = [self.names.index(name) for name in names]
        rng = np.random.default_rng([self.changes.seed, int(sufficiency), *place])
        if alpha is None:  # any value that undoes the effect will do
            changes = [
                {name: self._draw(name, rng) for name in varied} for _ in range(self.changes.samples(len(names)))
            ]
            undoing = self._first_undoing(changes)
            return Decision(undoing is not None, undoing is not None, undoing)
        size = len(names)
        error = (1 - self.changes.confidence) / (size * (size + 1)) / comb(len(self.names), size) / 2
        hits = samples = 0
        seen: Settings | None = None
        for look in range(1, LOOKS + 1):
            wanted = FIRST_LOOK * 2 ** (look - 1) - samples
            worlds = [{name: self._draw(name, rng) for name in varied} for _ in range(wanted)]
            for world, trial in zip(worlds, self.trials.each(worlds), strict=True):
                hits += (counted := _counts(trial, sufficiency=sufficiency))
                if counted and seen is None:
                    seen = world
            samples += wanted
            share = estimate(hits, samples, 1 - error / LOOKS)
            if share.high < alpha or share.low > alpha:
                small = share.high < alpha
                return Decision(small if sufficiency else not small, False, seen)
        return Decision(None, False, seen)

    def _draw(self, name: str, rng: np.random.Generator) -> Any:
        """Draw any value of one input, its actual one included."""
        values = self.query.box.inputs[name]
        if isinstance(values, Interval):
            return float(rng.uniform(values.low, values.high))
        return values[int(rng.integers(len(values)))]


def _counts(trial: BoxTrial, *, sufficiency: bool) -> bool:
    """Return whether a world counts in a share: for necessity it brings the contrast about, if there is one."""
    return not trial.holds if sufficiency else trial.undone
