"""What a command has found so far, in a hidden file beside its output, so that the command can be resumed.

Each finding is a line, added as soon as it is there. A process that is killed may leave a half-written last line, which
is dropped.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import QueryError
from .atomic import reason


class Journal:
    """A mapping from keys without spaces to texts of one line; the texts stay in the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Journal(Path(folder, "answers")) as journal:
    ...         journal.add("first", "yes")
    ...     with Journal(Path(folder, "answers")) as journal:
    ...         "first" in journal, journal["first"], "second" in journal
    (True, 'yes', False)
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        target = Path(os.path.realpath(output))
        self._path = target.with_name(f".{target.name[:200]}.journal")
        self._places: dict[bytes, tuple[int, int]] = {}  # where a text begins and how long it is, by key

    def __enter__(self) -> Self:
        try:
            self._file = open(self._path, "a+b", buffering=0)
            self._end = self._read()
            self._file.truncate(self._end)
        except OSError as refused:
            raise QueryError(f"Cannot write {self._output}: {reason(refused)}.") from refused
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if not self._places:
            self.remove()

    def __contains__(self, key: str) -> bool:
        return key.encode() in self._places

    def __getitem__(self, key: str) -> str:
        begin, length = self._places[key.encode()]
        self._file.seek(begin)
        return self._file.read(length).decode()

    def add(self, key: str, text: str) -> None:
        """Keep a text; raise an `OSError` if the disk takes no more."""
        line = f"{key} {text}\n".encode()
        written = self._file.write(line)
        if written != len(line):
            self._file.write(line[written:])  # raises, and so says why the disk took no more
        self._note(line)

    def remove(self) -> None:
        """Forget all of it, once the output is there."""
        self._places.clear()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _read(self) -> int:
        """Find the texts that are there, and where the last whole line ends."""
        self._end = 0
        with open(self._path, "rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._note(line)
        return self._end

    def _note(self, line: bytes) -> None:
        key, _, text = line.rstrip(b"\n").partition(b" ")
        self._places[key] = self._end + len(key) + 1, len(text)
        self._end += len(line)
