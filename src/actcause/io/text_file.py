"""Text files that users name, read whole and bounded; every failure is one sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..errors import ActCauseError, QueryError

# Model text may have 64 million characters of at most four bytes; the parser counts characters itself.
MAX_BYTES = 4 * 64_000_000


def read_text(name: str, *, what: str = "a file of model text", missing: str = "") -> str:
    """Read the text of a file, or of standard input where its name is '-'.

    Messages say `what` is expected; `missing` is the sentence for a file that is not there.
    """
    if name == "-":
        return _decode("standard input", _read_input(what))
    return _decode(name, _read_file(name, what, missing))


def _read_input(what: str) -> bytes:
    if sys.stdin is None:  # what Python makes of an input that was closed by the shell
        raise QueryError(f"standard input is closed; give {what} instead of -.")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def _read_file(name: str, what: str, missing: str) -> bytes:
    try:
        if Path(name).is_dir():
            raise QueryError(f"'{name}' is a directory; give {what}.")
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            return file.read(MAX_BYTES + 1) if size <= MAX_BYTES else bytes(MAX_BYTES + 1)
    except FileNotFoundError:
        raise QueryError(missing or f"There is no file '{name}'; give {what}.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ActCauseError):
            raise
        raise QueryError(f"'{name}' cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _decode(shown: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise QueryError(f"{shown} is larger than {MAX_BYTES:,} bytes, too large for a model.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError(f"{shown} is not UTF-8 text: byte {error.start + 1} does not decode.") from None
