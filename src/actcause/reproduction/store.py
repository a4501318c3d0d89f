"""Results in files of JSON lines, one file for each experiment and size; lines are added and never changed.

Making a piece again adds a line. Several processes may write at once. One that is killed loses at most the line that
it was writing; a disk that is full keeps what is there. The journal of `io` would not do: it has one writer, and goes
once the output is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from .experiment import Record, ReproduceError

FOLDERS = {"full": "", "small": "small", "quick": "quick", "tiny": "tiny"}


@dataclass(frozen=True)
class Store:
    """A folder of results, `EXPERIMENT.jsonl`."""

    folder: Path

    @classmethod
    def of(cls, results: Path, size: str) -> Store:
        """Find the results of a size: the full ones lie in the folder itself."""
        return cls(results / FOLDERS[size])

    def path(self, experiment: str) -> Path:
        return self.folder / f"{experiment}.jsonl"

    def read(self, experiment: str) -> list[Record]:
        """Read all results of an experiment, the oldest first."""
        path = self.path(experiment)
        try:
            records = list(read_records(path))
        except FileNotFoundError:
            return []
        for record in records:
            if record.experiment != experiment:
                raise ReproduceError(f"{path} holds a result of {record.experiment}; move that line to its own file.")
        return records

    def append(self, experiment: str, records: Iterable[Record]) -> None:
        """Add results of an experiment, all of them or none."""
        append_lines(self.path(experiment), [record.to_json() for record in records])


def read_records(path: Path) -> Iterator[Record]:
    """Read a file of results, each checked."""
    for number, given in read_lines(path):
        try:
            yield Record.from_json(given)
        except ReproduceError as wrong:
            raise ReproduceError(f"Line {number} of {path} is not a result: {wrong}") from None


# -- JSON lines --------------------------------------------------------------------------------------


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Read JSON lines with their numbers; a last line that was cut off is left out."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as wrong:
        raise ReproduceError(f"{path} cannot be read as text: {wrong}.") from None
    for number, line in enumerate(lines, start=1):
        if line:
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as wrong:
                if number < len(lines):
                    raise ReproduceError(f"Line {number} of {path} is not JSON ({wrong}); delete that line.") from None


def append_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Add JSON lines, all of them or none; a line that a killed process left unfinished is dropped first."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("a+b", buffering=0) as file:
            _lock(file)
            end = _end_last_line(file)
            try:
                written = file.write(text)
                if written < len(text):
                    file.write(text[written:])  # says why it was cut
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise
    except OSError as wrong:  # a disk that is full says so without a name
        raise OSError(wrong.errno, wrong.strerror, str(path)) from None


def _lock(file: FileIO) -> None:
    """Wait until nobody else writes to the file; closing it lets the next one go on."""
    try:
        import fcntl
    except ModuleNotFoundError:  # a system without such locks: one command at a time may write
        return
    fcntl.flock(file, fcntl.LOCK_EX)


def _end_last_line(file: FileIO) -> int:
    """End the file with a whole line, and say where; half a line has no writer any more, since the lock is ours."""
    file.seek(0)
    content = file.read()
    end = content.rfind(b"\n") + 1
    if end == len(content):
        return end
    try:
        json.loads(content[end:])
    except ValueError:
        return file.truncate(end)
    return len(content) + (file.write(b"\n") or 0)
