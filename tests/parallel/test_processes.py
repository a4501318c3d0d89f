"""Processes of this machine: killed, interrupted, orphaned, and never left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_tasks import PLACES, double, process, sleep, unsendable

from actcause.parallel import engine, values
from actcause.parallel.ordering import AHEAD
from waiting import wait_until

PROGRAM = """
import sys
from pathlib import Path
from actcause.parallel import engine, values
from engine_tasks import sleep_beside

if __name__ == "__main__":
    with engine("local", workers=2) as workers:
        list(values(workers.run(sleep_beside, [sys.argv[1]] * 2)))
"""


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_reaped(number: int) -> bool:
    """Whether the last thread of a child is gone, hence its end of the pipe closed: /proc tells of the first alone."""
    return number not in {child.pid for child in multiprocessing.active_children()}


def test_one_worker_is_this_process() -> None:
    with engine() as workers:
        assert list(values(workers.run(process, range(2)))) == [os.getpid()] * 2


def test_isolated_tasks_are_always_in_another_process() -> None:
    with engine() as workers:
        [found] = values(workers.run(process, [0], isolated=True))
    assert found != os.getpid()


def test_workers_are_kept_for_the_next_run_and_end_with_the_engine() -> None:
    with engine(workers=2) as workers:
        first = set(values(workers.run(sleep, [0.0] * 4)))
        second = set(values(workers.run(sleep, [0.0] * 4)))
        assert first == second
        assert all(map(alive, first))
    assert not any(map(alive, first))


def test_no_more_tasks_are_begun_than_there_are_workers_for() -> None:
    taken = 0

    def tasks() -> Iterator[float]:
        nonlocal taken
        while True:
            taken += 1
            yield 0.0

    with engine(workers=2) as workers:
        outcomes = workers.run(sleep, tasks())
        assert taken == 0
        next(outcomes)
        assert taken <= 2 * AHEAD


def test_an_abandoned_run_ends_its_tasks_and_the_engine_goes_on() -> None:
    with engine(workers=2) as workers:
        outcomes = workers.run(sleep, [0.0, 60.0, 60.0])
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]
        assert list(values(workers.run(double, [1, 2, 3]))) == [2, 4, 6]


def test_a_worker_that_is_killed_while_idle_costs_no_attempt() -> None:
    with engine(workers=2) as workers:
        [first] = values(workers.run(process, [0]))
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: is_reaped(first))
        [outcome] = workers.run(process, [0], retries=0)
    assert outcome.attempts == 1
    assert outcome.value not in (None, first)


def test_closing_ends_workers_that_are_busy() -> None:
    others = set(multiprocessing.active_children())  # of tests before this one
    with engine(workers=2) as workers:
        outcomes = workers.run(sleep, [0.0, 600.0])
        next(outcomes)
        assert set(multiprocessing.active_children()) - others
    assert not set(multiprocessing.active_children()) - others


def test_a_value_that_cannot_be_sent_is_an_outcome() -> None:
    with engine(workers=2) as workers:
        found = list(workers.run(unsendable, range(3)))
    assert [outcome.value for outcome in found] == [0, None, 2]
    assert "pickle" in str(found[1].error)


# -- a caller that is cut off ------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A caller in a process group of its own, as a terminal has it, and its two workers, both busy."""
    (tmp_path / "caller.py").write_text(PROGRAM)
    caller = subprocess.Popen(
        [sys.executable, str(tmp_path / "caller.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": PLACES},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: len(list(tmp_path.glob("*.busy"))) == 2)
    workers = [int(path.stem) for path in tmp_path.glob("*.busy")]
    yield caller, workers
    for number in (caller.pid, *workers):
        if alive(number):
            os.kill(number, signal.SIGKILL)
    caller.communicate()


def test_ctrl_c_leaves_no_worker_and_no_worker_speaks(running: tuple[subprocess.Popen[str], list[int]]) -> None:
    caller, workers = running
    os.killpg(caller.pid, signal.SIGINT)
    _, said = caller.communicate(timeout=120)
    assert not any(map(alive, workers))
    assert said.count("Traceback") == said.count("KeyboardInterrupt") == 1


def test_workers_end_when_their_caller_is_killed(running: tuple[subprocess.Popen[str], list[int]]) -> None:
    caller, workers = running
    caller.kill()
    wait_until(lambda: not any(map(alive, workers)))
