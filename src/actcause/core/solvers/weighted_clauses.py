"""Weighted clauses, of which as little as possible is to be broken: by convolution, MaxSAT, or as a linear program.

Few exclusive sets are settled without search (`subset_convolution.py`). Of the others:

Where every exclusive set is a pair (an outcome that is true or false), RC2's cores are short and it
wins. With many outcomes the cores grow and the linear relaxation is nearly tight, so HiGHS wins; it is
an extra, and without it RC2 does that too, more slowly.
"""

from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from math import ceil
from threading import Timer
from typing import Any, NamedTuple

import numpy as np

from ..answer import Status
from ..definitions import OutOfBudget
from .circuit import at_most_one
from .subset_convolution import least_weight

ENDED = 1e-3  # what is said to remain when nothing does
Remaining = Callable[[], float | None]


class Program(NamedTuple):
    """Clauses over variables 1..n, all literals positive: soft with weights, hard, and sets of exclusive ones."""

    variables: int
    soft: list[tuple[list[int], int]]
    hard: list[list[int]]
    exclusive: list[list[int]]


def minimize(program: Program, remaining: Remaining) -> tuple[int, frozenset[int]] | None:
    """Find the least weight of broken soft clauses, and the true variables; None if the hard clauses clash."""
    if not program.soft and not program.hard:
        return 0, frozenset()
    if not program.hard:
        found = least_weight(program.variables, program.soft, program.exclusive, lambda: _check(remaining))
        if found is not None:
            return found
    if max(map(len, program.exclusive), default=0) > 2 and find_spec("highspy"):
        return minimize_by_highs(program, remaining)
    return minimize_by_rc2(program, remaining)


def _check(remaining: Remaining) -> None:
    seconds = remaining()
    if seconds is not None and seconds <= ENDED:
        raise OutOfBudget(Status.OUT_OF_TIME)


def minimize_by_rc2(program: Program, remaining: Remaining) -> tuple[int, frozenset[int]] | None:
    """Minimize with the MaxSAT solver RC2."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF()
    formula.nv = program.variables
    for clause in program.hard:
        formula.append(clause)
    for clause, weight in program.soft:
        formula.append(clause, weight=weight)
    fresh = count(program.variables + 1)
    for literals in program.exclusive:
        formula.extend(at_most_one(literals, lambda: next(fresh)))
    seconds = remaining()
    with RC2(formula, solver="g3", adapt=True, exhaust=True, minz=True) as solver:
        timer = None if seconds is None else Timer(max(seconds, 0.01), solver.interrupt)
        if timer is not None:
            timer.start()
        try:
            model = solver.compute(expect_interrupt=timer is not None)
        finally:
            if timer is not None:
                timer.cancel()
        if model is None:
            if timer is not None and solver.interrupted:
                raise OutOfBudget(Status.OUT_OF_TIME)
            return None
        return solver.cost, frozenset(literal for literal in model if 0 < literal <= program.variables)


def minimize_by_highs(program: Program, remaining: Remaining) -> tuple[int, frozenset[int]] | None:
    """Minimize with HiGHS: one 0-1 variable for each literal, and a slack for each soft clause."""
    import highspy  # type: ignore[import-untyped, unused-ignore]

    rows: list[tuple[list[int], float, float]] = []
    for index, (clause, _) in enumerate(program.soft):
        rows.append(([*(v - 1 for v in clause), program.variables + index], 1.0, highspy.kHighsInf))
    rows += [([v - 1 for v in clause], 1.0, highspy.kHighsInf) for clause in program.hard]
    rows += [([v - 1 for v in clause], -highspy.kHighsInf, 1.0) for clause in program.exclusive]
    columns = program.variables + len(program.soft)
    linear: Any = highspy.HighsLp()
    linear.num_col_, linear.num_row_ = columns, len(rows)
    linear.col_cost_ = np.asarray([0] * program.variables + [weight for _, weight in program.soft], dtype=float)
    linear.col_lower_, linear.col_upper_ = np.zeros(columns), np.ones(columns)
    linear.row_lower_ = np.asarray([low for _, low, _ in rows])
    linear.row_upper_ = np.asarray([high for _, _, high in rows])
    linear.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    linear.a_matrix_.start_ = np.cumsum([0, *(len(row) for row, _, _ in rows)])
    linear.a_matrix_.index_ = np.asarray([column for row, _, _ in rows for column in row])
    linear.a_matrix_.value_ = np.ones(sum(len(row) for row, _, _ in rows))
    integer, continuous = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    linear.integrality_ = [integer] * program.variables + [continuous] * len(program.soft)
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call, unused-ignore]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.5)  # costs are integers: a gap below one is none
    seconds = remaining()
    if seconds is not None:
        solver.setOptionValue("time_limit", max(seconds, 0.01))
    solver.passModel(linear)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise OutOfBudget(Status.OUT_OF_TIME)
    values = solver.getSolution().col_value
    true = frozenset(v for v in range(1, program.variables + 1) if values[v - 1] > 0.5)
    cost = sum(weight for clause, weight in program.soft if true.isdisjoint(clause))
    if cost > ceil(solver.getInfo().mip_dual_bound - 1e-6):
        raise OutOfBudget(Status.OUT_OF_TIME)
    return cost, true
