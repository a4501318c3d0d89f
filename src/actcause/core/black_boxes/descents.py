"""Descents: from large changes that undo the effect down to small ones, for causes of many inputs.

Sweeping all small changes first would come to such causes much too late. At most as many calls go into descents as into
the sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .changes import MOST_TRIED, Changes, part_of
from .inputs import Settings
from .trials import Trials

FEW, FEW_IN_BATCHES = 512, 1 << 16  # worlds that are all looked at in time; descents run one by one
PARTS = 12  # inputs of a change all of whose parts are looked at
DESCENTS = 4  # for each input, at most, before each size


class Descents:
    """Draws large changes of a query's inputs and shrinks those that undo the effect as asked."""

    def __init__(self, trials: Trials, changes: Changes, names: Sequence[str]) -> None:
        self.trials, self.changes, self.names = trials, changes, names
        self._rng = np.random.default_rng(changes.seed)
        self._spent = 0  # calls on descents

    def are_worthwhile(self, pool: Sequence[str]) -> bool:
        """Return whether these inputs have too many changes for a sweep."""
        worlds = 1.0
        for name in pool:
            worlds *= 1 + self.changes.count([name])
        return worlds > (FEW if self.trials.batch == 1 else FEW_IN_BATCHES)

    def shrunk_changes(self, known: Sequence[frozenset[str]]) -> Iterator[Settings]:
        """Yield changes without the sets known, as small as they get; calls until the next one count as theirs."""
        for attempt in range(DESCENTS * len(self.names)):
            swept = self.trials.calls - self._spent
            if self._spent >= swept:
                return
            before = self.trials.calls
            start = self._draw_start(known, everything=attempt % 2 == 0)
            if start and self.trials.one(start).undone:
                yield self._shrink(start)
            self._spent += self.trials.calls - before

    def _draw_start(self, known: Sequence[frozenset[str]], *, everything: bool) -> dict[str, Any]:
        """Draw a large change that contains no known set."""
        left = set(self.names if everything else [n for n in self.names if self._rng.random() < 0.5])
        for names in known:
            if names <= left:
                left.discard(sorted(names)[int(self._rng.integers(len(names)))])
        return {name: self.changes.draw(name, self._rng) for name in self.names if name in left}

    def _shrink(self, change: dict[str, Any]) -> dict[str, Any]:
        """Drop inputs from a change, half of them at a time and then fewer, while it still undoes the effect."""
        block = max(1, len(change) // 2)
        while True:
            names = self._rng.permutation(list(change)).tolist()
            dropped = False
            for start in range(0, len(names), block):
                fewer = {n: v for n, v in change.items() if n not in names[start : start + block]}
                if fewer and len(fewer) < len(change) and self.trials.one(fewer).undone:
                    change, dropped = fewer, True
            if block == 1 and not dropped:
                return change
            block = max(1, min(block // 2 if not dropped else block, len(change) // 2))

    def are_affordable(self, names: Sequence[str]) -> bool:
        """Return whether all smaller changes of these inputs can be looked at."""
        if len(names) > PARTS:
            return False
        costs = (
            min(self.changes.count(part), self.changes.samples(size) + 2**size)
            for size in range(1, len(names))
            for part in combinations(names, size)
        )
        limit = MOST_TRIED if self.trials.calls_left is None else min(MOST_TRIED, self.trials.calls_left)
        return bool(sum(costs) <= limit)

    def find_smallest_part(self, change: Settings) -> Settings:
        """Find the smallest part of a change that undoes the effect."""
        for size in range(1, len(change)):
            parts = [part_of(change, names) for names in combinations(change, size)]
            for part, trial in zip(parts, self.trials.each(parts), strict=True):
                if trial.undone:
                    return part
        return change
