"""Figures over seeds: their mean, with a confidence interval; numpy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import quote
from .errors import LearnError

Array = np.ndarray[Any, Any]
GRID = 200_001  # points at which Student's density is added up


@dataclass(frozen=True)
class SeedInterval:
    """The mean over seeds, its confidence interval, and the standard deviation between seeds."""

    mean: float
    low: float
    high: float
    deviation: float
    seeds: int


def student_interval(values: Sequence[float], level: float = 0.95) -> SeedInterval:
    """Find a confidence interval of the mean over seeds by Student's t.

    >>> found = student_interval([0.01, 0.02, 0.03])
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.02, -0.0048, 0.0448)
    """
    seeds, deviation = _over_seeds(values, level)
    half = _student(level, len(seeds) - 1) * deviation / math.sqrt(len(seeds))
    mean = float(seeds.mean())
    return SeedInterval(mean, mean - half, mean + half, deviation, len(seeds))


def bootstrap_interval(
    values: Sequence[float], level: float = 0.95, *, draws: int = 10_000, seed: int = 0
) -> SeedInterval:
    """Return a confidence interval of the mean over seeds by drawing seeds again (percentiles; Efron, 1979)."""
    seeds, deviation = _over_seeds(values, level)
    chosen = np.random.default_rng(seed).integers(0, len(seeds), (draws, len(seeds)))
    low, high = np.quantile(seeds[chosen].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return SeedInterval(float(seeds.mean()), float(low), float(high), deviation, len(seeds))


def _over_seeds(values: Sequence[float], level: float) -> tuple[Array, float]:
    seeds = np.asarray(values, dtype=np.float64)
    if seeds.ndim != 1 or len(seeds) < 2 or not np.isfinite(seeds).all():
        raise LearnError(f"An interval needs a number for each of two seeds or more. Got {quote(values)} instead.")
    if not 0 < level < 1:
        raise LearnError(f"The level of an interval must be between 0 and 1. Got {quote(level)} instead.")
    return seeds, float(seeds.std(ddof=1))


def _student(level: float, freedom: int) -> float:
    """Find how many standard errors to either side hold this share of Student's distribution.

    With t = sqrt(freedom) tan(angle) the density is a power of the cosine, over a bounded range.
    """
    angle = np.linspace(0, math.pi / 2, GRID)
    density = np.cos(angle) ** (freedom - 1)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(freedom) * math.tan(float(np.interp(level, below / below[-1], angle)))
