"""What every engine takes and gives: a function, tasks, and an outcome for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from ..errors import ActCauseError

T = TypeVar("T")
R = TypeVar("R")


class EngineError(ActCauseError):
    """A task that failed for good, or a cluster that cannot be reached."""


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What a task gave: a value, or one sentence about why there is none; and how often it was begun."""

    value: R | None
    error: str | None
    attempts: int


class Engine(Protocol):
    """Workers that run tasks while the context is open; closing it ends those that it started, even busy ones."""

    @property
    def workers(self) -> int:
        """The number of workers."""
        ...

    def run(
        self, function: Callable[[T], R], tasks: Iterable[T], *, retries: int = 2, isolated: bool = False
    ) -> Iterator[Outcome[R]]:
        """Yield an outcome for each task, in the order of the tasks, as soon as it and all earlier ones are there.

        A task is taken from `tasks` when a worker is free for it, so there may be any number of them. The function has
        to belong to a module; tasks and values have to be small and picklable. A single worker runs tasks in this
        process, unless they are `isolated`: then a task that crashes cannot take the caller along. A task whose worker
        died is begun again, at most `retries` times. An exception is an outcome at once, since it would come again.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def values(outcomes: Iterable[Outcome[R]]) -> Iterator[R]:
    """Yield the values of outcomes; raise an `EngineError` at the first task that failed."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise EngineError(outcome.error)
        yield outcome.value  # type: ignore[misc]  # None is a value where there is no error
