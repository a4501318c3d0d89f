"""What goes wrong with data: one class, and how a missing extra is reported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import ActCauseError, MissingExtraError


class DataError(ActCauseError):
    """Data that cannot be built, read or written; the message says where and what to do."""


def optional(module: str, what: str, extra: str = "data") -> Any:
    """A module that only an extra brings, imported where it is used.

    >>> optional("no_such_module", "Reading dreams")
    Traceback (most recent call last):
    ...
    actcause.errors.MissingExtraError: Reading dreams needs an extra that is not installed: pip install 'actcause[data]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtraError(what, extra) from missing
