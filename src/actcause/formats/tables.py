"""Tables as expressions, and expressions as tables.

A table has a value for every assignment of the parents, in the order of `itertools.product` over their ranges.
"""

from collections.abc import Sequence
from itertools import islice, product
from math import prod

from ..core.expression import Expression, Name, Number
from ..core.logic import And, Compare, IfElse, Not, Or
from ..core.model import Model
from ..errors import ModelError

MAX_ROWS = 100_000  # of one table


def express(parents: Sequence[str], ranges: Sequence[Sequence[int]], values: Sequence[int]) -> Expression:
    """Write a table as a formula that asks for one parent after the other.

    >>> print(express(["A", "B"], [(0, 1), (0, 1)], [0, 1, 1, 1]))
    A or B
    >>> print(express(["A"], [(0, 1, 2)], [5, 7, 5]))
    7 if A == 1 else 5
    """
    if len(set(values)) == 1:
        return Number(values[0])
    binary = set(values) <= {0, 1}
    size = len(values) // len(ranges[0])
    parts = [tuple(values[start : start + size]) for start in range(0, len(values), size)]
    groups: dict[tuple[int, ...], list[int]] = {}
    for value, part in zip(ranges[0], parts, strict=True):
        groups.setdefault(part, []).append(value)
    *first, (last, _) = sorted(groups.items(), key=lambda group: len(group[1]))
    if not first:
        return express(parents[1:], ranges[1:], last)
    result = express(parents[1:], ranges[1:], last)
    for part, matched in reversed(first):
        condition = _is_one_of(parents[0], ranges[0], matched)
        result = _choose(condition, express(parents[1:], ranges[1:], part), result, binary)
    return result


def _is_one_of(name: str, values: Sequence[int], matched: Sequence[int]) -> Expression:
    if tuple(values) == (0, 1):
        return Name(name) if matched == [1] else Not(Name(name))
    tests = tuple(Compare(Name(name), "==", Number(value)) for value in matched)
    return tests[0] if len(tests) == 1 else Or(tests)


def _choose(condition: Expression, then: Expression, otherwise: Expression, binary: bool) -> Expression:
    """Write `then if condition else otherwise`; where it is 0 or 1, with the shorter of `and`, `or` and `not`."""
    if isinstance(condition, Not):
        condition, then, otherwise = condition.operand, otherwise, then
    if binary:
        one, other = (part.number if isinstance(part, Number) else None for part in (then, otherwise))
        if (one, other) == (1, 0):
            return condition
        if (one, other) == (0, 1):
            return _negate(condition)
        if one == 1:
            return join(Or, condition, otherwise)
        if one == 0:
            return join(And, _negate(condition), otherwise)
        if other == 0:
            return join(And, condition, then)
        if other == 1:
            return join(Or, _negate(condition), then)
    return IfElse(then, condition, otherwise)


def _negate(condition: Expression) -> Expression:
    if isinstance(condition, Compare) and condition.symbol == "==":
        return Compare(condition.left, "!=", condition.right)
    return Not(condition)


def join(kind: type[And] | type[Or], left: Expression, right: Expression) -> Expression:
    """Join two formulas into one chain."""
    before = left.operands if isinstance(left, kind) else (left,)
    after = right.operands if isinstance(right, kind) else (right,)
    return kind((*before, *after))


def tabulate(model: Model, name: str, most: int = MAX_ROWS) -> list[int]:
    r"""List what the equation of `name` gives for every assignment of its parents.

    >>> tabulate(Model.from_text("A\nB\nC = A and not B"), "C")
    [0, 0, 1, 0]
    """
    parents = model.parents(name)
    rows = prod(len(model.ranges[parent]) for parent in parents)
    if rows > most:
        raise ModelError(
            f"The equation of {name} has a table of {rows:,} rows; at most {most:,} are written. "
            f"Name a part of it in a variable of its own."
        )
    assignments = product(*(model.ranges[parent] for parent in parents))
    return [model.equation_value(name, dict(zip(parents, row, strict=True))) for row in islice(assignments, rows)]
