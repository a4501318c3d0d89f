"""Mean, spread and extremes of values that come in batches."""

from __future__ import annotations

import numpy as np

from .validate import Array

CHUNK = 1 << 16


class RunningStatistics:
    """Gathers statistics of rows that come in batches, elementwise; batches are merged as Chan et al. (1979) do.

    >>> statistics = RunningStatistics((1,))
    >>> statistics.add(np.array([[1.0], [3.0]]))
    >>> statistics.add(np.array([[5.0]]))
    >>> statistics.mean, statistics.std.round(3), statistics.low, statistics.high
    (array([3.]), array([1.633]), array([1.]), array([5.]))
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = np.zeros(shape)
        self.mean = np.zeros(shape)
        self._squares = np.zeros(shape)
        self.low = np.full(shape, np.inf)
        self.high = np.full(shape, -np.inf)
        self.at_low = np.zeros(shape)
        self.at_high = np.zeros(shape)

    @property
    def std(self) -> Array:
        """The standard deviation of the values (of all of them: divided by their number)."""
        return np.sqrt(self._squares / np.maximum(self.count, 1))

    @property
    def constant(self) -> Array:
        """Where no two values differ."""
        return np.asarray(~(self.low < self.high))

    def add(self, values: Array, present: Array | None = None) -> None:
        """Take in rows; `present`, of a shape that broadcasts to that of `values`, says which of them count."""
        for start in range(0, len(values), CHUNK):
            part = np.asarray(values[start : start + CHUNK], dtype=np.float64)
            self._add(part, None if present is None else np.broadcast_to(present[start : start + CHUNK], part.shape))

    def _add(self, part: Array, present: Array | None) -> None:
        if present is None:
            count = np.full(self.count.shape, float(len(part)))
            mean = part.mean(axis=0)
            squares = np.square(part - mean).sum(axis=0)
            low, high = part.min(axis=0), part.max(axis=0)
        else:
            count = present.sum(axis=0).astype(float)
            mean = np.where(present, part, 0).sum(axis=0) / np.maximum(count, 1)
            squares = np.where(present, np.square(part - mean), 0).sum(axis=0)
            low = np.where(present, part, np.inf).min(axis=0)
            high = np.where(present, part, -np.inf).max(axis=0)
        counted = np.ones(part.shape, dtype=bool) if present is None else present
        at_low, at_high = ((counted & (part == edge)).sum(axis=0) for edge in (low, high))
        self.at_low = np.where(low < self.low, 0, self.at_low) + np.where(low <= self.low, at_low, 0)
        self.at_high = np.where(high > self.high, 0, self.at_high) + np.where(high >= self.high, at_high, 0)
        self.low, self.high = np.minimum(low, self.low), np.maximum(high, self.high)
        total = np.maximum(self.count + count, 1)
        apart = mean - self.mean
        self._squares = self._squares + squares + np.square(apart) * self.count * count / total
        self.mean = self.mean + apart * count / total
        self.count = self.count + count
