"""Heavy tails: values of which a few are larger than all others together, such as the energy of an impact.

Their spread says nothing of the rest: measured by it, every common event would look like none. So beyond a bound such
values count by their logarithm. Whether a tail is heavy shows in the largest values: if its variance is infinite, each
time that values are some three times as rare they are nearly twice as large, over and over.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SHARES = np.logspace(-4, -2, 5)  # of the values, whose sizes are compared
FEWEST = 20_000  # values of which the first share would be fewer than two
STEEP = 1.7  # how much larger from share to share: the variance of such a tail is infinite


def find_bound(values: Array) -> float:
    """Find the size beyond which values count by their logarithm: infinite for most features.

    >>> random = np.random.default_rng(0)
    >>> find_bound(random.normal(size=50_000)), 10 < find_bound(random.pareto(1.1, 50_000)) < 100
    (inf, True)
    """
    if len(values) < FEWEST:
        return math.inf
    sizes = np.abs(values)
    large = np.quantile(sizes, 1 - SHARES)
    return float(large[-1]) if large[-1] > 0 and bool((large[:-1] > STEEP * large[1:]).all()) else math.inf


def compress(values: Array, bound: float) -> Array:
    """Count what lies beyond the bound by its logarithm.

    >>> compress(np.array([-3.0, 0.5, 1.0, 10.0, 1000.0]), 1.0).round(2).tolist()
    [-2.1, 0.5, 1.0, 3.3, 7.91]
    """
    if math.isinf(bound):
        return values
    sizes = np.maximum(np.abs(values), bound)
    return np.where(np.abs(values) > bound, np.sign(values) * bound * (1 + np.log(sizes / bound)), values)


def expand(values: Array, bound: float) -> Array:
    """Undo `compress`.

    >>> bool(np.allclose(expand(compress(np.array([-30.0, 0.5, 70.0]), 2.0), 2.0), [-30.0, 0.5, 70.0]))
    True
    """
    if math.isinf(bound):
        return values
    sizes = np.maximum(np.abs(values) / bound, 1.0)
    return np.where(np.abs(values) > bound, np.sign(values) * bound * np.exp(sizes - 1), values)
