"""What goes wrong with data."""

from __future__ import annotations

from ..errors import ActCauseError


class DataError(ActCauseError):
    """Data that cannot be built, read or written; the message says where and what to do."""
