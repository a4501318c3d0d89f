"""The right-hand sides of equations, and the effects one asks about.

An expression is an immutable tree over integers; truth is 1 and 0. It can be evaluated for one
assignment (`value`), for many at once (`array`), bounded without evaluating (`bounds`), and
printed back (`str`). Chains of `and`, `or`, `+`, `*`, `min` and `max` are one node however long
they are, so the depth of a tree is the depth of its parentheses.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .errors import ModelError

Array = np.ndarray[Any, Any]
Interval = tuple[int, int]

TRUTH: frozenset[int] = frozenset({0, 1})

# How tightly each construct binds; a child that binds less than its parent is put in parentheses.
IF, OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(9)


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

    @abstractmethod
    def children(self) -> tuple[Expression, ...]:
        """The direct parts of this node."""

    @abstractmethod
    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        """An interval that contains every value, from intervals of the variables."""

    @abstractmethod
    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        """The values that occur when each name varies by itself (exact if no name occurs twice).

        None when more than `limit` values or combinations would have to be looked at.
        """

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

    def wrap(self, level: int) -> str:
        """The text of this node as a part of one that binds at `level`."""
        return str(self) if self.binds >= level else f"({self})"


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An integer constant."""

    number: int

    def value(self, env: Mapping[str, int]) -> int:
        return self.number

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return np.asarray(self.number, dtype=np.int64)

    def children(self) -> tuple[Expression, ...]:
        return ()

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        return (self.number, self.number)

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        return frozenset((self.number,))

    @property
    def boolean(self) -> bool:
        return self.number in TRUTH

    def __str__(self) -> str:
        return str(self.number) if self.number >= 0 else f"({self.number})"


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """The value of a variable."""

    name: str

    def value(self, env: Mapping[str, int]) -> int:
        return env[self.name]

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return env[self.name]

    def children(self) -> tuple[Expression, ...]:
        return ()

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        return env[self.name]

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        return env[self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """Logical negation: 1 if the operand is 0, else 0."""

    operand: Expression
    binds = NOT

    def value(self, env: Mapping[str, int]) -> int:
        return 0 if self.operand.value(env) else 1

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return np.asarray(self.operand.array(env, where) == 0).astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        self.operand.bounds(env)
        return (0, 1)

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        values = self.operand.possible(env, limit)
        return None if values is None else frozenset(int(not v) for v in values)

    @property
    def boolean(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"not {self.operand.wrap(NOT)}"


@dataclass(frozen=True, slots=True)
class And(Expression):
    """Conjunction of any number of operands, left to right, stopping at the first 0."""

    operands: tuple[Expression, ...]
    binds = AND

    def value(self, env: Mapping[str, int]) -> int:
        for operand in self.operands:
            if not operand.value(env):
                return 0
        return 1

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        so_far: Array | None = None
        for operand in self.operands:
            mask = where if so_far is None or where is None else where & so_far
            truth = operand.array(env, mask) != 0
            so_far = truth if so_far is None else so_far & truth
        assert so_far is not None  # the parser never builds an empty conjunction
        return so_far.astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return self.operands

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        for operand in self.operands:
            operand.bounds(env)
        return (0, 1)

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        return _possible_truth(self.operands, env, limit, decides=False)

    @property
    def boolean(self) -> bool:
        return True

    def __str__(self) -> str:
        return " and ".join(operand.wrap(NOT) for operand in self.operands)


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """Disjunction of any number of operands, left to right, stopping at the first that is not 0."""

    operands: tuple[Expression, ...]
    binds = OR

    def value(self, env: Mapping[str, int]) -> int:
        for operand in self.operands:
            if operand.value(env):
                return 1
        return 0

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        so_far: Array | None = None
        for operand in self.operands:
            mask = where if so_far is None or where is None else where & ~so_far
            truth = operand.array(env, mask) != 0
            so_far = truth if so_far is None else so_far | truth
        assert so_far is not None  # the parser never builds an empty disjunction
        return so_far.astype(np.int64)

    def children(self) -> tuple[Expression, ...]:
        return self.operands

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        for operand in self.operands:
            operand.bounds(env)
        return (0, 1)

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        return _possible_truth(self.operands, env, limit, decides=True)

    @property
    def boolean(self) -> bool:
        return True

    def __str__(self) -> str:
        return " or ".join(operand.wrap(AND) for operand in self.operands)


def _possible_truth(
    operands: tuple[Expression, ...], env: Mapping[str, frozenset[int]], limit: int, *, decides: bool
) -> frozenset[int] | None:
    """Possible values of a chain in which an operand whose truth is `decides` settles the result."""
    can_decide, can_pass = False, True
    for operand in operands:
        values = operand.possible(env, limit)
        if values is None:
            return None
        truths = {bool(v) for v in values}
        can_decide |= decides in truths
        if (not decides) not in truths:
            can_pass = False
    return frozenset(({int(decides)} if can_decide else set()) | ({int(not decides)} if can_pass else set()))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compare(Expression):
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

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        self.left.bounds(env)
        self.right.bounds(env)
        return (0, 1)

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        compare = COMPARISONS[self.symbol]
        return _possible_pairs(self.left, self.right, lambda a, b: int(compare(a, b)), env, limit)

    @property
    def boolean(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"{self.left.wrap(SUM)} {self.symbol} {self.right.wrap(SUM)}"


def _possible_pairs(
    left: Expression,
    right: Expression,
    combine: Callable[[int, int], int],
    env: Mapping[str, frozenset[int]],
    limit: int,
) -> frozenset[int] | None:
    ours, theirs = left.possible(env, limit), right.possible(env, limit)
    if ours is None or theirs is None or len(ours) * len(theirs) > limit:
        return None
    return frozenset(combine(a, b) for a, b in product(ours, theirs))


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


@dataclass(frozen=True, slots=True)
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

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        result = self.first.possible(env, limit)
        for symbol, operand in self.steps:
            other = operand.possible(env, limit)
            if result is None or other is None or len(result) * len(other) > limit:
                return None
            combine = ARITHMETIC[symbol]
            result = frozenset(combine(a, b) for a, b in product(result, other))
        return result

    def __str__(self) -> str:
        level = self.binds
        parts = [self.first.wrap(level)]
        parts += [f"{symbol} {operand.wrap(level + 1)}" for symbol, operand in self.steps]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
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

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        values = self.operand.possible(env, limit)
        return None if values is None else frozenset(-v for v in values)

    def __str__(self) -> str:
        return f"-{self.operand.wrap(UNARY)}"


def _absolute(*values: int) -> int:
    return abs(values[0])


FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "abs": _absolute}
ARRAY_FUNCTIONS: dict[str, Callable[[list[Array]], Array]] = {
    "min": lambda arrays: np.minimum.reduce(np.broadcast_arrays(*arrays)),
    "max": lambda arrays: np.maximum.reduce(np.broadcast_arrays(*arrays)),
    "abs": lambda arrays: np.abs(arrays[0]),
}


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """`min(a, b, ...)`, `max(a, b, ...)` or `abs(a)`."""

    function: str
    arguments: tuple[Expression, ...]

    def value(self, env: Mapping[str, int]) -> int:
        values = [argument.value(env) for argument in self.arguments]
        return values[0] if len(values) == 1 and self.function != "abs" else FUNCTIONS[self.function](*values)

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        return ARRAY_FUNCTIONS[self.function]([argument.array(env, where) for argument in self.arguments])

    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        intervals = [argument.bounds(env) for argument in self.arguments]
        if self.function == "abs":
            low, high = intervals[0]
            return (0, max(abs(low), abs(high)))
        pick = FUNCTIONS[self.function]
        return (pick([low for low, _ in intervals]), pick([high for _, high in intervals]))

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        sets = [argument.possible(env, limit) for argument in self.arguments]
        result: frozenset[int] | None = None
        for values in sets:
            if values is None or (result is not None and len(result) * len(values) > limit):
                return None
            if result is None:
                result = values
            else:
                result = frozenset(FUNCTIONS[self.function](a, b) for a, b in product(result, values))
        if self.function == "abs" and result is not None:
            return frozenset(abs(v) for v in result)
        return result

    @property
    def boolean(self) -> bool:
        return all(argument.boolean for argument in self.arguments)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class IfElse(Expression):
    """`then if condition else otherwise`; only the chosen branch must be free of division by zero."""

    then: Expression
    condition: Expression
    otherwise: Expression
    binds = IF

    def value(self, env: Mapping[str, int]) -> int:
        return (self.then if self.condition.value(env) else self.otherwise).value(env)

    def array(self, env: Mapping[str, Array], where: Array | None = None) -> Array:
        chosen = self.condition.array(env, where) != 0
        if where is None:
            return np.where(chosen, self.then.array(env), self.otherwise.array(env))
        return np.where(chosen, self.then.array(env, where & chosen), self.otherwise.array(env, where & ~chosen))

    def children(self) -> tuple[Expression, ...]:
        return (self.then, self.condition, self.otherwise)

    def bounds(self, env: Mapping[str, Interval]) -> Interval:
        self.condition.bounds(env)
        (a, b), (c, d) = self.then.bounds(env), self.otherwise.bounds(env)
        return (min(a, c), max(b, d))

    def possible(self, env: Mapping[str, frozenset[int]], limit: int) -> frozenset[int] | None:
        condition = self.condition.possible(env, limit)
        if condition is None:
            return None
        result: frozenset[int] = frozenset()
        for truth, branch in ((True, self.then), (False, self.otherwise)):
            if any(bool(v) is truth for v in condition):
                values = branch.possible(env, limit)
                if values is None:
                    return None
                result |= values
        return result

    @property
    def boolean(self) -> bool:
        return self.then.boolean and self.otherwise.boolean

    def __str__(self) -> str:
        return f"{self.then.wrap(OR)} if {self.condition.wrap(OR)} else {self.otherwise.wrap(IF)}"


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
