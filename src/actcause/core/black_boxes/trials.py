"""Runs of a black box: counted exactly, never repeated, in batches, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from ...errors import QueryError, quote
from ..answer import Status
from ..definitions import Deadline, OutOfBudget
from .box import describe
from .inputs import Settings
from .query import BoxQuery

BATCH = 1024
T = TypeVar("T")


class BoxTrial(NamedTuple):
    """What a run says about the effect: whether it holds, and whether it is undone as asked."""

    holds: bool
    undone: bool
    inner: tuple[Any, ...]


class Trials:
    """Runs the function of a query for changes of what actually happened.

    A change sets some inputs to other values; inner variables are set where it names them. A row of a vectorised call
    counts as a call.
    """

    def __init__(self, query: BoxQuery, max_calls: int | None, max_seconds: float | None) -> None:
        if max_calls is not None and not (isinstance(max_calls, int) and max_calls > 0):
            raise QueryError(
                "{parameter} must be a positive number; got {got}.", parameter="max_calls", got=quote(max_calls)
            )
        self.query, self._max_calls = query, max_calls
        self._deadline = Deadline(max_seconds)
        self.batch = BATCH if query.box.vectorized else 1
        self.statistics = {"calls": 1, "repeats": 0, "batches": 1}  # the query has run the context
        self._known = {frozenset[Any](): self._read({}, query.outputs)}

    @property
    def calls(self) -> int:
        return self.statistics["calls"]

    @property
    def calls_left(self) -> int | None:
        """Return how many calls are left, None if there is no limit."""
        return None if self._max_calls is None else self._max_calls - self.calls

    def check_time(self) -> None:
        """End the search if the time is up."""
        self._deadline.check()

    def one(self, change: Settings) -> BoxTrial:
        """Run one change, or remember what it gave."""
        return next(self.each([change]))

    def each(self, changes: Iterable[Settings]) -> Iterator[BoxTrial]:
        """Run changes in batches, as they are read; the search ends where the budget does."""
        for chunk in in_batches(changes, self.batch):
            keys = [self._key(change) for change in chunk]
            self._run(
                {key: change for key, change in zip(keys, chunk, strict=True) if key not in self._known}, len(keys)
            )
            for key in keys:
                if key not in self._known:
                    raise OutOfBudget(Status.OUT_OF_CALLS)
                yield self._known[key]

    def _key(self, change: Settings) -> frozenset[Any]:
        context = self.query.context
        return frozenset(item for item in change.items() if item[0] not in context or context[item[0]] != item[1])

    def _run(self, new: dict[frozenset[Any], Settings], asked: int) -> None:
        self.statistics["repeats"] += asked - len(new)
        if not new:
            return
        self._deadline.check()
        keys = list(new)[: self.calls_left]
        if not keys:
            raise OutOfBudget(Status.OUT_OF_CALLS)
        rows = [{**self.query.context, **new[key]} for key in keys]
        self.statistics["calls"] += len(rows)
        self.statistics["batches"] += 1
        for key, row, outputs in zip(keys, rows, self.query.box.run(rows), strict=True):
            self._known[key] = self._read(row, outputs)

    def _read(self, row: Settings, outputs: Any) -> BoxTrial:
        query = self.query
        settings = row or query.context
        holds = query.effect.holds(outputs, settings)
        undone = not holds if query.contrast is None else query.contrast.holds(outputs, settings)
        if holds and undone:
            wrong = "{parameter} must rule the effect out; both hold at {where}."
            raise QueryError(wrong, parameter="contrast", where=describe(settings))
        return BoxTrial(holds, undone, tuple(outputs[name] for name in query.box.inner))


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Read items in lists of at most so many."""
    reading = iter(items)
    while batch := list(islice(reading, size)):
        yield batch
