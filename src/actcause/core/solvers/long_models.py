"""Long models: hundreds or thousands of variables, as in a model unrolled over many steps.

A witness of modified HP, which takes one call of a SAT solver, is one of original and updated HP and of strong
sufficiency as well: nothing is given other values than its own, so there is nothing for AC2b to undo. So this is asked
first, and the definition's own search only where the answer is no. In between come, for original and updated HP, the
game played forward, which decides narrow models (`narrow_models.py`); chains from the event to the effect
(`single_paths.py`); and, for original and updated HP again, the slice between them (`sliced_contingency.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import combinations

from ..answer import Assignment, Cause, Query, Verdict, Witness
from ..definitions import Search
from .base import Solver
from .circuit import TooManyClausesError
from .contingency import OriginalHPEncoding, UpdatedHPEncoding
from .counterfactual import ModifiedHPEncoding
from .minimal_causes import Encoding, SatSolver
from .narrow_models import NarrowModel
from .networks import StrongEncoding
from .single_paths import ContingencyPaths, NetworkPaths, is_about_one_variable
from .sliced_contingency import SlicedContingency, undo_by_hand
from .sufficiency import DirectEncoding

MANY = 100  # relevant variables from which on a model is long
MANY_VALUES = 10_000  # of the parents of the effect, from which on a path is looked for before clauses are written
LARGEST_BY_PARTS = 3  # variables of an event whose parts are looked at one by one


def is_long(query: Query) -> bool:
    """Return whether a model is long; the best witnesses of normality take the other search."""
    return query.normality is None and len(query.candidates) >= MANY


def is_wide(query: Query) -> bool:
    """Return whether what the effect follows from has so many values that writing them as clauses takes long."""
    parents = {parent for name in query.effect_variables for parent in query.model.parents(name)}
    return sum(len(query.model.ranges[name]) for name in parents) > MANY_VALUES


class LongModelSolver(Solver):
    """Tries what is quick in long models, and leaves the rest to the search by clauses."""

    def __init__(self, encoding: type[Encoding], inner: SatSolver) -> None:
        self._kind, self._inner = encoding, inner
        self._modified = SatSolver(ModifiedHPEncoding, fallback=lambda: inner)
        self._sliced: SlicedContingency | None = None
        self._taking_back = encoding is UpdatedHPEncoding

    def judge(self, search: Search, event: Assignment) -> Verdict:
        try:
            return super().judge(search, event)
        except TooManyClausesError:
            return self._inner.judge(search, event)
        finally:
            self._close()

    def _close(self) -> None:
        self._inner.close()
        self._modified.close()
        if self._sliced is not None:
            self._sliced.close()
            self._sliced = None

    def necessary(self, search: Search, event: Assignment) -> Witness | None:
        if (quick := self._by_actual_values(search, event)) is not None:
            return quick
        if self._kind is StrongEncoding:
            if is_wide(search.query) and (along := self._along_a_path(search, event)) is not None:
                return along
            # Where nothing need be settled, that the effect's own parents are open is enough.
            with closing(DirectEncoding(search, tuple(event))) as own:
                if own.solve(own.exactly(event), sufficiency=False):
                    return own.read(tuple(event))
            return self._inner.necessary(search, event)
        return undo_by_hand(search, event)

    def witness(self, search: Search, event: Assignment) -> Witness | None:
        if (quick := self._by_actual_values(search, event)) is not None:
            return quick
        if self._kind is not StrongEncoding:
            decided, witness = NarrowModel(search, tuple(event), taking_back=self._taking_back).decide()
            if decided:
                return witness
        if (along := self._along_a_path(search, event)) is not None:
            return along
        if self._kind is not StrongEncoding:
            decided, witness = self._slice(search, event).decide(tuple(event))
            if decided:
                return witness
        if self._kind is OriginalHPEncoding:
            with closing(OriginalHPEncoding(search, tuple(event), sliced=True)) as game:
                return game.witness(tuple(event))
        return self._inner.witness(search, event)

    def smaller(self, search: Search, event: Assignment) -> Assignment | None:
        if len(event) > LARGEST_BY_PARTS:
            return self._inner.smaller(search, event)
        for size in range(1, len(event)):
            for names in combinations(event, size):
                part = {name: event[name] for name in names}
                if self.witness(search, part) is not None:
                    return part
        return None

    def causes(self, search: Search) -> Iterator[Cause]:
        return self._inner.causes(search)

    def _by_actual_values(self, search: Search, event: Assignment) -> Witness | None:
        witness = self._modified.witness(search, event)
        return None if witness is None else self._kind.adopt(search.query, witness)

    def _along_a_path(self, search: Search, event: Assignment) -> Witness | None:
        """Find a witness along a single path from the event to the effect."""
        if not is_about_one_variable(search.query, event):
            return None
        (name,) = event
        if self._kind is StrongEncoding:
            return NetworkPaths(search, name).find()
        return ContingencyPaths(search, name, taking_back=self._taking_back).find()

    def _slice(self, search: Search, event: Assignment) -> SlicedContingency:
        sliced = self._sliced
        if sliced is None or sliced.candidates != tuple(event):
            if sliced is not None:
                sliced.close()
            sliced = self._sliced = SlicedContingency(search, tuple(event), taking_back=self._taking_back)
        return sliced
