"""The files that are written: which are finished, where parts lie, how they become one, and what they say."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data import DataError
from ...data.parquet import header, opened
from .errors import AnnotationError
from .files import Job
from .row_groups import MARK, Contents, Mark, Piece, Request, reason
from .splice import splice

VERSION = 1  # of how answers are found and written: files of another version are made again
FOUND, UNSURE = "extra.found.", "extra.unsure"


@dataclass(frozen=True)
class Work:
    """A file to annotate: where it goes, what its metadata will say, and where its parts lie meanwhile."""

    job: Job
    contents: Contents
    mark: Mark

    @classmethod
    def of(cls, job: Job, contents: Contents, request: Request) -> Work:
        return cls(job, contents, (("version", VERSION), *request.mark, ("input", contents.fingerprint)))

    @property
    def target(self) -> Path:
        return Path(os.path.realpath(self.job.target))

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        digest = hashlib.blake2b(json.dumps(self.mark).encode(), digest_size=8).hexdigest()
        return self.target.with_name(f".{self.target.name}.{digest}.parts")

    def pieces(self, request: Request) -> list[Piece]:
        """All of them, those whose parts are there as well."""
        groups: list[tuple[int | None, int]] = [(at, rows) for at, rows in enumerate(self.contents.groups) if rows]
        return [
            Piece(request, self.job.source.absolute(), at, rows, self.folder / f"{at or 0:06}.parquet", self.mark)
            for at, rows in groups or [(None, 0)]
        ]

    def is_finished(self) -> bool:
        """Whether the target is what would be written; leftovers of it and of others are cleared away.

        A target that somebody else wrote is refused, unless it was named as such.
        """
        target = self.target
        there = os.path.exists(target)
        if there and not os.path.isfile(target):
            raise AnnotationError(f"Cannot write {self.job.target}: it exists and is not a file.")
        said = _mark(target) if there else None
        if said is None and there and not self.job.replaces:
            raise AnnotationError(
                f"{self.job.target} is there and is not annotated: move it away, or choose another folder."
            )
        done = said == dict(self.mark)
        pattern = f".{glob.escape(target.name)}.{'?' * 16}.parts"
        for old in target.parent.glob(pattern):
            if done or old != self.folder:
                shutil.rmtree(old, ignore_errors=True)
        return done

    def put_together(self, parts: list[Path]) -> None:
        """Make the parts one file, and move it to its name."""
        whole = self.folder / f"whole.{secrets.token_hex(4)}"
        try:
            with whole.open("wb") as file:
                splice(parts, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(whole, self.target)
        except OSError as refused:
            with suppress(OSError):
                whole.unlink()
            raise not_written(self.job.target, reason(refused)) from refused
        shutil.rmtree(self.folder, ignore_errors=True)


def _mark(target: Path) -> Mapping[str, Any] | None:
    """What an annotated file says about where its answers come from."""
    with suppress(DataError):
        found = header(target)
        if found is not None and isinstance(said := found.metadata.get(MARK), dict):
            return said
    return None


def not_written(target: Path, reason: str) -> AnnotationError:
    """The error about a target that could not be written."""
    return AnnotationError(
        f"Cannot write {target}: {reason}; once that is put right the same command goes on where it stopped."
    )


def tally(target: Path) -> Counter[str]:
    """Of an annotated file: its rows ("rows"), how many have each factor as a cause, and how many are unsure."""
    with opened(target) as file:
        columns = [name for name in file.schema_arrow.names if name.startswith(FOUND) or name == UNSURE]
        found = Counter({"rows": file.metadata.num_rows} | dict.fromkeys(columns, 0))
        for batch in file.iter_batches(columns=columns):
            found.update({name: batch.column(name).true_count for name in columns})
    return found
