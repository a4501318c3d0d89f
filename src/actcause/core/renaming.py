"""Expressions with other names in them."""

from __future__ import annotations

from collections.abc import Mapping

from .arithmetic import Call, Negative, OperatorChain
from .expression import Expression, Name, Number
from .logic import And, Compare, IfElse, Not, Or


def rename_variables(expression: Expression, names: Mapping[str, Name]) -> Expression:
    """Put other names in the place of those in an expression; every name must have one.

    >>> from .text import parse_formula
    >>> str(rename_variables(parse_formula("not A and B == 2"), {"A": Name("A@1"), "B": Name("B@0")}))
    'not A@1 and B@0 == 2'
    """
    match expression:
        case Name(name):
            return names[name]
        case Number():
            return expression
        case Not(operand):
            return Not(rename_variables(operand, names))
        case And(operands):
            return And(tuple([rename_variables(operand, names) for operand in operands]))
        case Or(operands):
            return Or(tuple([rename_variables(operand, names) for operand in operands]))
        case Compare(left, symbol, right):
            return Compare(rename_variables(left, names), symbol, rename_variables(right, names))
        case IfElse():
            pairs, result = expression.branches()
            result = rename_variables(result, names)
            for then, condition in reversed(pairs):
                result = IfElse(rename_variables(then, names), rename_variables(condition, names), result)
            return result
        case OperatorChain(first, steps):
            renamed = [(symbol, rename_variables(operand, names)) for symbol, operand in steps]
            return OperatorChain(rename_variables(first, names), tuple(renamed))
        case Negative(operand):
            return Negative(rename_variables(operand, names))
        case Call(function, arguments):
            return Call(function, tuple([rename_variables(argument, names) for argument in arguments]))
        case _:
            raise AssertionError(f"unreachable: {type(expression).__name__} is no node of an expression")
