"""Which files are read, and where the predictions of each go: the same name below the output folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from ...errors import ActCauseError

EVERYTHING = os.path.join("**", "*.parquet")  # of a folder
SUFFIXES = (".parquet", ".pq")


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
