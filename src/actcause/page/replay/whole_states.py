"""Whole states in Replay: recordings of every factor, their local graphs, and the chain behind an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.episodes import list_episodes
from ...data.found import read_found_graphs
from ...errors import ActCauseError, QueryError
from ..data import library
from .judged_files import locate_findings

if TYPE_CHECKING:
    from ...core.chain import Chain
    from ...data import Recording

Array = np.ndarray[Any, Any]
GRAPHS = "local-graphs"  # the method of a run of all outcomes, as `learn/checkpoint.py` has it: that imports torch


# -- which there are ---------------------------------------------------------------------------------


def list_sources(payload: Mapping[str, Any]) -> dict[str, Any]:
    """List recordings and domains as the library does; recordings of whole states have a layout here, and outcomes."""
    listed = library.list_sources(payload)
    paths = library.list_recordings(Path(payload["data"]))
    files = []
    for one in listed["recordings"]:
        path = paths.get(one["name"])
        whole = None if path is None or one["layout"] else _describe_whole(path, path.stat().st_mtime_ns)
        files.append(one if whole is None else {**one, **whole, "error": None})
    domains = [{**one, "outcomes": _list_outcomes(one["name"])} for one in listed["domains"]]
    return {"recordings": files, "domains": domains}


@lru_cache(maxsize=2 * library.MOST_LISTED)
def _describe_whole(path: Path, changed: int) -> dict[str, Any] | None:
    """Describe a file of whole states: its outcomes, and the layout of the one that is shown first."""
    from ...data.recording_file import is_recording, read_names

    if path.suffix.lower() not in (".parquet", ".pq") or not is_recording(path):
        return None
    try:
        names = read_names(path)
        outcome = _choose_first(names["outcomes"], names["metadata"])
        return {
            "layout": _describe_layout(names["factors"], names["features"], outcome),
            "outcomes": list(names["outcomes"]),
            "domain": names["metadata"].get("domain"),
            "labelled": names["cause"],
        }
    except (ActCauseError, KeyError, TypeError, ValueError):
        return None


def _list_outcomes(domain: str) -> list[str] | None:
    """List the outcomes of one of our domains; None for a world, whose whole states take long to be recorded."""
    from ...data.domains import make_domain
    from ...worlds import World

    made = make_domain(domain)
    return None if isinstance(made, World) else list(made.outcomes)


def _describe_layout(factors: Any, features: Mapping[str, Any], outcome: str) -> dict[str, Any]:
    from ...data.layout import Layout

    return library.describe_layout(Layout.build(factors, features, own=outcome))


# -- rows --------------------------------------------------------------------------------------------


def load_whole(source: library.SourceFields, folder: Path) -> Recording | None:
    """Load whole states of a recording, or record those of a domain; None where there are none."""
    if source.get("file"):
        path = library.find_recording(folder, str(source["file"]))
        return _read(path, path.stat().st_mtime_ns)
    domain = str(source["domain"])
    if _list_outcomes(domain) is None:
        return None
    policy = "scripted" if domain in library.SCRIPTED else "random"
    return _record(domain, int(source["draw"]), int(source["seed"]), int(source["frames"]), policy)


@lru_cache(maxsize=3)
def _read(path: Path, changed: int) -> Recording | None:
    from ...data import DataError, Recording
    from ...data.parquet import open_parquet
    from ...data.recording_file import is_recording

    if path.suffix.lower() not in (".parquet", ".pq") or not is_recording(path):
        return None
    try:
        library.check_size(path)
        with open_parquet(path) as file:
            if file.metadata.num_rows * file.metadata.num_columns > library.MOST_NUMBERS:
                most = f"{library.MOST_NUMBERS:,}"
                raise DataError(f"{path} is too large for the page: it holds more than {most} numbers.")
        return Recording.load(path)
    except DataError as wrong:
        raise DataError(str(wrong).replace(str(path), path.name)) from wrong


@lru_cache(maxsize=3)
def _record(domain: str, draw: int, seed: int, frames: int, policy: str) -> Recording:
    from ...data import collect_recording, make_seeded_domain

    made = make_seeded_domain(domain, draw)
    return collect_recording(made, frames, seed, policy=policy, metadata={"domain": domain})


def read_found(path: Path) -> Recording:
    """Read what a run of all outcomes said, as `judge_whole` wrote it."""
    found = _read(path, path.stat().st_mtime_ns)
    if found is None:
        raise QueryError("What this run says of these rows cannot be read; judge them again.")
    return found


def choose_outcome(recording: Recording, wanted: str | None) -> str:
    """Return the outcome that is shown: the one asked for, else the domain's own, else the last."""
    if wanted is None:
        return _choose_first(recording.outcomes, recording.metadata)
    recording.outcome_index(wanted)
    return wanted


