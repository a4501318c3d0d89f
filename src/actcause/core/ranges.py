"""Ranges of variables: how they are checked, printed, listed, and inferred from equations."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from ..errors import ModelError, quote
from .arithmetic import LARGEST
from .equation import Equation
from .expression import TRUTH, Array, Interval, Name, StepBudget

MAX_RANGE = 1_000_000
# Work spent on inferring ranges, per model, in steps of a nanosecond at most.
GRIDS_BUDGET = 600_000_000
# Values and pairs of values looked at to infer the ranges of formulas that name no variable twice.
SETS_BUDGET = 2_000_000
PAIRS_AT_ONCE = 4_096

Range = tuple[int, ...]
BINARY: Range = (0, 1)


def format_range(values: Sequence[int]) -> str:
    """Write `{0, 1}`, or `0..10` for three or more values in a row.

    >>> format_range((0, 1)), format_range((0, 1, 2))
    ('{0, 1}', '0..2')
    """
    if len(values) > 2 and contiguous(values):
        return f"{values[0]}..{values[-1]}"
    return "{" + ", ".join(map(str, values)) + "}"


def brief_range(values: Sequence[int]) -> str:
    """Write a range for messages, where a long list is cut short."""
    if len(values) <= 10 or contiguous(values):
        return format_range(values)
    return "{" + ", ".join(map(str, values[:8])) + f", …, {values[-1]}" + "}"


def contiguous(values: Sequence[int]) -> bool:
    """Return whether a sorted range has no gaps."""
    return values[-1] - values[0] + 1 == len(values)


def grids(ranges: Sequence[Range], chunk: int = 1 << 18) -> Iterator[list[Array]]:
    """Yield the product of some ranges as columns of arrays, in chunks, the last one varying fastest."""
    tables = [np.asarray(values, dtype=np.int64) for values in ranges]
    total = prod(map(len, tables))
    for start in range(0, total, chunk):
        yield pick_rows(tables, np.arange(start, min(total, start + chunk)))


def pick_rows(tables: Sequence[Array], numbers: Array) -> list[Array]:
    """Return the rows of a product with these numbers, the last table varying fastest, as columns."""
    columns: list[Array] = []
    for table in reversed(tables):
        numbers, place = np.divmod(numbers, len(table))
        columns.append(table[place])
    return columns[::-1]


def check_range(name: str, values: Iterable[int]) -> Range:
    """Read a range as a user may give it, as sorted distinct integers."""
    try:
        given = list(islice(values, MAX_RANGE + 1))
    except TypeError:
        raise ModelError(f"The range of {name} must be a collection of integers; got {quote(values)}.") from None
    if len(given) > MAX_RANGE:
        raise ModelError(f"The range of {name} has more than {MAX_RANGE} values; give it a smaller one.")
    for value in given:
        if not isinstance(value, (bool, int, np.integer, np.bool_)) or abs(int(value)) > LARGEST:
            raise ModelError(f"The range of {name} must hold integers of at most 2**62; got {quote(value)}.")
    distinct = tuple(sorted({int(value) for value in given}))
    if not distinct:
        raise ModelError(f"The range of {name} is empty; give it at least one value.")
    return distinct


class TooMuchWorkError(ModelError):
    """An equation with too many combinations of its parents' values to look at."""


