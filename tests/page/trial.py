"""Functions for the tests of workers and jobs to call, in their processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from actcause.errors import QueryError
from actcause.page.server.services import Refused

KEPT: list[bytes] = []


def double(payload: dict[str, Any]) -> dict[str, Any]:
    print("what a function prints is no message")
    return {"doubled": 2 * payload["number"], "process": os.getpid()}


def hold(payload: dict[str, Any], report: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    """Wait at the gate of `running.py`."""
    folder = Path(payload["folder"])
    (folder / f"came-{os.getpid()}").touch()
    (folder / "gate").read_bytes()  # until somebody opens it for writing
    return {"niceness": os.nice(0)}


def work_until_niced(payload: dict[str, Any]) -> dict[str, Any]:
    """Keep a processor busy until the priority is lowered."""
    first = os.getpriority(os.PRIO_PROCESS, 0)
    while (niceness := os.getpriority(os.PRIO_PROCESS, 0)) == first:
        pass
    return {"niceness": niceness}


def parts(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Some numbers, and then nothing for ever if there is no end."""
    for number in payload["numbers"]:
        yield {"number": number}
    if payload["endless"]:
        signal.pause()


def fill(payload: dict[str, Any], report: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    return {"bytes": len(bytearray(payload["bytes"]))}


def keep(payload: dict[str, Any]) -> dict[str, Any]:
    KEPT.append(b"x" * payload["bytes"])
    return {}


def fail(payload: dict[str, Any]) -> dict[str, Any]:
    raise {"refused": Refused("not this,\n please", 3), "mistake": QueryError("a mistake"), "bug": KeyError("x")}[
        payload["how"]
    ]


def die(payload: dict[str, Any], report: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    os._exit(1)


def count(payload: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    for step in range(payload["steps"]):
        report({"step": step})
        hold(payload)
    return {"counted": payload["steps"], "niceness": os.nice(0)}


def write_when_cancelled(payload: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Write a file when cancelled, as a training writes its checkpoint."""
    try:
        report({"process": os.getpid()})
        signal.pause()
    finally:
        Path(payload["file"]).write_text("in order")
    return {}


def be_cancelled_while_cleaning_up(payload: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Be cancelled where Python lets no exception out, as in the callbacks of an import, and write a file then."""

    class Held:
        def __del__(self) -> None:
            report({"process": os.getpid()})
            signal.pause()

    try:
        Held()
        while True:
            signal.pause()
    finally:
        Path(payload["file"]).write_text("in order")
