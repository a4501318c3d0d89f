"""What goes wrong when files are annotated: one class."""

from __future__ import annotations

from ...errors import ActCauseError


class AnnotationError(ActCauseError):
    """Files that cannot be found, told apart, or written."""
