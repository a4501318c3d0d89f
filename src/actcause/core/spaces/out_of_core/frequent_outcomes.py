"""The outcomes that are frequent while some variables are held: all that a state is compared with.

For variables `kept` and each of their assignments the others take all their values, and the outcome comes out some
way each time. Only outcomes that come out often enough decide anything (see the package), and these are few.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ....errors import TooLargeError
from ...counting import distinct, encode
from ...definitions import Deadline, OutOfBudget
from ...expression import Array
from .problem import Problem

CELLS = 1 << 21  # outcomes that are looked at together
MOST_VALUES = 1 << 24
FEW = 16  # outcomes that are counted one after another


@dataclass(frozen=True, eq=False)
class FrequentOutcomes:
    """For each assignment of what is kept (a row): its most frequent outcomes and how often they come out of `total`.

    An outcome that is not listed comes out too seldom to matter.
    """

    values: Array
    counts: Array
    total: int

    def count(self, rows: Array, own: Array) -> Array:
        """Look up how often the outcome `own` comes out in each of these rows, 0 where that is too seldom to matter."""
        times = np.zeros(len(rows), dtype=np.int64)
        for values, counts in zip(self.values.T, self.counts.T, strict=True):
            times += np.where(values[rows] == own, counts[rows], 0)
        return times


@dataclass(frozen=True, eq=False)
class CountTask:
    """A task: rows `first` to `last` of what is kept, and `begin` to `end` of the other variables' assignments."""

    problem: Problem
    kept: tuple[str, ...]
    first: int
    last: int
    begin: int
    end: int
    most: int
    seconds: float | None


def least(problem: Problem, total: int) -> int:
    """Count how often, of `total` times, an outcome must come out to matter.

    It makes a state's variables sufficient from one number on, and unnecessary from another.
    """
    sufficiency, necessity = problem.sufficiency, problem.necessity
    enough = total - sufficiency.numerator * total // sufficiency.denominator
    needed = 1 if necessity is None else max(1, -(-necessity.numerator * total // necessity.denominator))
    return min(enough, total - needed + 1)


def most_values(problem: Problem, kept: tuple[str, ...]) -> int:
    """Count how many outcomes can matter at once, each `least` times or more: one, unless necessity is over 1/2."""
    total = problem.assignments(problem.find_varied(kept))
    return min(problem.kinds, total // least(problem, total))


def count_tasks(problem: Problem, kept: tuple[str, ...], deadline: Deadline) -> Iterator[CountTask]:
    """Split the counting for one `FrequentOutcomes` into tasks: some whole rows each, or a part of a long one."""
    rows, total = problem.assignments(kept), problem.assignments(problem.find_varied(kept))
    height, width = max(1, CELLS // total), min(total, CELLS)
    most = most_values(problem, kept)
    for first in range(0, rows, height):
        for begin in range(0, total, width):
            last, end = min(rows, first + height), min(total, begin + width)
            yield CountTask(problem, kept, first, last, begin, end, most, deadline.remaining)


def count_outcomes(task: CountTask) -> tuple[Array, Array] | None:
    """Count outcomes: the most frequent ones of whole rows, all of a part of one; None if the time is up."""
    problem = task.problem
    varied = problem.find_varied(task.kept)
    try:
        Deadline(task.seconds).check()
    except OutOfBudget:
        return None
    rows, columns = np.arange(task.first, task.last), np.arange(task.begin, task.end)
    kept = {name: column[:, None] for name, column in problem.columns(task.kept, rows).items()}
    others = {name: column[None, :] for name, column in problem.columns(varied, columns).items()}
    values, counts = _count_rows(problem.results({**kept, **others}, (len(rows), len(columns))))
    whole = len(columns) == problem.assignments(varied)
    return _keep_most(values, counts, task.most) if whole else (values, counts)


def _count_rows(results: Array) -> tuple[Array, Array]:
    """Find the distinct outcomes, and how often each of them is in each row."""
    values = distinct(results)
    if len(values) <= FEW:
        counts = np.stack([np.count_nonzero(results == value, axis=1) for value in values], axis=1)
    else:
        key = np.arange(len(results))[:, None] * len(values) + encode(results, values)
        counts = np.bincount(key.ravel(), minlength=len(results) * len(values)).reshape(len(results), len(values))
    return np.broadcast_to(np.asarray(values, dtype=np.int64), counts.shape), counts


def _keep_most(values: Array, counts: Array, most: int) -> tuple[Array, Array]:
    """Keep the most frequent ones of each row."""
    order = counts.argmax(axis=1)[:, None] if most == 1 else np.argsort(-counts, axis=1, kind="stable")[:, :most]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(counts, order, axis=1)


def join_counts(
    parts: Iterable[tuple[CountTask, tuple[Array, Array]]], problem: Problem, kept: tuple[str, ...]
) -> FrequentOutcomes:
    """Join the counts of its tasks, which come in order, into one `FrequentOutcomes`."""
    total = problem.assignments(problem.find_varied(kept))
    most = most_values(problem, kept)
    rows: list[tuple[Array, Array]] = []
    row: tuple[Array, Array] | None = None
    for task, part in parts:
        if not task.begin and task.end == total:
            rows.append(part)
            continue
        row = _add(row, part) if task.begin and row is not None else part
        if task.end == total:
            rows.append(_keep_most(*row, most))
    width = max(values.shape[1] for values, _ in rows)
    values = np.concatenate([_pad(values, width) for values, _ in rows])
    counts = np.concatenate([_pad(counts, width) for _, counts in rows])
    return FrequentOutcomes(_shrink(values), _shrink(counts), total)


def _add(row: tuple[Array, Array], part: tuple[Array, Array]) -> tuple[Array, Array]:
    """Add up two parts of one row."""
    values, place = np.unique(np.concatenate([row[0][0], part[0][0]]), return_inverse=True)
    if len(values) > MOST_VALUES:
        raise TooLargeError(
            f"The outcome takes more than {MOST_VALUES:,} values; ask for a coarser one, such as Y // 1000."
        )
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, place.ravel(), np.concatenate([row[1][0], part[1][0]]))
    return values[None, :], counts[None, :]


def _pad(array: Array, width: int) -> Array:
    """Fill rows with fewer outcomes up with ones that never come out."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def _shrink(array: Array) -> Array:
    """Store the same numbers in as few bytes as they take."""
    low, high = int(array.min()), int(array.max())
    kinds = (np.int8, np.int16, np.int32, np.int64)
    return array.astype(next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))
