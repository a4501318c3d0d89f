"""Whole state spaces: every state with its outcome, and how outcomes change when states do.

A `StateSpace` answers two questions for a set `X` of variables, for all states at once: is `X`
*necessary* there, and is it *sufficient*? (Definitions 4.4, E.1 and E.2 of the paper; see the
exact semantics in the docs.) Both come down to counting assignments that agree with a state on some
variables and on the outcome, which takes one pass over the table of the outcome's equation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import QueryError, TooLargeError, blaming, suggest
from ..counting import (
    MAX_CELLS,
    Check,
    Counts,
    ModelCounts,
    TableCounts,
    at_most,
    bits,
    distinct,
    encode,
    format_count,
    never,
    number_combinations,
    shape_of,
)
from ..equation import Equation
from ..expression import Array, Expression
from ..model import Model
from ..ranges import Range, grids
from ..text import parse_formula


@dataclass(frozen=True, eq=False, repr=False)
class StateSpace:
    """States, each with an outcome, and what interventions on them would do.

    Build one with `from_model`, `from_function` or `from_table`.

    `codes[v]` holds, for each state, the position of variable `v`'s value in its range; `outcomes` the
    position of the outcome in `outcome_range`; `background` tells apart states whose outcomes follow
    from different functions (other values of exogenous variables that the outcome reads itself).
    """

    variables: tuple[str, ...]
    ranges: tuple[Range, ...]
    outcome: str
    outcome_range: Range
    codes: tuple[Array, ...]
    outcomes: Array
    background: Array | None
    weights: Array | None
    _counts: Counts

    def __len__(self) -> int:
        return len(self.outcomes)

    def __repr__(self) -> str:
        return f"<StateSpace of {len(self)} states of {', '.join(self.variables)} with outcome {self.outcome}>"

    @classmethod
    def from_model(
        cls,
        model: Model,
        outcome: str | Expression,
        *,
        where: str | Expression | None = None,
        context: Mapping[str, int] | None = None,
        check: Check | None = None,
    ) -> StateSpace:
        r"""Make a space of every context of a model, with the state and outcome that it produces.

        `outcome` is a variable or a formula; `where` keeps the contexts in which a formula holds, and
        `context` keeps one only. `check` is called now and then while the space is built and searched; what
        it raises ends that.

        >>> space = StateSpace.from_model(Model.from_text("A\nB\nC = A and B"), "C")
        >>> len(space), space.variables
        (4, ('A', 'B'))
        """
        formula = _outcome_formula(model, outcome)
        if where is not None:
            where = _formula("where", where, model)
        own = set(formula.names())
        variables = tuple(name for name in model.endogenous if name not in own)
        if not variables:
            raise QueryError(f"Nothing is left to be a cause of {outcome}: the model has no other variable.")
        contexts = _contexts(model, context)
        values = model.evaluate_many(contexts)
        if where is not None:
            kept = np.broadcast_to(where.array(values, np.asarray(True)) != 0, shape_of(contexts))
            contexts = {name: column[kept] for name, column in contexts.items()}
            if not shape_of(contexts)[0]:
                wrong = "No context satisfies '{given}'; nothing is left to partition."
                raise QueryError(wrong, parameter="where", given=where)
            values = model.evaluate_many(contexts)
        counts = ModelCounts(model, variables, formula, contexts, values, check or never)
        return cls.from_counts(str(outcome), counts, counts.background())

    @classmethod
    def from_counts(cls, outcome: str, counts: ModelCounts, background: Array | None) -> StateSpace:
        """Build a space of the states that `counts` looks at."""
        ranges = tuple(counts.model.ranges[name] for name in counts.variables)
        codes = tuple(map(counts.encode, counts.variables))
        reached = distinct(counts.actual)
        outcomes = encode(counts.actual, reached)
        return cls(counts.variables, ranges, outcome, reached, codes, outcomes, background, None, counts)

    @classmethod
    def from_function(
        cls, ranges: Mapping[str, Iterable[int]], function: Callable[..., Any], outcome: str = "Y"
    ) -> StateSpace:
        """Make a space of every combination of `ranges`, in order; a numpy function of whole arrays gives the outcome.

        >>> space = StateSpace.from_function({"m": range(4), "o": range(3)}, lambda m, o: m + (o != m + 1))
        >>> len(space)
        12
        """
        names = tuple(ranges)
        given = {name: tuple(values) for name, values in ranges.items()}
        equation = Equation(names, function=function, vectorized=True)
        reached: set[int] = set()
        for columns in grids([tuple(sorted(values)) for values in given.values()]):
            reached.update(np.unique(equation.array(dict(zip(names, columns, strict=True)))).tolist())
        model = Model({**given, outcome: sorted(reached)}, {outcome: equation})
        return cls.from_model(model, outcome)

    @classmethod
    def from_table(
        cls, states: Mapping[str, Any], outcome: Any, *, weights: Any | None = None, outcome_name: str = "Y"
    ) -> StateSpace:
        """Make a space of observed states: columns of integers, an outcome for each row, and how often each was seen.

        Nothing is known but these rows, so shares are shares of what was observed: necessity compares
        rows that agree on everything else, sufficiency rows that agree on `X`, each counted as often as
        it was seen. This is the probabilistic variant that the paper leaves to future work.

        >>> space = StateSpace.from_table({"A": [0, 1, 1], "B": [0, 0, 1]}, [0, 0, 1], weights=[5, 3, 2])
        >>> len(space)
        3
        """
        names = tuple(states)
        if not names:
            raise QueryError("A table needs at least one column of states; got none.")
        columns = [_column(name, states[name]) for name in names]
        results = _column(outcome_name, outcome)
        for name, column in zip(names, columns, strict=True):
            if len(column) != len(results):
                raise QueryError(f"Column {name} has {len(column)} rows, the outcome {len(results)}; they must agree.")
        if not len(results):
            raise QueryError("The table is empty; give it at least one row.")
        amounts = np.ones(len(results), dtype=np.int64) if weights is None else _column("weights", weights)
        if len(amounts) != len(results) or (amounts <= 0).any():
            raise QueryError("weights must hold one positive integer for each row.")
        rows, index = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        index = index.ravel()
        merged = np.zeros(len(rows), dtype=results.dtype)
        merged[index] = results
        if (merged[index] != results).any():
            row = int(np.flatnonzero(merged[index] != results)[0])
            state = ", ".join(f"{name}={column[row]}" for name, column in zip(names, columns, strict=True))
            raise QueryError(
                f"The state {state} occurs with outcomes {merged[index][row]} and {results[row]}; "
                f"add the column that tells them apart."
            )
        totals = np.bincount(index, weights=amounts).astype(np.int64)
        ranges = tuple(distinct(rows[:, i]) for i in range(len(names)))
        codes = tuple(encode(rows[:, i], ranges[i]) for i in range(len(names)))
        outcome_range = distinct(merged)
        outcomes = encode(merged, outcome_range)
        counts = TableCounts(codes, tuple(map(len, ranges)), outcomes, len(outcome_range), totals)
        return cls(names, ranges, outcome_name, outcome_range, codes, outcomes, None, totals, counts)

    def state(self, index: int) -> dict[str, int]:
        """Return the values of one state."""
        return {
            name: values[int(code[index])]
            for name, values, code in zip(self.variables, self.ranges, self.codes, strict=True)
        }

    def outcome_of(self, index: int) -> int:
        return self.outcome_range[int(self.outcomes[index])]

    def find(self, state: Mapping[str, int]) -> int:
        """Find the index of the first state that agrees with `state`; refuse if there is none."""
        match = np.ones(len(self), dtype=bool)
        for name, value in state.items():
            if name not in self.variables:
                raise QueryError(f"Unknown state variable '{name}'{suggest(name, self.variables) or '.'}")
            position = self.variables.index(name)
            values = self.ranges[position]
            if value not in values:
                raise QueryError(f"{name} must be in {values}; got {value!r}.")
            match &= self.codes[position] == values.index(value)
        return _first(match, f"No state of the space agrees with {dict(state)}.")

    def find_context(self, context: Mapping[str, int]) -> int:
        """Find the index of the state that a context of the model produces."""
        match = np.ones(len(self), dtype=bool)
        for name, value in context.items():
            match &= self.contexts[name] == value
        return _first(match, f"The context {dict(context)} is not part of this state space.")

    @property
    def contexts(self) -> Mapping[str, Array]:
        """The context that produces each state, a column for each root of the model; empty for a table."""
        return self._counts.contexts

    def names(self, mask: int) -> tuple[str, ...]:
        """List the variables of a mask; bit 0 is the first variable."""
        return tuple(name for i, name in enumerate(self.variables) if mask >> i & 1)

    def binary(self, mask: int) -> str:
        """Write a mask as the paper does: one digit a variable, in order."""
        return "".join("1" if mask >> i & 1 else "0" for i in range(len(self.variables)))

    def mask(self, names: Iterable[str]) -> int:
        return sum(1 << self.variables.index(name) for name in names)

    def mask_of(self, binary: str) -> int:
        """Read the mask of a binary such as '0110'."""
        if len(binary) != len(self.variables) or set(binary) - {"0", "1"}:
            raise QueryError(f"A binary here has {len(self.variables)} digits, 0 or 1; got {binary!r}.")
        return sum(1 << i for i, digit in enumerate(binary) if digit == "1")

    def masks(self, size: int) -> list[int]:
        """List all masks of a size, the paper's binaries in descending order."""
        return [sum(1 << i for i in chosen) for chosen in combinations(range(len(self.variables)), size)]

    def groups(self, mask: int) -> tuple[Array, int]:
        """Give each state a number, equal for those that agree on the mask (and on the background)."""
        key, size = number_combinations(
            [self.codes[i] for i in bits(mask)], [len(self.ranges[i]) for i in bits(mask)], len(self)
        )
        if self.background is not None:
            width = int(self.background.max()) + 1
            key, size = key * width + self.background, size * width
        if size > max(4 * len(self), 1 << 16):
            unique, key = np.unique(key, return_inverse=True)
            key, size = key.ravel(), len(unique)
        return key, size

    def necessary(self, mask: int, alpha: Fraction | None = None, check: Check = never) -> Array:
        """Decide for each state whether enough changes of these variables change the outcome."""
        return self._counts.necessary(mask, alpha, check)

    def with_judge(self, index: int, necessary: Callable[[tuple[str, ...]], bool]) -> StateSpace:
        """Make the same space with another judge of which variables are necessary in one of its states."""
        return replace(self, _counts=_JudgedAt(self._counts, index, lambda mask: necessary(self.names(mask))))

    def sufficient(self, mask: int, alpha: Fraction | None = None) -> Array:
        """Decide for each state whether few enough changes of all other variables change the outcome."""
        if alpha is None:
            return np.ones(len(self), dtype=bool)
        return at_most(*self.undoing(mask), alpha)

    def undoing(self, mask: int) -> tuple[Array, Array | int]:
        """Count for each state the changes of all other variables that change the outcome, and how many there are."""
        return self._counts.differing(mask)

    def admissible(
        self, mask: int, alpha_sufficiency: Fraction | None, alpha_necessity: Fraction | None, check: Check = never
    ) -> Array:
        """Decide for each state whether it may be given this mask."""
        allowed = self.sufficient(mask, alpha_sufficiency)
        if allowed.any():
            allowed = allowed & self.necessary(mask, alpha_necessity, check)
        return allowed


