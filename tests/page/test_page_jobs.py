"""Jobs run beside the server, report their progress and can be cancelled."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trial
from running import Gate, run, until
from starlette.testclient import TestClient
from test_page_workers import is_alive, with_workers

from actcause.page.server.jobs import UNENDED, BackgroundJob, Jobs
from actcause.page.server.services import Refused
from actcause.page.server.settings import GIB, Limits
from actcause.page.server.workers import QuestionWorkers


def with_jobs(test: Callable[[Jobs], Awaitable[Any]], **limits: Any) -> Any:
    async def live() -> Any:
        jobs = Jobs(Limits(**limits))
        try:
            return await test(jobs)
        finally:
            await jobs.stop()

    return run(live())


def has_ended(job: BackgroundJob) -> bool:
    return job.state not in UNENDED


def test_a_job_reports_its_progress_and_gives_its_result(gate: Gate) -> None:
    async def test(jobs: Jobs) -> BackgroundJob:
        job = jobs.start(trial.count, {"steps": 3, **gate.payload}, title="Counting")
        for step in range(3):
            await until(lambda step=step: job.progress == {"step": step})
            gate.open()
        await until(lambda: has_ended(job))
        return job

    job = with_jobs(test)
    assert (job.state, job.title) == ("done", "Counting")
    assert job.result == {"counted": 3, "niceness": min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)}
    assert job.seconds > 0


def test_a_cancelled_job_may_put_its_files_in_order_and_its_process_is_gone(tmp_path: Path) -> None:
    async def test(jobs: Jobs) -> tuple[BackgroundJob, int]:
        job = jobs.start(trial.write_when_cancelled, {"file": str(tmp_path / "kept")}, title="")
        await until(lambda: job.progress)
        return await jobs.cancel(job.id), job.progress["process"]

    job, process = with_jobs(test)
    assert job.state == "cancelled"
    assert (tmp_path / "kept").read_text() == "in order"
    assert not is_alive(process)


def test_a_job_that_is_cancelled_where_no_exception_gets_out_ends_in_order_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def test(jobs: Jobs) -> BackgroundJob:
        job = jobs.start(trial.be_cancelled_while_cleaning_up, {"file": str(tmp_path / "kept")}, title="")
        await until(lambda: job.progress)
        return await jobs.cancel(job.id)

    assert with_jobs(test).state == "cancelled"
    assert (tmp_path / "kept").read_text() == "in order"
    assert capfd.readouterr().err == ""


def test_no_more_jobs_run_than_may_and_one_that_waits_can_be_cancelled(gate: Gate) -> None:
    async def test(jobs: Jobs) -> list[list[str]]:
        started = [jobs.start(trial.hold, gate.payload, title=str(index)) for index in range(3)]
        await until(gate.count)
        states = [[job.state for job in started]]
        await jobs.cancel(started[2].id)
        for count in (1, 2):
            await until(lambda count=count: gate.count() == count)
            gate.open()
        await until(lambda: all(map(has_ended, started)))
        return [*states, [job.state for job in started]]

    assert with_jobs(test, running_jobs=1) == [["running", "waiting", "waiting"], ["done", "done", "cancelled"]]


def test_a_job_that_breaks_off_has_failed() -> None:
    async def test(jobs: Jobs) -> BackgroundJob:
        job = jobs.start(trial.die, {}, title="")
        await until(lambda: has_ended(job))
        return job

    job = with_jobs(test)
    assert job.state == "failed"
    assert "ended before it was done" in (job.error or "")


def test_a_job_past_its_memory_is_refused_in_a_sentence() -> None:
    async def test(jobs: Jobs) -> list[BackgroundJob]:
        started = [jobs.start(trial.fill, {"bytes": size}, title="") for size in (3 << 30, 1 << 20)]
        await until(lambda: all(map(has_ended, started)))
        return started

    large, small = with_jobs(test, memory=GIB)
    assert (large.state, small.state) == ("failed", "done")
    assert large.error == (
        "This takes more memory than it may; take fewer rows or a smaller network, "
        "or start the server with a larger --memory."
    )


@pytest.mark.parametrize(("filled", "said"), [(GIB, "larger --memory."), (GIB // 4, "nothing")])
def test_a_job_may_take_as_much_memory_as_a_question(filled: int, said: str) -> None:
    async def ask(workers: QuestionWorkers) -> str:
        try:
            await workers.call(trial.fill, {"bytes": filled})
        except Refused as refused:
            return refused.message
        return "nothing"

    async def do(jobs: Jobs) -> str:
        job = jobs.start(trial.fill, {"bytes": filled}, title="")
        await until(lambda: has_ended(job))
        return job.error or "nothing"

    asked, done = with_workers(ask, memory=GIB), with_jobs(do, memory=GIB)
    assert asked == done
    assert asked.endswith(said)


def test_when_the_server_ends_its_jobs_end(tmp_path: Path) -> None:
    async def test(jobs: Jobs) -> int:
        job = jobs.start(trial.write_when_cancelled, {"file": str(tmp_path / "kept")}, title="")
        await until(lambda: job.progress)
        return job.progress["process"]

    assert not is_alive(with_jobs(test))
    assert (tmp_path / "kept").read_text() == "in order"


def test_too_many_waiting_jobs_are_refused_and_old_ones_forgotten(gate: Gate) -> None:
    async def test(jobs: Jobs) -> list[str]:
        for _ in range(3):
            job = jobs.start(trial.die, {}, title="")
            await until(lambda job=job: has_ended(job))
        names = [job.id for job in jobs]
        held = [jobs.start(trial.hold, gate.payload, title="")]
        await until(gate.count)
        held += [jobs.start(trial.hold, gate.payload, title="") for _ in range(2)]
        with pytest.raises(Refused, match="Too many jobs"):
            jobs.start(trial.hold, gate.payload, title="")
        return names

    assert with_jobs(test, running_jobs=1, waiting_jobs=2, remembered_jobs=2) == ["2", "3"]


def test_jobs_are_listed_and_an_unknown_one_is_not_found(client: TestClient) -> None:
    assert client.get("/api/jobs").status_code == 200
    reply = client.get("/api/jobs/99999")
    assert (reply.status_code, reply.json()["error"]) == (404, "There is no such job; it may have been forgotten.")
    assert client.delete("/api/jobs/../../etc").status_code in (404, 405)
