"""Which files are annotated, and where each of them goes: the same name below the output folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from .errors import AnnotationError

EVERYTHING = os.path.join("**", "*.parquet")  # of a folder
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Job:
    """A file of transitions, and the file that is to hold them with what was found."""

    source: Path
    target: Path
    replaces: bool = False  # whatever is there


def jobs(given: Sequence[str], out: str) -> list[Job]:
    """The files that are named (each a file, a folder or a pattern such as 'data/**/*.parquet') with their targets.

    One file goes to the file `out`, unless that is a folder or ends as one; several go below the folder `out`.
    """
    single = len(given) == 1 and not os.path.isdir(given[0]) and not _is_pattern(given[0])
    if single and not (os.path.isdir(out) or out.endswith(("/", os.sep))):
        return [Job(Path(given[0]), Path(out), replaces=True)]
    folder = Path(out)
    if os.path.exists(out) and not os.path.isdir(out):
        raise AnnotationError(f"{out} is a file, and several files are written to a folder: choose another name.")
    found = [job for each in given for job in _found(each, folder)]
    _check_apart(found, folder)
    return found


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not os.path.exists(text)


def _found(given: str, folder: Path) -> Iterator[Job]:
    """The jobs of one argument, in the order of their names."""
    whole = os.path.isdir(given)
    if not whole and not _is_pattern(given):
        yield Job(Path(given), folder / _parquet(Path(given).name))
        return
    pattern = os.path.join(glob.escape(given), EVERYTHING) if whole else given
    base = Path(given) if whole else _base(given)
    _check_outside(folder, base, recursive="**" in pattern)
    names = sorted(path for path in glob.iglob(pattern, recursive=True) if os.path.isfile(path))
    if not names:
        raise AnnotationError(f"No file matches '{given}': give a file, a folder with Parquet files, or a pattern.")
    for name in names:
        yield Job(Path(name), folder / _parquet(os.path.relpath(name, base)))


def _base(pattern: str) -> Path:
    """The folder below which a pattern begins to vary.

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
        raise AnnotationError(
            f"The output folder {folder} lies inside the input, {base}: what is written there would be read the next "
            "time; choose a folder outside."
        )


def _check_apart(found: Sequence[Job], folder: Path) -> None:
    """Refuse two files for one name, and targets that are sources."""
    sources = {job.source.resolve() for job in found}
    taken: dict[Path, Path] = {}
    for job in found:
        if job.target in taken:
            raise AnnotationError(
                f"{taken[job.target]} and {job.source} would both be written to {job.target}: annotate them apart."
            )
        taken[job.target] = job.source
        if job.target.resolve() in sources:
            raise AnnotationError(
                f"{job.target} is itself one of the files to read: choose another folder than {folder}."
            )
