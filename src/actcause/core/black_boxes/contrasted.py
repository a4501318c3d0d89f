"""The search for what caused an effect *rather than* something else, by definitions that change more than the event.

Call a change *contrasting* if it brings the contrast about, and *undoing* if it undoes the effect at all. A set X of
inputs meets AC2 of a definition (docs/black-boxes.md has the short proofs) if

    original-hp       some contrasting change is not undoing without its part in X
    updated-hp        X meets every undoing part of some contrasting change
    direct, strong    X meets every set of inputs that has an undoing change, inside one that has a contrasting change

and the smallest such X are the causes. With the mere negation of the effect they are single inputs. With another
contrast they need not be: if only both of two changes bring it about, and each alone undoes the effect, then both
inputs are the cause together, as long as no other change shows that one of them is. So a single input is reported as
soon as it is found, and several only when nothing smaller can turn up.

    for k = 1, 2, ...:
        descend: from large contrasting changes to small ones
        sweep:   all changes of k inputs that can still tell something
    report the sets that are left
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from .answer import LIKELY, PROVED, BoxCause, BoxWitness, Progress
from .changes import Changes, part_of
from .descents import PARTS, Descents
from .inputs import Settings
from .query import BoxQuery
from .trials import Trials, in_batches

Names = tuple[str, ...]
Inputs = frozenset[str]


class Contrasting(NamedTuple):
    """A change of all these inputs that is to bring the contrast about."""

    names: Names
    change: Settings


class ContrastedSearch:
    """Finds the causes of a query with a contrast among changes."""

    def __init__(self, query: BoxQuery, trials: Trials, changes: Changes, progress: Progress) -> None:
        self.query, self.trials, self.changes, self.progress = query, trials, changes, progress
        self.names: Names = tuple(name for name in changes.names if changes.can_change(name))
        self.singles: set[str] = set()  # the single inputs reported
        self.joint: dict[Inputs, BoxCause] = {}  # sets that meet AC2; a part of them may turn out to do so, too
        self._contrasting: list[Inputs] = []  # by direct and strong, the smallest sets that have a contrasting change
        self._undoing: dict[Names, bool] = {}  # whether a set has an undoing change
        self._taken: list[frozenset[tuple[str, object]]] = []  # contrasting changes, none of which is part of another
        self._descents = Descents(trials, changes, self.names)
        self._sampled: set[Names] = set()  # sets of which not all changes were tried
        self._all_proved = True  # of the causes found so far

    @property
    def _by_sets(self) -> bool:
        return self.query.definition in ("direct", "strong")

    def causes(self) -> Iterator[BoxCause]:
        """Yield causes as they are found; `progress` tells how far the search came."""
        if not self.query.happened:
            self.progress.proved_size = len(self.changes.names)
            return
        for size in range(1, len(self.names) + 1):
            if size > 1 and self._descents.are_worthwhile(self.names):
                for change in self._descents.shrunk_changes(self._contrasting):
                    yield from self._single_out(change)
            yield from self._sweep(self._candidates(size))
            self._claim(size)
            if self.singles >= set(self.names):
                break
        self._claim(len(self.changes.names))
        yield from self._release()

    def _candidates(self, size: int) -> Iterator[Names]:
        alone = {next(iter(names)) for names in self._contrasting if len(names) == 1}
        for names in combinations([name for name in self.names if name not in alone], size):
            self.trials.check_time()
            if not self._tells_nothing_new(names):
                yield names

    def _tells_nothing_new(self, names: Sequence[str]) -> bool:
        inside = set(names)
        return inside <= self.singles or any(known <= inside for known in self._contrasting)

    def _claim(self, size: int) -> None:
        self.progress.likely_size = size
        if self._all_proved and all(map(self._tells_nothing_new, self._sampled)):
            self.progress.proved_size = size

    def _sweep(self, sets: Iterable[Names]) -> Iterator[BoxCause]:
        """Try all changes of these sets; those that came to tell nothing new meanwhile are left."""

        def worlds() -> Iterator[Contrasting]:
            for names in sets:
                if not self.changes.exact(names):
                    self._sampled.add(names)
                for change in self.changes.of(names):
                    if self._tells_nothing_new(names):
                        break
                    yield Contrasting(names, change)

        for batch in in_batches(worlds(), self.trials.batch):
            for world, trial in zip(batch, self.trials.each([world.change for world in batch]), strict=True):
                if trial.undone and not self._tells_nothing_new(world.names):
                    yield from self._take(world.change)

    def _single_out(self, change: Settings) -> Iterator[BoxCause]:
        """Find the causes that a change shows that was not met in a sweep, where that can be done."""
        names = tuple(name for name in self.names if name in change)
        if len(names) <= PARTS and (not self._by_sets or self._descents.are_affordable(names)):
            if not self._tells_nothing_new(names):
                yield from self._take(part_of(change, names))
            return
        if self.query.definition == "original-hp":
            for single in self._list_original(change, largest=1):
                yield from self._note(single, change)
            if not self.singles.isdisjoint(names):
                return
        if self.progress.within is None or len(names) < len(self.progress.within):
            self.progress.within = part_of(change, names)

    # -- what a contrasting change tells -----------------------------------------------------------

    def _take(self, change: Settings) -> Iterator[BoxCause]:
        """Note which smallest sets meet AC2 by a contrasting change."""
        if self.query.definition == "original-hp":
            for names in self._list_original(change):
                yield from self._note(names, change)
            return
        items = frozenset(change.items())
        if any(taken <= items for taken in self._taken):  # what meets AC2 by a change does so by its part
            return
        change = self._descents.find_smallest_part(change)
        if self._tells_nothing_new(tuple(change)):
            return
        self._taken.append(frozenset(change.items()))
        undoing = self._find_undoing(change)
        if self._by_sets:
            self._contrasting.append(frozenset(change))
        for met in find_minimal_transversals(undoing):
            yield from self._note(tuple(name for name in change if name in met), change)

    def _list_original(self, change: Settings, largest: int | None = None) -> Iterator[Names]:
        """List the smallest sets without whose part the effect holds under a change."""
        for size in range(1, (largest or len(change)) + 1):
            all_known = True
            for names in combinations(change, size):
                self.trials.check_time()
                if not self._is_known(frozenset(names)):
                    without = part_of(change, [name for name in change if name not in names])
                    if self.trials.one(without).holds:
                        yield names
                    else:
                        all_known = False
            if all_known:  # and so are all larger ones
                return

    def _find_undoing(self, change: Settings) -> list[Inputs]:
        """Find the smallest undoing parts of a change; where it goes by sets, the smallest sets that can undo."""
        found: list[Inputs] = []
        for size in range(1, len(change) + 1):
            left = [names for names in combinations(change, size) if not any(part <= set(names) for part in found)]
            if not left:
                break
            for names in left:
                self.trials.check_time()
                part = part_of(change, names)
                if self._can_undo(part) if self._by_sets else not self.trials.one(part).holds:
                    found.append(frozenset(names))
        return found

    def _can_undo(self, part: Settings) -> bool:
        """Return whether this change or any other of the same inputs is undoing."""
        names = tuple(part)
        if not self._undoing.get(names, False):
            if not self.trials.one(part).holds:
                self._undoing[names] = True
            elif names not in self._undoing:
                self._undoing[names] = any(not trial.holds for trial in self.trials.each(self.changes.of(names)))
        return self._undoing[names]

    # -- the smallest sets -------------------------------------------------------------------------

    def _is_known(self, names: Inputs) -> bool:
        """Return whether a set contains one that is known to meet AC2."""
        return not names.isdisjoint(self.singles) or any(known <= names for known in self.joint)

    def _note(self, names: Names, change: Settings) -> Iterator[BoxCause]:
        """Report a single input, and keep several until nothing smaller can turn up."""
        inputs = frozenset(names)
        if self._is_known(inputs):
            return
        self.joint = {known: cause for known, cause in self.joint.items() if not inputs < known}
        cause = self._make_cause(names, change)
        self._all_proved = self._all_proved and cause.certainty == PROVED
        if len(names) == 1:
            self.singles.add(names[0])
            yield cause
        else:
            self.joint[inputs] = cause
            if self.progress.within is None or len(names) < len(self.progress.within):
                self.progress.within = part_of(change, names)
        self.progress.undecided[:] = [tuple(cause.event) for cause in self.joint.values()]

    def _make_cause(self, names: Names, change: Settings) -> BoxCause:
        query, actual = self.query, self.query.actual
        changed = part_of(change, names)
        others = {name: value for name, value in change.items() if name not in changed}
        event = part_of(actual, names)
        if not self._by_sets:
            return BoxCause(event, BoxWitness(changed, others), PROVED, query)
        frozen = {name: value for name, value in actual.items() if name not in change}
        certainty = PROVED if self._is_exact(tuple(others)) else LIKELY
        return BoxCause(event, BoxWitness(changed, frozen, others), certainty, query)

    def _is_exact(self, names: Names) -> bool:
        """Return whether all changes within these inputs are tried one by one."""
        return not names or self.changes.exact(names)

    def _release(self) -> Iterator[BoxCause]:
        """Report the sets of several inputs, now that nothing smaller can turn up."""
        proved = self.progress.proved_size >= len(self.changes.names)
        self.progress.undecided.clear()
        self.progress.within = None
        for cause in sorted(self.joint.values(), key=lambda cause: len(cause.event)):
            yield cause if proved else replace(cause, certainty=LIKELY)


def find_minimal_transversals(sets: Iterable[Inputs]) -> list[Inputs]:
    """Find the smallest sets that meet each of some sets (Berge 1989).

    >>> sorted(map(sorted, find_minimal_transversals([frozenset("AB"), frozenset("BC")])))
    [['A', 'C'], ['B']]
    """
    found: list[Inputs] = [frozenset()]
    for one in sets:
        met = [known for known in found if known & one]
        grown = {known | {name} for known in found if not known & one for name in one}
        found = [*met, *(new for new in grown if not any(known <= new for known in met))]
        found = [new for new in found if not any(other < new for other in found)]
    return found
