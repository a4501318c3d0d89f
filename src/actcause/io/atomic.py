"""Files that are written whole or not at all: they get their name when they are complete.

Until then they are hidden files `.NAME.….partial` beside it. Only a process that is killed leaves one behind.
"""

from __future__ import annotations

import glob
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

LONGEST = 200  # characters of a name that the hidden one repeats
MakeError = Callable[[str], Exception]  # from the sentence about a file that cannot be written


@contextmanager
def write_whole(path: str | PathLike[str], error: MakeError | None = None) -> Iterator[BinaryIO]:
    """Open a file to write to, and give it its name at the end; if anything fails, what was there before stays.

    An `OSError` becomes the `error` that is made from a sentence about it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with write_whole(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"all of it")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    with _replace(path, error, suffix="") as partial, open(partial, "w+b") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def write_whole_path(path: str | PathLike[str], error: MakeError | None = None) -> Iterator[Path]:
    """Hand out the path of an empty file to a library that opens files itself; it ends in the suffix of `path`."""
    with _replace(path, error, suffix=Path(path).suffix) as partial:
        partial.touch()  # a folder that cannot be written to is reported by us, better than most libraries do
        yield partial


def write_whole_bytes(path: str | PathLike[str], content: bytes, error: MakeError | None = None) -> None:
    """Write these bytes."""
    with write_whole(path, error) as file:
        file.write(content)


def remove_partials(folder: Path, name: str = "") -> None:
    """Remove what processes that were killed left half-written in a folder, of the file `name` alone if given."""
    of_file = glob.escape(name[:LONGEST]) if name else "*"
    for partial in folder.glob(f".{of_file}.*.partial*"):
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def reason(error: OSError) -> str:
    """Say in a few words why the system refused to write."""
    return (error.strerror or str(error).strip().splitlines()[0]).rstrip(".")


@contextmanager
def exit_on_terminate() -> Iterator[None]:
    """Turn a request to terminate into an exit, so that nothing half-written is left behind."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _replace(path: str | PathLike[str], error: MakeError | None, suffix: str) -> Iterator[Path]:
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.partial{suffix}")
    try:
        yield partial
        os.replace(partial, target)
    except OSError as refused:
        if error is None:
            raise
        raise error(f"Cannot write {path}: {reason(refused)}.") from refused
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
