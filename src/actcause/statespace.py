"""Whole state spaces: every state with its outcome, and how outcomes change when states do.

A `StateSpace` answers two questions for a set `X` of variables, for all states at once: is `X`
*necessary* there, and is it *sufficient*? (Definitions 4.4, E.1 and E.2 of the paper; DESIGN of the
exact semantics in the docs.) Both come down to counting assignments that agree with a state on some
variables and on the outcome, which takes one pass over the table of the outcome's equation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import Any

import numpy as np

from .equation import Equation
from .errors import QueryError, TooLargeError, suggest
from .expression import Array, Expression
from .model import Model
from .ranges import Range, grids

MAX_CELLS = 64_000_000  # states times variables: what is held in memory at once
CHUNK = 1 << 20

Check = Callable[[], None]


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
    _counts: _Counts

    def __len__(self) -> int:
        return len(self.outcomes)

    def __repr__(self) -> str:
        return f"<StateSpace of {len(self)} states of {', '.join(self.variables)} with outcome {self.outcome}>"

    # -- building --------------------------------------------------------------------------------

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
        r"""Every context of a model, with the state and outcome that it produces.

        `outcome` is a variable or a formula; `where` keeps the contexts in which a formula holds, and
        `context` keeps one only. `check` is called now and then while the space is built and searched; what
        it raises ends that.

        >>> space = StateSpace.from_model(Model.from_text("A\nB\nC = A and B"), "C")
        >>> len(space), space.variables
        (4, ('A', 'B'))
        """
        formula = _outcome_formula(model, outcome)
        if where is not None:
            where = _formula(where, model)
        own = set(formula.names())
        variables = tuple(name for name in model.endogenous if name not in own)
        if not variables:
            raise QueryError(f"Nothing is left to be a cause of {outcome}: the model has no other variable.")
        contexts = _contexts(model, context)
        values = model.evaluate_many(contexts)
        if where is not None:
            kept = np.broadcast_to(where.array(values, np.asarray(True)) != 0, _shape(contexts))
            contexts = {name: column[kept] for name, column in contexts.items()}
            if not _shape(contexts)[0]:
                raise QueryError(f"No context satisfies '{where}'; nothing is left to partition.")
            values = model.evaluate_many(contexts)
        size = _shape(contexts)
        results = np.broadcast_to(formula.array(values, np.asarray(True)), size)
        counts = _ModelCounts(model, variables, formula, contexts, values, check or _never)
        outcome_range = _distinct(results)
        return cls(
            variables=variables,
            ranges=tuple(model.ranges[name] for name in variables),
            outcome=outcome if isinstance(outcome, str) and outcome in model.ranges else f"{outcome}",
            outcome_range=outcome_range,
            codes=tuple(_encode(np.broadcast_to(values[name], size), model.ranges[name]) for name in variables),
            outcomes=_encode(results, outcome_range),
            background=counts.background(size),
            weights=None,
            _counts=counts,
        )

    @classmethod
    def from_function(
        cls, ranges: Mapping[str, Iterable[int]], function: Callable[..., Any], outcome: str = "Y"
    ) -> StateSpace:
        """Every combination of `ranges`, the outcome given by a numpy function of whole arrays, in this order.

        >>> space = StateSpace.from_function({"m": range(4), "o": range(3)}, lambda m, o: m + (o != m + 1))
        >>> len(space)
        12
        """
        names = tuple(ranges)
        given = {name: tuple(values) for name, values in ranges.items()}
        equation = Equation(names, function=function, vectorized=True)
        found: set[int] = set()
        for columns in grids([tuple(sorted(values)) for values in given.values()]):
            found.update(np.unique(equation.array(dict(zip(names, columns, strict=True)))).tolist())
        model = Model({**given, outcome: sorted(found)}, {outcome: equation})
        return cls.from_model(model, outcome)

    @classmethod
    def from_table(
        cls,
        states: Mapping[str, Any],
        outcome: Any,
        *,
        weights: Any | None = None,
        outcome_name: str = "Y",
    ) -> StateSpace:
        """Observed states: columns of integers, an outcome for each row, and how often each was seen.

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
        ranges = tuple(_distinct(rows[:, i]) for i in range(len(names)))
        codes = tuple(_encode(rows[:, i], ranges[i]) for i in range(len(names)))
        outcome_range = _distinct(merged)
        outcomes = _encode(merged, outcome_range)
        counts = _TableCounts(codes, tuple(map(len, ranges)), outcomes, len(outcome_range), totals)
        return cls(
            variables=names,
            ranges=ranges,
            outcome=outcome_name,
            outcome_range=outcome_range,
            codes=codes,
            outcomes=outcomes,
            background=None,
            weights=totals,
            _counts=counts,
        )

    # -- reading ---------------------------------------------------------------------------------

    def state(self, index: int) -> dict[str, int]:
        """The values of one state."""
        return {
            name: values[int(code[index])]
            for name, values, code in zip(self.variables, self.ranges, self.codes, strict=True)
        }

    def outcome_of(self, index: int) -> int:
        return self.outcome_range[int(self.outcomes[index])]

    def find(self, state: Mapping[str, int]) -> int:
        """The index of the first state that agrees with `state`; refused if there is none."""
        match = np.ones(len(self), dtype=bool)
        for name, value in state.items():
            if name not in self.variables:
                raise QueryError(f"Unknown state variable '{name}'{suggest(name, self.variables) or '.'}")
            position = self.variables.index(name)
            values = self.ranges[position]
            if value not in values:
                raise QueryError(f"{name} must be in {values}; got {value!r}.")
            match &= self.codes[position] == values.index(value)
        found = np.flatnonzero(match)
        if not len(found):
            raise QueryError(f"No state of the space agrees with {dict(state)}.")
        return int(found[0])

    def find_context(self, context: Mapping[str, int]) -> int:
        """The index of the state that a context of the model produces."""
        columns = self._counts.contexts
        match = np.ones(len(self), dtype=bool)
        for name, value in context.items():
            match &= columns[name] == value
        found = np.flatnonzero(match)
        if not len(found):
            raise QueryError(f"The context {dict(context)} is not part of this state space.")
        return int(found[0])

    def names(self, mask: int) -> tuple[str, ...]:
        """The variables of a mask; bit 0 is the first variable."""
        return tuple(name for i, name in enumerate(self.variables) if mask >> i & 1)

    def binary(self, mask: int) -> str:
        """A mask as the paper writes it: one digit a variable, in order."""
        return "".join("1" if mask >> i & 1 else "0" for i in range(len(self.variables)))

    def mask(self, names: Iterable[str]) -> int:
        return sum(1 << self.variables.index(name) for name in names)

    def mask_of(self, binary: str) -> int:
        """The mask of a binary such as '0110'."""
        if len(binary) != len(self.variables) or set(binary) - {"0", "1"}:
            raise QueryError(f"A binary here has {len(self.variables)} digits, 0 or 1; got {binary!r}.")
        return sum(1 << i for i, digit in enumerate(binary) if digit == "1")

    def masks(self, size: int) -> list[int]:
        """All masks of a size, the paper's binaries in descending order."""
        return [sum(1 << i for i in chosen) for chosen in combinations(range(len(self.variables)), size)]

    def groups(self, mask: int) -> tuple[Array, int]:
        """For each state a number, equal for states that agree on the mask (and on the background)."""
        key, size = _mixed_radix(
            [self.codes[i] for i in _bits(mask)], [len(self.ranges[i]) for i in _bits(mask)], len(self)
        )
        if self.background is not None:
            width = int(self.background.max()) + 1
            key, size = key * width + self.background, size * width
        if size > max(4 * len(self), 1 << 16):
            unique, key = np.unique(key, return_inverse=True)
            key, size = key.ravel(), len(unique)
        return key, size

    # -- the two questions -------------------------------------------------------------------------

    def necessary(self, mask: int, alpha: Fraction | None = None, check: Check | None = None) -> Array:
        """For each state: do enough changes of these variables change the outcome?"""
        return self._counts.necessary(mask, alpha, check or _never)

    def sufficient(self, mask: int, alpha: Fraction | None = None) -> Array:
        """For each state: do few enough changes of all other variables change the outcome?"""
        if alpha is None:
            return np.ones(len(self), dtype=bool)
        differing, total = self._counts.differing(mask)
        return _at_most(differing, total, alpha)

    def admissible(
        self,
        mask: int,
        alpha_sufficiency: Fraction | None,
        alpha_necessity: Fraction | None,
        check: Check | None = None,
    ) -> Array:
        """For each state: may it be given this mask?"""
        allowed = self.sufficient(mask, alpha_sufficiency)
        if allowed.any():
            allowed = allowed & self.necessary(mask, alpha_necessity, check)
        return allowed


