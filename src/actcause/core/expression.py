"""The right-hand sides of equations, and the effects one asks about: what every node can do, and the leaves.

An expression is an immutable tree over integers; truth is 1 and 0. It can be evaluated for one
assignment (`value`), for many at once (`array`), bounded without evaluating (`bounds`), and
printed back (`str`). Chains of `and`, `or`, `+`, `*`, `min` and `max` are one node however long
they are, so the depth of a tree is the depth of its parentheses. The other nodes are in `logic.py`
and `arithmetic.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

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
        """Apply `combine` to all pairs; None when these are too many."""
        if ours is None or theirs is None:
            return None
        pairs = len(ours) * len(theirs)
        if pairs > self.at_once or not self.spend(pairs):
            return None
        return frozenset([combine(a, b) for a, b in product(ours, theirs)])

    def each(self, change: Callable[[int], int], values: Values) -> Values:
        """Apply `change` to every value; None when these are too many."""
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
        """Find an interval that contains every value, from intervals of the variables."""

    @abstractmethod
    def possible(self, env: Mapping[str, frozenset[int]], budget: StepBudget) -> Values:
        """Find the values that occur when each name varies by itself (exact if no name occurs twice).

        None when this takes more `budget` than is left.
        """

    def own(self) -> object:
        """Return what this node holds besides its children."""
        return None

    @property
    def boolean(self) -> bool:
        """Whether every value of this node is 0 or 1 by its form."""
        return False

    def walk(self) -> Iterator[Expression]:
        """Yield this node and all nodes below it, parents first."""
        stack: list[Expression] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children()))

    def names(self) -> tuple[str, ...]:
        """List every name once, in reading order."""
        return tuple(dict.fromkeys(node.name for node in self.walk() if type(node) is Name))

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
        """Write this node as a part of one that binds at `level`."""
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


def height(expression: Expression) -> int:
    """Count the nodes on the longest way down."""
    tallest = 0
    stack = [(expression, 1)]
    while stack:
        node, level = stack.pop()
        tallest = max(tallest, level)
        stack.extend((child, level + 1) for child in node.children())
    return tallest
