"""Equations of Boolean models with nothing but names, `and`, `or`, `not`, 0 and 1: what most formats can hold."""

from itertools import combinations
from math import comb

from ..core.arithmetic import OperatorChain
from ..core.expression import Expression, Name, Number
from ..core.logic import And, Compare, IfElse, Not, Or
from ..core.model import Model
from ..core.ranges import brief_range
from ..errors import ModelError
from .tables import express, tabulate

MAX_TERMS = 2_000  # of one count that is written out
MAX_TABLE = 4_096  # rows, of an equation that has no Boolean form of its own


def check_boolean(model: Model, holder: str) -> None:
    """Refuse a model with other values than 0 and 1."""
    for name, values in model.ranges.items():
        if tuple(values) != (0, 1):
            raise ModelError(
                f"{holder} has variables that are 0 or 1, but {name} is in {brief_range(values)}; "
                f"export it as bif, or as model text."
            )


def boolean_form(model: Model, name: str) -> Expression:
    r"""Write the equation of `name` with names, `and`, `or` and `not` alone.

    >>> print(boolean_form(Model.from_text("A\nB\nC = A != B"), "C"))
    A and not B or not A and B
    """
    expression = model.equations[name].expression
    if expression is not None:
        form = _convert(expression)
        if form is not None:
            return form
    parents = model.parents(name)
    ranges = [model.ranges[parent] for parent in parents]
    form = _convert(express(parents, ranges, tabulate(model, name, MAX_TABLE)))
    assert form is not None  # a table of truths is written with names, and, or, not and if alone
    return form


def _convert(node: Expression) -> Expression | None:
    """Convert a formula over 0 and 1; None where it has no short Boolean form."""
    match node:
        case Name():
            return node
        case Number():
            return node if node.number in (0, 1) else None
        case Not(operand):
            inner = _convert(operand)
            return None if inner is None else Not(inner)
        case And(operands) | Or(operands):
            parts = [_convert(operand) for operand in operands]
            return None if None in parts else type(node)(tuple(part for part in parts if part is not None))
        case IfElse(then, condition, otherwise):
            return _choose(_convert(condition), _convert(then), _convert(otherwise))
        case Compare(left, symbol, right):
            return _count(left, symbol, right) or _compare(_convert(left), symbol, _convert(right))
        case _:
            return None


def _choose(condition: Expression | None, then: Expression | None, otherwise: Expression | None) -> Expression | None:
    if condition is None or then is None or otherwise is None:
        return None
    return Or((And((condition, then)), And((Not(condition), otherwise))))


def _compare(left: Expression | None, symbol: str, right: Expression | None) -> Expression | None:
    if left is None or right is None or symbol not in ("==", "!="):
        return None
    if isinstance(left, Number):
        left, right = right, left
    if isinstance(right, Number):
        return left if (right.number == 1) == (symbol == "==") else Not(left)
    if symbol == "==":
        return Or((And((left, right)), And((Not(left), Not(right)))))
    return Or((And((left, Not(right))), And((Not(left), right))))


def _count(left: Expression, symbol: str, right: Expression) -> Expression | None:
    """Convert `A + B + C >= 2` and its like."""
    counted = read_count(left, symbol, right)
    if counted is None:
        return None
    operands, least = counted
    if least <= 0 or least > len(operands):
        return Number(int(least <= 0))
    if comb(len(operands), least) > MAX_TERMS:
        return None
    terms = [And(chosen) if least > 1 else chosen[0] for chosen in combinations(operands, least)]
    return Or(tuple(terms)) if len(terms) > 1 else terms[0]


def read_count(left: Expression, symbol: str, right: Expression) -> tuple[tuple[Expression, ...], int] | None:
    """Read a sum of truths that is compared with a number: what is summed, and how much at least."""
    if symbol not in (">=", ">") or not isinstance(left, OperatorChain) or not isinstance(right, Number):
        return None
    if any(step != "+" for step, _ in left.steps):
        return None
    operands = [_convert(operand) for operand in left.children()]
    if any(operand is None or not _is_truth(operand) for operand in operands):
        return None
    return tuple(operand for operand in operands if operand is not None), right.number + (symbol == ">")


def _is_truth(node: Expression) -> bool:
    return isinstance(node, Name) or node.boolean
