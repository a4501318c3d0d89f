"""The processes of `workers.py` and `jobs.py`, from both ends: they call the functions that they are sent."""

from __future__ import annotations

import asyncio
import math
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from ...errors import ActCauseError
from ...parallel.child_process import ChildProcess, environment
from .services import Refused, refuse_memory

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
RECYCLED = 512 << 10  # KiB of memory after which a worker asks to be replaced
MOST_CALLS = 5000
AGAIN = 0.05  # seconds after which a cancelled job is told so again

Payload = dict[str, Any]


class Child:
    """A process that works for the server, and the messages to and from it."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self.process = child.process
        self.gone = asyncio.Event()
        self.calls = 0
        self.fresh = 0  # KiB of memory when it was ready
        self._messages: asyncio.Queue[Payload | None] = asyncio.Queue()
        threading.Thread(target=self._listen, args=(asyncio.get_running_loop(),), daemon=True).start()

    @classmethod
    def start(cls, target: Callable[..., None], *arguments: Any) -> Child:
        """Start a new interpreter."""
        with environment(ONE_THREAD):
            return cls(ChildProcess.start(target, *arguments))

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

    async def gather_reply(self, parts: list[Payload]) -> Payload:
        """Gather a reply, which may come in parts, also for a caller who waits no longer."""
        while "part" in (message := await self.receive()):
            parts.append(message["part"])
        if parts and "refused" not in message:
            message["result"] = {"parts": parts, "late": None}
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


# -- in the process ----------------------------------------------------------------------------------------


def answer_calls(channel: Connection, most_memory: int) -> None:
    """Answer one call after another, as a worker does; what a function yields is sent on the way."""
    os.dup2(2, 1)  # standard output is the server's own
    _limit_memory(most_memory)
    from ..ask import answers  # noqa: F401 - what most calls need, before the first one waits for it

    channel.send({"memory": _measure_memory()})
    calls = 0
    with suppress(EOFError, BrokenPipeError):  # the server is gone
        while True:
            function, payload = channel.recv()
            calls += 1
            reply = _call(channel, function, payload)
            memory = _measure_memory()
            channel.send({**reply, "memory": memory, "spent": calls >= MOST_CALLS or memory > RECYCLED})


def run_job(channel: Connection, niceness: int, most_memory: int) -> None:
    """Make one call that takes long, and report its progress."""
    os.dup2(2, 1)
    os.nice(niceness)
    _limit_memory(most_memory)
    _end_in_order()
    with suppress(EOFError, BrokenPipeError):
        function, payload = channel.recv()
        report = partial(_report, channel)
        channel.send(_call(channel, function, payload, report))
    os._exit(0)  # at once: libraries would be interrupted as they clean up, since the server ends a job that is done


def _end_in_order() -> None:
    """End a job that is cancelled by an exception, so that nothing half-written is left behind.

    Where Python lets none out (in the callbacks of an import, in `__del__`) it is raised again a moment later.
    """

    def leave(*_: object) -> None:
        sys.exit(0)

    def raise_again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, SystemExit):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            sys.__unraisablehook__(lost)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGALRM, leave)
    sys.unraisablehook = raise_again


def _report(channel: Connection, progress: dict[str, Any]) -> None:
    channel.send({"progress": progress})


def _limit_memory(most: int) -> None:
    """Limit the bytes that this process may write to.

    Not those that it has addresses for: drivers of graphics cards reserve many more than a machine has memory.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _measure_memory() -> int:
    """Measure the KiB that this process has; the most that it ever had where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _call(channel: Connection, function: Callable[..., Any], payload: Payload, *more: Any) -> dict[str, Any]:
    try:
        result = function(payload, *more)
        if isinstance(result, Iterator):
            for part in result:
                channel.send({"part": part})
            result = {}
        return {"result": result}
    except Refused as refused:
        return {"refused": refused}
    except ActCauseError as error:
        return {"refused": Refused.of(error)}
    except MemoryError:
        return {"refused": refuse_memory(of_model="text" in payload)}
    except RecursionError:
        return {"refused": Refused("This is nested too deeply; name a part of it in a line of its own.")}
    except BrokenPipeError:
        raise
    except Exception as wrong:
        if "allocate memory" in str(wrong):  # as torch has it
            return {"refused": refuse_memory(of_model="text" in payload)}
        traceback.print_exc()
        message = "Something went wrong while answering; the server's own output has the details."
        return {"refused": Refused(message, status=500)}
