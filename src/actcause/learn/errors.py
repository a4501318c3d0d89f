"""What can go wrong when learning, one sentence each, with what to try."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import ActCauseError, MissingExtraError


class LearnError(ActCauseError):
    """Data, options or a device that nothing can be learned with."""


class RunError(LearnError):
    """A saved run that cannot be read, or does not fit what it is asked about."""


def optional(module: str, what: str) -> Any:
    """Import an optional dependency of the extra `learn`, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingExtraError(what, "learn") from missing
