"""Runs over HTTP: those there are, their curves and errors, and new trainings."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from ...learn import names
from ...reproduction.published import SOURCE, read_published_errors
from ..data import library
from ..data.row_source import Name, RenameRequest, RowSource, Seed, StrictRequest
from ..server.jobs import UNENDED, BackgroundJob
from ..server.services import Refused, Services
from .method_words import ABOUT
from .trainings import REQUEST, SCORES, score, train

router = APIRouter(prefix="/api/runs")

METHODS = names()
HISTORY = "history.jsonl"
MOST_LINES = 400  # of a history that are sent
MOST_BYTES = 20_000_000
LIVELY = 60.0  # seconds within which another process's training has written its history

Whole = Annotated[int, Field(ge=1, le=200_000)]


class TrainOptions(StrictRequest):
    """Options of a method; those left out are the method's own."""

    steps: Whole | None = None
    distil_steps: Whole | None = None
    batch: Annotated[int, Field(ge=2, le=8192)] | None = None
    width: Annotated[int, Field(ge=1, le=1024)] | None = None
    layers: Annotated[int, Field(ge=1, le=8)] | None = None


class TrainRequest(StrictRequest):
    """A training that is asked for."""

    source: RowSource
    method: Literal[METHODS] = "jaci-auto"  # type: ignore[valid-type]
    seed: Seed = 0
    minutes: Annotated[float, Field(gt=0, le=24 * 60)] | None = None
    options: TrainOptions = TrainOptions()
    name: Name | None = None


@router.get("")
async def list_runs(request: Request) -> dict[str, Any]:
    """List all runs, the trainings that are under way, the methods, and the paper's figures."""
    services: Services = request.app.state.services
    live, last = _live_jobs(services), _last_jobs(services)
    paths = await run_in_threadpool(library.list_runs, services.settings.runs)
    known = await _list_labelled(services, paths)
    runs = []
    for name, path in paths.items():
        about = await run_in_threadpool(_summarise, path, last.get(name))
        runs.append({**about, "scorable": _find_scorable(known, path) is not None})
    runs.sort(key=lambda run: run["changed"], reverse=True)
    under_way = [
        {**job.to_json(), "run": name, "file": job.payload.get("source", {}).get("file")} for name, job in live.items()
    ]
    paper = {"source": SOURCE, "errors": read_published_errors()}
    return {"runs": runs, "jobs": under_way, "methods": METHODS, "about": ABOUT, "paper": paper}


@router.get("/{name}")
async def show_run(name: str, request: Request) -> dict[str, Any]:
    """Show one run with its curve."""
    services: Services = request.app.state.services
    path = library.find_run(services.settings.runs, name)
    about = library.read_json(path / library.SUMMARY)
    more = {key: about.get(key) for key in ("settings", "learned", "notes", "versions", "device", "threads")}
    history = await run_in_threadpool(_read_history, path / HISTORY)
    return {**_summarise(path, _last_jobs(services).get(name)), **more, "history": history}


@router.post("")
async def start_training(asked: TrainRequest, request: Request) -> dict[str, Any]:
    """Start a training in a folder of its own."""
    services: Services = request.app.state.services
    await run_in_threadpool(library.measure_room, services.settings.runs, services.settings.limits.quota)
    if asked.source.file is not None:
        library.find_recording(services.settings.data, asked.source.file)
    name = _choose_name(services, asked.name or f"{asked.source.domain or asked.source.file}-{asked.method}")
    title = f"Training {asked.method} on {library.describe_source(asked.source.to_payload())}"
    return _start(services, name, asked, title)


@router.post("/{name}/resume")
async def resume_training(name: str, request: Request) -> dict[str, Any]:
    """Go on with a training that was cut off or ran out of time."""
    services: Services = request.app.state.services
    path = library.find_run(services.settings.runs, name)
    if name in _live_jobs(services):
        raise Refused("This training is under way already.")
    asked = library.read_json(path / REQUEST)
    try:
        again = TrainRequest(**{key: asked[key] for key in ("source", "method", "seed", "options")})
    except (KeyError, TypeError, ValueError):
        raise Refused("This run was not begun on the page; 'actcause train … --resume' goes on with it.") from None
    return _start(services, path.name, again, f"Resuming {path.name}", resume=True)


@router.post("/{name}/score")
async def score_run(name: str, request: Request) -> dict[str, Any]:
    """Score a run on the recording that it was trained on, where that is in the data folder."""
    services: Services = request.app.state.services
    path = library.find_run(services.settings.runs, name)
    source = _find_scorable(await _list_labelled(services, {path.name: path}), path)
    if source is None:
        raise Refused("The recording that this run was trained on, with its true causes, is not in the data folder.")
    payload = {**services.folders, "name": path.name, "source": {"file": source}}
    return {"job": services.jobs.start(score, payload, title=f"Scoring {path.name}", short=True).id, "run": path.name}


@router.delete("/{name}")
async def delete_run(name: str, request: Request) -> dict[str, Any]:
    """Delete a run; one that a job works with is kept."""
    services: Services = request.app.state.services
    _check_unused(services, name)
    await run_in_threadpool(library.delete_run, services.settings.runs, name)
    return {"name": name}


