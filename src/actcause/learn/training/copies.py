"""Factors that say the same: where one follows from the other and the other from it, nobody could tell them apart."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ...data import Transitions

Array = np.ndarray[Any, Any]
SAME = 0.995  # of a feature's variance: explained by the other factor's features, in a straight line
LOOKED_AT = 2000  # rows
LEAST_ROWS = 100  # in which both are there
MOST_FACTORS = 40  # of more the pairs are too many


def find_copies(data: Transitions) -> list[tuple[str, str]]:
    """List pairs of factors each of which follows from the other in a straight line, row by row.

    >>> a = np.random.default_rng(0).normal(size=(500, 1))
    >>> state = np.stack([a, 2 * a + 1, a**3], axis=1)
    >>> find_copies(Transitions(factors=["a", "b", "c"], state=state, outcome=a))
    [('a', 'b')]
    """
    if len(data.factors) > MOST_FACTORS:
        return []
    part = data.subset(slice(None, None, max(1, len(data) // LOOKED_AT)))
    pairs = []
    for one, two in combinations(data.factors, 2):
        there = np.ones(len(part), dtype=bool)
        if part.mask is not None:
            there = part.mask[:, part.layout.index(one)] & part.mask[:, part.layout.index(two)]
        if there.sum() < LEAST_ROWS:
            continue
        first, second = (_varying(part, name, there) for name in (one, two))
        if first.shape[1] and second.shape[1] and _follows(first, second) and _follows(second, first):
            pairs.append((one, two))
    return pairs


def _varying(data: Transitions, name: str, rows: Array) -> Array:
    """(rows, features that vary), each with mean 0 and spread 1."""
    values = np.asarray(data.state[rows, data.layout.index(name), : len(data.features[name])], dtype=np.float64)
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    moving = spread > 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-12)
    return np.asarray(centred[:, moving] / spread[moving])


def _follows(target: Array, given: Array) -> bool:
    weights, *_ = np.linalg.lstsq(given, target, rcond=None)
    return bool((((target - given @ weights) ** 2).mean(axis=0) < 1 - SAME).all())
