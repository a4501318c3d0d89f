"""Heavy tails: values of which a few are larger than all others together, such as the energy of an impact.

Their spread says nothing of the rest: measured by it, every common event would look like none. So beyond a bound such
values count by their logarithm. Whether a tail is heavy shows in the largest values: if the variance is infinite, the
third largest is several times as large as the thirtieth, and that one as the three hundredth. Fewer than some two
hundred events in all the rows look alike, and are taken for one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
RANKS = (3, 30, 300)  # of the largest values whose sizes are compared
STEEP = (10**0.5, 2.0)  # how much larger, from rank to rank: a tail of which the variance is infinite is steeper
FEWEST = 5000  # values of which the last rank would be among the common ones
COMMON = 0.9  # the share of the values that is left as it is


def find_bound(values: Array) -> float:
    """Find the size beyond which values count by their logarithm: infinite for most features.

    >>> random = np.random.default_rng(0)
    >>> find_bound(random.normal(size=50_000)), 5 < find_bound(random.pareto(1.1, 50_000)) < 10
    (inf, True)
    """
    if len(values) < FEWEST:
        return math.inf
    sizes = np.abs(values)
    ranks = [len(sizes) - rank for rank in RANKS]
    first, middle, last = (float(size) for size in np.partition(sizes, ranks)[ranks])
    bound = float(np.quantile(sizes, COMMON))
    heavy = first > STEEP[0] * middle and middle > STEEP[1] * last
    return bound if heavy and bound > 0 else math.inf


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
