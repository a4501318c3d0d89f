"""Parts of causes by modified HP, decided in one context and carried over to all others where the reason holds too.

By modified HP, whatever contains a set that meets AC2 meets AC2. So V is part of a cause if and only if some set C
does not meet AC2 and C with V does. The clauses are written once: a context is a choice of literals for the roots.

    is V part of a cause in u?
        find a set C with V that meets AC2, and contains no cause already found; if there is none: no
        if C without V meets AC2: shrink it to a cause, rule that out, and go on
        else yes: V turns the scale

A "no" holds wherever the roots agree that the solver's proof used, and the witnesses of the causes that it ruled out,
played there, undo the effect. A "yes" does where those roots agree that the proof about C without V used, and the
witness of C undoes the effect. C is made as large as the proof allows, so that it does in as many contexts as possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..contexts import ContextTable
from ..definitions import Deadline
from ..expression import Array, Expression
from ..solvers.circuit import Circuit, Domain, World, add_with_checks, solve_with_checks

MOST_CAUSES = 16  # that are played elsewhere; more are seldom all causes there too


class GeneralParts:
    """Decides whether a variable is part of a cause in a context of a table, and where else that holds."""

    def __init__(self, table: ContextTable, effect: Expression, deadline: Deadline) -> None:
        from pysat.solvers import Glucose4

        self.table, self.effect, self.deadline = table, effect, deadline
        self.model = table.model
        circuit = Circuit(deadline.check)
        self._roots: dict[str, Domain] = {}
        self._world: World = {}
        self._chosen: dict[str, int] = {}
        # Assumed where a variable may be in the set only if it needs to be: its value is neither what follows nor the
        # actual one. Every minimal set that meets AC2 is of that kind.
        self._tight = circuit.new()
        self._write(circuit)
        self._top = circuit.top
        self._solver: Any = Glucose4()
        add_with_checks(self._solver, circuit.clauses, deadline.check)
        self._solver.set_phases([-literal for literal in self._chosen.values()])
        self._true: list[int] = []

    def _write(self, circuit: Circuit) -> None:
        """Write the actual world, a counterfactual one beside it, and that the effect fails in the latter."""
        model = self.model
        wanted = model.ancestors(self.effect.names())
        actual: World = {}
        for name in (name for name in model.order if name in wanted):
            if name in model.equations:
                actual[name] = circuit.equation(model, name, actual)
                follows = circuit.equation(model, name, self._world)
            else:
                follows = actual[name] = self._roots[name] = circuit.free(model.ranges[name])
            if name in model.exogenous:
                self._world[name] = follows
                continue
            chosen = self._chosen[name] = circuit.new()
            self._world[name] = circuit.free(model.ranges[name])
            for value, literal in self._world[name].items():
                same = [domain[value] for domain in (follows, actual[name]) if value in domain]
                circuit.add([-literal, chosen, *same])
                for other in same:
                    circuit.add([-self._tight, -chosen, -literal, -other])
        circuit.add([-circuit.formula(self.effect, self._world)])

    def close(self) -> None:
        self._solver.delete()

    def decide(self, name: str, row: int) -> tuple[bool, Array]:
        """Return whether a variable is part of a cause in a context, and in which contexts the answer is the same."""
        here = self._new()
        try:
            return self._decide(name, row, here)
        finally:
            self._solver.add_clause([-here])  # what was ruled out here is of no use elsewhere

    def _decide(self, name: str, row: int, here: int) -> tuple[bool, Array]:
        context = [domain[int(self.table.columns[root][row])] for root, domain in self._roots.items()]
        causes: list[list[str]] = []
        while self._solve([*context, here, self._tight, self._chosen[name]]):
            found = self._names()
            others = [other for other in found if other != name]
            if not self._solve([*context, self._tight, *self._within(others)]):
                return True, self._carry_over(name, row, context, others)
            causes.append(self._shrink(context, self._names()))
            self._solver.add_clause([-here, *(-self._chosen[part] for part in causes[-1])])
        if len(causes) > MOST_CAUSES:
            return False, np.arange(len(self.table)) == row
        proof = self._shorten_proof(context, [here, self._tight, self._chosen[name]])
        where = self._agreeing(proof, row)
        for cause in causes:
            where = self._find_undone(cause, row, context, where)
        return False, where

    def _carry_over(self, name: str, row: int, context: list[int], others: list[str]) -> Array:
        """Find the contexts in which the variable turns the scale as it does here."""
        for other in self._chosen:
            if other != name and other not in others and not self._solve([*context, *self._within([*others, other])]):
                others.append(other)
        proof = self._shorten_proof(context, self._within(others))
        return self._find_undone([*others, name], row, context, self._agreeing(proof, row))

    def _find_undone(self, names: list[str], row: int, context: list[int], where: Array) -> Array:
        """Find those of some contexts in which a witness of these variables, found in one, undoes the effect."""
        self._solve([*context, *self._within(names)])
        do: dict[str, Any] = {name: self._value(self._world[name]) for name in names}
        held = {name: self.table.values[name][where] for name in self._find_held(do, row)}
        undone = np.zeros(len(self.table), dtype=bool)
        undone[where] = ~self.table.keep(where).holds(self.effect, {**held, **do})
        return undone

    def _find_held(self, do: dict[str, int], row: int) -> list[str]:
        """Find the variables that the last solution holds at their actual values, and needs to."""
        values = {variable: self._value(domain) for variable, domain in self._world.items()}
        model, context = self.model, self.table.context(row)
        held = {
            variable: values[variable]
            for variable in self._chosen
            if variable in model.equations
            and variable not in do
            and model.equation_value(variable, values) != values[variable]
        }
        for variable in list(held):
            without = {other: value for other, value in held.items() if other != variable}
            if not self.effect.value(model.solve(context, {**without, **do})):
                held = without
        return list(held)

    def _agreeing(self, core: set[int], row: int) -> Array:
        """Find the contexts that agree with one on the roots of a proof."""
        agree = np.ones(len(self.table), dtype=bool)
        for root, domain in self._roots.items():
            value = int(self.table.columns[root][row])
            if domain[value] in core:
                agree &= self.table.columns[root] == value
        return agree

    def _shrink(self, context: list[int], names: list[str]) -> list[str]:
        """Go down from a set that meets AC2 to a minimal part of it."""
        kept: list[str] = []
        while names:
            candidate = names.pop()
            if self._solve([*context, self._tight, *self._within([*kept, *names])]):
                inside = set(self._names())
                names = [name for name in names if name in inside]
            else:
                kept.append(candidate)
        return kept

    # -- the solver ------------------------------------------------------------------------------

    def _new(self) -> int:
        self._top += 1
        return self._top

    def _solve(self, assumptions: Sequence[int]) -> bool:
        self.deadline.check()
        satisfiable = bool(solve_with_checks(self._solver, assumptions, self.deadline.check))
        if satisfiable:
            self._true = self._solver.get_model()
        return satisfiable

    def _shorten_proof(self, context: list[int], assumed: list[int]) -> set[int]:
        """Find a few roots of a context that, with what is assumed, are enough for there to be no solution."""
        remaining, needed = self._use(context, assumed) or [], list[int]()
        while remaining:
            candidate = remaining.pop()
            enough = self._use(remaining, [*needed, *assumed])
            if enough is None:
                needed.append(candidate)
            else:
                remaining = enough
        return set(needed)

    def _use(self, literals: list[int], assumed: list[int]) -> list[int] | None:
        """Find those of some literals that a proof uses that there is no solution; None if there is one."""
        if self._solve([*literals, *assumed]):
            return None
        used = set(self._solver.get_core() or ())
        return [literal for literal in literals if literal in used]

    def _within(self, names: Iterable[str]) -> list[int]:
        inside = set(names)
        return [-literal for name, literal in self._chosen.items() if name not in inside]

    def _is_true(self, literal: int) -> bool:
        return literal == 1 or (abs(literal) <= len(self._true) and self._true[abs(literal) - 1] == literal)

    def _names(self) -> list[str]:
        true = self._true
        return [name for name, literal in self._chosen.items() if true[literal - 1] > 0]

    def _value(self, domain: Domain) -> int:
        return next(value for value, literal in domain.items() if self._is_true(literal))