def check_values(name: str, values: Any, allowed: Range) -> Array:
    """Read values of a variable, in an array of any shape, as integers of its range."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ModelError(f"{name} must be given as an array of integers; got {quote(values)}.") from None
    if array.dtype.kind not in "biu" and array.size:
        raise ModelError(f"{name} must be given as integers; got an array of {array.dtype}.")
    if (at := find_first_outside(array, allowed)) is not None:
        raise ModelError(f"{name} must be in {brief_range(allowed)}; got {array.flat[at]}.")
    return array.astype(np.int64, copy=False)


def find_first_outside(array: Array, allowed: Range) -> int | None:
    """Find where the first value lies that is not in a range."""
    if not array.size:
        return None
    if int(array.min()) >= allowed[0] and int(array.max()) <= allowed[-1] and contiguous(allowed):
        return None
    wrong = np.flatnonzero(~np.isin(array.ravel(), allowed))
    return int(wrong[0]) if wrong.size else None


class RangeInference:
    """The ranges of variables, parents first; those not declared are the values their equations reach.

    The work is bounded, so that a model from untrusted text is built or refused in a moment.
    """

    def __init__(self) -> None:
        self.ranges: dict[str, Range] = {}
        self.sets: dict[int, frozenset[int]] = {id(BINARY): TRUTH}  # by the identity of the range
        # What takes no longer than reading its line is free, so that a large model of small equations is fine.
        self.set_budget = StepBudget(SETS_BUDGET, at_once=PAIRS_AT_ONCE, free=16)
        self.grid_budget = StepBudget(GRIDS_BUDGET, at_once=GRIDS_BUDGET, free=10_000)

    def add(self, name: str, equation: Equation, declared: Range | None) -> None:
        expression = equation.expression
        bounds = (0, 0)
        if expression is not None and equation.facts is not None and equation.facts.arithmetic:
            intervals = {p: (self.ranges[p][0], self.ranges[p][-1]) for p in equation.parents}
            try:
                bounds = expression.bounds(intervals)
            except ModelError as error:
                raise ModelError(f"In the equation of {name}: {error}", variable=name) from None
        if declared is not None:
            self.ranges[name] = declared
        elif isinstance(expression, Name):
            self.ranges[name] = self.ranges[expression.name]
        else:
            reached = self.by_sets(equation) or self.by_grids(name, equation, bounds)
            self.ranges[name] = BINARY if reached == BINARY else reached

    def outside(self, name: str, equation: Equation, remedy: str = "") -> str | None:
        """Say what is wrong with a declared range that lacks values of its equation; None if nothing is."""
        declared = frozenset(self.ranges[name])
        if equation.expression is not None and equation.expression.boolean and declared >= TRUTH:
            return None
        try:
            reached = self.by_sets(equation) or self.by_grids(name, equation, (0, 0))
        except TooMuchWorkError:
            return None
        wrong = next((value for value in reached if value not in declared), None)
        if wrong is None:
            return None
        for grid in grids([self.ranges[parent] for parent in equation.parents], 1 << 16):
            env = dict(zip(equation.parents, grid, strict=True))
            rows = np.flatnonzero(np.broadcast_to(equation.array(env), grid[0].shape) == wrong) if grid else None
            if rows is not None and len(rows):
                at = ", ".join(f"{parent}={int(column[rows[0]])}" for parent, column in env.items())
                break
        else:
            at = "all times"
        return (
            f"The equation of {name} gives {wrong} at {at}, outside {format_range(self.ranges[name])}; "
            f"an intervention can bring that about, so {remedy or f'widen the range of {name}'}."
        )

    def by_sets(self, equation: Equation) -> Range | None:
        """Combine sets of values, exact when no name occurs twice; None if they do not apply or grow too large."""
        if equation.expression is None or equation.facts is None:
            return None
        if not equation.facts.read_once or equation.facts.divides:
            return None
        sets = {}
        for parent in equation.parents:
            values = self.ranges[parent]
            known = self.sets.get(id(values))
            if known is None:
                if not self.set_budget.spend(len(values)):
                    return None
                known = self.sets[id(values)] = TRUTH if values == BINARY else frozenset(values)
            sets[parent] = known
        reached = equation.expression.possible(sets, self.set_budget)
        if reached is None or not self.set_budget.spend(len(reached)):
            return None
        return BINARY if reached is TRUTH else tuple(sorted(reached))

    def by_grids(self, name: str, equation: Equation, bounds: Interval) -> Range:
        """Evaluate the equation for all values of its parents."""
        steps = _steps(equation)
        if max(map(abs, bounds)) > MAX_RANGE:
            steps += 100  # these are sorted
        for parent in equation.parents:
            steps *= len(self.ranges[parent])
            if steps > GRIDS_BUDGET:  # an exact product could have millions of digits
                break
        if not self.grid_budget.spend(steps):
            if equation.expression is not None and equation.expression.boolean:
                return BINARY
            raise TooMuchWorkError(
                f"The range of {name} takes too much work to infer from all values of its parents; "
                f"declare it, for instance '{name} in 0..10 = ...'.",
                variable=name,
            )
        reached_values = _ReachedValues()
        for grid in grids([self.ranges[parent] for parent in equation.parents], 1 << 16):
            try:
                values = equation.array(dict(zip(equation.parents, grid, strict=True)))
            except ModelError as error:
                raise ModelError(f"In the equation of {name}: {error}", variable=name) from None
            reached_values.add(values)
        reached = reached_values.values()
        if len(reached) > MAX_RANGE:
            wrong = f"The equation of {name} takes more than {MAX_RANGE} values; use smaller ranges."
            raise ModelError(wrong, variable=name)
        self.grid_budget.spend(min(self.grid_budget.left, 400 * len(reached)))
        return tuple(reached.tolist())


class _ReachedValues:
    """The different values of some arrays: a table for large arrays of values near 0, else sorted lists."""

    def __init__(self) -> None:
        self.table = np.zeros(0, dtype=bool)
        self.sorted: list[Array] = []

    def add(self, values: Array) -> None:
        if values.size > 1_000 and int(np.abs(values).max()) <= MAX_RANGE:
            if not len(self.table):
                self.table = np.zeros(2 * MAX_RANGE + 1, dtype=bool)
            self.table[values + MAX_RANGE] = True
        else:
            self.sorted.append(_distinct(values))

    def values(self) -> Array:
        near = np.flatnonzero(self.table) - MAX_RANGE
        return _distinct(np.concatenate([near, *self.sorted])) if self.sorted else near


def _distinct(values: Array) -> Array:
    """Do what `np.unique` does, which is many times slower on millions of integers."""
    ordered: Array = np.sort(values, axis=None)
    first: Array = np.append(True, ordered[1:] != ordered[:-1])
    return ordered[first]


def _steps(equation: Equation) -> int:
    """Estimate how many nanoseconds one combination of values takes in an array, at most."""
    if equation.facts is None:
        return 50 if equation.vectorized else 200
    each = 5 if equation.facts.divides else 2
    return each * equation.facts.nodes + 15 * len(equation.parents) + 20
