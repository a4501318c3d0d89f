"""All minimal events that are part of causes where they happen and bring the effect about everywhere.

    for sizes 1, 2, 3, ...
        while some event of that size meets every clause learned so far and contains none already found:
            if it is not possible, not part of a cause somewhere, or not sufficient somewhere:
                learn clauses from that
            else report it; from now on rule out everything that contains it

Since smaller ones come first, what is reported is minimal. A literal stands for "the event says that V is v". A clause
learned in a context u says what every event must do:

- where the effect holds and the event names no part of a cause: name one, or say something that is false in u;
- where setting the event gives a world without the effect: say that a variable is otherwise which is a reason for that
  (see `reasons.py`), or no longer set one that departs from its equation there.

These hold for every event, not only for the one that failed, so few proposals are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..contexts import ContextTable
from ..definitions import Deadline
from ..expression import Array, Expression
from ..model import Model
from ..query import Assignment
from ..solvers.circuit import at_most_one, solve_with_checks
from .causal_contexts import CausalContexts
from .reasons import ReasonFinder
from .sufficient_contexts import SufficientContexts

Conjunct = tuple[str, int]
Event = dict[str, int]


class Requirements:
    """What an event must meet: possible somewhere, part of a cause where it happens, sufficient everywhere.

    `happened` are the contexts in which the effect holds and causes are looked for.
    """

    def __init__(
        self,
        happened: ContextTable,
        causal: CausalContexts,
        sufficient: SufficientContexts,
        effect: Expression,
        deadline: Deadline,
    ) -> None:
        self.effect = effect
        self.happened, self.causal, self.sufficient, self.deadline = happened, causal, sufficient, deadline
        self.model: Model = happened.model

    def rows(self, event: Assignment) -> Array:
        """Find the contexts in which the event and the effect happen together."""
        return np.flatnonzero(self.happened.agrees(event))

    def insufficient(self, event: Assignment) -> list[dict[str, int]]:
        """Find contexts in which setting the event does not bring the effect about."""
        self.deadline.check()
        return self.sufficient.failing(event)

    def close(self) -> None:
        self.causal.close()
        self.sufficient.close()


class MinimalEvents:
    """Finds the minimal events among some conjuncts that meet the requirements."""

    def __init__(self, requirements: Requirements, conjuncts: Sequence[Conjunct]) -> None:
        from pysat.solvers import Glucose4

        self.requirements = requirements
        self.conjuncts = tuple(conjuncts)
        self.literals = {conjunct: number for number, conjunct in enumerate(self.conjuncts, start=1)}
        self.values: dict[str, list[int]] = {}
        for name, value in self.conjuncts:
            self.values.setdefault(name, []).append(value)
        self._top = len(self.conjuncts)
        self._solver: Any = Glucose4()
        for name, values in self.values.items():
            for clause in at_most_one([self.literals[name, value] for value in values], self._new):
                self._solver.add_clause(clause)
        self._solver.add_clause(list(self.literals.values()))
        self._solver.set_phases([-literal for literal in self.literals.values()])
        self.proposals = 0
        self._reasons = ReasonFinder(requirements.model, requirements.effect)

    def __iter__(self) -> Iterator[Event]:
        """Yield every minimal event, once each and small ones first, as soon as it is found."""
        from pysat.card import ITotalizer

        literals = list(self.literals.values())
        with ITotalizer(literals, ubound=len(self.values), top_id=self._top) as counter:
            self._top = max(self._top, counter.top_id)
            for clause in counter.cnf.clauses:
                self._solver.add_clause(clause)
            for size in range(1, len(self.values) + 1):
                bound = [-counter.rhs[size]] if size < len(counter.rhs) else []
                while (event := self._find(bound)) is not None:
                    self._solver.add_clause([-self.literals[conjunct] for conjunct in event.items()])
                    yield event
                if not self._solve():
                    return

    def find_smaller(self, event: Event) -> Event | None:
        """Find a strict part of an event of these conjuncts that meets the requirements."""
        inside = {self.literals[conjunct] for conjunct in event.items()}
        strict = self._new()
        self._solver.add_clause([-strict, *(-literal for literal in inside)])
        return self._find([strict, *(-literal for literal in self.literals.values() if literal not in inside)])

    def close(self) -> None:
        self._solver.delete()

    def _new(self) -> int:
        self._top += 1
        return self._top

    def _solve(self, assumptions: Sequence[int] = ()) -> bool:
        return bool(solve_with_checks(self._solver, assumptions, self.requirements.deadline.check))

    def _find(self, assumptions: Sequence[int]) -> Event | None:
        """Find an event that meets the requirements and the assumptions."""
        while self._solve(assumptions):
            self.requirements.deadline.check()
            self.proposals += 1
            true = self._solver.get_model()
            event = dict(conjunct for conjunct, literal in self.literals.items() if true[literal - 1] > 0)
            clauses = self._refute(event)
            if not clauses:
                return event
            for clause in clauses:
                self._solver.add_clause(clause)
        return None

    # -- learning --------------------------------------------------------------------------------

    def _refute(self, event: Event) -> list[list[int]]:
        """Return clauses that the event breaks and every event must meet; none if it meets the requirements."""
        requirements = self.requirements
        rows = requirements.rows(event)
        if not len(rows):
            core = self._impossible_part(event)
            return [[-self.literals[conjunct] for conjunct in core.items()]]
        failing = requirements.insufficient(event)
        if failing:
            return [self._from_insufficient(event, context) for context in failing]
        # One context is enough: that nothing is part of a cause there is the most expensive thing to find out.
        row = next(requirements.causal.without_part(event, rows), None)
        return [] if row is None else [self._from_uncaused(row)]

    def _impossible_part(self, event: Event) -> Event:
        """Shrink an event that happens nowhere to a part of which all is needed for that."""
        core = dict(event)
        for name in event:
            without = {other: value for other, value in core.items() if other != name}
            if not len(self.requirements.rows(without)):
                core = without
        return core

    def _from_uncaused(self, row: int) -> list[int]:
        causal, table = self.requirements.causal, self.requirements.happened
        clause = []
        for name, values in self.values.items():
            actual = int(table.values[name][row])
            ruled_out = name not in causal.relevant or (name in causal.others and causal.others[name][row])
            clause += [self.literals[name, value] for value in values if value != actual or not ruled_out]
        return clause

    def _from_insufficient(self, event: Event, context: Mapping[str, int]) -> list[int]:
        world = self.requirements.model.solve(context, event)
        reasons = self._reasons.find(context, event, world)
        clause = [-self.literals[conjunct] for conjunct in event.items() if conjunct[0] in reasons.set]
        for name, values in self.values.items():
            if name in reasons.follow:
                clause += [self.literals[name, value] for value in values if value != world[name]]
        return clause


def find_smaller(requirements: Requirements, event: Event) -> Event | None:
    """Find a strict part of an event that meets the requirements."""
    with closing(MinimalEvents(requirements, list(event.items()))) as events:
        return events.find_smaller(event)
