"""In which of many contexts is a conjunct of an event part of a cause?

Where changing one variable undoes the effect, that variable is a cause by itself, and this is computed for all contexts
at once. By modified HP, what a solver finds in one context is carried over to others (see `general_parts.py`); by the
other definitions, contexts that agree on all that bears on the effect are one question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..answer import Assignment, Cause, Query
from ..contexts import ContextTable
from ..definitions import Deadline
from ..expression import Array
from ..solvers import TooManyClausesError
from .general_parts import GeneralParts
from .parts_of_causes import PartsOfCauses

# By these, what is a cause alone by the plain counterfactual test is a cause.
COUNTERFACTUAL = ("but-for", "modified-hp", "original-hp", "updated-hp")
KEPT = 64  # searches that are kept open, each with a solver of its own


class CausalContexts:
    """Remembers in which contexts of a table which variables are known to be, or not to be, part of a cause.

    The effect holds in every context of the table. `arguments` are the other parts of a query.
    """

    def __init__(self, table: ContextTable, arguments: Mapping[str, object], deadline: Deadline) -> None:
        self.table, self.deadline = table, deadline
        self._arguments = dict(arguments)
        query = self.query(0)
        self.relevant = frozenset(query.relevant)
        self._effect = query.effect
        self._counterfactual = query.definition in COUNTERFACTUAL
        self.parts: dict[str, Array] = {}
        self.others: dict[str, Array] = {}
        self.questions = 0
        self._groups = self._group()
        self._open: dict[int, PartsOfCauses] = {}
        self._general: GeneralParts | None = None
        if query.definition == "modified-hp":
            with suppress(TooManyClausesError):
                self._general = GeneralParts(table, query.effect, deadline)

    def query(self, row: int) -> Query:
        return Query(context=self.table.context(row), **self._arguments)  # type: ignore[arg-type]

    def _group(self) -> Array:
        """Give each context the number of the first one that agrees with it on all that bears on the effect."""
        model = self.table.model
        above = model.ancestors(self._effect.names())
        names = [name for name in model.roots if name in above]
        if not names:
            return np.zeros(len(self.table), dtype=np.int64)
        rows = np.stack([self.table.columns[name] for name in names], axis=1)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        groups: Array = first[inverse.ravel()]
        return groups

    def without_part(self, event: Assignment, rows: Array) -> Iterator[int]:
        """Yield those of the contexts in which no conjunct of the event is part of a cause."""
        names = [name for name in event if name in self.relevant]
        for name in names:
            if name not in self.parts:
                self._sweep(name)
        position = 0
        while position < len(rows):
            remaining = rows[position:]
            known = np.zeros(len(remaining), dtype=bool)
            for name in names:
                known |= self.parts[name][remaining]
            unknown = np.flatnonzero(~known)
            if not len(unknown):
                return
            position += int(unknown[0])
            row = int(rows[position])
            if not any(self.is_part(name, row) for name in names):
                yield row
            position += 1

    def is_part(self, name: str, row: int) -> bool:
        """Decide whether a variable is part of a cause in a context."""
        if name not in self.relevant:
            return False
        if name not in self.parts:
            self._sweep(name)
        if not self.parts[name][row] and not self.others[name][row]:
            if self._general is not None:
                self.questions += 1
                part, where = self._general.decide(name, row)
            else:
                part, where = self.cause_with(name, row) is not None, self._groups == self._groups[row]
            known = self.parts if part else self.others
            known[name] |= where
        return bool(self.parts[name][row])

    def cause_with(self, name: str, row: int) -> Cause | None:
        """Find a cause in a context that the variable is part of, by a solver."""
        self.deadline.check()
        first = int(self._groups[row])
        search = self._open.get(first)
        if search is None:
            self.questions += 1
            if len(self._open) >= KEPT:
                self._open.pop(next(iter(self._open))).close()
            search = self._open[first] = PartsOfCauses(self.query(first), self.deadline.remaining)
        cause = search.cause_with(name)
        # What was found in a context that is alike in all that bears on the effect is a cause in this one.
        return None if cause is None else replace(cause, query=self.query(row))

    def close(self) -> None:
        for search in self._open.values():
            search.close()
        self._open.clear()
        if self._general is not None:
            self._general.close()

    def _sweep(self, name: str) -> None:
        """Find all contexts in which changing this variable alone undoes the effect."""
        self.deadline.check()
        size = len(self.table)
        self.parts[name], self.others[name] = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        if self._counterfactual:
            for value in self.table.model.ranges[name]:
                self.parts[name] |= ~self.table.holds(self._effect, {name: value})
