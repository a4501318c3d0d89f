"""The right-hand sides of equations, and the effects one asks about.

An expression is an immutable tree over integers; truth is 1 and 0. It can be evaluated for one
assignment (`value`), for many at once (`array`), bounded without evaluating (`bounds`), and
printed back (`str`). Chains of `and`, `or`, `+`, `*`, `min` and `max` are one node however long
they are, so the depth of a tree is the depth of its parentheses.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import ModelError

Array = np.ndarray[Any, Any]
Interval = tuple[int, int]
Values = frozenset[int] | None

TRUTH: frozenset[int] = frozenset({0, 1})

# How tightly each construct binds; a child that binds less than its parent is put in parentheses.
IF, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(9)


class StepBudget:
    """A budget of steps that many calls share; one step looks at one value or combination."""

    __slots__ = ("at_once", "free", "left")

    def __init__(self, total: int, *, at_once: int, free: int) -> None:
        self.left, self.at_once, self.free = total, at_once, free

    def spend(self, steps: int) -> bool:
        """Take `steps` from what is left, or say that they are too many; a few at a time are free."""
        if steps <= self.free:
            return True
        if steps > self.left:
            return False
        self.left -= steps
        return True

    def product(self, combine: Callable[[int, int], int], ours: Values, theirs: Values) -> Values:
        """`combine` over all pairs; None when these are too many."""
        if ours is None or theirs is None:
            return None
        pairs = len(ours) * len(theirs)
        if pairs > self.at_once or not self.spend(pairs):
            return None
        return frozenset([combine(a, b) for a, b in product(ours, theirs)])

    def each(self, change: Callable[[int], int], values: Values) -> Values:
        """`change` of every value; None when these are too many."""
        if values is None or not self.spend(len(values)):
            return None
        return frozenset(map(change, values))


class Expression(ABC):
    """A node of an expression tree."""

    __slots__ = ()
    binds: int = ATOM

    @abstractmethod
    def value(self, env: Mapping[str, int]) -> int:
        """Evaluate for one assignment."""

    @abstractmethod
    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        """Evaluate for many assignments; division by zero is an error only where `where` holds."""

    def children(self) -> tuple[Expression, ...]:
        """Return the direct parts of this node, none unless it has some."""
        return ()

    @abstractmethod
    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        """An interval that contains every value, from intervals of the variables."""

    @abstractmethod
    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        """The values that occur when each name varies by itself (exact if no name occurs twice).

        None when this takes more `budget` than is left.
        """

    def own(self) -> object:
        """What this node holds besides its children."""
        return None

    @property
    def boolean(self) -> bool:
        """Whether every value of this node is 0 or 1 by its form."""
        return False

    def walk(self) -> Iterator[Expression]:
        """This node and all nodes below it, parents first."""
        stack: list[Expression] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children()))

    def names(self) -> tuple[str, ...]:
        """Every name once, in reading order."""
        return facts(self).names

    # Comparing and hashing walk the tree with a stack of their own: Python's is short, and a long
    # chain of `else` is a deep tree.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        stack: list[tuple[Expression, Expression]] = [(self, other)]
        while stack:
            ours, theirs = stack.pop()
            if ours is theirs:
                continue
            if type(ours) is not type(theirs) or ours.own() != theirs.own():
                return False
            below, below_theirs = ours.children(), theirs.children()
            if len(below) != len(below_theirs):
                return False
            stack.extend(zip(below, below_theirs, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(tuple((type(node).__name__, node.own()) for node in self.walk()))

    def wrap(self, level: int) -> str:
        """The text of this node as a part of one that binds at `level`."""
        return str(self) if self.binds >= level else f"({self})"


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expression):
    """An integer constant."""

    number: int

    @property
    def binds(self) -> int:  # type: ignore[override]
        return ATOM if self.number >= 0 else UNARY

    def value(self, env: Mapping[str, int]) -> int:
        return self.number

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return np.asarray(self.number, dtype=np.int64)

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        return (self.number, self.number)

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        return frozenset((self.number,))

    def own(self) -> object:
        return self.number

    @property
    def boolean(self) -> bool:
        return self.number in TRUTH

    def __str__(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expression):
    """The value of a variable."""

    name: str

    def value(self, env: Mapping[str, int]) -> int:
        return env[self.name]

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return env[self.name]

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        return env[self.name]

    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        return env[self.name]

    def own(self) -> object:
        return self.name

    def __str__(self) -> str:
        return self.name


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
    """Which truth values occur; quick however many values there are."""
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


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": _divide, "%": _modulo,
}  # fmt: skip
LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Chain(Expression):
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
        """The possible values of a sum of operands without gaps, such as a count of votes: these have none either."""
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


@dataclass(frozen=True, slots=True, eq=False)
class IfElse(Expression):
    """`then if condition else otherwise`; only the chosen branch must be free of division by zero."""

    then: Expression
    condition: Expression
    otherwise: Expression
    binds = IF

    def branches(self) -> tuple[list[tuple[Expression, Expression]], Expression]:
        """The (then, condition) pairs of this chain of `else ... if`, and its last resort.

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


class Facts(NamedTuple):
    """What one look at an expression tells."""

    names: tuple[str, ...]  # every name once, in reading order
    read_once: bool  # whether no name occurs twice
    arithmetic: bool  # whether a value could be large
    divides: bool  # whether evaluation can fail
    nodes: int


def facts(expression: Expression) -> Facts:
    """Look at an expression once; large models have millions of nodes."""
    names: list[str] = []
    arithmetic = division = False
    nodes = 0
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        nodes += 1
        kind = type(node)
        if kind is Name:
            names.append(node.name)  # type: ignore[attr-defined]
        elif kind is Not:
            stack.append(node.operand)  # type: ignore[attr-defined]
        else:
            if kind is Chain:
                arithmetic = True
                division = division or any(symbol in ("//", "%") for symbol, _ in node.steps)  # type: ignore[attr-defined]
            elif kind is Negative or kind is Call:
                arithmetic = True
            stack.extend(reversed(node.children()))
    unique = tuple(dict.fromkeys(names))
    return Facts(unique, len(unique) == len(names), arithmetic, division, nodes)


def height(expression: Expression) -> int:
    """How many nodes lie on the longest way down."""
    tallest = 0
    stack = [(expression, 1)]
    while stack:
        node, level = stack.pop()
        tallest = max(tallest, level)
        stack.extend((child, level + 1) for child in node.children())
    return tallest
