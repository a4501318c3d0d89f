"""What the processes of `workers.py` and `jobs.py` do: call the functions that they are sent, and reply."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from ...errors import ActCauseError
from .services import Refused

RECYCLED = 512 << 10  # KiB of memory after which a worker asks to be replaced
MOST_CALLS = 5000
QUESTION_MEMORY = "This takes more memory than a question may; use fewer variables or smaller ranges."
JOB_MEMORY = "This takes more memory than a job may; take fewer rows or a smaller network, or use the command line."


def answer_calls(channel: Connection, most_memory: int) -> None:
    """Answer one call after another, as a worker does; what a function yields is sent on the way."""
    os.dup2(2, 1)  # standard output is the server's own
    resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
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
    # Of what is written to, not of addresses: drivers of graphics cards reserve many more than a machine has memory.
    resource.setrlimit(resource.RLIMIT_DATA, (most_memory, most_memory))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that nothing half-written is left behind
    with suppress(EOFError, BrokenPipeError):
        function, payload = channel.recv()
        report = partial(_report, channel)
        channel.send(_call(channel, function, payload, report, memory=JOB_MEMORY))
    os._exit(0)  # at once: libraries would be interrupted as they clean up, since the server ends a job that is done


def _report(channel: Connection, progress: dict[str, Any]) -> None:
    channel.send({"progress": progress})


def _measure_memory() -> int:
    """Measure the KiB that this process has; the most that it ever had where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _call(
    channel: Connection, function: Callable[..., Any], *arguments: Any, memory: str = QUESTION_MEMORY
) -> dict[str, Any]:
    try:
        result = function(*arguments)
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
        return {"refused": Refused(memory)}
    except RecursionError:
        return {"refused": Refused("This is nested too deeply; name a part of it in a line of its own.")}
    except BrokenPipeError:
        raise
    except Exception as wrong:
        if "allocate memory" in str(wrong):  # as torch has it
            return {"refused": Refused(memory)}
        traceback.print_exc()
        message = "Something went wrong while answering; the server's own output has the details."
        return {"refused": Refused(message, status=500)}
