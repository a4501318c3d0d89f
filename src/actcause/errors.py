"""The errors a user can meet: one base class, one sentence each.

Every message says what was expected, what came, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# Characters compared (the name's length times that of all candidates) to find a near name.
SUGGESTION_BUDGET = 2_000_000


class ActCauseError(ValueError):
    """Base class of every error that a user's input can raise."""


class ModelError(ActCauseError):
    """A model that cannot be built or evaluated: a cycle, a missing value, a value outside its range."""


class ParseError(ModelError):
    """Text that is not a model, a formula or an event.

    `line` and `column` count from 1; `source` is the offending line.
    """

    def __init__(self, message: str, *, line: int, column: int, source: str) -> None:
        self.reason = message
        self.line = line
        self.column = column
        self.source = printable(source if len(source) <= 200 else source[:200] + "…")
        super().__init__(f"line {line}, column {column}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_parse_error, (self.reason, self.line, self.column, self.source))


def _parse_error(message: str, line: int, column: int, source: str) -> ParseError:
    return ParseError(message, line=line, column=column, source=source)


class QueryError(ActCauseError):
    """A question that cannot be asked of this model."""


class TooLargeError(QueryError):
    """A question whose answer would take more memory than it may."""


class MissingExtraError(ActCauseError, ImportError):
    """An optional dependency that is not installed; the message holds the exact install line."""

    def __init__(self, what: str, extra: str) -> None:
        self.what = what
        self.extra = extra
        super().__init__(f"{what} needs an extra that is not installed: pip install 'actcause[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return (MissingExtraError, (self.what, self.extra))


def printable(text: str) -> str:
    r"""`text` with what no terminal can print (lone surrogates, control characters) as escapes.

    >>> printable("a\x00")
    'a\\x00'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\t\n" else c.encode("unicode_escape").decode() for c in text)


def shown(value: object) -> str:
    """How a message shows a value that came from outside: its `repr`, however large it is.

    >>> shown(1.5), shown(10**100)[-5:]
    ('1.5', '0000…')
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print an integer of more than 4,300 digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``'; did you mean 'SH'?'`` when a known name is near, else an empty string."""
    # A name that is three times as long is never near.
    candidates = [candidate for candidate in known if len(candidate) <= 3 * len(name)]
    if len(name) * sum(map(len, candidates)) > SUGGESTION_BUDGET:
        return ""
    near = [candidate for candidate in candidates if candidate.lower() == name.lower()][:1]
    if not near:
        near = get_close_matches(name, candidates, n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""
