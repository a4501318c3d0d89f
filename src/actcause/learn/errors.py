"""What can go wrong when learning, one sentence each, with what to try."""

from __future__ import annotations

from ..errors import ActCauseError


class LearnError(ActCauseError):
    """Data, options or a device that nothing can be learned with."""


class RunError(LearnError):
    """A saved run that cannot be read, or does not fit what it is asked about."""
