"""A file that is written: whether it is finished, where its parts lie, how they become one, and what it says.

Parts lie in a hidden folder whose name holds a digest of what the answers come from. A journal would not do here: a
row group is megabytes of columns, which workers write themselves and no other process has to hold.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data import DataError
from ...data.parquet import open_parquet, read_header
from ...data.writer import join_files
from ...io.atomic import reason, remove_partials, write_whole
from .files import FilePair, PredictionError
from .row_groups import ORIGIN, FileContents, GroupTask, Origin, PredictionSettings

VERSION = 1  # of how answers are computed and written: files of another version are made again
FOUND, UNSURE = "extra.found.", "extra.unsure"


@dataclass(frozen=True)
class Target:
    """Where the predictions of a file go, what its metadata will say, and where its parts lie meanwhile."""

    pair: FilePair
    contents: FileContents
    origin: Origin

    @classmethod
    def of(cls, pair: FilePair, contents: FileContents, settings: PredictionSettings) -> Target:
        return cls(pair, contents, (("version", VERSION), *settings.origin, ("input", contents.fingerprint)))

    @property
    def path(self) -> Path:
        return Path(os.path.realpath(self.pair.target))

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        digest = hashlib.blake2b(json.dumps(self.origin).encode(), digest_size=8).hexdigest()
        return self.path.with_name(f".{self.path.name}.{digest}.parts")

    def tasks(self, settings: PredictionSettings) -> list[GroupTask]:
        """All of them, also those whose parts are there."""
        groups: list[tuple[int | None, int]] = [(at, rows) for at, rows in enumerate(self.contents.groups) if rows]
        source = self.pair.source.absolute()
        return [
            GroupTask(settings, source, at, rows, self.folder / f"{at or 0:06}.parquet", self.origin)
            for at, rows in groups or [(None, 0)]
        ]

    def is_finished(self) -> bool:
        """Tell whether the file is what would be written, and clear away what was left of it and of others.

        A file that somebody else wrote is refused, unless it was named as such.
        """
        there = os.path.exists(self.path)
        if there and not os.path.isfile(self.path):
            raise PredictionError(f"Cannot write {self.pair.target}: it exists and is not a file.")
        origin = read_origin(self.path) if there else None
        if origin is None and there and not self.pair.replaces:
            raise PredictionError(
                f"{self.pair.target} is there and holds no predictions: move it away, or choose another folder."
            )
        done = origin == dict(self.origin)
        for old in self.path.parent.glob(f".{glob.escape(self.path.name)}.{'?' * 16}.parts"):
            if done or old != self.folder:
                shutil.rmtree(old, ignore_errors=True)
        remove_partials(self.path.parent, self.path.name)
        return done

    def join(self, parts: Sequence[Path]) -> None:
        """Make the parts one file."""
        try:
            with write_whole(self.path) as file:
                join_files(parts, file)
        except OSError as refused:
            raise self.refusal(reason(refused)) from refused
        shutil.rmtree(self.folder, ignore_errors=True)

    def refusal(self, reason: str) -> PredictionError:
        """Make the error about a file that could not be written."""
        return PredictionError(
            f"Cannot write {self.pair.target}: {reason}; once that is put right the same command goes on where it "
            "stopped."
        )


def read_origin(path: Path) -> Mapping[str, Any] | None:
    """Read what the answers in a file come from; None where it holds none."""
    with suppress(DataError):
        found = read_header(path)
        if found is not None and isinstance(origin := found.metadata.get(ORIGIN), dict):
            return origin
    return None


def count_causes(path: Path) -> Counter[str]:
    """Count a file's rows ("rows"), those that have each factor as a cause, and those that are unsure."""
    with open_parquet(path) as file:
        columns = [name for name in file.schema_arrow.names if name.startswith(FOUND) or name == UNSURE]
        counts = Counter({"rows": file.metadata.num_rows} | dict.fromkeys(columns, 0))
        for batch in file.iter_batches(columns=columns):
            counts.update({name: batch.column(name).true_count for name in columns})
    return counts
