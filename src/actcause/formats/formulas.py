"""Formulas of other formats: words joined by and, or, not and parentheses."""

import re
from collections.abc import Mapping

from ..core.expression import Expression, Name, Number
from ..core.logic import And, Not, Or
from ..core.text import parse_formula
from ..errors import ParseError, escape, suggest

TOKEN = re.compile(r"\s+|[&|!~()]|\$?[^\s&|!~()]+")
OPERATORS = frozenset("&|!~()")
TRUTHS = {"0": "0", "1": "1", "true": "1", "false": "0", "$true": "1", "$false": "0"}


def find_words(text: str) -> list[str]:
    """List the names of a formula, as often as they stand there.

    >>> find_words("CycA & !(p27 | CycA)")
    ['CycA', 'p27', 'CycA']
    """
    return [word for word in TOKEN.findall(text) if not word.isspace() and word not in OPERATORS and word not in TRUTHS]


def read_formula(text: str, names: Mapping[str, str], line: int, column: int = 1) -> Expression:
    """Read a formula, with `names` of model text in place of its own; it begins at this column."""
    parts: list[str] = []
    before = ""
    for match in TOKEN.finditer(text):
        word = match[0]
        if word not in OPERATORS and not word.isspace() and before and (before not in OPERATORS or before == ")"):
            wrong = f"expected an operator, such as & or |, before '{escape(word[:60])}'"
            raise ParseError(wrong, line=line, column=column + match.start(), source=text)
        before = before if word.isspace() else word
        if word.isspace() or word in OPERATORS:
            parts.append(word)
        elif word in names:
            parts.append(f" {names[word]} ")
        elif word in TRUTHS:
            parts.append(TRUTHS[word])
        else:
            wrong = f"unknown name '{escape(word[:60])}'{suggest(word, list(names))}"
            raise ParseError(wrong, line=line, column=column + match.start(), source=text)
    try:
        return parse_formula("".join(parts))
    except ParseError as error:
        raise ParseError(error.reason, line=line, column=column, source=text) from None


def write_formula(node: Expression, *, negation: str, false: str, true: str, level: int = 0) -> str:
    """Write a Boolean form with & and |.

    >>> from actcause.core.text import parse_formula
    >>> write_formula(parse_formula("not A and (B or C)"), negation="!", false="0", true="1")
    '!A & (B | C)'
    """
    words = {"negation": negation, "false": false, "true": true}
    match node:
        case Name(name):
            return name
        case Number(number):
            return true if number else false
        case Not(operand):
            return negation + write_formula(operand, level=2, **words)
        case And(operands):
            shown = " & ".join(write_formula(operand, level=2, **words) for operand in operands)
            return f"({shown})" if level > 1 else shown
        case Or(operands):
            shown = " | ".join(write_formula(operand, level=1, **words) for operand in operands)
            return f"({shown})" if level > 0 else shown
        case _:
            raise AssertionError(f"unreachable: {node} is no Boolean form")
