"""Processes of this machine, begun when they are needed and kept for the next tasks.

Each has a pipe of its own: one that is killed takes its own task along and no other. Pools of others were tried on
`tests/parallel`. With loky 3.7 a worker that is killed ends the tasks of all. With Pebble 5.2 one that is killed while
idle breaks the pool, and a value that cannot be pickled ends its worker without a word about why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as ready
from types import TracebackType
from typing import Any, Self, TypeVar

from ..errors import ActCauseError
from .base import Outcome
from .child_process import ChildProcess, hold_interrupts
from .ordering import LostWorker, Reply, run_in_order

T = TypeVar("T")
R = TypeVar("R")


class Local:
    """Workers that are processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._processes = _ProcessSet()

    def run(
        self, function: Callable[[T], R], tasks: Iterable[T], *, retries: int = 2, isolated: bool = False
    ) -> Iterator[Outcome[R]]:
        if self.workers == 1 and not isolated:
            return (Outcome(*attempt(function, task), 1) for task in tasks)
        return run_in_order(_Processes(self._processes), self.workers, function, tasks, retries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._processes.close()


# -- in the caller's process -------------------------------------------------------------------------


class _ProcessSet:
    """The processes of an engine: all that live, and those of them that have nothing to do."""

    def __init__(self) -> None:
        self._all: set[ChildProcess] = set()
        self.idle: list[ChildProcess] = []

    def start(self) -> ChildProcess:
        with hold_interrupts():  # nobody would know of a process that an interrupt cut off here
            worker = ChildProcess.start(_serve)
            self._all.add(worker)
        return worker

    def end(self, worker: ChildProcess) -> str:
        if worker not in self._all:
            return "with its engine"
        self._all.remove(worker)
        return worker.end()

    def close(self) -> None:
        if not self._all:
            return
        with hold_interrupts():  # a second Ctrl-C must not leave half of them behind
            self.idle.clear()
            for worker in list(self._all):
                self.end(worker)


class _Processes:
    """The pool of one run: which started worker is at which task."""

    def __init__(self, processes: _ProcessSet) -> None:
        self._processes = processes
        self._busy: dict[int, ChildProcess] = {}
        self._lost: list[tuple[int, Reply]] = []

    def begin(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        while self._processes.idle:
            worker = self._processes.idle.pop()
            try:
                worker.channel.send((function, task))
            except OSError:  # it was killed while idle: that is no attempt of this task
                self._processes.end(worker)
            else:
                self._busy[number] = worker
                return
        try:
            worker = self._busy[number] = self._processes.start()
            worker.channel.send((function, task))
        except OSError as wrong:
            how = self._processes.end(self._busy.pop(number)) if number in self._busy else f"as it began: {wrong}"
            self._lost.append((number, LostWorker(how)))

    def collect_finished(self, *, wait: bool) -> Iterable[tuple[int, Reply]]:
        found, self._lost = self._lost, []
        numbers: dict[Any, int] = {worker.channel: number for number, worker in self._busy.items()}
        for channel in ready(list(numbers), None if wait and not found else 0):
            worker = self._busy.pop(numbers[channel])
            try:
                found.append((numbers[channel], worker.channel.recv()))
                self._processes.idle.append(worker)
            except (EOFError, OSError):
                found.append((numbers[channel], LostWorker(self._processes.end(worker))))
        return found

    def abandon(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number in self._busy:
                self._processes.end(self._busy.pop(number))


# -- in the worker's process -------------------------------------------------------------------------


def _serve(channel: Connection) -> None:
    """Answer tasks until the pipe or the caller ends."""
    while True:
        try:
            function, task = channel.recv()
            reply = attempt(function, task)
        except EOFError:
            return
        except Exception as wrong:  # a function that is of no module
            reply = None, describe_error(wrong)
        try:
            channel.send(reply)
        except BrokenPipeError:
            return
        except Exception as wrong:  # a value that cannot be sent
            channel.send((None, describe_error(wrong)))


def attempt(function: Callable[[T], R], task: T) -> tuple[R | None, str | None]:
    """Return the value of a task, or the sentence of what it raised."""
    try:
        return function(task), None
    except Exception as wrong:  # whatever it is, the tasks of others go on
        return None, describe_error(wrong)


def describe_error(wrong: Exception) -> str:
    """Say an exception in one line: a user's mistake as it says itself, anything else with its type."""
    message = " ".join(str(wrong).split())
    if isinstance(wrong, ActCauseError):
        return message
    return f"{type(wrong).__name__}: {message}" if message else type(wrong).__name__
