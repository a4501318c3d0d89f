"""Workers: a few warm processes that answer short questions, so that none can hold the server up.

A question that takes longer than `patience` moves out of the way: another process takes its place, and
its own gets a lower priority, until the question ends or its time is up. A process past its time is
killed; one past its memory says so.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from .services import Refused
from .settings import Limits

# What a worker, and a job, may be asked to call.
ALLOWED: tuple[str, ...] = (
    "actcause.page.ask.answers:check",
    "actcause.page.ask.answers:answer",
    "actcause.page.ask.answers:judge",
    "actcause.page.ask.answers:degrees",
    "actcause.page.spaces.routes:picture",
    "actcause.page.spaces.routes:why",
    "actcause.page.spaces.routes:histogram",
    "actcause.page.data.library:listing",
    "actcause.page.replay.episodes:episode",
    "actcause.page.replay.findings:as_csv",
    "actcause.page.data.columns:look",
    "actcause.page.data.columns:mapped",
    "actcause.page.data.columns:described",
)
JOBS: tuple[str, ...] = (
    "actcause.page.replay.findings:explain",
    "actcause.page.runs.trainings:train",
    "actcause.page.runs.trainings:score",
)

COMMAND = (sys.executable, "-m", "actcause.page.server.child")
REMEDY = "ask about a smaller model, or use the command line or Python, which have no such limit."
GROWN = 20 << 10  # KiB that a process may gain before it is replaced at leisure
LOOK_SECONDS = 0.2  # between two looks at how long a question has worked
LENGTH = 8  # bytes before each message that say how long it is
MOST_BYTES = 256 << 20
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Child:
    """A process of `child.py` and the messages to and from it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.calls = 0
        self.fresh = 0  # KiB of memory when it was ready
        self._to, self._from = process.stdin, process.stdout

    @classmethod
    async def spawn(cls, *arguments: str) -> Child:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            # A group of its own, so that Ctrl-C goes to the server alone; not a session, within which alone
            # Linux heeds how nice a process is.
            process_group=0,
        )
        return cls(process)

    def send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message).encode()
        with suppress(ConnectionError, RuntimeError):  # it died; receive() finds out
            self._to.write(len(text).to_bytes(LENGTH, "big") + text)

    async def receive(self) -> dict[str, Any]:
        """The next message; EOFError if the process has ended."""
        head = await self._read(LENGTH)
        size = int.from_bytes(head, "big")
        if size > MOST_BYTES:
            raise EOFError
        message: dict[str, Any] = json.loads(await self._read(size))
        return message

    async def _read(self, size: int) -> bytes:
        try:
            return await self._from.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise EOFError from None

    def worked(self) -> float:
        """Seconds that it has had a processor; infinity where the system does not say."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                after_name = file.read().rpartition(")")[2].split()
        except OSError:
            return math.inf
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()

    async def ended(self) -> None:
        self._to.close()
        await self.process.wait()


async def _received(child: Child, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The reply of a worker; what came in parts is gathered, also for a caller who waits no longer."""
    while "part" in (message := await child.receive()):
        parts.append(message["part"])
    if parts and "error" not in message:
        message["result"] = {"parts": parts, "late": None}
    return message


def _so_far(parts: list[dict[str, Any]], refused: Refused) -> dict[str, Any]:
    """The parts that were answered before the rest was refused; the refusal itself if there are none."""
    if not parts:
        raise refused from None
    return {"result": {"parts": parts, "late": refused.message}}