def _choose_first(outcomes: Any, metadata: Mapping[str, Any]) -> str:
    from ...data.domains import domain_names, make_domain

    name = metadata.get("domain")
    own = make_domain(name).outcome if isinstance(name, str) and name in domain_names() else None
    return str(own) if own in outcomes else str(list(outcomes)[-1])


# -- graphs and chains ---------------------------------------------------------------------------------


def describe_graphs(recording: Recording, rows: Array) -> dict[str, Any]:
    """Describe the local graph of each row: for every outcome the positions of its causes."""

    def list_causes(graphs: Array | None) -> list[Any] | None:
        return None if graphs is None else [[np.flatnonzero(one).tolist() for one in graph] for graph in graphs[rows]]

    return {
        "outcomes": list(recording.outcomes),
        "inputs": list(recording.inputs),
        "cause": list_causes(recording.cause),
        "found": list_causes(read_found_graphs(recording)),
    }


def trace_event(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Trace what became of a factor at a step, both as the page counts them, by true or by found graphs."""
    from ...data import trace

    recording = load_judged(payload)
    if recording is None:
        raise QueryError("A chain needs whole states; record them with 'actcause collect DOMAIN --outcome all'.")
    outcome = choose_outcome(recording, payload.get("outcome"))
    numbers = recording.episode[recording.rows_of(outcome)]
    every = list_episodes(numbers)
    if not 0 <= payload["at"] < len(every):
        raise QueryError(f"There is no episode {payload['at'] + 1}; this recording has {len(every)}.")
    graphs = read_found_graphs(recording) if payload["by"] == "found" else recording.cause
    if graphs is None:
        raise QueryError("There are no such graphs of this recording; choose a run, or the true causes.")
    number = int(every[payload["at"]])
    mine = np.flatnonzero(recording.episode == number)
    chain = trace(
        recording.subset(mine), episode=number, step=payload["step"], factor=payload["factor"], graphs=graphs[mine]
    )
    shown = count_from_one(chain)
    return {**shown.to_json(), "by": payload["by"], "inputs": list(recording.inputs)}


def count_from_one(chain: Chain) -> Chain:
    """Count the steps of a chain as the page does: the first is 1."""
    return replace(
        chain,
        step=chain.step + 1,
        links=tuple(replace(link, step=link.step + 1) for link in chain.links),
        actions=tuple((name, step + 1) for name, step in chain.actions),
    )


def load_judged(payload: Mapping[str, Any]) -> Recording | None:
    """Load whole states, with what a run of all outcomes found in them where one was asked."""
    if payload.get("run") and is_graph_run(payload):
        path = locate_findings(payload)
        if not path.is_file():
            raise QueryError("What this run says of these rows has not been computed yet.")
        return read_found(path)
    return load_whole(payload["source"], Path(payload["data"]))


def is_graph_run(payload: Mapping[str, Any]) -> bool:
    """Tell whether a run learned all outcomes."""
    run = library.find_run(Path(payload["runs"]), str(payload["run"]))
    return is_graph_summary(library.read_json(run / library.SUMMARY))


def is_graph_summary(summary: Mapping[str, Any]) -> bool:
    """Tell the summary of a run of all outcomes from that of one."""
    return summary.get("method") == GRAPHS and isinstance(summary.get("outcomes"), list)
