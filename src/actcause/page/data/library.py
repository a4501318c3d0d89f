"""The recordings and runs that the server knows: files in one folder, folders in another, looked up by name.

A name that comes from a browser is compared with the names that are there and is never joined to a path. New files
and folders get names that are made here, from letters, digits and dashes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ActCauseError, QueryError
from ..server.services import Refused

if TYPE_CHECKING:
    from ...data import Transitions
    from ...data.layout import Layout

SUFFIXES = (".parquet", ".pq", ".csv", ".tsv")
SIDECAR = ".mapping.json"  # beside a recording: which of its columns are which factors
SUMMARY, MODEL = "run.json", "model.safetensors"
MOST_LISTED = 200
MOST_NUMBERS = 40_000_000  # of a recording that is held in memory to be looked at
MOST_BYTES = 4_000_000  # of a JSON file that is read
SCRIPTED = ("break",)  # domains in which a random policy soon ends an episode

Source = Mapping[str, Any]  # {"file": name} or {"domain": name, "draw": 0, "seed": 0, "frames": 2000}


# -- names -----------------------------------------------------------------------------------------


def recordings(folder: Path) -> dict[str, Path]:
    """The recordings of a folder by name, at most so many."""
    found = (entry for entry in _entries(folder) if entry.suffix.lower() in SUFFIXES and entry.is_file())
    return {path.name: path for path, _ in zip(found, range(MOST_LISTED), strict=False)}


def runs(folder: Path) -> dict[str, Path]:
    """The runs of a folder by name, at most so many."""
    found = (entry for entry in _entries(folder) if (entry / SUMMARY).is_file())
    return {path.name: path for path, _ in zip(found, range(MOST_LISTED), strict=False)}


def recording(folder: Path, name: str) -> Path:
    """The recording of this name."""
    return _looked_up(recordings(folder), name, "recording")


def run(folder: Path, name: str) -> Path:
    """The run of this name."""
    return _looked_up(runs(folder), name, "run")


def slug(wanted: str) -> str:
    """A name that is safe for a file or a folder.

    >>> slug("../My data (1)")
    'My-data-1'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", wanted)[:60].strip("-") or "unnamed"


def new_names(wanted: str, suffix: str = "") -> Iterator[str]:
    """The name wanted, and others like it in case it is taken.

    >>> names = new_names("mine", ".csv")
    >>> next(names), next(names)
    ('mine.csv', 'mine-2.csv')
    """
    yield wanted + suffix
    for number in range(2, 10 * MOST_LISTED):
        yield f"{wanted}-{number}{suffix}"


@contextmanager
def by_name(payload: Mapping[str, Any]) -> Iterator[None]:
    """Mistakes name files as the page does, not as the server's disk does."""
    try:
        yield
    except ActCauseError as wrong:
        message = str(wrong)
        for folder in ("data", "runs"):
            message = message.replace(f"{payload[folder]}{os.sep}", "")
        raise QueryError(message) from wrong


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, by name; hidden files and names that nothing could show are left out."""
    if not folder.is_dir():
        return []
    names = (entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    return [folder / name for name in sorted(names) if name.isprintable() and len(name) <= 200]


def _looked_up(known: Mapping[str, Path], name: str, what: str) -> Path:
    if name not in known:
        raise Refused(f"There is no {what} of that name; reload the page to see those there are.", status=404)
    return known[name]


# -- what they hold --------------------------------------------------------------------------------


def mapping_of(path: Path) -> Path | None:
    """The mapping that was stored beside a recording."""
    beside = path.with_name(path.name + SIDECAR)
    return beside if beside.is_file() else None


def read_json(path: Path) -> dict[str, Any]:
    """What a JSON file holds, or nothing if it cannot be understood."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def named(layout: Layout) -> dict[str, Any]:
    """The names of a recording as a run's summary has them; recordings and runs that agree in these fit."""
    return {
        "factors": list(layout.factors),
        "features": {factor: list(features) for factor, features in layout.features.items()},
        "own": layout.own,
        "outcome_factor": layout.outcome_factor,
        "outcome_features": list(layout.outcome_features),
    }


