"""Functions for the tests of workers and jobs to call, in their processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from actcause.errors import QueryError
from actcause.page.server.services import Refused

KEPT: list[bytes] = []


def double(payload: dict[str, Any]) -> dict[str, Any]:
    print("what a function prints is no message")
    return {"doubled": 2 * payload["number"], "process": os.getpid()}


def sleep(payload: dict[str, Any]) -> dict[str, Any]:
    time.sleep(payload["seconds"])
    return {"slept": payload["seconds"], "niceness": os.nice(0)}


def work(payload: dict[str, Any]) -> dict[str, Any]:
    """Keep a processor busy, for so many seconds of its time."""
    until = time.process_time() + payload["seconds"]
    while time.process_time() < until:
        pass
    return {"worked": payload["seconds"], "niceness": os.nice(0)}


def parts(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for seconds in payload["seconds"]:
        time.sleep(seconds)
        yield {"slept": seconds}


def fill(payload: dict[str, Any]) -> dict[str, Any]:
    return {"bytes": len(bytearray(payload["bytes"]))}


def keep(payload: dict[str, Any]) -> dict[str, Any]:
    KEPT.append(b"x" * payload["bytes"])
    return {}


def fail(payload: dict[str, Any]) -> dict[str, Any]:
    raise {"refused": Refused("not this,\n please", 3), "mistake": QueryError("a mistake"), "bug": KeyError("x")}[
        payload["how"]
    ]


def die(payload: dict[str, Any]) -> dict[str, Any]:
    os._exit(1)


def count(payload: dict[str, Any], told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    for step in range(payload["steps"]):
        told({"share": step / payload["steps"]})
        time.sleep(0.02)
    return {"counted": payload["steps"], "niceness": os.nice(0)}


def careful(payload: dict[str, Any], told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Write a file when cancelled, as a training writes its checkpoint."""
    try:
        told({"process": os.getpid()})
        time.sleep(60)
    finally:
        with open(payload["file"], "w") as file:
            file.write("in order")
    return {}


def break_off(payload: dict[str, Any], told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    os._exit(1)
