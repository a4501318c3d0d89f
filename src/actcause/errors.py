"""The errors a user can meet: one base class, one sentence each.

Every message says what was expected, what came, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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
        self.source = source if len(source) <= 200 else source[:200] + "…"
        super().__init__(f"line {line}, column {column}: {message}")


class QueryError(ActCauseError):
    """A question that cannot be asked of this model."""


class MissingExtraError(ActCauseError, ImportError):
    """An optional dependency that is not installed; the message holds the exact install line."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'actcause[{extra}]'")


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``'; did you mean 'SH'?'`` when a known name is near, else an empty string."""
    candidates = known if isinstance(known, (list, tuple)) else list(known)
    if len(candidates) > 5_000 or len(name) > 100:
        return ""
    near = get_close_matches(name, candidates, n=1, cutoff=0.5)
    if not near:
        near = [known_name for known_name in candidates if known_name.lower() == name.lower()][:1]
    return f"; did you mean '{near[0]}'?" if near else ""