class Workers:
    """The processes that answer questions. `start` and `stop` them around the life of the server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._idle: asyncio.Queue[Child] = asyncio.LifoQueue()  # the last one still has what it computed
        self._children: set[Child] = set()
        self._waiting = 0
        self._slow = 0
        self._owned: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._calls: set[asyncio.Task[dict[str, Any]]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = False

    async def start(self) -> None:
        """Start the processes; questions wait until one is ready."""
        self._open = True
        for _ in range(self._limits.workers):
            self._soon(self._hire())

    async def stop(self) -> None:
        """End the processes and refuse what they were asked; to stop twice does no harm."""
        self._open = False
        for call in list(self._calls):
            call.cancel()
        for child in list(self._children):
            child.kill()
        await asyncio.gather(*(child.ended() for child in self._children), *self._tasks, return_exceptions=True)

    async def call(
        self, function: str, payload: dict[str, Any], *, seconds: float | None = None, owner: str | None = None
    ) -> dict[str, Any]:
        """What a function of `ALLOWED` gives for the payload, within `seconds`.

        A function that yields its answer in parts gives `{"parts": [...], "late": None}`; if it is cut
        short, the parts so far, and `late` says why. A newer call of the same `owner` takes the place of
        one that is still under way.
        """
        message = {"function": function, "payload": payload}
        task = asyncio.ensure_future(self._answer(message, self._limits.seconds if seconds is None else seconds))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        if owner is not None:
            if (earlier := self._owned.get(owner)) is not None:
                earlier.cancel()
            self._owned[owner] = task
        try:
            reply = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._open:
                raise Refused("The server is ending.", status=503) from None
            if task.cancelled():
                raise Refused("A newer question took the place of this one.", status=409) from None
            task.cancel()
            raise
        finally:
            if owner is not None and self._owned.get(owner) is task:
                del self._owned[owner]
        if "error" in reply:
            raise Refused(reply["error"], reply["line"], reply["status"])
        result: dict[str, Any] = reply["result"]
        return result

    async def _answer(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        child = await self._next()
        child.calls += 1
        parts: list[dict[str, Any]] = []
        enough = child.worked() + self._limits.patience
        child.send(message)
        reply = asyncio.ensure_future(_received(child, parts))
        slow = False
        try:
            done, _ = await asyncio.wait([reply], timeout=min(seconds, self._limits.patience))
            if not done and seconds > self._limits.patience:
                if self._slow >= self._limits.slow:
                    raise Refused("Too many long questions are being answered; try again in a moment.", status=503)
                slow = True
                self._slow += 1
                self._soon(self._hire())
                aside = self._soon(self._step_aside(child, enough))
                try:
                    done, _ = await asyncio.wait([reply], timeout=seconds - self._limits.patience)
                finally:
                    aside.cancel()
            if not done:
                raise Refused(f"No answer within {seconds:g} seconds; {REMEDY}")
            answer = reply.result()
        except EOFError:
            self._replace(child, slow)
            return _so_far(parts, Refused(f"This takes more memory than a question may; {REMEDY}"))
        except Refused as refused:
            reply.cancel()
            self._replace(child, slow)
            return _so_far(parts, refused)
        except BaseException:
            reply.cancel()
            self._replace(child, slow)
            raise
        finally:
            self._slow -= slow
        if slow or answer["spent"]:
            self._replace(child, slow)
        else:
            self._idle.put_nowait(child)
            if answer["memory"] > child.fresh + GROWN:
                asyncio.get_running_loop().call_later(self._limits.rest, self._retire, child, child.calls)
        return answer

    async def _next(self) -> Child:
        """A process that waits for a question."""
        while True:
            child = await self._hired()
            if child.process.returncode is None:
                return child
            self._replace(child, False)

    async def _hired(self) -> Child:
        if not self._idle.empty():
            return self._idle.get_nowait()
        if self._waiting >= self._limits.waiting:
            raise Refused("Too many questions are waiting; try again in a moment.", status=503)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._idle.get()
        except TimeoutError:
            raise Refused("The server is busy; try again in a moment.", status=503) from None
        finally:
            self._waiting -= 1

    async def _step_aside(self, child: Child, enough: float) -> None:
        """Lower the priority of a long question; on a busy machine not before it has worked at all."""
        while child.worked() < enough:
            await asyncio.sleep(LOOK_SECONDS)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child.process.pid, 10)

    def _replace(self, child: Child, replaced: bool) -> None:
        child.kill()
        self._soon(self._dismiss(child))
        if not replaced:
            self._soon(self._hire())

    def _retire(self, child: Child, calls: int) -> None:
        """Replace a process that has grown, once it has had nothing to do for a while."""
        idle = [self._idle.get_nowait() for _ in range(self._idle.qsize())]
        rested = child in idle and child.calls == calls
        for each in idle:
            if each is not child or not rested:
                self._idle.put_nowait(each)
        if rested and self._open:
            self._replace(child, False)

    async def _hire(self) -> None:
        """Start a process; it gets questions once it says that it is ready, so that its start counts for none."""
        while self._open:
            child = await Child.spawn("worker", str(self._limits.memory))
            self._children.add(child)
            if not self._open:
                child.kill()
            try:
                child.fresh = (await child.receive())["memory"]
            except EOFError:
                await self._dismiss(child)
                await asyncio.sleep(1 if self._open else 0)
            else:
                self._idle.put_nowait(child)
                return

    async def _dismiss(self, child: Child) -> None:
        await child.ended()
        self._children.discard(child)

    def _soon(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
