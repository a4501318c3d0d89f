"""Model text, line by line: what it declares, with comments cut off and continued lines joined.

Untrusted text is safe to read: `parser.py` bounds the formulas of a line, this module the whole text.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from ..errors import ParseError, suggest
from .parser import Declaration, Parser, Shared
from .steps import PRIME, hint_name

MAX_CHARACTERS = 64_000_000
MAX_VARIABLES = 2_000_000

COMMENT_OR_LABEL = re.compile(r'#|"[^"]*"?')


def check_size(text: str) -> None:
    """Refuse text that is too long to be read."""
    if len(text) > MAX_CHARACTERS:
        wrong = f"the text has {len(text)} characters; at most {MAX_CHARACTERS} are read"
        raise ParseError(wrong, line=1, column=1, source="")


@contextmanager
def guard_stack() -> Iterator[None]:
    """Refuse text, which is read by recursion, if the caller has left no room on Python's stack."""
    try:
        yield
    except RecursionError:
        wrong = "too little of Python's stack is left to read this text; call the parser from fewer nested calls"
        raise ParseError(wrong, line=1, column=1, source="") from None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, comments cut off and continuations joined."""
    pending: list[str] = []
    start = 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = _cut_comment(raw) if "#" in raw else raw
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


def _cut_comment(line: str) -> str:
    for match in COMMENT_OR_LABEL.finditer(line):
        if match[0] == "#":
            return line[: match.start()]
    return line


def parse_declarations(text: str) -> list[Declaration]:
    r"""Read the lines of model text; `Model.from_text` makes a model of them.

    >>> [declaration.name for declaration in parse_declarations("ST\nBT\nBS = ST or BT")]
    ['ST', 'BT', 'BS']
    """
    check_size(text)
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


def locate_declarations(text: str) -> dict[str, int]:
    r"""Return the line in which each variable of model text is declared; the text has been read before.

    >>> locate_declarations("ST  # Suzy\n\nBS = ST")
    {'ST': 1, 'BS': 3}
    """
    lines = _logical_lines(text.removeprefix("\ufeff"))
    return {Parser(line, number).declaration().name: number for number, line in lines if line and not line.isspace()}


def _fail_unknown(declarations: dict[str, Declaration], places: dict[str, tuple[int, str]]) -> NoReturn:
    """Report the first name that is used and never declared."""
    for name, declaration in declarations.items():
        if declaration.expression is not None:
            for used in declaration.expression.names():
                if used not in declarations:
                    number, line = places[name]
                    parser = Parser(line, number)
                    begin = parser.tokens.index("=") + 1
                    in_time = used + PRIME in declarations
                    hint = hint_name(used, declarations) if in_time else suggest(used, declarations)
                    parser.fail(f"unknown variable '{used}'{hint}", parser.tokens.index(used, begin))
    raise AssertionError("unreachable: called only when a name is unknown")
