"""Calls of a SAT solver that look at the time now and then: after so many conflicts, or so many propagations.

A few conflicts may take long in a formula of millions of clauses, so that propagations are bounded as well. A solver
that is called again goes on with all that it has learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

CONFLICTS = 2_000
PROPAGATIONS = 1_000_000
LEAST_PASSES = 8  # over all variables: each call must get somewhere
CLAUSES = 100_000  # that are handed over at once

Look = Callable[[], None]


def solve_with_looks(solver: Any, assumptions: Sequence[int], look: Look, conflicts: int | None = None) -> bool | None:
    """Decide whether a solver's clauses can be met, and call `look` as often as it takes turns.

    With `conflicts`, None is returned if that takes more conflicts than these.
    """
    propagations = max(PROPAGATIONS, LEAST_PASSES * solver.nof_vars())
    most = None if conflicts is None else solver.accum_stats()["conflicts"] + conflicts
    while True:
        solver.conf_budget(CONFLICTS if conflicts is None else min(CONFLICTS, conflicts))
        solver.prop_budget(propagations)
        satisfiable: bool | None = solver.solve_limited(assumptions=assumptions)
        look()
        if satisfiable is not None:
            return satisfiable
        if most is not None and solver.accum_stats()["conflicts"] >= most:
            return None


def feed_with_looks(solver: Any, clauses: Sequence[Sequence[int]], look: Look) -> None:
    """Hand clauses to a solver, many at once, and call `look` in between."""
    for first in range(0, len(clauses), CLAUSES):
        solver.append_formula(clauses[first : first + CLAUSES], no_return=True)
        if first:
            look()
