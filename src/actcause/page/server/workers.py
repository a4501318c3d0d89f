"""Workers: a few warm processes that answer short questions, so that none can hold the server up.

A question that takes longer than `patience` moves out of the way: another process takes its place, and
its own gets a lower priority, until the question ends or its time is up. A process past its time is
killed; one past its memory says so.

Of the questions that wait, the newest goes first, and while long ones are about, one process is kept for those that
come: however many long questions wait, a short one is answered soon.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...parallel.child_process import ChildProcess, environment
from .child import answer_calls
from .services import Refused
from .settings import Limits

if TYPE_CHECKING:
    from fastapi import Request

REMEDY = "ask about a smaller model, or use the command line or Python, which have no such limit."
SUPERSEDED = "A newer question took the place of this one."
GROWN = 20 << 10  # KiB that a process may gain before it is replaced at leisure
START_SECONDS = 60.0  # in which the first process must be there; a machine may be busy
LOOK_SECONDS = 0.2  # between two looks at how long a question has worked
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

Payload = dict[str, Any]
Function = Callable[[Payload], Payload | Iterator[Payload]]


class Child:
    """A process of `child.py` and the messages to and from it."""

    def __init__(self, target: Callable[..., None], *arguments: Any) -> None:
        with environment(ONE_THREAD):
            self._child = ChildProcess.start(target, *arguments)
        self.process = self._child.process
        self.gone = asyncio.Event()
        self.calls = 0
        self.fresh = 0  # KiB of memory when it was ready
        self._messages: asyncio.Queue[Payload | None] = asyncio.Queue()
        threading.Thread(target=self._listen, args=(asyncio.get_running_loop(),), daemon=True).start()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand on what the process sends; in a thread, since to read from a pipe is to wait."""
        with suppress(RuntimeError):  # the loop is closed
            with suppress(EOFError, OSError):
                while True:
                    loop.call_soon_threadsafe(self._messages.put_nowait, self._child.channel.recv())
            loop.call_soon_threadsafe(self._messages.put_nowait, None)
            loop.call_soon_threadsafe(self.gone.set)

    def send(self, function: Callable[..., Any], payload: Payload) -> None:
        with suppress(OSError):  # it died; receive() finds out
            self._child.channel.send((function, payload))

    async def receive(self) -> Payload:
        """Wait for the next message; EOFError if the process has ended."""
        message = await self._messages.get()
        if message is None:
            raise EOFError
        return message

    def measure_work(self) -> float:
        """Measure the seconds that it has had a processor; infinity where the system does not say."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                after_name = file.read().rpartition(")")[2].split()
        except OSError:
            return math.inf
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    async def end(self) -> None:
        """Kill it and wait until it is gone."""
        self.process.kill()
        await self.gone.wait()
        self._child.end()


def _read_order(text: str) -> int:
    """Read which of its requests a tab numbered this one; 0 if it did not."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


async def _gather_reply(child: Child, parts: list[Payload]) -> Payload:
    """Gather the reply of a worker, which may come in parts, also for a caller who waits no longer."""
    while "part" in (message := await child.receive()):
        parts.append(message["part"])
    if parts and "refused" not in message:
        message["result"] = {"parts": parts, "late": None}
    return message


def _keep_parts(parts: list[Payload], refused: Refused) -> Payload:
    """Keep the parts that were answered before the rest was refused; if there are none, raise the refusal."""
    if not parts:
        raise refused from None
    return {"result": {"parts": parts, "late": refused.message}}


