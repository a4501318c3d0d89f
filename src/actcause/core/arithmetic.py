"""Nodes of expressions that compute: chains of `+ -` and of `* // %`, negation, `min`, `max` and `abs`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np

from ..errors import ModelError
from .expression import PRODUCT, SUM, UNARY, Array, Expression, Interval, StepBudget, Values

T = TypeVar("T")
Operation = Callable[[int, int], int]


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ModelError("division by zero; guard it, for instance 'a // b if b != 0 else 0'")
    return left // right


def _modulo(left: int, right: int) -> int:
    if right == 0:
        raise ModelError("division by zero in '%'; guard it, for instance 'a % b if b != 0 else 0'")
    return left % right


def _divide_arrays(left: Array, right: Array, where: Array | None, *, modulo: bool) -> Array:
    zero = right == 0
    bad = zero if where is None else zero & where
    if bad.any():
        (_modulo if modulo else _divide)(0, 0)
    safe = np.where(zero, 1, right)
    return np.asarray(left % safe if modulo else left // safe)


ARITHMETIC: dict[str, Operation] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": _divide, "%": _modulo,
}  # fmt: skip
LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class OperatorChain(Expression):
    """A left-to-right chain of `+ -` or of `* // %`: a first operand, then (symbol, operand) steps."""

    first: Expression
    steps: tuple[tuple[str, Expression], ...]

    @property
    def binds(self) -> int:  # type: ignore[override]
        return SUM if self.steps[0][0] in "+-" else PRODUCT

    def value(self, env: Mapping[str, int]) -> int:
        result = self.first.value(env)
        for symbol, operand in self.steps:
            result = ARITHMETIC[symbol](result, operand.value(env))
        return result

    def fold(self, read: Callable[[Expression], T], combine: Callable[[T, T, Operation], T]) -> T:
        """Combine what the operands are read as, from left to right, each time with the operation between them."""
        result = read(self.first)
        for symbol, operand in self.steps:
            result = combine(result, read(operand), ARITHMETIC[symbol])
        return result

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        result = self.first.array(env, where)
        for symbol, operand in self.steps:
            other = operand.array(env, where)
            if symbol in ("//", "%"):
                result = _divide_arrays(result, other, where, modulo=symbol == "%")
            else:
                result = ARITHMETIC[symbol](result, other)  # type: ignore[arg-type, assignment]
        return result

    def children(self) -> tuple[Expression, ...]:
        return (self.first, *(operand for _, operand in self.steps))

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        low, high = self.first.bounds(env)
        for symbol, operand in self.steps:
            other_low, other_high = operand.bounds(env)
            if symbol == "%":
                reach = max(abs(other_low), abs(other_high))
                corners = [-reach, reach]
            elif symbol == "//":
                corners = [low, high, -low, -high]
            else:
                combine = ARITHMETIC[symbol]
                corners = [combine(a, b) for a in (low, high) for b in (other_low, other_high)]
            low, high = min(corners), max(corners)
            if max(abs(low), abs(high)) > LARGEST:
                raise ModelError("the values of an expression could pass 2**62; use smaller ranges")
        return (low, high)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        if self.binds == SUM and (interval := self._sum_of_intervals(env, budget)) is not None:
            return interval
        result = self.first.possible(env, budget)
        for symbol, operand in self.steps:
            if result is None:
                return None
            result = budget.product(ARITHMETIC[symbol], result, operand.possible(env, budget))
        return result

    def _sum_of_intervals(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        """Sum the possible values of operands without gaps, such as a count of votes: sums have none either."""
        low = high = 0
        for symbol, operand in (("+", self.first), *self.steps):
            values = operand.possible(env, budget)
            if values is None or not budget.spend(len(values)) or max(values) - min(values) >= len(values):
                return None
            ends = (min(values), max(values)) if symbol == "+" else (-max(values), -min(values))
            low, high = low + ends[0], high + ends[1]
        return frozenset(range(low, high + 1)) if budget.spend(high - low + 1) else None

    def own(self) -> object:
        return tuple(symbol for symbol, _ in self.steps)

    def __str__(self) -> str:
        level = self.binds + 1  # a chain inside a chain keeps its parentheses, so that it is read back as one
        parts = [self.first.wrap(level)]
        parts += [f"{symbol} {operand.wrap(level)}" for symbol, operand in self.steps]
        return " ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Negative(Expression):
    """Arithmetic negation."""

    operand: Expression
    binds = UNARY

    def value(self, env: Mapping[str, int]) -> int:
        return -self.operand.value(env)

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return -self.operand.array(env, where)

    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        low, high = self.operand.bounds(env)
        return (-high, -low)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        return budget.each(operator.neg, self.operand.possible(env, budget))

    def __str__(self) -> str:
        return f"-{self.operand.wrap(UNARY)}"


def _absolute(*values: int) -> int:
    return abs(values[0])


FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "abs": _absolute}
ARRAY_FUNCTIONS: dict[str, Callable[[Iterable[Array]], Array]] = {
    "min": lambda arrays: reduce(np.minimum, arrays),
    "max": lambda arrays: reduce(np.maximum, arrays),
    "abs": lambda arrays: np.abs(next(iter(arrays))),
}


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expression):
    """`min(a, b, ...)`, `max(a, b, ...)` or `abs(a)`."""

    function: str
    arguments: tuple[Expression, ...]

    def value(self, env: Mapping[str, int]) -> int:
        values = [argument.value(env) for argument in self.arguments]
        return values[0] if len(values) == 1 and self.function != "abs" else FUNCTIONS[self.function](*values)

    def fold(self, read: Callable[[Expression], T], combine: Callable[[T, T, Operation], T]) -> T:
        """Combine what the arguments of `min` or `max` are read as, from left to right."""
        result = read(self.arguments[0])
        for argument in self.arguments[1:]:
            result = combine(result, read(argument), FUNCTIONS[self.function])
        return result

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return ARRAY_FUNCTIONS[self.function](argument.array(env, where) for argument in self.arguments)

    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        intervals = [argument.bounds(env) for argument in self.arguments]
        if self.function == "abs":
            low, high = intervals[0]
            return (0, max(abs(low), abs(high)))
        pick = FUNCTIONS[self.function]
        return (pick([low for low, _ in intervals]), pick([high for _, high in intervals]))

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        result = self.arguments[0].possible(env, budget)
        if self.function == "abs":
            return budget.each(abs, result)
        for argument in self.arguments[1:]:
            if result is None:
                return None
            result = budget.product(FUNCTIONS[self.function], result, argument.possible(env, budget))
        return result

    def own(self) -> object:
        return self.function

    @property
    def boolean(self) -> bool:
        return all(argument.boolean for argument in self.arguments)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"