@router.post("/{name}/rename")
async def rename_run(name: str, asked: RenameRequest, request: Request) -> dict[str, Any]:
    """Give a run another name."""
    services: Services = request.app.state.services
    _check_unused(services, name)
    return {"name": await run_in_threadpool(library.rename_run, services.settings.runs, name, asked.name)}


# -- helpers ---------------------------------------------------------------------------------------


def _start(services: Services, run: str, asked: TrainRequest, title: str, *, resume: bool = False) -> dict[str, Any]:
    """Start, or go on with, a training in the folder of that name."""
    payload = {
        **services.folders,
        "name": run,
        "source": asked.source.to_payload(),
        "method": asked.method,
        "seed": asked.seed,
        "max_seconds": None if asked.minutes is None else 60 * asked.minutes,
        "options": asked.options.model_dump(exclude_none=True),
        "resume": resume,
    }
    return {"job": services.jobs.start(train, payload, title=title).id, "run": run}


def _last_jobs(services: Services) -> dict[str, BackgroundJob]:
    """Find the last training of each run that this server was asked for."""
    named = {job.payload.get("name") or job.progress.get("run"): job for job in services.jobs if job.function is train}
    return {name: job for name, job in named.items() if name is not None}


def _live_jobs(services: Services) -> dict[str, BackgroundJob]:
    """Find the trainings that wait or run, by the name of their run."""
    return {name: job for name, job in _last_jobs(services).items() if job.state in UNENDED}


def _choose_name(services: Services, wanted: str) -> str:
    """Choose a name for a run that no other has; its folder is made when the training begins."""
    runs, live = services.settings.runs, _live_jobs(services)
    if len(library.list_runs(runs)) >= library.MOST_LISTED:
        raise Refused(f"There are {library.MOST_LISTED} runs already; delete some, or move them elsewhere.")
    if not os.access(runs, os.W_OK):
        raise Refused("The folder of runs cannot be written to.")
    for name in library.propose_names(library.slugify(wanted)):
        folder = runs / name
        empty = folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())
        if name not in live and (empty or not os.path.lexists(folder)):
            return name
    raise Refused("There are too many runs of this name; choose another.")


def _summarise(path: Path, last: BackgroundJob | None) -> dict[str, Any]:
    """Summarise a run for a list; `last` is the job that trains it, or did."""
    job = last if last is not None and last.state in UNENDED else None
    about, scores = library.read_json(path / library.SUMMARY), library.read_json(path / SCORES)
    asked = library.read_json(path / REQUEST)
    settings = about.get("settings") if isinstance(about.get("settings"), dict) else {}
    status = about.get("status")
    if job is not None:
        status = job.state
    elif status == "training":
        status = "elsewhere" if _is_lively(path / HISTORY, last) else "interrupted"
    return {
        "name": path.name,
        "method": about.get("method"),
        "source": about.get("source"),
        "asked": asked.get("source"),
        "seed": (settings or {}).get("seed"),
        "status": status,
        "seconds": about.get("seconds"),
        "scores": scores or None,
        "changed": (path / library.SUMMARY).stat().st_mtime,
        "resumable": job is None and bool(asked) and status in ("interrupted", "stopped"),
        "answers": (path / library.MODEL).is_file(),
        "job": None if job is None else job.id,
        "progress": None if job is None else job.progress,
    }


def _check_unused(services: Services, name: str) -> None:
    """Refuse to change a run under a job's hands."""
    working = (job.payload for job in services.jobs if job.state in UNENDED)
    if any(name in (payload.get("name"), payload.get("run")) for payload in working):
        raise Refused("A job works with this run; wait for it to end, or cancel it.", status=409)


async def _list_labelled(services: Services, runs: Mapping[str, Path]) -> set[str]:
    """List the recordings with true causes, where there is a run that could be scored by one."""
    if all((path / SCORES).exists() for path in runs.values()):
        return set()
    listed = await services.workers.call(library.list_sources, services.folders)
    return {one["name"] for one in listed["recordings"] if one["labelled"]}


def _find_scorable(recordings: Collection[str], path: Path) -> str | None:
    """Find the recording by which a run can be scored that was not scored when it was trained."""
    source = library.read_json(path / library.SUMMARY).get("source")
    done = (path / SCORES).exists() or not (path / library.MODEL).is_file()
    return source if isinstance(source, str) and source in recordings and not done else None


def _is_lively(history: Path, last: BackgroundJob | None) -> bool:
    """Return whether something wrote to the history a moment ago, and not a job of ours that has ended since."""
    if not history.is_file():
        return False
    over = LIVELY if last is None or last.ended is None else time.monotonic() - last.ended
    return time.time() - history.stat().st_mtime < min(LIVELY, over)


def _read_history(path: Path) -> list[dict[str, Any]]:
    """Read a history, thinned to as many lines as a curve needs; the last one is always among them."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    lines = []
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the last line may be half-written
            continue
        if isinstance(entry, dict):
            lines.append(entry)
    every = -(-len(lines) // MOST_LINES) or 1
    return lines[-1::-every][::-1]
