"""The recordings and runs that the server knows: files in one folder, folders in another, looked up by name.

A name that comes from a browser is compared with the names that are there and is never joined to a path. New files
and folders get names that are made here, from letters, digits and dashes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ActCauseError, QueryError
from ..server.services import Refused

if TYPE_CHECKING:
    from ...data import Transitions
    from ...data.layout import Layout
    from ..server.jobs import JobFunction

SUFFIXES = (".parquet", ".pq", ".csv", ".tsv")
SIDECAR = ".mapping.json"  # beside a recording: which of its columns are which factors
SUMMARY, MODEL = "run.json", "model.safetensors"
MOST_LISTED = 200
MOST_NUMBERS = 40_000_000  # of a recording that is held in memory to be looked at
MOST_BYTES = 4_000_000  # of a JSON file that is read
SCRIPTED = ("break",)  # domains in which a random policy soon ends an episode

SourceFields = Mapping[str, Any]  # {"file": name} or {"domain": name, "draw": 0, "seed": 0, "frames": 2000}


# -- names -----------------------------------------------------------------------------------------


def list_recordings(folder: Path) -> dict[str, Path]:
    """List the recordings of a folder by name, at most so many."""
    entries = (entry for entry in _list_entries(folder) if entry.suffix.lower() in SUFFIXES and entry.is_file())
    return {path.name: path for path, _ in zip(entries, range(MOST_LISTED), strict=False)}


def list_runs(folder: Path) -> dict[str, Path]:
    """List the runs of a folder by name, at most so many."""
    entries = (entry for entry in _list_entries(folder) if (entry / SUMMARY).is_file())
    return {path.name: path for path, _ in zip(entries, range(MOST_LISTED), strict=False)}


def find_recording(folder: Path, name: str) -> Path:
    """Find the recording of this name."""
    return _look_up(list_recordings(folder), name, "recording")


def find_run(folder: Path, name: str) -> Path:
    """Find the run of this name."""
    return _look_up(list_runs(folder), name, "run")


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


def _look_up(known: Mapping[str, Path], name: str, what: str) -> Path:
    if name not in known:
        raise Refused(f"There is no {what} of that name; reload the page to see those there are.", status=404)
    return known[name]


# -- what they hold --------------------------------------------------------------------------------


def find_mapping(path: Path) -> Path | None:
    """Find the mapping that was stored beside a recording."""
    beside = path.with_name(path.name + SIDECAR)
    return beside if beside.is_file() else None


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
        files.append({"name": name, "bytes": path.stat().st_size, **_describe_recording(path, *_times(path))})
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
    from ...data.tables import column_names

    rows = domain = layout = None
    try:
        if is_parquet(source):
            with open_parquet(source) as file:
                rows = int(file.metadata.num_rows)
                header = None if find_mapping(source) else parse_header(file, source)
            if header is not None:
                layout, domain = header.layout, header.metadata.get("domain")
        if layout is None:
            layout = ColumnMap.resolve(column_names(source), find_mapping(source)).layout
    except DataError as wrong:
        return {"rows": rows, "layout": None, "domain": None, "error": str(wrong).replace(str(source), source.name)}
    return {"rows": rows, "layout": describe_layout(layout), "domain": domain, "error": None}


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
    return read_rows(path, *_times(path))


def _times(path: Path) -> tuple[int, int | None]:
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
        for batch in read_batches(path, find_mapping(path)):
            parts.append(batch)
            numbers += batch.state.size + len(batch) * len(batch.extra)
            if numbers > MOST_NUMBERS:
                raise DataError(f"{path.name} is too large for the page: it holds more than {MOST_NUMBERS:,} numbers.")
        return concatenate(parts)
    except DataError as wrong:
        raise DataError(str(wrong).replace(str(path), path.name)) from wrong
