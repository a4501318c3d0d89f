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
    """Workers, for as long as the context is open; closing it ends those that it began, whatever they are doing."""

    @property
    def workers(self) -> int:
        """How many there are."""
        ...

    def run(
        self, function: Callable[[T], R], tasks: Iterable[T], *, retries: int = 2, isolated: bool = False
    ) -> Iterator[Outcome[R]]:
        """Outcomes in the order of the tasks, each as soon as it and all before it are there.

        A task is taken from `tasks` when a worker is free for it, so there may be any number of them. The function is
        one of a module; tasks and values are small and can be pickled. One worker runs them in this process unless
        they are `isolated`, which keeps a task that crashes from taking the caller along. A task whose worker died is
        begun again, `retries` times at most. An exception is an outcome at once, since it would come again.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def values(outcomes: Iterable[Outcome[R]]) -> Iterator[R]:
    """Return the values, up to the first task that failed, which is an `EngineError`."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise EngineError(outcome.error)
        yield outcome.value  # type: ignore[misc]  # None is a value where there is no error
