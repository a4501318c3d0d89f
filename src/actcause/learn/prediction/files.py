"""Which files are read, and what each becomes: where it goes, whether it is finished, how its parts are joined.

A file goes to the same name below the output folder. Its parts lie in a hidden folder whose name holds a digest of what
the answers come from. A journal would not do here: a row group is megabytes of columns, which workers write themselves
and no other process has to hold.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...data import DataError
from ...data.parquet import open_parquet, read_header
from ...data.writer import join_files
from ...errors import ActCauseError
from ...io.atomic import reason, remove_partials, write_whole
from .row_groups import ORIGIN, FileContents, GroupTask, Origin, PredictionSettings

EVERYTHING = os.path.join("**", "*.parquet")  # of a folder
SUFFIXES = (".parquet", ".pq")
VERSION = 1  # of how answers are computed and written: files of another version are made again
FOUND, UNSURE = "extra.found.", "extra.unsure"


class PredictionError(ActCauseError):
    """Files that cannot be found, told apart, or written."""


@dataclass(frozen=True)
class FilePair:
    """A file of transitions, and the file that is to hold them with their predictions."""

    source: Path
    target: Path
    replaces: bool = False  # whatever is there


def pair_files(given: Sequence[str], out: str) -> list[FilePair]:
    """List the files that are named, each with its target.

    A name is a file, a folder or a pattern such as 'data/**/*.parquet'. One file goes to the file `out`,
    unless that is a folder or ends as one; several go below the folder `out`.
    """
    single = len(given) == 1 and not os.path.isdir(given[0]) and not _is_pattern(given[0])
    if single and not (os.path.isdir(out) or out.endswith(("/", os.sep))):
        return [FilePair(Path(given[0]), Path(out), replaces=True)]
    folder = Path(out)
    if os.path.exists(out) and not os.path.isdir(out):
        raise PredictionError(f"{out} is a file, and several files are written to a folder: choose another name.")
    pairs = [pair for each in given for pair in _pair(each, folder)]
    _check_apart(pairs, folder)
    return pairs


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not os.path.exists(text)


def _pair(given: str, folder: Path) -> Iterator[FilePair]:
    """List the pairs of one argument, in the order of their names."""
    whole = os.path.isdir(given)
    if not whole and not _is_pattern(given):
        yield FilePair(Path(given), folder / _parquet(Path(given).name))
        return
    pattern = os.path.join(glob.escape(given), EVERYTHING) if whole else given
    base = Path(given) if whole else _base(given)
    _check_outside(folder, base, recursive="**" in pattern)
    names = sorted(path for path in glob.iglob(pattern, recursive=True) if os.path.isfile(path))
    if not names:
        raise PredictionError(f"No file matches '{given}': give a file, a folder with Parquet files, or a pattern.")
    for name in names:
        yield FilePair(Path(name), folder / _parquet(os.path.relpath(name, base)))


def _base(pattern: str) -> Path:
    """Find the folder below which a pattern begins to vary.

    >>> _base("data/2024-*/part*.parquet").as_posix()
    'data'
    """
    return Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts[:-1]))


def _parquet(name: str) -> str:
    path = Path(name)
    return str(path if path.suffix.lower() in SUFFIXES else path.with_suffix(SUFFIXES[0]))


def _check_outside(folder: Path, base: Path, *, recursive: bool) -> None:
    """Refuse a folder whose files would be read the next time."""
    outer, inner = base.resolve(), folder.resolve()
    if inner == outer or (recursive and outer in inner.parents):
        raise PredictionError(
            f"The output folder {folder} lies inside the input, {base}: what is written there would be read the next "
            "time; choose a folder outside."
        )


def _check_apart(pairs: Sequence[FilePair], folder: Path) -> None:
    """Refuse two files for one name, and targets that are sources."""
    sources = {pair.source.resolve() for pair in pairs}
    taken: dict[Path, Path] = {}
    for pair in pairs:
        if pair.target in taken:
            raise PredictionError(
                f"{taken[pair.target]} and {pair.source} would both be written to {pair.target}: predict them apart."
            )
        taken[pair.target] = pair.source
        if pair.target.resolve() in sources:
            raise PredictionError(
                f"{pair.target} is itself one of the files to read: choose another folder than {folder}."
            )


# -- what each becomes -------------------------------------------------------------------------------


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
        """List all of them, also those whose parts are there."""
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
