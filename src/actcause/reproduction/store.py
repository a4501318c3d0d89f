"""Results in a folder: one JSON file for each piece, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from secrets import token_hex
from typing import Any

from .experiment import Experiment, Record, ReproduceError, as_fields, piece_key

FOLDERS = {"full": "", "small": "small", "quick": "quick", "tiny": "tiny"}


class State(Enum):
    """Whether a piece's result is there, for this code and these settings."""

    DONE = "done"
    STALE = "stale"
    MISSING = "missing"


@dataclass(frozen=True)
class Store:
    """A folder of results, `EXPERIMENT/PIECE.json`."""

    folder: Path

    @classmethod
    def of(cls, results: Path, size: str) -> Store:
        """The results of a size: the full ones lie in the folder itself."""
        return cls(results / FOLDERS[size])

    def path(self, experiment: str, piece: Any) -> Path:
        return self.folder / experiment / f"{piece_key(piece)}.json"

    def read(self, experiment: str, piece: Any) -> Record | None:
        """The piece's result; None where there is none. A file that is no result is an error."""
        path = self.path(experiment, piece)
        try:
            record = Record.of(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (json.JSONDecodeError, UnicodeDecodeError, ReproduceError) as wrong:
            raise ReproduceError(f"{path} is not a result ({wrong}); delete it to have it made again.") from None
        if record.experiment != experiment or plain(record.piece) != plain(as_fields(piece)):
            raise ReproduceError(f"{path} holds the result of another piece; delete it to have it made again.")
        return record

    def write(self, record: Record) -> Path:
        """Write a result; whoever reads sees the old one or the new one."""
        path = self.path(record.experiment, record.piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"
        part = path.with_name(f".{path.name}.{token_hex(4)}.part")
        try:
            with part.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as wrong:  # a disk that is full says so without a name
            with suppress(OSError):
                part.unlink()
            raise OSError(wrong.errno, wrong.strerror, str(path)) from None
        return path

    def state(self, experiment: Experiment, arguments: Any, piece: Any, code: str) -> State:
        record = self.read(experiment.name, piece)
        if record is None:
            return State.MISSING
        same = plain(record.settings) == plain(experiment.settings(piece, arguments)) and record.code == code
        return State.DONE if same else State.STALE

    def matching(self, experiment: Experiment, arguments: Any) -> tuple[Record, ...]:
        """The results of all pieces for these settings, whatever the code was."""
        found = []
        for piece in experiment.pieces(arguments):
            record = self.read(experiment.name, piece)
            if record is not None and plain(record.settings) == plain(experiment.settings(piece, arguments)):
                found.append(record)
        return tuple(found)


def plain(value: Any) -> Any:
    """A value as it comes back from JSON, so that tuples equal lists."""
    return json.loads(json.dumps(value))


# -- one file for many -------------------------------------------------------------------------------


def append(archive: Path, records: Sequence[Record]) -> None:
    """Add results to a file of JSON lines."""
    with archive.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in records)


def read_archive(archive: Path) -> Iterator[Record]:
    """The results of a file of JSON lines, each checked; a last line that was cut off is left out."""
    try:
        text = archive.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise ReproduceError(f"{archive} cannot be read as text: {wrong}.") from None
    lines = text.split("\n")
    if lines[-1] and not _is_json(lines[-1]):
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if line:
            try:
                yield Record.of(json.loads(line))
            except (json.JSONDecodeError, ReproduceError) as wrong:
                raise ReproduceError(f"Line {number} of {archive} is not a result: {wrong}") from None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), Mapping)
    except json.JSONDecodeError:
        return False
