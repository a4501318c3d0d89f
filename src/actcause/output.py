"""What commands print and write: JSON on stdout, one line of notes on stderr, whole files; and how they end."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from .errors import QueryError


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
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that gets its name when it is complete; if that fails, what was there before stays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"all of it")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.partial")
    try:
        with ended_cleanly():
            with open(partial, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, target)
    except OSError as refused:
        raise QueryError(f"{path} cannot be written: {refused.strerror or refused}.") from refused
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


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