class QuestionWorkers:
    """The processes that answer questions. `start` and `stop` them around the life of the server.

    Not a pool of `actcause.parallel`, which has neither deadlines nor limits of memory nor answers in parts.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._idle: list[Child] = []  # the last one still has what it computed
        self._waiting: list[asyncio.Future[Child]] = []  # the newest question last
        self._children: set[Child] = set()
        self._slow = 0
        self._owned: dict[str, tuple[int, asyncio.Task[Payload]]] = {}
        self._calls: set[asyncio.Task[Payload]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = self._ready = False

    async def start(self) -> None:
        """Start the processes; questions wait until one is ready."""
        self._open = True
        for _ in range(self._limits.workers):
            self._schedule(self._hire())

    async def stop(self) -> None:
        """End the processes and refuse what they were asked; to stop twice does no harm."""
        self._open = False
        for call in list(self._calls):
            call.cancel()
        for child in list(self._children):
            self._schedule(self._dismiss(child))
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def answer(self, request: Request, function: Function, payload: Payload, seconds: float) -> Payload:
        """Answer a request, unless a newer one of the same tab takes its place or the one who asked leaves.

        A short question is answered all the same: to end its process and start another would cost more.
        """

        async def leave() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            await asyncio.sleep(self._limits.patience)

        tab = request.headers.get("x-tab")
        owner = None if tab is None else f"{tab[:40]} {request.scope['path']}"
        order = _read_order(request.headers.get("x-order", ""))
        answer = asyncio.ensure_future(self.call(function, payload, seconds=seconds, owner=owner, order=order))
        left = asyncio.ensure_future(leave())
        try:
            await asyncio.wait([answer, left], return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise Refused("The one who asked has gone.", status=499)
            return answer.result()
        finally:
            left.cancel()
            answer.cancel()

    async def call(
        self,
        function: Function,
        payload: Payload,
        *,
        seconds: float | None = None,
        owner: str | None = None,
        order: int = 0,
    ) -> Payload:
        """Have a worker call a function of a module with the payload, within `seconds`.

        A function that yields its answer in parts gives `{"parts": [...], "late": None}`; if it is cut
        short, the parts so far, and `late` says why. A newer call of the same `owner` takes the place of
        one that is still under way; the newer is the one with the higher `order`, else the one that came later.
        """
        earlier = None if owner is None else self._owned.get(owner)
        if earlier is not None and earlier[0] > order:
            raise Refused(SUPERSEDED, status=409)
        seconds = self._limits.seconds if seconds is None else seconds
        task = asyncio.ensure_future(self._run(function, payload, seconds))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        if owner is not None:
            if earlier is not None:
                earlier[1].cancel()
            self._owned[owner] = order, task
        try:
            reply = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._open:
                raise Refused("The server is ending.", status=503) from None
            if task.cancelled():
                raise Refused(SUPERSEDED, status=409) from None
            task.cancel()
            raise
        finally:
            if owner is not None and self._owned.get(owner) == (order, task):
                del self._owned[owner]
        if "refused" in reply:
            raise reply["refused"]
        result: Payload = reply["result"]
        return result

    async def _run(self, function: Function, payload: Payload, seconds: float) -> Payload:
        child = await self._take_idle()
        child.calls += 1
        parts: list[Payload] = []
        enough = child.measure_work() + self._limits.patience
        child.send(function, payload)
        reply = asyncio.ensure_future(_gather_reply(child, parts))
        slow = False
        try:
            done, _ = await asyncio.wait([reply], timeout=min(seconds, self._limits.patience))
            if not done and seconds > self._limits.patience:
                if self._slow >= self._limits.slow:
                    raise Refused("Too many long questions are being answered; try again in a moment.", status=503)
                slow = True
                self._slow += 1
                self._schedule(self._hire())
                aside = self._schedule(self._step_aside(child, enough))
                try:
                    done, _ = await asyncio.wait([reply], timeout=seconds - self._limits.patience)
                finally:
                    aside.cancel()
            if not done:
                raise Refused(f"No answer within {seconds:g} seconds; {REMEDY}")
            answer = reply.result()
        except EOFError:
            self._replace(child, slow)
            return _keep_parts(parts, Refused(f"This takes more memory than a question may; {REMEDY}"))
        except Refused as refused:
            reply.cancel()
            self._replace(child, slow)
            return _keep_parts(parts, refused)
        except BaseException:
            reply.cancel()
            self._replace(child, slow)
            raise
        finally:
            self._slow -= slow
            self._hand_out()
        if slow or answer["spent"]:
            self._replace(child, slow)
        else:
            self._put_idle(child)
            if answer["memory"] > child.fresh + GROWN:
                asyncio.get_running_loop().call_later(self._limits.rest, self._retire, child, child.calls)
        return answer

    async def _take_idle(self) -> Child:
        """Take a process that waits for a question."""
        while (child := await self._wait_for_idle()).gone.is_set():
            self._replace(child, False)
        return child

    async def _wait_for_idle(self) -> Child:
        if self._idle:
            return self._idle.pop()
        if len(self._waiting) >= self._limits.waiting:
            raise Refused("Too many questions are waiting; try again in a moment.", status=503)
        place: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(self._limits.seconds if self._ready else START_SECONDS):
                return await asyncio.shield(place)
        except BaseException as reason:
            if place.done():  # it came as the question was given up
                self._put_idle(place.result())
            else:
                self._waiting.remove(place)
            if isinstance(reason, TimeoutError):
                raise Refused("The server is busy; try again in a moment.", status=503) from None
            raise

    def _put_idle(self, child: Child) -> None:
        self._idle.append(child)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give processes that have nothing to do to questions that wait."""
        kept = 1 if self._slow and self._limits.workers > 1 else 0
        while self._waiting and len(self._idle) > kept:
            self._waiting.pop().set_result(self._idle.pop())

    async def _step_aside(self, child: Child, enough: float) -> None:
        """Lower the priority of a long question; on a busy machine not before it has worked at all."""
        while child.measure_work() < enough:
            await asyncio.sleep(LOOK_SECONDS)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child.process.pid or 0, 10)

    def _replace(self, child: Child, replaced: bool) -> None:
        self._schedule(self._dismiss(child))
        if not replaced:
            self._schedule(self._hire())

    def _retire(self, child: Child, calls: int) -> None:
        """Replace a process that has grown, once it has had nothing to do for a while."""
        if self._open and child in self._idle and child.calls == calls:
            self._idle.remove(child)
            self._replace(child, False)

    async def _hire(self) -> None:
        """Start a process; it gets questions once it says that it is ready, so that its start counts for none."""
        while self._open:
            child = Child(answer_calls, self._limits.memory)
            self._children.add(child)
            try:
                child.fresh = (await child.receive())["memory"]
            except EOFError:
                await self._dismiss(child)
                await asyncio.sleep(1 if self._open else 0)
            else:
                self._ready = True
                self._put_idle(child)
                return

    async def _dismiss(self, child: Child) -> None:
        if child in self._children:
            self._children.remove(child)
            await child.end()

    def _schedule(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
