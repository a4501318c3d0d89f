"""Model text, formulas and events: what is read, line by line, into declarations and expressions.

Untrusted text is safe to read: `parser.py` bounds the formulas of a line, this module the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from ..errors import ParseError, suggest
from .expression import Expression
from .parser import END, TRUTH_VALUES, Declaration, Parser, Shared
from .parser import MAX_BRANCHES as MAX_BRANCHES  # the bounds are documented as those of model text
from .parser import MAX_DEPTH as MAX_DEPTH
from .parser import MAX_DIGITS as MAX_DIGITS
from .parser import MAX_NAME as MAX_NAME
from .parser import MAX_RANGE_TOTAL as MAX_RANGE_TOTAL
from .ranges import MAX_RANGE as MAX_RANGE

MAX_CHARACTERS = 64_000_000
MAX_VARIABLES = 2_000_000

COMMENT_OR_LABEL = re.compile(r'#|"[^"]*"?')


def _check_size(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise ParseError(
            f"the text has {len(text)} characters; at most {MAX_CHARACTERS} are read", line=1, column=1, source=""
        )


@contextmanager
def guard_stack() -> Iterator[None]:
    """Refuse text, which is read by recursion, if the caller has left no room on Python's stack."""
    try:
        yield
    except RecursionError:
        raise ParseError(
            "too little of Python's stack is left to read this text; call the parser from fewer nested calls",
            line=1,
            column=1,
            source="",
        ) from None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, comments cut off and continuations joined."""
    pending: list[str] = []
    start = 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = _without_comment(raw) if "#" in raw else raw
        if not pending:
            start = number
        bare = line.rstrip()
        if bare.endswith("\\"):
            pending.append(bare[:-1])
            continue
        yield start, "\n".join([*pending, line]) if pending else line
        pending.clear()
    if pending:
        yield start, "\n".join(pending)


def _without_comment(line: str) -> str:
    for match in COMMENT_OR_LABEL.finditer(line):
        if match[0] == "#":
            return line[: match.start()]
    return line


def parse_declarations(text: str) -> list[Declaration]:
    r"""Read the lines of model text; `Model.from_text` makes a model of them.

    >>> [declaration.name for declaration in parse_declarations("ST\nBT\nBS = ST or BT")]
    ['ST', 'BT', 'BS']
    """
    _check_size(text)
    return list(_declarations(text.removeprefix("\ufeff")).values())


def _declarations(text: str) -> dict[str, Declaration]:
    declarations: dict[str, Declaration] = {}
    places: dict[str, tuple[int, str]] = {}
    shared = Shared()
    for number, line in _logical_lines(text):
        if not line or line.isspace():
            continue
        parser = Parser(line, number, shared)
        declaration = parser.declaration()
        name = declaration.name
        if name in declarations:
            parser.fail(f"{name} is declared twice, first in line {places[name][0]}", 1 if declaration.exogenous else 0)
        if len(declarations) >= MAX_VARIABLES:
            parser.fail(f"more than {MAX_VARIABLES} variables", 0)
        declarations[name] = declaration
        places[name] = (number, line)
    if not shared.literals.keys() <= declarations.keys():
        _fail_unknown(declarations, places)
    return declarations


def _fail_unknown(declarations: dict[str, Declaration], places: dict[str, tuple[int, str]]) -> NoReturn:
    """Report the first name that is used and never declared."""
    for name, declaration in declarations.items():
        if declaration.expression is not None:
            for used in declaration.expression.names():
                if used not in declarations:
                    number, line = places[name]
                    parser = Parser(line, number)
                    begin = parser.tokens.index("=") + 1
                    hint = suggest(used, declarations)
                    parser.fail(f"unknown variable '{used}'{hint}", parser.tokens.index(used, begin))
    raise AssertionError("unreachable: called only when a name is unknown")


def parse_formula(text: str, names: Mapping[str, object] | None = None) -> Expression:
    """Read an effect such as ``BS == 1`` or ``not BS and X == 2``; check its names if `names` is given.

    >>> str(parse_formula("!BS & X == 2"))
    'not BS and X == 2'
    """
    _check_size(text)
    parser = Parser(text, 1)
    if parser.tokens[0] == END:
        parser.fail("the formula is empty; write one such as 'BS == 1'")
    with guard_stack():
        expression = parser.whole_formula()
    parser.end("an operator or the end of the formula")
    if names is not None:
        for used in expression.names():
            if used not in names:
                parser.fail(f"unknown variable '{used}'{suggest(used, list(names))}", parser.tokens.index(used))
    return expression


def parse_event(text: str, names: Mapping[str, object] | None = None) -> dict[str, int]:
    """Read an event or a context: assignments joined by commas (or `and`), ``=`` or ``==``.

    >>> parse_event("ST=1, BH=0")
    {'ST': 1, 'BH': 0}
    """
    _check_size(text)
    parser = Parser(text, 1)
    event: dict[str, int] = {}
    while parser.tokens[parser.at] != END:
        at = parser.at
        name = parser.name()
        if names is not None and name not in names:
            parser.fail(f"unknown variable '{name}'{suggest(name, list(names))}", at)
        if name in event:
            parser.fail(f"{name} is set twice", at)
        if parser.tokens[parser.at] not in ("=", "=="):
            parser.fail_expecting(f"'=' after {name}")
        parser.at += 1
        if (token := parser.tokens[parser.at]) in TRUTH_VALUES:
            event[name] = TRUTH_VALUES[token]
            parser.at += 1
        else:
            event[name] = parser.signed_integer()
        if parser.tokens[parser.at] in (",", "and", "&"):
            parser.at += 1
        else:
            parser.end("',' or the end")
    return event
