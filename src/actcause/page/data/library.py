"""The recordings and runs that the server knows: files in one folder, folders in another, looked up by name.

A name that comes from a browser is compared with the names that are there and is never joined to a path. New files
and folders get names that are made here, from letters, digits and dashes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.roles import SIDECAR as SIDECAR
from ...data.roles import find_mapping as find_mapping
from ...errors import ActCauseError, QueryError
from ..server.services import Refused
from ..server.settings import GIB

if TYPE_CHECKING:
    from ...data import Transitions
    from ...data.layout import Layout
    from ..server.jobs import JobFunction

SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".npz")
SUMMARY, MODEL = "run.json", "model.safetensors"
RUN_PARTS = (SUMMARY, MODEL, "found", "request.json", "scores.json", "history.jsonl", "checkpoint.safetensors")
MOST_LISTED = 200
MOST_NUMBERS = 40_000_000  # of a recording that is held in memory to be looked at
MOST_UNPACKED = 1 << 30  # bytes of a recording that have to be in memory at once to be read
MOST_OF_A_COLUMN = 256 << 20  # of them, in one column: a page of it is unpacked several times over
WIDTHS = {"INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}  # bytes of a value
MOST_BYTES = 4_000_000  # of a JSON file that is read
SCRIPTED = ("break",)  # domains in which a random policy soon ends an episode

SourceFields = Mapping[str, Any]  # {"file": name} or {"domain": name, "draw": 0, "seed": 0, "frames": 2000}


# -- names -----------------------------------------------------------------------------------------


def list_recordings(folder: Path) -> dict[str, Path]:
    """List the recordings of a folder by name, at most so many; links that lead out of it are left out."""
    entries = (entry for entry in _list_entries(folder) if entry.suffix.lower() in SUFFIXES and entry.is_file())
    inside = (entry for entry in entries if not _leads_out(entry, folder))
    return {path.name: path for path, _ in zip(inside, range(MOST_LISTED), strict=False)}


def list_runs(folder: Path) -> dict[str, Path]:
    """List the runs of a folder by name, at most so many; links that lead out of it are left out."""
    entries = (entry for entry in _list_entries(folder) if (entry / SUMMARY).is_file())
    inside = (entry for entry in entries if not any(_leads_out(entry / part, folder) for part in ("", *RUN_PARTS)))
    return {path.name: path for path, _ in zip(inside, range(MOST_LISTED), strict=False)}


def find_recording(folder: Path, name: str) -> Path:
    """Find the recording of this name."""
    return _look_up(list_recordings(folder), name, "recording", folder)


def find_run(folder: Path, name: str) -> Path:
    """Find the run of this name."""
    return _look_up(list_runs(folder), name, "run", folder)


def slugify(wanted: str) -> str:
    """Make a name safe for a file or a folder.

    >>> slugify("../My data (1)")
    'My-data-1'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", wanted)[:60].strip("-") or "unnamed"


def propose_names(wanted: str, suffix: str = "") -> Iterator[str]:
    """Yield the name wanted, and others like it in case it is taken.

    >>> names = propose_names("mine", ".csv")
    >>> next(names), next(names)
    ('mine.csv', 'mine-2.csv')
    """
    yield wanted + suffix
    for number in range(2, 10 * MOST_LISTED):
        yield f"{wanted}-{number}{suffix}"


def delete_recording(folder: Path, name: str) -> None:
    """Delete a recording, and the mapping beside it."""
    path = find_recording(folder, name)
    with _say_refusal("deleted"):
        path.unlink()
        path.with_name(path.name + SIDECAR).unlink(missing_ok=True)


def delete_run(folder: Path, name: str) -> None:
    """Delete a run with everything in its folder."""
    path = find_run(folder, name)
    with _say_refusal("deleted"):
        if path.is_symlink():
            path.unlink()  # to another place in the folder, which stays
        else:
            shutil.rmtree(path)


def rename_recording(folder: Path, name: str, wanted: str) -> str:
    """Give a recording another name, of the same ending, that no other has; return it."""
    path = find_recording(folder, name)
    stem = wanted[: -len(path.suffix)] if wanted.lower().endswith(path.suffix.lower()) else wanted
    target = path.with_name(f"{slugify(stem)}{path.suffix}")
    beside = path.with_name(path.name + SIDECAR)
    _check_free(target)
    with _say_refusal("renamed"):
        path.rename(target)
        if beside.exists():
            beside.rename(target.with_name(target.name + SIDECAR))
    return target.name


