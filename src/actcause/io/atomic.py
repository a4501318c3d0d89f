"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import QueryError


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
