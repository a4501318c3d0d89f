"""Replay over HTTP: which recordings, domains and runs there are, an episode, and what a run says of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import Field

from ..data import library
from ..data.row_source import Name, Source, Strict, folders
from ..server.services import Refused, services
from . import findings
from .episodes import found_file

router = APIRouter(prefix="/api/replay")

KINDS = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}
SECONDS = 30.0
CSV_SECONDS = 60.0


class Judged(Strict):
    """Rows and the run that judges them; in hindsight, or from the state alone."""

    source: Source
    run: Name | None = None
    hindsight: bool = False


class Wanted(Judged):
    """An episode by its position, -1 for a number that no episode has; by default the first that is eventful."""

    at: Annotated[int, Field(ge=-1, le=10**9)] | None = None


class Download(Source):
    """What was found, as a file of one kind or the other."""

    run: Name
    hindsight: bool = False
    kind: Literal["parquet", "csv"] = "parquet"

    def judged(self) -> Judged:
        return Judged(source=Source(**self.plain()), run=self.run, hindsight=self.hindsight)


@router.get("/sources")
async def sources(request: Request) -> dict[str, Any]:
    """What can be replayed, and the runs that can say something about it."""
    found = services(request)
    listed = await found.workers.call("actcause.page.data.library:listing", folders(found))
    paths = await run_in_threadpool(library.runs, found.settings.runs)
    trained = []
    for name, path in paths.items():
        about = library.read_json(path / library.SUMMARY)
        if (path / library.MODEL).is_file() and isinstance(about.get("layout"), dict):
            request_of = library.read_json(path / "request.json")
            trained.append(
                {
                    "name": name,
                    "method": about.get("method"),
                    "layout": {key: value for key, value in about["layout"].items() if key != "edges"},
                    "source": request_of.get("source"),
                }
            )
    return {**listed, "runs": trained}


@router.post("/episode")
async def episode(wanted: Wanted, request: Request) -> dict[str, Any]:
    """One episode."""
    found = services(request)
    payload = {**_payload(wanted, request), "at": wanted.at}
    return await found.workers.call("actcause.page.replay.episodes:episode", payload, seconds=SECONDS)


@router.post("/explain")
async def explain(judged: Judged, request: Request) -> dict[str, Any]:
    """Have a run judge all rows: `ready` if it has, else the job that does."""
    if judged.run is None:
        raise Refused("Choose the run that is to judge these rows.")
    found = services(request)
    payload = _payload(judged, request)
    if await run_in_threadpool(findings.ready, payload):
        return {"ready": True, "job": None, "result": await run_in_threadpool(findings.said, payload)}
    for job in found.jobs:
        if job.state in ("waiting", "running") and job.payload == payload:
            return {"ready": False, "job": job.id, "result": None}
    title = f"What {judged.run} says of {library.said(payload['source'])}"
    job = found.jobs.start("actcause.page.replay.findings:explain", payload, title=title, short=True)
    return {"ready": False, "job": job.id, "result": None}


@router.get("/found")
async def found(wanted: Annotated[Download, Query()], request: Request) -> FileResponse:
    """The rows with what was found about them, as a file."""
    payload = _payload(wanted.judged(), request)
    if not await run_in_threadpool(findings.ready, payload):
        raise Refused("What this run says of these rows has not been computed yet.", status=404)
    path = found_file(payload)
    if wanted.kind == "csv":
        await services(request).workers.call("actcause.page.replay.findings:as_csv", payload, seconds=CSV_SECONDS)
        path = path.with_suffix(".csv")
    return FileResponse(path, media_type=KINDS[wanted.kind], filename=f"found-{library.slug(path.stem)}.{wanted.kind}")


def _payload(judged: Judged, request: Request) -> dict[str, Any]:
    return {
        **folders(services(request)),
        "source": judged.source.plain(),
        "run": judged.run,
        "hindsight": judged.hindsight,
    }