def rename_run(folder: Path, name: str, wanted: str) -> str:
    """Give a run another name that no other has; return it."""
    path = find_run(folder, name)
    target = path.with_name(slugify(wanted))
    _check_free(target)
    with _say_refusal("renamed"):
        path.rename(target)
    return target.name


def _check_free(target: Path) -> None:
    if os.path.lexists(target):
        raise Refused(f"There is a '{target.name}' already; choose another name.", status=409)


@contextmanager
def _say_refusal(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(f"It cannot be {what}: {error.strerror or 'no reason given'}.", status=500) from None


def hide_folders(function: JobFunction) -> JobFunction:
    """Let a job's mistakes name files as the page does, not as the server's disk does."""

    @wraps(function)
    def call(payload: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        try:
            return function(payload, report)
        except ActCauseError as wrong:
            message = str(wrong)
            for folder in ("data", "runs"):
                message = message.replace(f"{payload[folder]}{os.sep}", "")
            raise QueryError(message) from wrong

    return call


def _list_entries(folder: Path) -> list[Path]:
    """List what is in a folder, by name; leave out hidden files and names that nothing could show."""
    if not folder.is_dir():
        return []
    names = (entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    return [folder / name for name in sorted(names) if name.isprintable() and len(name) <= 200]


def _leads_out(path: Path, folder: Path) -> bool:
    """Tell whether a path, or the mapping beside it, is a link to somewhere outside of the folder."""
    inside = folder.resolve()
    beside = path.with_name(path.name + SIDECAR)
    return any(inside not in each.resolve().parents for each in (path, beside) if each.is_symlink())


def _look_up(known: Mapping[str, Path], name: str, what: str, folder: Path) -> Path:
    if name in known:
        return known[name]
    if any(entry.name == name and entry.is_symlink() for entry in _list_entries(folder)):
        wrong = f"This {what} is a link that leads out of the server's folder; copy what it leads to there instead."
        raise Refused(wrong, status=403)
    raise Refused(f"There is no {what} of that name; reload the page to see those there are.", status=404)


# -- room ------------------------------------------------------------------------------------------


def measure_room(folder: Path, quota: int) -> int:
    """Measure how many bytes a folder may still take in; refuse it if there is no room left."""
    held = sum(_list_sizes(folder))
    if held >= quota:
        what = f"The folder {folder.name!r} is full: it holds {held / GIB:.1f} GiB of {quota / GIB:g}"
        raise Refused(f"{what}. Delete something, or start the server with a larger --quota.", status=507)
    return quota - held


def _list_sizes(folder: Path) -> Iterator[int]:
    """List the sizes of all files in a folder; links are not followed."""
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(top, name)).st_size


# -- what they hold --------------------------------------------------------------------------------


def check_size(path: Path) -> None:
    """Refuse a recording of which too much has to be unpacked at once, before any of it is."""
    from ...data import DataError
    from ...data.tables import measure_unpacked

    if (unpacked := measure_unpacked(path)) > MOST_UNPACKED:
        raise DataError(
            f"{path} is too large for the page: {unpacked / 2**30:.1f} GiB of it have to be unpacked at once, and "
            f"{MOST_UNPACKED >> 30} GiB is the most. Write it in smaller row groups, or use the command line."
        )
    if (column := _measure_column(path)) > MOST_OF_A_COLUMN:
        raise DataError(
            f"{path} is too large for the page: {column >> 20:,} MiB of one column have to be unpacked at once, and "
            f"{MOST_OF_A_COLUMN >> 20} MiB is the most. Write it in smaller row groups, or use the command line."
        )


def _measure_column(path: Path) -> int:
    """Measure the bytes of the largest column of a row group once it is unpacked; none of a text file.

    What a file says of its sizes need not be so, but as many values as it says are there must be unpacked.
    """
    from ...data.parquet import is_parquet, open_parquet

    if not is_parquet(path):
        return 0
    with open_parquet(path) as file:
        groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
        parts = (group.column(k) for group in groups for k in range(group.num_columns))
        sizes = (max(one.total_uncompressed_size, one.num_values * WIDTHS.get(one.physical_type, 0)) for one in parts)
        return max(sizes, default=0)


def read_json(path: Path) -> dict[str, Any]:
    """Read what a JSON file holds, or nothing if it cannot be understood."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def describe_layout(layout: Layout) -> dict[str, Any]:
    """Describe the names of a recording as a run's summary has them; recordings and runs that agree in these fit."""
    return {
        "factors": list(layout.factors),
        "features": {factor: list(features) for factor, features in layout.features.items()},
        "own": layout.own,
        "outcome_factor": layout.outcome_factor,
        "outcome_features": list(layout.outcome_features),
    }


def list_sources(payload: Mapping[str, Any]) -> dict[str, Any]:
    """List all recordings and domains with their names, so that runs can be matched with them."""
    files = []
    for name, path in list_recordings(Path(payload["data"])).items():
        files.append({"name": name, "bytes": path.stat().st_size, **_describe_recording(path, *_read_times(path))})
    return {"recordings": files, "domains": _list_domains()}


@lru_cache(maxsize=1)
def _list_domains() -> list[dict[str, Any]]:
    from ...data.domains import domain_layout, domain_names, make_domain

    domains = {name: make_domain(name) for name in domain_names()}
    return [
        {"name": name, "title": domain.title, "layout": describe_layout(domain_layout(domain))}
        for name, domain in domains.items()
    ]


@lru_cache(maxsize=2 * MOST_LISTED)
def _describe_recording(source: Path, changed: int, mapped: int | None) -> dict[str, Any]:
    """Describe rows and names of a recording; where its columns do not say what they are, say why."""
    from ...data import DataError
    from ...data.mapping import ColumnMap
    from ...data.parquet import is_parquet, open_parquet, parse_header
    from ...data.recording_file import is_recording
    from ...data.tables import column_names

    rows = domain = layout = None
    labelled = False
    try:
        if is_parquet(source):
            with open_parquet(source) as file:
                rows = int(file.metadata.num_rows)
                header = None if find_mapping(source) else parse_header(file, source)
            if header is not None:
                layout, domain, labelled = header.layout, header.metadata.get("domain"), header.cause
        if layout is None:
            found = ColumnMap.resolve(column_names(source), find_mapping(source))
            layout, labelled = found.layout, bool(found.cause)
    except DataError as wrong:
        said = str(wrong).replace(str(source), source.name)
        whole = rows is not None and is_recording(source)
        return {"rows": rows, "layout": None, "domain": None, "labelled": False, "error": said, "whole": whole}
    names = describe_layout(layout)
    return {"rows": rows, "layout": names, "domain": domain, "labelled": labelled, "error": None, "whole": False}


# -- rows ------------------------------------------------------------------------------------------


def source_key(source: SourceFields) -> str:
    """Name a source, for a file about it."""
    return str(source["file"]) if source.get("file") else "{domain}.{draw}.{seed}.{frames}".format(**source)


def describe_source(source: SourceFields) -> str:
    """Describe a source in words.

    >>> describe_source({"domain": "push", "frames": 2000, "seed": 1})
    'push, 2,000 frames, seed 1'
    """
    return str(source["file"]) if source.get("file") else "{domain}, {frames:,} frames, seed {seed}".format(**source)


def load_rows(source: SourceFields, folder: Path, *, policy: str | None = None) -> Transitions:
    """Load the rows of a recording, or record those of a domain on the spot; keep them for the next question."""
    if not source.get("file"):
        domain = str(source["domain"])
        chosen = policy or ("scripted" if domain in SCRIPTED else "random")
        return _record(domain, int(source["draw"]), int(source["seed"]), int(source["frames"]), chosen)
    path = find_recording(folder, str(source["file"]))
    return read_rows(path, *_read_times(path))


def _read_times(path: Path) -> tuple[int, int | None]:
    """Return when a recording was changed, and the mapping beside it."""
    beside = find_mapping(path)
    return path.stat().st_mtime_ns, None if beside is None else beside.stat().st_mtime_ns


@lru_cache(maxsize=4)
def _record(domain: str, draw: int, seed: int, frames: int, policy: str) -> Transitions:
    from ...data import collect, make_seeded_domain

    return collect(make_seeded_domain(domain, draw), frames, seed, policy=policy, metadata={"domain": domain})


@lru_cache(maxsize=2)
def read_rows(path: Path, changed: int, mapped: int | None = None) -> Transitions:
    """Read all rows of a file as it was at a time; the times only tell whether it has to be read again."""
    from ...data import DataError, concatenate, read_batches

    parts, numbers = [], 0
    try:
        check_size(path)
        for batch in read_batches(path, find_mapping(path)):
            parts.append(batch)
            numbers += batch.state.size + len(batch) * len(batch.extra)
            if numbers > MOST_NUMBERS:
                raise DataError(f"{path.name} is too large for the page: it holds more than {MOST_NUMBERS:,} numbers.")
        return concatenate(parts)
    except DataError as wrong:
        raise DataError(str(wrong).replace(str(path), path.name)) from wrong
