"""A probability that was estimated from samples, with an interval that holds.

The interval is that of Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the
Binomial", Biometrika 26, 1934: whatever the probability is, the interval contains it with at least the confidence asked
for. Samples that do not meet the condition of a conditional probability are left out before, which keeps that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log, log1p

import numpy as np

from .expression import Array

HALVINGS = 60


@dataclass(frozen=True)
class Estimate:
    """A share of samples, with its interval.

    `value` is None where no sample met the condition, or where the time ran out first: then only the bounds are known.
    """

    value: float | None
    low: float
    high: float
    confidence: float
    samples: int

    def __float__(self) -> float:
        return float("nan") if self.value is None else self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"unknown (between {self.low:.4g} and {self.high:.4g})"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g} with confidence {self.confidence:g})"

    def to_json(self) -> dict[str, float | int | None]:
        parts: dict[str, float | int | None] = {"value": self.value, "low": self.low, "high": self.high}
        return {**parts, "confidence": self.confidence, "samples": self.samples}


def estimate(hits: int, samples: int, confidence: float) -> Estimate:
    """Estimate a probability from how many of the samples were hits.

    >>> print(estimate(0, 10, 0.95))
    0 (0 to 0.3085 with confidence 0.95)
    """
    if not samples:
        return Estimate(None, 0.0, 1.0, confidence, 0)
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - at_most(hits - 1, samples, p), tail)
    high = 1.0 if hits == samples else 1 - _solve(lambda p: at_most(hits, samples, 1 - p), tail)
    return Estimate(hits / samples, low, high, confidence, samples)


def _solve(growing: Callable[[float], float], level: float) -> float:
    """Find where a function that grows from 0 to 1 reaches a level, from below."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if growing(middle) < level:
            low = middle
        else:
            high = middle
    return low


def at_most(hits: int, samples: int, probability: float) -> float:
    """Return the probability of at most so many hits: a binomial distribution function.

    >>> round(at_most(1, 3, 0.5), 6)
    0.5
    """
    if probability <= 0:
        return 1.0
    if probability >= 1:
        return float(hits >= samples)
    counts = np.arange(hits + 1)
    logarithms = _log_ways(samples)[: hits + 1] + counts * log(probability) + (samples - counts) * log1p(-probability)
    return min(float(np.exp(logarithms).sum()), 1.0)


@lru_cache(maxsize=8)
def _log_ways(samples: int) -> Array:
    """Tabulate the logarithm of how many ways there are to choose so many of the samples."""
    factorials: Array = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, samples + 1)))])
    ways: Array = factorials[-1] - factorials - factorials[::-1]
    return ways
