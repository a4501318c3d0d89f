"""The episodes of a recording: in which order they come, and in which of them something happens."""

from __future__ import annotations

import numpy as np

from .transitions import Transitions
from .validate import Array


def list_episodes(numbers: Array) -> Array:
    """List the episodes that rows belong to, in the order in which they begin.

    >>> list_episodes(np.array([4, 4, 2, 7, 7])).tolist()
    [4, 2, 7]
    """
    every, first = np.unique(numbers, return_index=True)
    return every[np.argsort(first)]


def find_eventful_rows(data: Transitions, found: Array | None = None) -> Array:
    """Tell in which rows a factor in question acts, by the truth, or where that is not known by what was `found`."""
    causes = found if data.cause is None else data.cause
    if causes is None:
        return np.zeros(len(data), dtype=bool)
    acting: Array = np.any(causes[:, [data.layout.index(name) for name in data.edges]], axis=1)
    return acting
