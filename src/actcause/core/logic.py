"""Nodes of expressions that are about truth: `not`, `and`, `or`, comparisons, and `a if c else b`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .expression import AND, COMPARE, IF, NOT, OR, SUM, TRUTH, Array, Expression, Interval, StepBudget, Values


class _Truth(Expression):
    """A node whose values are 0 and 1."""

    __slots__ = ()

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        for child in self.children():
            child.bounds(env)
        return (0, 1)

    @property
    def boolean(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Not(_Truth):
    """Logical negation: 1 if the operand is 0, else 0."""

    operand: Expression
    binds = NOT

    def value(self, env: Mapping[str, int]) -> int:
        return 0 if self.operand.value(env) else 1

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return np.asarray(self.operand.array(env, where) == 0).astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        values = self.operand.possible(env, budget)
        if values is None or values is TRUTH:
            return values
        return frozenset([int(not truth) for truth in _truths(values)])

    def __str__(self) -> str:
        return f"not {self.operand.wrap(NOT)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Connective(_Truth):
    """Any number of operands, left to right, stopping at the first whose truth `decides` the result."""

    operands: tuple[Expression, ...]
    word: ClassVar[str]
    decides: ClassVar[bool]

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        join = operator.or_ if self.decides else operator.and_
        so_far: Array | None = None
        for operand in self.operands:
            mask = where
            if so_far is not None and where is not None:
                mask = where & (~so_far if self.decides else so_far)
            truth = operand.array(env, mask) != 0
            so_far = truth if so_far is None else join(so_far, truth)
        assert so_far is not None  # the parser never builds an empty one
        return so_far.astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return self.operands

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        can_decide, can_pass = False, True
        for operand in self.operands:
            values = operand.possible(env, budget)
            if values is TRUTH:
                can_decide = True
                continue
            if values is None:
                return None
            truths = _truths(values)
            can_decide |= self.decides in truths
            if (not self.decides) not in truths:
                can_pass = False
        if can_decide and can_pass:
            return TRUTH
        return frozenset([int(self.decides) if can_decide else int(not self.decides)])

    def __str__(self) -> str:
        return f" {self.word} ".join(operand.wrap(self.binds + 1) for operand in self.operands)


class And(_Connective):
    """Conjunction: 0 if an operand is 0, else 1."""

    __slots__ = ()
    binds, word, decides = AND, "and", False

    def value(self, env: Mapping[str, int]) -> int:
        for operand in self.operands:
            if not operand.value(env):
                return 0
        return 1


class Or(_Connective):
    """Disjunction: 1 if an operand is not 0, else 0."""

    __slots__ = ()
    binds, word, decides = OR, "or", True

    def value(self, env: Mapping[str, int]) -> int:
        for operand in self.operands:
            if operand.value(env):
                return 1
        return 0


def _truths(values: frozenset[int]) -> list[bool]:
    """Tell which truth values occur; quick however many values there are."""
    return [truth for truth, occurs in ((False, 0 in values), (True, any(values))) if occurs]


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Compare(_Truth):
    """A comparison of two values."""

    left: Expression
    symbol: str
    right: Expression
    binds = COMPARE

    def value(self, env: Mapping[str, int]) -> int:
        return int(COMPARISONS[self.symbol](self.left.value(env), self.right.value(env)))

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        compare = COMPARISONS[self.symbol]
        truth: Array = np.asarray(compare(self.left.array(env, where), self.right.array(env, where)))
        return truth.astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return (self.left, self.right)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        values = budget.product(
            COMPARISONS[self.symbol], self.left.possible(env, budget), self.right.possible(env, budget)
        )
        return None if values is None else frozenset(map(int, values))

    def own(self) -> object:
        return self.symbol

    def __str__(self) -> str:
        return f"{self.left.wrap(SUM)} {self.symbol} {self.right.wrap(SUM)}"


@dataclass(frozen=True, slots=True, eq=False)
class IfElse(Expression):
    """`then if condition else otherwise`; only the chosen branch must be free of division by zero."""

    then: Expression
    condition: Expression
    otherwise: Expression
    binds = IF

    def branches(self) -> tuple[list[tuple[Expression, Expression]], Expression]:
        """Return the (then, condition) pairs of this chain of `else ... if`, and its last resort.

        Chains can be long, so the methods below go along them in a loop.
        """
        pairs = []
        node: Expression = self
        while isinstance(node, IfElse):
            pairs.append((node.then, node.condition))
            node = node.otherwise
        return pairs, node

    def value(self, env: Mapping[str, int]) -> int:
        node: Expression = self
        while isinstance(node, IfElse):
            node = node.then if node.condition.value(env) else node.otherwise
        return node.value(env)

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        pairs, last = self.branches()
        chosen = []
        for then, condition in pairs:
            truth = condition.array(env, where) != 0
            chosen.append((truth, then.array(env, None if where is None else where & truth)))
            where = None if where is None else where & ~truth
        result = last.array(env, where)
        for truth, values in reversed(chosen):
            result = np.where(truth, values, result)
        return result

    def children(self) -> tuple[Expression, ...]:
        return (self.then, self.condition, self.otherwise)

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        pairs, last = self.branches()
        low, high = last.bounds(env)
        for then, condition in pairs:
            condition.bounds(env)
            then_low, then_high = then.bounds(env)
            low, high = min(low, then_low), max(high, then_high)
        return (low, high)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        pairs, last = self.branches()
        result: set[int] = set()
        for then, condition in pairs:
            conditions = condition.possible(env, budget)
            if conditions is None:
                return None
            truths = _truths(conditions)
            if True in truths:
                values = then.possible(env, budget)
                if values is None or not budget.spend(len(values)):
                    return None
                result |= values
            if False not in truths:
                return frozenset(result)
        values = last.possible(env, budget)
        if values is None or not budget.spend(len(values)):
            return None
        return frozenset(result | values)

    @property
    def boolean(self) -> bool:
        pairs, last = self.branches()
        return last.boolean and all(then.boolean for then, _ in pairs)

    def __str__(self) -> str:
        pairs, last = self.branches()
        shown = [f"{then.wrap(OR)} if {condition.wrap(OR)} else " for then, condition in pairs]
        return "".join(shown) + last.wrap(IF)
