"""A SAT solver under a search's budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from ..definitions import Search
from .circuit import Circuit, Domain

CONFLICTS_BETWEEN_LOOKS = 2_000


class Sat:
    """An incremental SAT solver fed from a `Circuit`; each call is a step of the search."""

    def __init__(self, search: Search, circuit: Circuit) -> None:
        from pysat.solvers import Glucose4

        self.search = search
        self.circuit = circuit
        self._fed = 0
        self._solver: Any = Glucose4(incr=False)
        self._values: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._solver is not None:
            self._solver.delete()
            self._solver = None

    def prefer(self, literals: Iterable[int]) -> None:
        """Try these literals first where nothing decides otherwise."""
        self._solver.set_phases(list(literals))

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Whether the circuit's clauses can be met; the budget of the search can end it."""
        clauses = self.circuit.clauses
        if self._fed < len(clauses):
            self._solver.append_formula(clauses[self._fed :], no_return=True)
            self._fed = len(clauses)
        self.search.step("solver_calls")
        given = [literal for literal in assumptions if literal != 1]
        if -1 in given:
            return False
        if not self.search.timed:
            satisfiable = self._solver.solve(assumptions=given)
        else:
            satisfiable = None
            while satisfiable is None:
                self._solver.conf_budget(CONFLICTS_BETWEEN_LOOKS)
                satisfiable = self._solver.solve_limited(assumptions=given)
                self.search.check_time()
        if satisfiable:
            self._values = self._solver.get_model()
        return bool(satisfiable)

    def true(self, literal: int) -> bool:
        """Whether the literal is true in the last solution."""
        variable = abs(literal)
        positive = variable <= len(self._values) and self._values[variable - 1] > 0
        return positive == (literal > 0)

    def value(self, domain: Domain) -> int:
        """The value of a domain in the last solution."""
        return next(value for value, literal in domain.items() if self.true(literal))
