"""The search for causes among changes of inputs, small changes first.

On a function of its inputs alone the definitions come down to which *changes*, of some inputs to other values, undo the
effect (docs/black-boxes.md has the short proofs; `D` is a set of inputs, `d` other values of all of them):

    but-for, modified-hp    D is a cause: some d undoes the effect, and no change of fewer inputs of D does
    direct, strong          i is a cause: it belongs to such a D
    updated-hp              i is a cause: it belongs to a change (D, d) that undoes the effect while no part of it does
    original-hp             i is a cause: some (D, d) undoes the effect, and without the change of i it does not

    for k = 1, 2, ...:
        descend: from large changes that undo the effect to small ones, for causes that are far away
        sweep:   all changes of k inputs that can still tell something; then size k is proved

With a contrast, undoing the effect means to bring the contrast about; by the definitions of the last three rows this
takes another search (`contrasted.py`).

With inner variables, by modified-hp, some of those that a change moved are held at their actual values. Holding what
did not move changes nothing, so only what moved is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from .answer import LIKELY, PROVED, BoxCause, BoxWitness, Progress
from .changes import Changes, part_of
from .descents import PARTS, Descents
from .inputs import Settings
from .query import SETS, BoxQuery
from .trials import Trials, in_batches

Names = tuple[str, ...]


class Undoing(NamedTuple):
    """A change of all these inputs that undoes the effect, with inner variables held."""

    names: Names
    change: Settings
    held: Settings


class ChangeSearch:
    """Finds the causes of a query among changes."""

    def __init__(self, query: BoxQuery, trials: Trials, changes: Changes, progress: Progress) -> None:
        self.query, self.trials, self.changes, self.progress = query, trials, changes, progress
        self.names: Names = tuple(name for name in changes.names if changes.can_change(name))
        self.sets: list[frozenset[str]] = []  # the minimal sets found
        self.members: set[str] = set()  # the single inputs reported
        self._descents = Descents(trials, changes, self.names)
        self._sampled: set[Names] = set()  # sets of which not all changes were tried

    @property
    def _by_sets(self) -> bool:
        """Whether minimal sets of inputs are looked for, whatever their values."""
        return self.query.definition in (*SETS, "direct", "strong")

    def causes(self) -> Iterator[BoxCause]:
        """Yield causes as they are found; `progress` tells how far the search came."""
        if not self.query.happened:
            self.progress.proved_size = len(self.changes.names)
            return
        for size in range(1, len(self.names) + 1):
            if size > 1 and self._descents.are_worthwhile(self._pool()):
                for change in self._descents.shrunk_changes(self.sets):
                    yield from self._single_out(change)
            yield from self.causes_among(self._candidates(size))
            self._claim(size)
            if self._is_finished(size):
                break
        self._claim(len(self.changes.names))

    def causes_among(self, sets: Iterable[Names]) -> Iterator[BoxCause]:
        """Yield the causes that changes of these sets show, all smaller sets in them having been looked at."""
        for undoing in self._sweep(sets):
            yield from self._take(undoing)

    def _candidates(self, size: int) -> Iterator[Names]:
        """Yield the sets of so many inputs that can still tell something."""
        for names in combinations(self._pool(), size):
            self.trials.check_time()
            if not self._tells_nothing_new(names):
                yield names

    def _claim(self, size: int) -> None:
        """Note that changes of so many inputs are done with; what samples did not settle is only likely."""
        self.progress.likely_size = size
        if all(map(self._tells_nothing_new, self._sampled)):
            self.progress.proved_size = size

    # -- which changes can still tell something --------------------------------------------------

    def _pool(self) -> Names:
        single = {next(iter(names)) for names in self.sets if len(names) == 1} if self._by_sets else set()
        return tuple(name for name in self.names if name not in single)

    def _tells_nothing_new(self, names: Sequence[str]) -> bool:
        """Return whether these inputs can tell nothing new."""
        inside = set(names)
        if self._by_sets:
            return any(cause <= inside for cause in self.sets)
        return inside <= self.members

    def _is_finished(self, size: int) -> bool:
        if self.query.definition not in SETS and self.members >= set(self.names):
            return True
        return size >= len(self._pool())

    # -- sweeping --------------------------------------------------------------------------------

    def _sweep(self, sets: Iterable[Names]) -> Iterator[Undoing]:
        """Try all changes of these sets; those that came to be known meanwhile are left."""

        def worlds() -> Iterator[Undoing]:
            for names in sets:
                if not self.changes.exact(names):
                    self._sampled.add(names)
                for change in self.changes.of(names):
                    if self._tells_nothing_new(names):
                        break
                    yield Undoing(names, change, {})

        for batch in in_batches(worlds(), self.trials.batch):
            yield from self._try(batch)

    def _try(self, tried: list[Undoing]) -> Iterator[Undoing]:
        """Run changes, then again with what they moved held, and so on."""
        seen: set[tuple[int, frozenset[str]]] = set()
        frontier = list(enumerate(tried))
        undone: set[int] = set()
        while frontier:
            further: list[tuple[int, Undoing]] = []
            trials = self.trials.each({**world.change, **world.held} for _, world in frontier)
            for (place, world), trial in zip(frontier, trials, strict=True):
                if trial.undone and place not in undone:
                    undone.add(place)
                    yield world
                if self.query.definition != "modified-hp" or place in undone:
                    continue
                for name, value in zip(self.query.box.inner, trial.inner, strict=True):
                    held = frozenset((*world.held, name))
                    if value == self.query.actual[name] or name in world.change or (place, held) in seen:
                        continue
                    seen.add((place, held))
                    further.append((place, world._replace(held=part_of(self.query.actual, sorted(held)))))
            frontier = [(place, world) for place, world in further if place not in undone]

    # -- what a change that undoes the effect tells ------------------------------------------------

    def _take(self, undoing: Undoing) -> Iterator[BoxCause]:
        """Report what is a cause by such a change; all smaller changes of its inputs have been swept, where by sets."""
        definition = self.query.definition
        if definition == "original-hp":
            yield from self._take_original(undoing.change)
        elif definition == "updated-hp":
            yield from self._take_updated(self._descents.find_smallest_part(undoing.change))
        else:
            if not self.query.box.inner and not self._exact_below(undoing.names):
                change = self._descents.find_smallest_part(undoing.change)
                undoing = Undoing(tuple(change), change, {})
            if self._tells_nothing_new(undoing.names):
                return
            self.sets.append(frozenset(undoing.names))
            certainty = PROVED if self._exact_below(undoing.names) else LIKELY
            yield from self._report_set(undoing, certainty)

    def _report_set(self, undoing: Undoing, certainty: str) -> Iterator[BoxCause]:
        query, actual = self.query, self.query.actual
        if query.definition in SETS:
            witness = BoxWitness(undoing.change, undoing.held)
            yield BoxCause(part_of(actual, undoing.names), witness, certainty, query)
            return
        for name in undoing.names:
            if name not in self.members:
                self.members.add(name)
                others = {other: value for other, value in undoing.change.items() if other != name}
                frozen = {other: value for other, value in actual.items() if other not in undoing.names}
                witness = BoxWitness({name: undoing.change[name]}, frozen, others)
                yield BoxCause({name: actual[name]}, witness, certainty, query)

    def _take_updated(self, change: Settings) -> Iterator[BoxCause]:
        for name in change:
            if name not in self.members:
                self.members.add(name)
                yield self._single(name, change)

    def _take_original(self, change: Settings) -> Iterator[BoxCause]:
        for name in change:
            without = {other: value for other, value in change.items() if other != name}
            if name not in self.members and self.trials.one(without).holds:
                self.members.add(name)
                yield self._single(name, change)

    def _single(self, name: str, change: Settings) -> BoxCause:
        moved = {other: value for other, value in change.items() if other != name}
        witness = BoxWitness({name: change[name]}, moved)
        return BoxCause({name: self.query.actual[name]}, witness, PROVED, self.query)

    def _exact_below(self, names: Names) -> bool:
        """Return whether every smaller change of these inputs is among those that are tried one by one."""
        return all(self.changes.exact(part) for part in combinations(names, len(names) - 1))

    # -- descents --------------------------------------------------------------------------------

    def _single_out(self, change: Settings) -> Iterator[BoxCause]:
        """Find the causes inside a change that cannot be shrunk further, where that can be done."""
        names = tuple(name for name in self.names if name in change)
        if self.query.definition == "original-hp":
            yield from self._take_original(change)
        elif self.query.definition == "updated-hp" and len(names) <= PARTS:
            yield from self._take_updated(self._descents.find_smallest_part(change))
        elif self._by_sets and self._descents.are_affordable(names):
            for size in range(1, len(names)):
                inside = [part for part in combinations(names, size) if not self._tells_nothing_new(part)]
                yield from self.causes_among(inside)
            if not self._tells_nothing_new(names):
                yield from self._take(Undoing(names, part_of(change, names), {}))
        elif self.progress.within is None or len(names) < len(self.progress.within):
            self.progress.within = part_of(change, names)
