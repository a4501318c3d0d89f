"""Waiting in tests for what another process does, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120  # seconds after which a condition that does not come is a failure


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as something is the case."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, "what was waited for did not come"
        time.sleep(0.02)
