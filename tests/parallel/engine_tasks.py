"""Functions that workers of the tests can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from actcause.errors import QueryError
from waiting import wait_until

PLACES = os.pathsep.join(str(folder) for folder in Path(__file__).parents[:2])  # from where a process can import this


def double(number: int) -> int:
    return 2 * number


def process(_: object) -> int:
    return os.getpid()


def late(task: tuple[int, str]) -> int:
    """The earlier of a pair ends last, if there is a folder in which the later one can say that it ends."""
    number, folder = task
    if folder and number % 2:
        (Path(folder) / str(number)).touch()
    elif folder:
        wait_until((Path(folder) / str(number + 1)).exists)
    return number


def sleep(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def die_once(folder: str) -> str:
    """The first attempt kills its own process."""
    mark = Path(folder) / "begun"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die_if_equal(numbers: tuple[int, int]) -> int:
    """Kills its process each time, if the two are equal."""
    if numbers[0] == numbers[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    return numbers[0]


def refuse(number: int) -> int:
    if number == 1:
        raise QueryError("One is not a number\nthat can be used.")
    if number == 2:
        raise KeyError("two")
    if number == 3:
        raise MemoryError
    return number


def unsendable(number: int) -> object:
    return (lambda: number) if number == 1 else number


def sleep_beside(folder: str) -> None:
    """Says who it is, and sleeps."""
    (Path(folder) / f"{os.getpid()}.busy").touch()
    time.sleep(60)
