"""Does setting an event bring the effect about in every context? If not, where not?

`ListedContexts` evaluates the model in all contexts of a table at once. `AllContexts` is for models with too many
contexts to list: there a SAT solver looks for one in which the effect fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..contexts import ContextTable
from ..definitions import Search
from ..expression import Expression
from ..query import Assignment, Query
from ..solvers.circuit import Circuit, Domain, Sat, World

AT_ONCE = 16  # contexts that are learned from at a time


class SufficientContexts(ABC):
    """The contexts in which an event has to bring the effect about."""

    @abstractmethod
    def failing(self, event: Assignment) -> list[dict[str, int]]:
        """Find some contexts in which the effect does not hold once the event is set, none if it always holds."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Give back what was held."""


class ListedContexts(SufficientContexts):
    """The contexts of a table."""

    def __init__(self, table: ContextTable, effect: Expression) -> None:
        self.table, self.effect = table, effect

    def failing(self, event: Assignment) -> list[dict[str, int]]:
        rows = np.flatnonzero(~self.table.holds(self.effect, event))
        # From far apart, since neighbours in a list are often alike.
        chosen = rows[np.linspace(0, len(rows) - 1, min(AT_ONCE, len(rows))).astype(np.int64)]
        return [self.table.context(int(row)) for row in chosen]


class AllContexts(SufficientContexts):
    """Every context of a model: its roots may have any values, and the variables of the event are set."""

    def __init__(self, query: Query, candidates: Sequence[str], search: Search) -> None:
        model, circuit = query.model, Circuit(search.check_time)
        self._set: dict[str, Domain] = {}
        self._roots: dict[str, Domain] = {}
        self._ranges = model.ranges
        self._unread = {name: model.ranges[name][0] for name in model.roots}
        wanted = model.ancestors(query.effect_variables)
        world: World = {}
        for name in (name for name in model.order if name in wanted):
            values = model.ranges[name]
            if name in model.equations:
                follows = circuit.equation(model, name, world)
            else:
                follows = self._roots[name] = circuit.free(values)
            if name not in candidates:
                world[name] = follows
                continue
            chosen = self._set[name] = {value: circuit.new() for value in values}
            world[name] = circuit.free(values)
            circuit.same_if(-circuit.disjunction(chosen.values()), world[name], follows)
            for value, literal in chosen.items():
                circuit.add([-literal, world[name][value]])
        circuit.add([-circuit.formula(query.effect, world)])
        self._sat = Sat(search, circuit)

    def failing(self, event: Assignment) -> list[dict[str, int]]:
        assumptions = [
            literal if event.get(name) == value else -literal
            for name, chosen in self._set.items()
            for value, literal in chosen.items()
        ]
        if not self._sat.solve(assumptions):
            return []
        return [{**self._unread, **{name: self._sat.value(domain) for name, domain in self._roots.items()}}]

    def close(self) -> None:
        self._sat.close()
