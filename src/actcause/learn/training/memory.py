"""Recordings cut to the memory that a training may take: of one that is too large, whole episodes are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...data import Transitions
from ..errors import LearnError
from .encoding import Encoder

GIB = 2**30
FIXED = 0.6 * GIB  # networks, their gradients, and rows that are judged together
PER_NUMBER = 26  # bytes for each number that networks see: as recorded, split, encoded, and on the device
SAMPLE = 1000  # rows that show how many numbers a row has
LEAST = 1000  # rows below which a budget is too small


def cut_to_memory(
    data: Transitions,
    most: float | None,
    classes: Mapping[str, str] | None = None,
    categorical: Sequence[str] | None = None,
) -> Transitions:
    """Leave out episodes, evenly spaced, until a training takes at most so many GiB beyond the recording itself.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 5000)
    >>> len(cut_to_memory(data, None)), len(cut_to_memory(data, 4.0))
    (5000, 5000)
    """
    if most is None or len(data) <= LEAST:
        return data
    sample = data.subset(np.linspace(0, len(data) - 1, SAMPLE).astype(int))
    encoder = Encoder.fit(sample, classes=classes, categorical=categorical)
    numbers = len(data.factors) * encoder.columns + encoder.outputs + len(data.factors)
    rows = int((most * GIB - FIXED) / (PER_NUMBER * numbers))
    if rows < LEAST:
        raise LearnError(
            "The '{parameter}' parameter must be at least {wanted} GiB for this recording. Got {got} instead.",
            parameter="max_memory",
            wanted=f"{np.ceil(100 * (FIXED + LEAST * PER_NUMBER * numbers) / GIB) / 100:g}",
            got=f"{most:g}",
        )
    return data if rows >= len(data) else data.subset(_spread_out(data, rows))


def tell_cut(all_rows: int, kept: int, most: float | None) -> list[str]:
    """Write the sentence that is due where rows were left out."""
    if kept == all_rows:
        return []
    return [
        f"{kept} of {all_rows} rows were learned from, to stay within max_memory={most:g}: give it more memory, or a "
        "shorter recording."
    ]


def _spread_out(data: Transitions, rows: int) -> np.ndarray[Any, Any]:
    """Pick rows of whole episodes, evenly spaced, of which there are at most so many; single rows without episodes."""
    if data.episode is None:
        return np.linspace(0, len(data) - 1, rows).astype(int)
    names, episode, counts = np.unique(data.episode, return_inverse=True, return_counts=True)
    share = rows / len(data)
    kept = np.floor(share * np.arange(1, len(names) + 1)) > np.floor(share * np.arange(len(names)))
    too_many = np.cumsum(np.where(kept, counts, 0)) > rows  # where episodes differ in length
    found = np.flatnonzero((kept & ~too_many)[episode])
    if len(found) >= LEAST // 2:
        return found
    return np.linspace(0, len(data) - 1, rows).astype(int)
