"""A search under way: the query, what has been spent on it, and what may be spent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic
from typing import TypeVar

from ...errors import QueryError
from ..answer import Query, Status
from ..normality import Broken

T = TypeVar("T")


class OutOfBudget(Exception):  # noqa: N818 - not an error: it ends a search with a status
    """Raised inside a search to end it; turned into a `Status` before a user sees it."""

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(status.sentence)


class Deadline:
    """A point in time after which a search ends with a status."""

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not (isinstance(seconds, (int, float)) and seconds > 0):
            wrong = "{parameter} must be a positive number; got {got!r}."
            raise QueryError(wrong, parameter="max_seconds", got=seconds)
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def remaining(self) -> float | None:
        """Seconds left, at least a little; None if there is no limit."""
        return None if self._end is None else max(self._end - monotonic(), 1e-3)

    def check(self) -> None:
        """End the search if the time is up."""
        if self._end is not None and monotonic() > self._end:
            raise OutOfBudget(Status.OUT_OF_TIME)


class Search:
    """Counts model evaluations and solver calls, and stops when the budget is spent."""

    def __init__(self, query: Query, *, max_seconds: float | None = None, max_steps: int | None = None) -> None:
        if max_steps is not None and not (isinstance(max_steps, int) and max_steps > 0):
            wrong = "{parameter} must be a positive number; got {got!r}."
            raise QueryError(wrong, parameter="max_steps", got=max_steps)
        self.query = query
        self.statistics = {"evaluations": 0, "solver_calls": 0}
        self._steps = 0
        self._max_steps = max_steps
        self._deadline = Deadline(max_seconds)

    def step(self, kind: str = "evaluations", count: int = 1) -> None:
        """Spend `count` steps, or end the search."""
        self.statistics[kind] += count
        self._steps += count
        if self._max_steps is not None and self._steps > self._max_steps:
            raise OutOfBudget(Status.OUT_OF_STEPS)
        self.check_time()

    def check_time(self) -> None:
        self._deadline.check()

    @property
    def remaining(self) -> float | None:
        """Seconds left, None if there is no limit."""
        return self._deadline.remaining

    def values(self, do: Mapping[str, int]) -> dict[str, int]:
        """Evaluate the query's model in its context under an intervention."""
        self.step()
        return self.query.model.solve(self.query.context, do)

    def undoes(self, do: Mapping[str, int], than: Broken | None = None) -> bool:
        """Return whether the effect is gone under an intervention, as a witness must have it (see `Query.undone`)."""
        return self.query.undone(self.values(do), than)

    def holds(self, do: Mapping[str, int]) -> bool:
        """Return whether the effect holds under an intervention."""
        return bool(self.query.effect.value(self.values(do)))


def report_causes(find: Callable[[], Iterable[T]], max_causes: int | None) -> Iterator[T | Status]:
    """Yield the causes that a search finds, and how it ended if something is left to be found."""
    try:
        for reported, cause in enumerate(find()):
            if reported == max_causes:
                yield Status.MAX_CAUSES
                return
            yield cause
    except OutOfBudget as ended:
        yield ended.status
