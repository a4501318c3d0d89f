"""The other side of `workers.py` and `jobs.py`: a process that calls the functions it is asked to.

Messages are JSON documents, each after its length in eight bytes, on the process's standard input and
output. A worker answers one call after another until its input ends; a job makes one call and tells of
its progress on the way.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from ...errors import ActCauseError, ParseError
from .services import Refused
from .workers import ALLOWED, JOBS, LENGTH

RECYCLED = 512 << 10  # KiB of memory after which a worker asks to be replaced
MOST_CALLS = 5000


def main() -> None:
    """Run as `python -m actcause.page.server.child worker BYTES` or `... job`."""
    kind, *more = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its children
    source = sys.stdin.buffer
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the messages
    if kind == "job":
        _job(source, target)
    else:
        memory = int(more[0])
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        _worker(source, target)


def _worker(source: BinaryIO, target: BinaryIO) -> None:
    importlib.import_module("actcause.page.ask.answers")
    _write(target, {"memory": _memory()})
    calls = 0
    while (message := _read(source)) is not None:
        calls += 1
        reply = _reply(ALLOWED, message, target)
        memory = _memory()
        _write(target, {**reply, "memory": memory, "spent": calls >= MOST_CALLS or memory > RECYCLED})


def _memory() -> int:
    """KiB that this process has; the most that it ever had where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _job(source: BinaryIO, target: BinaryIO) -> None:
    os.nice(10)  # questions go first
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that nothing half-written is left behind
    message = _read(source)
    if message is None:
        return
    threading.Thread(target=_leave_with_the_server, daemon=True).start()

    def told(progress: dict[str, Any]) -> None:
        _write(target, {"progress": progress})

    _write(target, _reply(JOBS, message, target, told))
    os._exit(0)  # at once: the server ends a job that has answered, and libraries would be interrupted in their leave


def _leave_with_the_server() -> None:
    os.read(0, 1)  # returns when the server is gone; the buffered reader would not let the interpreter end
    os.kill(os.getpid(), signal.SIGTERM)


def _called(allowed: tuple[str, ...], message: dict[str, Any]) -> Callable[..., Any]:
    name = message["function"]
    if name not in allowed:
        raise Refused(f"'{name}' is not a function that may be called.", status=404)
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _reply(allowed: tuple[str, ...], message: dict[str, Any], target: BinaryIO, *more: Any) -> dict[str, Any]:
    """What the call gave, or what is to be said instead; what it yields is sent on the way."""
    try:
        result = _called(allowed, message)(message["payload"], *more)
        if isinstance(result, Iterator):
            for part in result:
                _write(target, {"part": part})
            result = {}
        return {"result": result}
    except Refused as refused:
        return _said(refused.message, refused.line, refused.status)
    except ParseError as error:
        return _said(str(error), error.line)
    except ActCauseError as error:
        return _said(str(error))
    except MemoryError:
        return _said("This takes more memory than a question may; use fewer variables or smaller ranges.")
    except RecursionError:
        return _said("This is nested too deeply; name a part of it in a line of its own.")
    except Exception:
        traceback.print_exc()
        return _said("Something went wrong while answering; the server's own output has the details.", status=500)


def _said(message: str, line: int | None = None, status: int = 422) -> dict[str, Any]:
    return {"error": " ".join(message.split()), "line": line, "status": status}


def _read(source: BinaryIO) -> dict[str, Any] | None:
    head = source.read(LENGTH)
    if len(head) < LENGTH:
        return None
    message: dict[str, Any] = json.loads(source.read(int.from_bytes(head, "big")))
    return message


def _write(target: BinaryIO, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    target.write(len(text).to_bytes(LENGTH, "big") + text)
    target.flush()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # the server is gone
        main()