def _never() -> None:
    """A check that ends nothing."""


class _Counts(ABC):
    """Counts of assignments under which the outcome differs."""

    contexts: Mapping[str, Array]

    @abstractmethod
    def differing(self, mask: int) -> tuple[Array, Array | int]:
        """With `mask` held: for each state, how many assignments of the others differ, out of how many."""

    @abstractmethod
    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        """For each state: whether enough assignments of `mask` differ."""


class _ModelCounts(_Counts):
    """Counts from the equations of a model.

    With every state variable set by hand, the outcome reads only some of them (`inputs`) and some
    exogenous ones; its table over these is all that sufficiency needs, and all that necessity needs
    wherever no other state variable lies between the cause and the outcome.
    """

    def __init__(
        self,
        model: Model,
        variables: tuple[str, ...],
        formula: Expression,
        contexts: Mapping[str, Array],
        values: Mapping[str, Array],
        check: Check,
    ) -> None:
        self.model, self.variables, self.formula = model, variables, formula
        self.check = check
        self.contexts = contexts
        self.size = _shape(contexts)
        self.values = {name: np.broadcast_to(column, self.size) for name, column in values.items()}
        self.actual = np.broadcast_to(formula.array(self.values, np.asarray(True)), self.size)
        state = set(variables)
        read = _read(model, formula.names(), state)
        self.inputs = tuple(name for name in variables if name in read)
        # Roots that are no state variables keep their values: exogenous ones, and those of the outcome's formula.
        self.exogenous = tuple(name for name in model.roots if name in read and name not in state)
        self.between = {
            name: [v for v in variables if v != name and v in model.descendants([name])] for name in variables
        }
        self.ancestors = model.ancestors(formula.names())
        self._table: tuple[Array, int, Array] | None = None
        self._codes: dict[str, Array] = {}

    def background(self, size: tuple[int, ...]) -> Array | None:
        if not self.exogenous:
            return None
        columns = [self._coded(name) for name in self.exogenous]
        key, _ = _mixed_radix(columns, [len(self.model.ranges[name]) for name in self.exogenous], size[0])
        return key

    @property
    def axes(self) -> tuple[str, ...]:
        return (*self.exogenous, *self.inputs)

    def table(self) -> tuple[Array, int, Array]:
        """The outcome for every assignment of what it reads: codes in a dense array, and how many there are.

        Also each state's own outcome by the same codes, or the number of codes where the table never
        gives it (an outcome that only a context, never an intervention, can produce).
        """
        if self._table is None:
            ranges = [self.model.ranges[name] for name in self.axes]
            total = prod(map(len, ranges))
            if total > MAX_CELLS:
                raise TooLargeError(
                    f"The outcome reads {_shown(total)} combinations of values; at most {MAX_CELLS} fit. "
                    f"Use smaller ranges, or declare fewer parents."
                )
            parts = []
            for columns in grids(ranges, CHUNK):
                self.check()
                parts.append(self._outcome(dict(zip(self.axes, columns, strict=True)), len(columns[0])))
            flat = np.concatenate(parts)
            results = _distinct(flat)
            small = np.int8 if len(results) < 127 else np.int32
            table = _encode(flat, results).astype(small).reshape([len(values) for values in ranges])
            place = np.minimum(np.searchsorted(results, self.actual), len(results) - 1)
            own = np.where(np.asarray(results)[place] == self.actual, place, len(results))
            self._table = table, len(results), own
        return self._table

    def _outcome(self, columns: dict[str, Array], size: int) -> Array:
        """The outcome when all state variables are set: those it reads by `columns`, the rest anyhow."""
        exogenous = {name: columns[name] for name in self.exogenous}
        fixed = {name: column for name, column in columns.items() if name not in exogenous}
        needed = self.formula.names()
        env = self.model.evaluate_many(exogenous, fixed, only=needed) if needed else {}
        return np.broadcast_to(self.formula.array(env, np.asarray(True)), (size,))

    def differing(self, mask: int) -> tuple[Array, Array | int]:
        held = {name for i, name in enumerate(self.variables) if mask >> i & 1}
        return self._differing_with(held)

    def _differing_with(self, held: set[str]) -> tuple[Array, int]:
        """As `differing`, with the inputs in `held` (and the exogenous ones) kept at each state's values."""
        table, kinds, own = self.table()
        kept = [axis for axis, name in enumerate(self.axes) if name in held or name in self.exogenous]
        freed = tuple(axis for axis in range(len(self.axes)) if axis not in kept)
        total = prod(table.shape[axis] for axis in freed)
        shape = [table.shape[axis] for axis in kept]
        place, width = _mixed_radix([self._coded(self.axes[axis]) for axis in kept], shape, self.size[0])
        agreeing = np.zeros((width, kinds + 1), dtype=np.int64)
        if kinds <= 16:
            for code in range(kinds):
                self.check()
                agreeing[:, code] = np.count_nonzero(table == code, axis=freed).reshape(width)
        else:
            index = np.ix_(*(np.arange(size, dtype=np.int64) for size in table.shape)) if table.ndim else ()
            key: Array = np.zeros((1,) * table.ndim, dtype=np.int64)
            for axis in kept:
                key = key * table.shape[axis] + index[axis]
            counted = np.bincount((key * kinds + table).ravel(), minlength=width * kinds)
            agreeing[:, :kinds] = counted.reshape(width, kinds)
        return total - agreeing[place, own], total

    def _coded(self, name: str) -> Array:
        if name not in self._codes:
            self._codes[name] = _encode(self.values[name], self.model.ranges[name])
        return self._codes[name]

    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        # Variables that cannot influence the outcome change no share.
        event = [name for i, name in enumerate(self.variables) if mask >> i & 1 and name in self.ancestors]
        if not event:
            return np.zeros(self.size, dtype=bool)
        between = {v for name in event for v in self.between[name]} - set(event)
        between = {v for v in between if v in self.ancestors}
        # With everything in between held as it was, only what the outcome reads itself counts.
        direct = [name for name in event if name in self.inputs]
        found = np.zeros(self.size, dtype=bool)
        if direct:
            differing, total = self._differing_with(set(self.inputs) - set(direct))
            found = _at_least(differing, total, alpha)
        ordered = [name for name in self.variables if name in between]
        strict_subsets = chain.from_iterable(combinations(ordered, size) for size in range(len(ordered)))
        for held in strict_subsets:
            if found.all():
                break
            check()
            open_states = np.flatnonzero(~found)
            found[open_states] = self._necessary_holding(event, held, open_states, alpha, check)
        return found

    def _necessary_holding(
        self, event: Sequence[str], held: Sequence[str], states: Array, alpha: Fraction | None, check: Check
    ) -> Array:
        """Necessity with one given witness, by evaluating every change of the event in every state."""
        ranges = [self.model.ranges[name] for name in event]
        total = prod(map(len, ranges))
        differing = np.zeros(len(states), dtype=np.int64)
        rows = max(1, CHUNK // max(1, len(states)))
        for columns in grids(ranges, rows):
            check()
            changed = {name: column[:, None] for name, column in zip(event, columns, strict=True)}
            contexts = {name: column[states][None, :] for name, column in self.contexts.items()}
            frozen = {name: self.values[name][states][None, :] for name in held}
            env = self.model.evaluate_many(contexts, {**frozen, **changed}, only=self.formula.names())
            outcome = np.broadcast_to(self.formula.array(env, np.asarray(True)), (len(columns[0]), len(states)))
            differing += np.count_nonzero(outcome != self.actual[states][None, :], axis=0)
        return _at_least(differing, total, alpha)


class _TableCounts(_Counts):
    """Counts from observed rows only, each as often as it was seen."""

    def __init__(
        self, codes: tuple[Array, ...], sizes: tuple[int, ...], outcomes: Array, kinds: int, weights: Array
    ) -> None:
        self.codes, self.sizes, self.outcomes, self.kinds, self.weights = codes, sizes, outcomes, kinds, weights
        self.contexts = {}

    def differing(self, mask: int) -> tuple[Array, Array | int]:
        place, _ = _mixed_radix(
            [self.codes[i] for i in _bits(mask)], [self.sizes[i] for i in _bits(mask)], len(self.outcomes)
        )
        unique, place = np.unique(place, return_inverse=True)
        place = place.ravel()
        seen = np.bincount(place, weights=self.weights, minlength=len(unique)).astype(np.int64)
        same = np.bincount(place * self.kinds + self.outcomes, weights=self.weights).astype(np.int64)
        return seen[place] - same[place * self.kinds + self.outcomes], seen[place]

    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        everything = (1 << len(self.codes)) - 1
        differing, total = self.differing(everything & ~mask)
        return _at_least(differing, total, alpha)


# -- helpers -----------------------------------------------------------------------------------------


def _at_least(count: Array, total: Array | int, alpha: Fraction | None) -> Array:
    """alpha-necessity, exactly: at least one, and at least the share."""
    if alpha is None:
        return np.asarray(count > 0)
    return np.asarray((count > 0) & (count >= -(-alpha.numerator * np.asarray(total) // alpha.denominator)))


def _at_most(count: Array, total: Array | int, alpha: Fraction) -> Array:
    """alpha-sufficiency, exactly."""
    return np.asarray(count <= alpha.numerator * np.asarray(total) // alpha.denominator)


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _mixed_radix(columns: Sequence[Array], sizes: Sequence[int], rows: int) -> tuple[Array, int]:
    """One number for each combination of columns, and how many there can be."""
    key = np.zeros(rows, dtype=np.int64)
    width = 1
    for column, size in zip(columns, sizes, strict=True):
        if width > 2**62 // max(size, 1):
            unique, key = np.unique(key, return_inverse=True)
            key, width = key.ravel(), len(unique)
        key = key * size + column
        width *= size
    return key, width


def _integers(array: Array) -> Range:
    values: list[int] = array.tolist()
    return tuple(values)


def _encode(column: Array, values: Range) -> Array:
    """Positions of values in a sorted range."""
    if values[-1] - values[0] + 1 == len(values):
        return np.asarray(column - values[0]).astype(np.int32)
    return np.searchsorted(np.asarray(values), column).astype(np.int32)


def _distinct(array: Array) -> Range:
    """The values that occur, sorted."""
    low, high = int(array.min()), int(array.max())
    if high - low <= 4 * array.size:
        present = np.zeros(high - low + 1, dtype=bool)
        present[array - low] = True
        return _integers(np.flatnonzero(present) + low)
    return _integers(np.unique(array))


def _shown(count: int) -> str:
    """A count that may have thousands of digits."""
    return str(count) if count < 10**15 else f"about 2**{count.bit_length() - 1}"


def _shape(contexts: Mapping[str, Array]) -> tuple[int, ...]:
    shape: tuple[int, ...] = next(iter(contexts.values())).shape
    return shape


def _contexts(model: Model, context: Mapping[str, int] | None) -> dict[str, Array]:
    if context is not None:
        checked = model.check_context(context)
        return {name: np.asarray([value], dtype=np.int64) for name, value in checked.items()}
    count = model.context_count
    if count * len(model.variables) > MAX_CELLS:
        raise TooLargeError(
            f"The model has {_shown(count)} contexts of {len(model.variables)} variables; "
            f"at most {MAX_CELLS // len(model.variables)} can be held. Use smaller ranges or fewer roots."
        )
    columns = next(grids([model.ranges[name] for name in model.roots], max(count, 1)))
    return dict(zip(model.roots, columns, strict=True))


def _formula(text: str | Expression, model: Model) -> Expression:
    from .text import parse_formula

    formula = parse_formula(text, model.ranges) if isinstance(text, str) else text
    model.check_formula(formula)
    return formula


def _outcome_formula(model: Model, outcome: str | Expression) -> Expression:
    if not isinstance(outcome, (str, Expression)):
        raise QueryError(f"The outcome must be a variable or a formula; got {outcome!r}.")
    formula = _formula(outcome, model)
    for name in formula.names():
        if name in model.exogenous:
            raise QueryError(f"{name} is exogenous: it cannot be an outcome.")
    return formula


def _read(model: Model, names: Iterable[str], state: set[str]) -> set[str]:
    """What these variables follow from, going no further than the state variables."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            if name not in state:
                stack.extend(model.parents(name))
    return found


def _column(name: str, values: Any) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise QueryError(f"Column {name} must be one-dimensional and hold integers; got {array.dtype} {array.shape}.")
    return array.astype(np.int64)
