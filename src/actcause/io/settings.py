"""Settings as people write them: NAME=VALUE."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import QueryError


def parse_setting(text: str, such_as: str, others: Mapping[str, str]) -> tuple[str, Any]:
    """Split a name from its value, which is JSON (`3`, `0.5`, `true`, `[30, 50]`) or else text.

    `others` are names that have an option of their own.

    >>> parse_setting("sizes=[30, 50]", "steps=6000", {})
    ('sizes', (30, 50))
    """
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier() or name in others:
        elsewhere = f" ({name} has {others[name]})" if name in others else ""
        wrong = "{parameter} takes a name and its value, such as {such_as}{elsewhere}. Got '{got}'."
        raise QueryError(wrong, parameter="set", such_as=such_as, elsewhere=elsewhere, got=text)
    try:
        value = json.loads(written)
    except json.JSONDecodeError:
        value = written
    return name, as_tuples(value)


def as_tuples(value: Any) -> Any:
    """Turn lists, which is what a file holds, into the tuples that a frozen value wants."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
