"""What commands print: one JSON document on stdout, one line of notes on stderr; and how they end."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def print_json(document: Any) -> None:
    """Print one document; integers of any length are written out."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # the number of minimal pairs can have a hundred thousand digits
    try:
        print(json.dumps(document))
    finally:
        sys.set_int_max_str_digits(limit)


def print_note(message: object) -> None:
    """Print one line on stderr."""
    print(f"actcause: {' '.join(str(message).split())}", file=sys.stderr)


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """Turn a request to terminate into an exit, so that nothing half-written is left behind."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
