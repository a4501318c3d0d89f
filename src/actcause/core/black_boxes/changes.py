"""Changes of inputs: all of them where there are few, samples with error control where there are many.

Where a set of inputs has too many other values to try, n of them are drawn. If none undoes the effect, then fewer than
the share s of all of them do, with an error of at most (1 - s)**n: the one-sided bound of Clopper and Pearson (1934)
for no hits. n is chosen so that the errors of all sets that may ever be asked about sum to at most 1 - confidence: sets
of k inputs share 1 / (k (k + 1)) of it, each of them equally. A set may show several things: by original and updated
Halpern-Pearl one for each input, and with a contrast, by definitions that change others besides the event, one for each
subset. Then these share the error of the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, comb, inf, log, prod
from typing import Any

import numpy as np

from ...errors import QueryError, quote
from .inputs import Interval, Settings
from .query import SETS, BoxQuery

MOST_TRIED = 10_000  # changes of one set of inputs that are tried one by one


class Changes:
    """The changes of a query's inputs in which every one has another value than it actually had."""

    def __init__(self, query: BoxQuery, confidence: float, least_share: float, seed: int) -> None:
        for parameter, value in (("confidence", confidence), ("least_share", least_share)):
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 1:
                wrong = "{parameter} must be between 0 and 1; got {got}."
                raise QueryError(wrong, parameter=parameter, got=quote(value))
        if not isinstance(seed, int) or seed < 0:
            raise QueryError(
                "{parameter} must be a whole number of at least 0; got {got}.", parameter="seed", got=quote(seed)
            )
        self.confidence, self.least_share, self.seed = confidence, least_share, seed
        self.names = tuple(query.box.handles)
        self._place = {name: place for place, name in enumerate(self.names)}
        self._actual, self._definition, self._contrasted = query.actual, query.definition, query.contrast is not None
        self._others: dict[str, tuple[Any, ...] | Interval] = {
            name: values if isinstance(values, Interval) else tuple(v for v in values if v != self._actual[name])
            for name, values in query.box.handles.items()
        }

    def count(self, names: Sequence[str]) -> float:
        """Count the changes of these inputs; infinite for an interval."""
        each = (self._others[name] for name in names)
        return prod(inf if isinstance(values, Interval) else len(values) for values in each) if names else 0

    def exact(self, names: Sequence[str]) -> bool:
        """Return whether all changes of these inputs are tried."""
        return self.count(names) <= MOST_TRIED

    def of(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield all changes of these inputs; or the ends of their ranges, and then samples."""
        others = [self._others[name] for name in names]
        if self.exact(names):
            for values in product(*others):  # type: ignore[arg-type]
                yield dict(zip(names, values, strict=True))
            return
        if any(not isinstance(values, Interval) and not values for values in others):
            return
        ends = [self._ends(name) for name in names]
        if prod(map(len, ends)) <= MOST_TRIED:
            for values in product(*ends):
                yield dict(zip(names, values, strict=True))
        rng = np.random.default_rng([self.seed, *(self._place[name] for name in names)])
        for _ in range(self.samples(len(names))):
            yield {name: self.draw(name, rng) for name in names}

    def samples(self, size: int) -> int:
        """Return how many samples a set of so many inputs takes."""
        error = (1 - self.confidence) / (size * (size + 1)) / comb(len(self.names), size) / self._count_shown(size)
        return ceil(log(error) / log(1 - self.least_share))

    def _count_shown(self, size: int) -> int:
        """Count what changes of so many inputs can show, each of which samples may miss."""
        if self._definition in (*SETS, "functional"):
            return 1
        if self._contrasted:
            return 1 << size
        return size if self._definition in ("original-hp", "updated-hp") else 1

    def draw(self, name: str, rng: np.random.Generator) -> Any:
        """Draw another value of one input."""
        others = self._others[name]
        if isinstance(others, Interval):
            return float(rng.uniform(others.low, others.high))
        return others[int(rng.integers(len(others)))]

    def can_change(self, name: str) -> bool:
        """Return whether an input has another value at all."""
        others = self._others[name]
        return isinstance(others, Interval) or bool(others)

    def _ends(self, name: str) -> tuple[Any, ...]:
        others = self._others[name]
        ends = (others.low, others.high) if isinstance(others, Interval) else (others[0], others[-1])
        return tuple(dict.fromkeys(end for end in ends if end != self._actual[name]))


def part_of(change: Settings, names: Sequence[str]) -> dict[str, Any]:
    """Keep these inputs of a change."""
    return {name: change[name] for name in names}
