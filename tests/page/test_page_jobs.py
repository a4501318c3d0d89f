"""Jobs run beside the server, tell of their progress and can be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from running import run
from starlette.testclient import TestClient
from test_page_workers import alive

from actcause.page.server.jobs import Job, Jobs
from actcause.page.server.services import Refused
from actcause.page.server.settings import Limits

pytestmark = pytest.mark.usefixtures("trial")


def with_jobs(test: Callable[[Jobs], Awaitable[Any]], **limits: Any) -> Any:
    async def life() -> Any:
        jobs = Jobs(Limits(**limits))
        try:
            return await test(jobs)
        finally:
            await jobs.stop()

    return run(life())


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def ended(job: Job) -> bool:
    return job.state not in ("waiting", "running")


def test_a_job_tells_of_its_progress_and_gives_its_result() -> None:
    async def test(jobs: Jobs) -> tuple[Job, list[float]]:
        job = jobs.start("trial:count", {"steps": 20}, title="Counting")
        seen = []
        while not ended(job):
            seen.append(job.progress.get("share"))
            await asyncio.sleep(0.01)
        return job, [share for share in seen if share is not None]

    job, seen = with_jobs(test)
    assert (job.state, job.title) == ("done", "Counting")
    assert job.result == {"counted": 20, "niceness": 10}
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    assert job.seconds > 0


def test_a_cancelled_job_may_put_its_files_in_order_and_its_process_is_gone(tmp_path: Path) -> None:
    async def test(jobs: Jobs) -> tuple[Job, int]:
        job = jobs.start("trial:careful", {"file": str(tmp_path / "kept")}, title="")
        await until(lambda: job.progress)
        return await jobs.cancel(job.id), job.progress["process"]

    job, process = with_jobs(test)
    assert job.state == "cancelled"
    assert (tmp_path / "kept").read_text() == "in order"
    assert not alive(process)


def test_no_more_jobs_run_than_may_and_the_others_wait() -> None:
    async def test(jobs: Jobs) -> list[str]:
        started = [jobs.start("trial:count", {"steps": 5}, title=str(index)) for index in range(3)]
        await until(lambda: started[0].state == "running")
        states = [job.state for job in started]
        await until(lambda: all(map(ended, started)))
        return states

    assert with_jobs(test, running_jobs=1) == ["running", "waiting", "waiting"]


def test_a_waiting_job_can_be_cancelled() -> None:
    async def test(jobs: Jobs) -> list[str]:
        first, second = (jobs.start("trial:count", {"steps": 10}, title="") for _ in range(2))
        await until(lambda: first.state == "running")
        await jobs.cancel(second.id)
        await until(lambda: ended(first))
        return [first.state, second.state]

    assert with_jobs(test, running_jobs=1) == ["done", "cancelled"]


def test_a_job_that_breaks_off_has_failed() -> None:
    async def test(jobs: Jobs) -> Job:
        job = jobs.start("trial:break_off", {}, title="")
        await until(lambda: ended(job))
        return job

    job = with_jobs(test)
    assert job.state == "failed"
    assert "ended before it was done" in (job.error or "")


def test_a_function_that_is_not_listed_fails() -> None:
    async def test(jobs: Jobs) -> Job:
        job = jobs.start("os:getcwd", {}, title="")
        await until(lambda: ended(job))
        return job

    assert with_jobs(test).state == "failed"


def test_when_the_server_ends_its_jobs_end(tmp_path: Path) -> None:
    async def test(jobs: Jobs) -> int:
        job = jobs.start("trial:careful", {"file": str(tmp_path / "kept")}, title="")
        await until(lambda: job.progress)
        return job.progress["process"]

    assert not alive(with_jobs(test))


def test_too_many_waiting_jobs_are_refused_and_old_ones_forgotten() -> None:
    async def test(jobs: Jobs) -> list[str]:
        for _ in range(4):
            job = jobs.start("os:getcwd", {}, title="")
            await until(lambda job=job: ended(job))
        names = [job.id for job in jobs]
        for _ in range(3):
            jobs.start("trial:count", {"steps": 100}, title="")
            await asyncio.sleep(0)
        with pytest.raises(Refused, match="Too many jobs"):
            jobs.start("trial:count", {"steps": 100}, title="")
        return names

    assert with_jobs(test, running_jobs=1, waiting_jobs=2, remembered_jobs=2) == ["3", "4"]


def test_jobs_are_listed_and_an_unknown_one_is_not_found(client: TestClient) -> None:
    assert client.get("/api/jobs").status_code == 200
    reply = client.get("/api/jobs/99999")
    assert (reply.status_code, reply.json()["error"]) == (404, "There is no such job; it may have been forgotten.")
    assert client.delete("/api/jobs/../../etc").status_code in (404, 405)
