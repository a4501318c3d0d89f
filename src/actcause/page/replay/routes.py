"""Replay over HTTP: which recordings, domains and runs there are, an episode, and what a run says of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import Field

from ..data import library
from ..data.row_source import Name, RowSource, StrictRequest
from ..server.jobs import UNENDED
from ..server.services import Refused, Services
from . import findings, whole_states
from .episodes import read_episode
from .judged_files import locate_findings

router = APIRouter(prefix="/api/replay")

KINDS = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}
SECONDS = 30.0
CSV_SECONDS = 60.0


class JudgeRequest(StrictRequest):
    """Rows and the run that judges them; in hindsight, or from the state alone."""

    source: RowSource
    run: Name | None = None
    hindsight: bool = False


class EpisodeRequest(JudgeRequest):
    """An episode by its position, -1 for a number that no episode has; by default the first that is eventful."""

    at: Annotated[int, Field(ge=-1, le=10**9)] | None = None
    outcome: Name | None = None


class ChainRequest(JudgeRequest):
    """An event: what became of a factor at a step (the first is 0) of the episode at a position."""

    at: Annotated[int, Field(ge=0, le=10**9)]
    step: Annotated[int, Field(ge=0, le=10**9)]
    factor: Name
    outcome: Name | None = None
    by: Literal["cause", "found"] = "cause"


class DownloadRequest(RowSource):
    """What was found, as a file of one kind or the other."""

    run: Name
    hindsight: bool = False
    kind: Literal["parquet", "csv"] = "parquet"

    def to_judge_request(self) -> JudgeRequest:
        return JudgeRequest(source=RowSource(**self.to_payload()), run=self.run, hindsight=self.hindsight)


@router.get("/sources")
async def list_sources(request: Request) -> dict[str, Any]:
    """List what can be replayed, and the runs that can say something about it."""
    services: Services = request.app.state.services
    sources = await services.workers.call(whole_states.list_sources, services.folders)
    paths = await run_in_threadpool(library.list_runs, services.settings.runs)
    trained = []
    for name, path in paths.items():
        about = library.read_json(path / library.SUMMARY)
        if not (path / library.MODEL).is_file():
            continue
        if whole_states.is_graph_summary(about):
            graphs = {key: about.get(key) for key in ("factors", "features", "outcomes")}
            method = dict(about.get("settings") or {}).get("method")
            trained.append({"name": name, "method": method, "layout": None, "graphs": graphs, "source": None})
        elif isinstance(about.get("layout"), dict):
            request_of = library.read_json(path / "request.json")
            trained.append(
                {
                    "name": name,
                    "method": about.get("method"),
                    "layout": {key: value for key, value in about["layout"].items() if key != "edges"},
                    "graphs": None,
                    "source": request_of.get("source"),
                }
            )
    return {**sources, "runs": trained}


@router.post("/episode")
async def show_episode(asked: EpisodeRequest, request: Request) -> dict[str, Any]:
    """Show one episode."""
    services: Services = request.app.state.services
    payload = {**_payload(asked, request), "at": asked.at, "outcome": asked.outcome}
    return await services.workers.call(read_episode, payload, seconds=SECONDS)


@router.post("/chain")
async def show_chain(asked: ChainRequest, request: Request) -> dict[str, Any]:
    """Trace an event back through local graphs to the actions behind it."""
    services: Services = request.app.state.services
    event = {name: getattr(asked, name) for name in ("at", "step", "factor", "outcome", "by")}
    return await services.workers.call(whole_states.trace_event, {**_payload(asked, request), **event}, seconds=SECONDS)


@router.post("/explain")
async def start_judging(asked: JudgeRequest, request: Request) -> dict[str, Any]:
    """Have a run judge all rows: `ready` if it has, else the job that does."""
    if asked.run is None:
        raise Refused("Choose the run that is to judge these rows.")
    services: Services = request.app.state.services
    payload = _payload(asked, request)
    if await run_in_threadpool(findings.is_current, payload):
        return {"ready": True, "job": None, "result": await run_in_threadpool(findings.read_summary, payload)}
    for job in services.jobs:
        if job.state in UNENDED and job.payload == payload:
            return {"ready": False, "job": job.id, "result": None}
    await run_in_threadpool(library.measure_room, services.settings.runs, services.settings.limits.quota)
    title = f"What {asked.run} says of {library.describe_source(payload['source'])}"
    job = services.jobs.start(findings.judge_rows, payload, title=title, short=True)
    return {"ready": False, "job": job.id, "result": None}


@router.get("/found")
async def download_findings(asked: Annotated[DownloadRequest, Query()], request: Request) -> FileResponse:
    """Send the rows with what was found about them, as a file."""
    payload = _payload(asked.to_judge_request(), request)
    if not await run_in_threadpool(findings.is_current, payload):
        raise Refused("What this run says of these rows has not been computed yet.", status=404)
    path = locate_findings(payload)
    if asked.kind == "csv":
        await request.app.state.services.workers.call(findings.write_csv, payload, seconds=CSV_SECONDS)
        path = path.with_suffix(".csv")
    return FileResponse(path, media_type=KINDS[asked.kind], filename=f"found-{library.slugify(path.stem)}.{asked.kind}")


def _payload(asked: JudgeRequest, request: Request) -> dict[str, Any]:
    folders = request.app.state.services.folders
    return {**folders, "source": asked.source.to_payload(), "run": asked.run, "hindsight": asked.hindsight}
