"""Jobs: long computations, each in a process of its own, with progress and a way to cancel them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi import APIRouter, Request

from .child import Child, Payload, run_job
from .services import Refused
from .settings import Limits

GRACE = 5.0  # seconds in which a cancelled job may put its files in order
UNENDED = ("waiting", "running")

JobFunction = Callable[[Payload, Callable[[Payload], None]], Payload]


@dataclass(eq=False)
class BackgroundJob:
    """One computation: what it is called, where it stands, what came of it."""

    id: str
    title: str
    function: JobFunction
    payload: Payload
    short: bool = False
    state: str = "waiting"
    progress: Payload = field(default_factory=dict)
    result: Payload | None = None
    error: str | None = None
    started: float | None = None
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return 0.0 if self.started is None else (self.ended or time.monotonic()) - self.started

    def to_json(self) -> Payload:
        shown = ("id", "title", "state", "progress", "result", "error")
        return {name: getattr(self, name) for name in shown} | {"seconds": round(self.seconds, 2)}


class Jobs:
    """The jobs of a server, oldest first; a few run at once and the others wait."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: dict[str, BackgroundJob] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._room = {False: asyncio.Semaphore(limits.running_jobs), True: asyncio.Semaphore(limits.running_jobs)}
        self._count = 0

    def start(self, function: JobFunction, payload: Payload, *, title: str, short: bool = False) -> BackgroundJob:
        """Start a function of a module, or queue it if enough run; short ones do not wait for long ones."""
        if sum(job.state == "waiting" for job in self._jobs.values()) >= self._limits.waiting_jobs:
            raise Refused("Too many jobs are waiting; wait for one to end or cancel some.", status=503)
        self._count += 1
        job = BackgroundJob(str(self._count), title, function, payload, short)
        self._jobs[job.id] = job
        self._forget()
        self._tasks[job.id] = asyncio.ensure_future(self._follow(job))
        return job

    def get(self, name: str) -> BackgroundJob:
        if name not in self._jobs:
            raise Refused("There is no such job; it may have been forgotten.", status=404)
        return self._jobs[name]

    def __iter__(self) -> Iterator[BackgroundJob]:
        return iter(self._jobs.values())

    async def cancel(self, name: str) -> BackgroundJob:
        """Cancel a job and wait until its process is gone."""
        job = self.get(name)
        if task := self._tasks.get(name):
            task.cancel()
            await asyncio.wait([task])
        return job

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, job: BackgroundJob) -> None:
        try:
            async with self._room[job.short]:
                job.state, job.started = "running", time.monotonic()
                message = await self._run(job)
            if "refused" in message:
                job.state, job.error = "failed", message["refused"].message
            else:
                job.state, job.result = "done", message["result"]
        except asyncio.CancelledError:
            job.state, job.error = "cancelled", "Cancelled."
        except EOFError:
            job.state, job.error = "failed", "The computation ended before it was done; it may have run out of memory."
        finally:
            job.ended = time.monotonic()
            job.payload = {}
            del self._tasks[job.id]

    async def _run(self, job: BackgroundJob) -> Payload:
        """Run a job's process to its end, and return its last message."""
        child = Child.start(run_job, self._limits.niceness, self._limits.memory)
        try:
            child.send(job.function, job.payload)
            while "progress" in (message := await child.receive()):
                job.progress = message["progress"]
            return message
        finally:
            child.process.terminate()
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(child.gone.wait(), GRACE)
            await child.end()

    def _forget(self) -> None:
        """Drop the oldest jobs that have ended."""
        ended = [job.id for job in self._jobs.values() if job.state not in UNENDED]
        for name in ended[: max(0, len(self._jobs) - self._limits.remembered_jobs)]:
            del self._jobs[name]


router = APIRouter(prefix="/api/jobs")


@router.get("")
async def list_jobs(request: Request) -> list[Payload]:
    """List all jobs that are remembered, without their results."""
    jobs: Jobs = request.app.state.services.jobs
    return [{**job.to_json(), "result": None} for job in jobs]


@router.get("/{name}")
async def show_job(name: str, request: Request) -> Payload:
    """Show one job."""
    jobs: Jobs = request.app.state.services.jobs
    return jobs.get(name).to_json()


@router.delete("/{name}")
async def cancel_job(name: str, request: Request) -> Payload:
    """Cancel a job; one that has ended is left as it is."""
    jobs: Jobs = request.app.state.services.jobs
    return (await jobs.cancel(name)).to_json()
