"""Counting assignments under which an outcome differs: all that necessity and sufficiency come down to.

`ModelCounts` counts from the equations of a model, `TableCounts` from observed rows. Both answer for
every state of a space at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import prod

import numpy as np

from ..errors import TooLargeError
from .expression import Array, Expression
from .model import Model
from .ranges import Range, grids

MAX_CELLS = 64_000_000  # states times variables: what is held in memory at once
CHUNK = 1 << 20

Check = Callable[[], None]


def never() -> None:
    """Check nothing, and end nothing."""


class Counts(ABC):
    """Counts of assignments under which the outcome differs."""

    contexts: Mapping[str, Array]

    @abstractmethod
    def differing(self, mask: int) -> tuple[Array, Array | int]:
        """Count for each state how many assignments of the others differ with `mask` held, out of how many."""

    @abstractmethod
    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        """Decide for each state whether enough assignments of `mask` differ."""


class ModelCounts(Counts):
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
        self.size = shape_of(contexts)
        self.values = {name: np.broadcast_to(column, self.size) for name, column in values.items()}
        self.actual = np.broadcast_to(formula.array(self.values, np.asarray(True)), self.size)
        state = set(variables)
        read = model.reads(formula.names(), state)
        self.inputs = tuple(name for name in variables if name in read)
        # Roots that are no state variables keep their values: exogenous ones, and those of the outcome's formula.
        self.exogenous = tuple(name for name in model.roots if name in read and name not in state)
        self.between = {
            name: [v for v in variables if v != name and v in model.descendants([name])] for name in variables
        }
        self.ancestors = model.ancestors(formula.names())
        self._table: tuple[Array, int, Array] | None = None
        self._codes: dict[str, Array] = {}

    def background(self) -> Array | None:
        if not self.exogenous:
            return None
        columns = [self.encode(name) for name in self.exogenous]
        key, _ = number_combinations(columns, [len(self.model.ranges[name]) for name in self.exogenous], self.size[0])
        return key

    @property
    def axes(self) -> tuple[str, ...]:
        return (*self.exogenous, *self.inputs)

    def table(self) -> tuple[Array, int, Array]:
        """Tabulate the outcome for every assignment of what it reads: codes in a dense array, and how many there are.

        Also each state's own outcome by the same codes, or the number of codes where the table never
        gives it (an outcome that only a context, never an intervention, can produce).
        """
        if self._table is None:
            ranges = [self.model.ranges[name] for name in self.axes]
            total = prod(map(len, ranges))
            if total > MAX_CELLS:
                raise TooLargeError(
                    f"The outcome reads {format_count(total)} combinations of values; at most {MAX_CELLS} fit. "
                    f"Use smaller ranges, or declare fewer parents."
                )
            parts = []
            for columns in grids(ranges, CHUNK):
                self.check()
                size = len(columns[0]) if columns else 1  # an outcome that reads nothing is the same everywhere
                given = dict(zip(self.axes, columns, strict=True))
                parts.append(read_outcome(self.model, self.formula, self.exogenous, given, (size,)))
            flat = np.concatenate(parts)
            results = distinct(flat)
            small = np.int8 if len(results) < 127 else np.int32
            table = encode(flat, results).astype(small).reshape([len(values) for values in ranges])
            place = np.minimum(np.searchsorted(results, self.actual), len(results) - 1)
            own = np.where(np.asarray(results)[place] == self.actual, place, len(results))
            self._table = table, len(results), own
        return self._table

    def differing(self, mask: int) -> tuple[Array, Array | int]:
        held = {name for i, name in enumerate(self.variables) if mask >> i & 1}
        return self._differing_with(held)

    def _differing_with(self, held: set[str]) -> tuple[Array, int]:
        """Count as `differing` does, with the inputs in `held` (and the exogenous ones) kept at each state's values."""
        table, kinds, own = self.table()
        kept = [axis for axis, name in enumerate(self.axes) if name in held or name in self.exogenous]
        freed = tuple(axis for axis in range(len(self.axes)) if axis not in kept)
        total = prod(table.shape[axis] for axis in freed)
        shape = [table.shape[axis] for axis in kept]
        place, width = number_combinations([self.encode(self.axes[axis]) for axis in kept], shape, self.size[0])
        if not freed:  # nothing is left to change; counting would take a row of zeros for each state
            return (table.ravel()[place] != own).astype(np.int64), 1
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

    def encode(self, name: str) -> Array:
        """Return the positions of a variable's values in its range."""
        if name not in self._codes:
            self._codes[name] = encode(self.values[name], self.model.ranges[name])
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
        necessary = np.zeros(self.size, dtype=bool)
        if direct:
            differing, total = self._differing_with(set(self.inputs) - set(direct))
            necessary = at_least(differing, total, alpha)
        ordered = [name for name in self.variables if name in between]
        strict_subsets = chain.from_iterable(combinations(ordered, size) for size in range(len(ordered)))
        for held in strict_subsets:
            if necessary.all():
                break
            check()
            open_states = np.flatnonzero(~necessary)
            necessary[open_states] = self._necessary_holding(event, held, open_states, alpha, check)
        return necessary

    def _necessary_holding(
        self, event: Sequence[str], held: Sequence[str], states: Array, alpha: Fraction | None, check: Check
    ) -> Array:
        """Decide necessity with one given witness, by evaluating every change of the event in every state."""
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
        return at_least(differing, total, alpha)