def listing(payload: Mapping[str, Any]) -> dict[str, Any]:
    """All recordings and domains with their names, so that runs can be matched with them."""
    files = []
    for name, path in recordings(Path(payload["data"])).items():
        found = path.stat()
        beside = mapping_of(path)
        about = _about(str(path), found.st_mtime_ns, None if beside is None else beside.stat().st_mtime_ns)
        files.append({"name": name, "bytes": found.st_size, **about})
    return {"recordings": files, "domains": _domains()}


@lru_cache(maxsize=1)
def _domains() -> list[dict[str, Any]]:
    from ... import envs
    from ...data.domains import domain_layout

    made = {name: envs.make(name) for name in envs.names()}
    return [{"name": name, "title": one.title, "layout": named(domain_layout(one))} for name, one in made.items()]


@lru_cache(maxsize=2 * MOST_LISTED)
def _about(path: str, changed: int, mapped: int | None) -> dict[str, Any]:
    """Rows and names of a recording; where its columns do not say what they are, why."""
    from ...data import DataError
    from ...data.mapping import ColumnMap
    from ...data.parquet import open_parquet, parse_header
    from ...data.tables import column_names, is_parquet

    source, rows, domain = Path(path), None, None
    try:
        layout = None
        if is_parquet(source):
            with open_parquet(source) as file:
                rows = int(file.metadata.num_rows)
                found = None if mapping_of(source) else parse_header(file, source)
            if found is not None:
                layout, domain = found.layout, found.metadata.get("domain")
        if layout is None:
            layout = ColumnMap.resolve(column_names(source), mapping_of(source)).layout
    except DataError as wrong:
        return {"rows": rows, "layout": None, "domain": None, "error": str(wrong).replace(path, source.name)}
    return {"rows": rows, "layout": named(layout), "domain": domain, "error": None}


# -- rows ------------------------------------------------------------------------------------------


def key(source: Source) -> str:
    """A source's name, for a file about it."""
    return str(source["file"]) if source.get("file") else "{domain}.{draw}.{seed}.{frames}".format(**source)


def said(source: Source) -> str:
    """A source in words.

    >>> said({"domain": "push", "frames": 2000, "seed": 1})
    'push, 2,000 frames, seed 1'
    """
    return str(source["file"]) if source.get("file") else "{domain}, {frames:,} frames, seed {seed}".format(**source)


def load(source: Source, folder: Path, *, policy: str | None = None) -> Transitions:
    """The rows of a recording, or of a domain as it is recorded on the spot; kept for the next question."""
    if not source.get("file"):
        domain = str(source["domain"])
        chosen = policy or ("scripted" if domain in SCRIPTED else "random")
        return _recorded(domain, int(source["draw"]), int(source["seed"]), int(source["frames"]), chosen)
    path = recording(folder, str(source["file"]))
    beside = mapping_of(path)
    return loaded(path, path.stat().st_mtime_ns, None if beside is None else beside.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _recorded(domain: str, draw: int, seed: int, frames: int, policy: str) -> Transitions:
    from ... import envs
    from ...data import collect

    return collect(envs.make_seeded(domain, draw), frames, seed, policy=policy, metadata={"domain": domain})


@lru_cache(maxsize=2)
def loaded(path: Path, changed: int, mapped: int | None = None) -> Transitions:
    """All rows of a file as it was at a time; the times only tell whether it has to be read again."""
    from ...data import DataError, concatenate, read_batches

    parts, numbers = [], 0
    try:
        for batch in read_batches(path, mapping_of(path)):
            parts.append(batch)
            numbers += batch.state.size + len(batch) * len(batch.extra)
            if numbers > MOST_NUMBERS:
                raise DataError(f"{path.name} is too large for the page: it holds more than {MOST_NUMBERS:,} numbers.")
        return concatenate(parts)
    except DataError as wrong:
        raise DataError(str(wrong).replace(str(path), path.name)) from wrong
