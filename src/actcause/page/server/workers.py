"""Workers: a few warm processes that answer short questions, so that none can hold the server up.

Nobody knows beforehand which questions are short. So each has a turn, and a new one never waits for long ones to end:

- Of those that wait, the newest goes first (`waiting_line.py`). While long ones are about, one process is kept for
  those that come.
- A question whose turn is over (`turn` seconds of a processor, or `patience` by the clock) gives way as soon as another
  waits: it moves aside, where it goes on at a lower priority; where enough are aside already, its process is killed,
  and it is asked again once nothing new waits.
- A process that is taken away is replaced by a copy of a warm one, at once (`warm_copies.py`).

A process past its time is killed; one past its memory says so. The pool of `parallel` would not do: there a task that
has begun keeps its process to the end, and here it has to give way (`tests/page/test_page_workers.py`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .child import Child, Payload, answer_calls
from .services import Refused, refuse_memory
from .settings import Limits
from .waiting_line import Place, WaitingLine
from .warm_copies import copy_child

if TYPE_CHECKING:
    from fastapi import Request

NO_LIMIT = "use the command line or Python, which have no such limit."
REMEDIES = {  # by what was asked about
    "model": f"ask about a smaller model, or {NO_LIMIT}",
    "file": f"try again when the machine has less to do, or {NO_LIMIT}",
}
SUPERSEDED = "A newer question took the place of this one."
BUSY = "The server is busy; try again in a moment."
TOO_MANY = "Too many questions are waiting; try again in a moment."
TOO_LONG = "Too many long questions are being answered; try again in a moment."
GROWN = 20 << 10  # KiB that a process may gain before it is replaced at leisure
START_SECONDS = 60.0  # in which the first process must be there; a machine may be busy
LOOK_SECONDS = 0.05  # between two looks at how long a question has worked
LOWEST = 19  # the lowest priority that a process can have

Function = Callable[[Payload], Payload | Iterator[Payload]]


@dataclass(eq=False)
class Turn:
    """A question that a process is answering; `since` when, and after how much work of the process."""

    child: Child
    since: float
    work: float
    aside: bool = False
    cut: asyncio.Event = field(default_factory=asyncio.Event)  # it has to give its process up

    def is_over(self, limits: Limits) -> bool:
        """Say whether it has had what a question has before others."""
        waited = asyncio.get_running_loop().time() - self.since
        return waited >= limits.patience or self.child.measure_work() - self.work >= limits.turn


def _read_order(text: str) -> int:
    """Read which of its requests a tab numbered this one; 0 if it did not."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _choose_remedy(payload: Payload) -> str:
    """Choose what to advise: a question about a model has its text, or a place for it."""
    return REMEDIES["model" if "text" in payload else "file"]


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
        self._line: WaitingLine[Child] = WaitingLine()
        self._newest = 0.0  # when the newest question came that got a process
        self._turns: list[Turn] = []  # the oldest first
        self._children: set[Child] = set()
        self._starting = 0  # processes that are not ready yet
        self._looking: asyncio.Task[None] | None = None
        self._owned: dict[str, tuple[int, asyncio.Task[Payload]]] = {}
        self._calls: set[asyncio.Task[Payload]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = self._ready = False

    async def start(self) -> None:
        """Start the processes; questions wait until one is ready."""
        self._open = True
        for _ in range(self._limits.workers):
            self._hire()

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
        came = asyncio.get_running_loop().time()
        tried = False
        while True:
            child = await self._take_idle(came, tried)
            if child.gone.is_set():
                self._replace(child)
            elif (reply := await self._take_turn(child, function, payload, seconds)) is not None:
                return reply
            else:
                tried = True

    async def _take_idle(self, came: float, tried: bool) -> Child:
        """Take a process that has nothing to do, or wait for one."""
        if self._idle and not tried:  # nobody who waits is newer
            self._newest = max(self._newest, came)
            return self._idle.pop()
        return await self._wait_for_idle(self._line.join(came, tried))

    async def _wait_for_idle(self, place: Place[Child]) -> Child:
        give_up = place.came + (self._limits.seconds if self._ready else START_SECONDS)
        self._hand_out()
        self._line.shorten(self._limits.waiting)
        try:
            async with asyncio.timeout_at(give_up):
                return await asyncio.shield(place.process)
        except BaseException as reason:
            self._line.leave(place)
            if place.process.done() and not place.process.cancelled():  # it came as the question was given up
                self._put_idle(place.process.result())
            if place.process.cancelled():
                raise Refused(TOO_MANY, status=503) from None
            if isinstance(reason, TimeoutError):
                raise Refused(TOO_LONG if place.tried else BUSY, status=503) from None
            raise

    async def _take_turn(self, child: Child, function: Function, payload: Payload, seconds: float) -> Payload | None:
        """Have a process answer; None if it gave way to a newer question, so that it has to be asked again."""
        loop = asyncio.get_running_loop()
        turn = Turn(child, loop.time(), child.measure_work())
        parts: list[Payload] = []
        child.calls += 1
        child.send(function, payload)
        reply = asyncio.ensure_future(child.gather_reply(parts))
        cut = asyncio.ensure_future(turn.cut.wait())
        long = loop.call_later(self._limits.patience, self._make_ready, turn)
        self._turns.append(turn)
        try:
            await asyncio.wait([reply, cut], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if reply.done():
                answer = reply.result()
            elif turn.cut.is_set():
                self._give_up(turn)
                return None
            else:
                raise Refused(f"No answer within {seconds:g} seconds; {_choose_remedy(payload)}")
        except EOFError:
            self._give_up(turn)
            return _keep_parts(parts, refuse_memory(of_model="text" in payload))
        except Refused as refused:
            self._give_up(turn)
            return _keep_parts(parts, refused)
        except BaseException:
            self._give_up(turn)
            raise
        finally:
            self._turns.remove(turn)
            for task in (reply, cut, long):
                task.cancel()
            self._hand_out()
        if turn.aside or answer["spent"]:
            self._give_up(turn)
        else:
            self._put_idle(child)
            if answer["memory"] > child.fresh + GROWN:
                loop.call_later(self._limits.rest, self._retire, child, child.calls)
        return answer

    # -- who has a process ---------------------------------------------------------------------------------

    @property
    def _room_aside(self) -> int:
        """How many more questions may move aside."""
        return max(0, self._limits.slow - sum(turn.aside for turn in self._turns))

    def _put_idle(self, child: Child) -> None:
        self._idle.append(child)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give processes that have nothing to do to questions that wait; look for more if new ones still do."""
        long = any(turn.aside for turn in self._turns)
        kept = 1 if long and self._limits.workers > 1 else 0
        while self._idle and (self._line.new or self._line.tried):
            place = self._line.call_next(spare=len(self._idle) > kept, newest=self._newest)
            if place is None:
                break
            self._newest = max(self._newest, place.came)
            place.process.set_result(self._idle.pop())
        if self._line.new and self._looking is None and self._open:
            self._looking = self._schedule(self._look_for_room())

    async def _look_for_room(self) -> None:
        """While new questions wait, let those give way whose turn is over."""
        try:
            while self._open and self._line.new:
                self._make_room()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._looking = None

    def _make_room(self) -> None:
        """Let as many questions give way as there are new ones without a process on its way."""
        coming = self._starting + len(self._idle) + sum(turn.cut.is_set() for turn in self._turns)
        wanted = max(0, len(self._line.new) - coming)
        over = [turn for turn in self._turns if not turn.aside and not turn.cut.is_set() and turn.is_over(self._limits)]
        room = self._room_aside
        for turn in over[: min(room, wanted)]:
            self._move_aside(turn)
        for turn in over[room:][::-1][: max(0, wanted - room)]:  # those that lose the least work
            turn.cut.set()

    def _make_ready(self, turn: Turn) -> None:
        """Move a long question aside before somebody comes, so that a process is ready then."""
        if self._open and not turn.cut.is_set() and not turn.aside and self._room_aside:
            self._move_aside(turn)

    def _move_aside(self, turn: Turn) -> None:
        turn.aside = True
        self._hire()
        self._schedule(self._lower_priority(turn))

    async def _lower_priority(self, turn: Turn) -> None:
        """Lower the priority of a long question; on a busy machine not before it has worked at all."""
        enough = turn.work + self._limits.turn
        while turn in self._turns:
            if turn.child.measure_work() >= enough:
                with suppress(OSError):
                    number = turn.child.process.pid or 0
                    now = os.getpriority(os.PRIO_PROCESS, number)
                    os.setpriority(os.PRIO_PROCESS, number, min(now + self._limits.niceness, LOWEST))
                return
            await asyncio.sleep(LOOK_SECONDS)

    # -- processes come and go -----------------------------------------------------------------------------

    def _give_up(self, turn: Turn) -> None:
        """End the process of a question; if it moved aside, another has taken its place already."""
        if turn.aside:
            self._schedule(self._dismiss(turn.child))
        else:
            self._replace(turn.child)

    def _replace(self, child: Child) -> None:
        self._schedule(self._dismiss(child))
        self._hire()

    def _retire(self, child: Child, calls: int) -> None:
        """Replace a process that has grown, once it has had nothing to do for a while."""
        if self._open and child in self._idle and child.calls == calls:
            self._idle.remove(child)
            self._replace(child)

    def _hire(self) -> None:
        if self._open:
            self._starting += 1
            self._schedule(self._start_process())

    async def _start_process(self) -> None:
        """Start a process; it gets questions once it says that it is ready, so that its start counts for none."""
        while self._open:
            child = await copy_child(answer_calls, self._limits.memory)
            self._children.add(child)
            try:
                if self._open:  # not stopped while it was started
                    child.fresh = (await child.receive())["memory"]
                    self._ready = True
                    self._starting -= 1
                    self._put_idle(child)
                    return
            except EOFError:
                pass
            await self._dismiss(child)
            await asyncio.sleep(1 if self._open else 0)

    async def _dismiss(self, child: Child) -> None:
        if child in self._children:
            self._children.remove(child)
            await child.end()

    def _schedule(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