class _JudgedAt(Counts):
    """The counts of a space, but for what is necessary in one state."""

    def __init__(self, counts: Counts, index: int, judge: Callable[[int], bool]) -> None:
        self.contexts = counts.contexts
        self._counts, self._index, self._judge = counts, index, judge

    def differing(self, mask: int) -> tuple[Array, Array | int]:
        return self._counts.differing(mask)

    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        everywhere = self._counts.necessary(mask, alpha, check).copy()
        everywhere[self._index] = self._judge(mask)
        return everywhere


def _contexts(model: Model, context: Mapping[str, int] | None) -> dict[str, Array]:
    if not model.roots:
        raise QueryError("The model has no roots, so it has one state only; give it a variable without an equation.")
    if context is not None:
        checked = model.check_context(context)
        return {name: np.asarray([value], dtype=np.int64) for name, value in checked.items()}
    count = model.context_count
    if count * len(model.variables) > MAX_CELLS:
        raise TooLargeError(
            f"The model has {format_count(count)} contexts of {len(model.variables)} variables; "
            f"at most {MAX_CELLS // len(model.variables)} can be held. Use smaller ranges or fewer roots."
        )
    columns = next(grids([model.ranges[name] for name in model.roots], max(count, 1)))
    return dict(zip(model.roots, columns, strict=True))


def _formula(parameter: str, given: str | Expression, model: Model) -> Expression:
    with blaming(parameter):
        formula = parse_formula(given, model.ranges) if isinstance(given, str) else given
        model.check_formula(formula)
    return formula


def _outcome_formula(model: Model, outcome: str | Expression) -> Expression:
    if not isinstance(outcome, (str, Expression)):
        wrong = "The outcome must be a variable or a formula; got {got!r}."
        raise QueryError(wrong, parameter="outcome", got=outcome)
    formula = _formula("outcome", outcome, model)
    for name in formula.names():
        if name in model.exogenous:
            raise QueryError("{name} is exogenous: it cannot be an outcome.", parameter="outcome", name=name)
    return formula


def _first(match: Array, otherwise: str) -> int:
    indices = np.flatnonzero(match)
    if not len(indices):
        raise QueryError(otherwise)
    return int(indices[0])


def _column(name: str, values: Any) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise QueryError(f"Column {name} must be one-dimensional and hold integers; got {array.dtype} {array.shape}.")
    return array.astype(np.int64)
