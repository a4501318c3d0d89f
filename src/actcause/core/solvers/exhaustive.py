"""The oracle: every definition, as it is written, by trying everything.

    is_cause(X=x):
        AC1   the event and the effect happened
        AC2   some witness of the definition is also sufficient
        AC3   no strict, non-empty part of the event meets AC2
    causes:
        all events of size 1, 2, ... that meet AC2 and contain no smaller cause

Exponential in everything, and meant to be: the fast solvers are tested against it.
"""

from collections.abc import Iterator
from itertools import combinations

from ..answer import Assignment, Cause, Witness
from ..definitions import Definition, Search
from ..normality import Broken
from .base import Solver


class Exhaustive(Solver):
    """Runs a definition's own words."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    def necessary(self, search: Search, event: Assignment) -> Witness | None:
        return next(self.definition.witnesses(search, event), None)

    def witness(self, search: Search, event: Assignment) -> Witness | None:
        return next((witness for witness, _ in self.best_witnesses(search, event)), None)

    def best_witnesses(self, search: Search, event: Assignment) -> list[tuple[Witness, Broken]]:
        """List a witness for each best set of broken rules; the first witness where nothing is said to be normal."""
        query = search.query
        found: dict[Broken, Witness] = {}
        for witness in self.definition.witnesses(search, event):
            if self.definition.sufficient(search, event, witness):
                if query.normality is None:
                    return [(witness, frozenset())]
                found.setdefault(query.normality.find_broken(search.values(witness.intervention)), witness)
        return [] if query.normality is None else [(found[broken], broken) for broken in query.normality.best(found)]

    def smaller(self, search: Search, event: Assignment) -> Assignment | None:
        for size in range(1, len(event)):
            for names in combinations(event, size):
                part = {name: event[name] for name in names}
                if self.witness(search, part):
                    return part
        return None

    def causes(self, search: Search) -> Iterator[Cause]:
        query = search.query
        if not query.happened:
            return
        minimal: list[set[str]] = []
        for size in range(1, len(query.candidates) + 1):
            for names in combinations(query.candidates, size):
                if any(smaller <= set(names) for smaller in minimal):
                    continue
                event = {name: query.actual[name] for name in names}
                best = self.best_witnesses(search, event)
                if best:
                    minimal.append(set(names))
                    yield Cause(event, best[0][0], query, tuple(broken for _, broken in best))