class TableCounts(Counts):
    """Counts from observed rows only, each as often as it was seen."""

    def __init__(
        self, codes: tuple[Array, ...], sizes: tuple[int, ...], outcomes: Array, kinds: int, weights: Array
    ) -> None:
        self.codes, self.sizes, self.outcomes, self.kinds, self.weights = codes, sizes, outcomes, kinds, weights
        self.contexts = {}

    def differing(self, mask: int) -> tuple[Array, Array | int]:
        place, _ = number_combinations(
            [self.codes[i] for i in bits(mask)], [self.sizes[i] for i in bits(mask)], len(self.outcomes)
        )
        unique, place = np.unique(place, return_inverse=True)
        place = place.ravel()
        seen = np.bincount(place, weights=self.weights, minlength=len(unique)).astype(np.int64)
        same = np.bincount(place * self.kinds + self.outcomes, weights=self.weights).astype(np.int64)
        return seen[place] - same[place * self.kinds + self.outcomes], seen[place]

    def necessary(self, mask: int, alpha: Fraction | None, check: Check) -> Array:
        everything = (1 << len(self.codes)) - 1
        differing, total = self.differing(everything & ~mask)
        return at_least(differing, total, alpha)


def read_outcome(
    model: Model, formula: Expression, exogenous: Sequence[str], columns: Mapping[str, Array], shape: tuple[int, ...]
) -> Array:
    """Compute the outcome with all state variables set: those it reads by `columns`, the rest anyhow."""
    contexts = {name: columns[name] for name in exogenous}
    fixed = {name: column for name, column in columns.items() if name not in contexts}
    needed = formula.names()
    env = model.evaluate_many(contexts, fixed, only=needed) if needed else {}
    return np.broadcast_to(formula.array(env, np.asarray(True)), shape)


def at_least(count: Array, total: Array | int, alpha: Fraction | None) -> Array:
    """Decide alpha-necessity exactly: at least one, and at least the share."""
    if alpha is None:
        return np.asarray(count > 0)
    return np.asarray((count > 0) & (count >= -(-alpha.numerator * np.asarray(total) // alpha.denominator)))


def at_most(count: Array, total: Array | int, alpha: Fraction) -> Array:
    """Decide alpha-sufficiency exactly."""
    return np.asarray(count <= alpha.numerator * np.asarray(total) // alpha.denominator)


def bits(mask: int) -> Iterator[int]:
    """List the positions of the ones in a mask, one by one.

    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def number_combinations(columns: Sequence[Array], sizes: Sequence[int], rows: int) -> tuple[Array, int]:
    """Give each combination of columns a number, and count how many there can be."""
    key = np.zeros(rows, dtype=np.int64)
    width = 1
    for column, size in zip(columns, sizes, strict=True):
        if width > 2**62 // max(size, 1):
            unique, key = np.unique(key, return_inverse=True)
            key, width = key.ravel(), len(unique)
        key = key * size + column
        width *= size
    return key, width


def encode(column: Array, values: Range) -> Array:
    """Find the positions of values in a sorted range."""
    if values[-1] - values[0] + 1 == len(values):
        return np.asarray(column - values[0]).astype(np.int32)
    return np.searchsorted(np.asarray(values), column).astype(np.int32)


def distinct(array: Array) -> Range:
    """List the values that occur, sorted."""
    low, high = int(array.min()), int(array.max())
    if high - low <= 4 * array.size:
        present = np.zeros(high - low + 1, dtype=bool)
        present[array - low] = True
        return tuple((np.flatnonzero(present) + low).tolist())
    return tuple(np.unique(array).tolist())


def format_count(count: int) -> str:
    """Write a count that may have thousands of digits."""
    return str(count) if count < 10**15 else f"about 2**{count.bit_length() - 1}"


def percent(count: int, total: int) -> str:
    """Write a share with as many digits as it takes not to say 0% or 100% of what is neither.

    >>> percent(1, 3), percent(2, 1_002_001), percent(3, 3)
    ('33.3%', '0.0002%', '100%')
    """
    if count in (0, total):
        return f"{100 * count // max(total, 1)}%"
    digits = next(n for n in range(1, 30) if 0 < round(100 * count / total, n) < 100)
    return f"{100 * count / total:.{digits}f}%"


def shape_of(contexts: Mapping[str, Array]) -> tuple[int, ...]:
    """Return the shape of the columns of contexts."""
    shape: tuple[int, ...] = next(iter(contexts.values())).shape
    return shape
