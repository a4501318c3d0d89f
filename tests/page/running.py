"""Running coroutines in tests, with a clock that a test can put forward: nothing waits for a deadline."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STEP = 0.2  # seconds by which the clock goes forward between two turns of the loop
PATIENCE = 120  # seconds after which a condition that does not come is a failure


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread: a browser test may have left an event loop in this one."""

    def run_here() -> Any:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            return runner.run(coroutine)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run_here).result()


async def jump(seconds: float) -> None:
    """Let so much time pass at once."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, JumpingLoop)
    until = loop.ahead + seconds
    while loop.ahead < until:
        loop.ahead += STEP
        for _ in range(4):  # what follows from a deadline takes a few turns
            await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


def wait_for_job(client: Any, job: str, condition: Callable[[Any], object] | None = None) -> Any:
    """A job once it has ended, or once it meets a condition."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        now = client.get(f"/api/jobs/{job}").json()
        if now["state"] not in ("waiting", "running") or (condition and condition(now)):
            return now
        time.sleep(0.02)
    raise AssertionError(f"job {job} is still {now['state']}: {now['progress']}")


class Gate:
    """What `trial.hold` waits at, in another process, until a test opens it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.payload = {"folder": str(folder)}
        os.mkfifo(folder / "gate")

    def count(self) -> int:
        """How many have come to the gate so far."""
        return len(list(self._folder.glob("came-*")))

    def open(self) -> None:
        """Let one through that has come."""
        with open(self._folder / "gate", "w"):
            pass
