"""The order of outcomes, and second attempts: what is the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from .base import Outcome

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 16  # tasks per worker that may be begun before an earlier one is finished and its outcome taken


@dataclass(frozen=True)
class LostWorker:
    """A worker that ended before its task did, and how it ended."""

    how: str


Reply = tuple[Any, str | None] | LostWorker


class TaskPool(Protocol):
    """What runs the tasks of an engine; each task has a `number`."""

    def begin(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        """Have a worker begin the task; one that is lost on the way is reported by `collect_finished`."""

    def collect_finished(self, *, wait: bool) -> Iterable[tuple[int, Reply]]:
        """Return the tasks that ended since the last call; at least one of them where `wait` says so."""

    def abandon(self, numbers: Iterable[int]) -> None:
        """End these tasks, which nobody waits for any more."""


@dataclass(frozen=True)
class _RunningTask:
    task: Any
    attempts: int


def run_in_order(
    pool: TaskPool, workers: int, function: Callable[[T], R], tasks: Iterable[T], retries: int
) -> Iterator[Outcome[R]]:
    """Run the tasks on a pool, as `Engine.run` says."""
    coming = enumerate(tasks)
    running: dict[int, _RunningTask] = {}
    done: dict[int, Outcome[R]] = {}
    taken = given = 0
    ended = False

    def take(*, wait: bool) -> None:
        for number, reply in pool.collect_finished(wait=wait):
            begun = running[number]
            if not isinstance(reply, LostWorker):
                done[number] = Outcome(*reply, begun.attempts)
            elif begun.attempts > retries:
                done[number] = Outcome(None, describe_loss(begun.attempts, reply.how), begun.attempts)
            else:
                running[number] = replace(begun, attempts=begun.attempts + 1)
                pool.begin(number, function, begun.task)
                continue
            del running[number]

    try:
        while True:
            while not ended and len(running) < workers and taken - given < AHEAD * workers:
                number, task = next(coming, (-1, None))
                ended = number < 0
                if not ended:
                    taken += 1
                    running[number] = _RunningTask(task, 1)
                    pool.begin(number, function, task)
            if given in done:
                yield done.pop(given)
                given += 1
                take(wait=False)  # while the caller was busy others may have ended: their workers come first
            elif running:
                take(wait=True)
            else:
                return
    finally:
        pool.abandon(running)


def describe_loss(attempts: int, how: str | None = None) -> str:
    """Write the sentence about a task that was given up, and how its worker ended where that is known."""
    often = "once" if attempts == 1 else f"{attempts} times"
    last = "" if how is None else f" (at last {how})"
    return f"Its worker ended before it did, {often}{last}; it may need more memory than there is."
