"""Outcomes that are taken for the next value of one feature and look like that of another.

Where arrays come without names, the outcome's values are taken for the first features of its own factor. If they are
others, velocities say, all that is learned about the change is wrong.
"""

from __future__ import annotations

import numpy as np

from .layout import Layout
from .validate import Array

ALIKE, UNLIKE = 0.9, 0.5  # correlations


def find_shifted_features(layout: Layout, state: Array, outcome: Array) -> list[str]:
    """Say which outcome features resemble another feature of the outcome's own factor than the one of their name.

    >>> place, speed = np.random.default_rng(0).normal(size=(2, 50))
    >>> layout = Layout.build(["ball"], {"ball": ["x", "v"]}, own="ball", outcome_features=["x"])
    >>> find_shifted_features(layout, np.stack([place, speed], axis=1)[:, None], speed[:, None])
    ["The outcome's 'x' is like 'v' of 'ball' one step before, not like its 'x': name the outcome's features."]
    """
    if layout.own is None or len(state) < 3:
        return []
    names = layout.features[layout.own]
    before = _standardise(state[:, layout.index(layout.own), : len(names)])
    found = []
    for k, position in layout.shared:
        after = _standardise(outcome[:, k : k + 1])
        alike = np.abs((before * after).mean(axis=0))
        best = int(alike.argmax())
        if alike[position] < UNLIKE and alike[best] > ALIKE:
            found.append(
                f"The outcome's '{names[position]}' is like '{names[best]}' of '{layout.own}' one step before, "
                f"not like its '{names[position]}': name the outcome's features."
            )
    return found


def _standardise(values: Array) -> Array:
    """Shift and scale columns to mean 0 and spread 1; a column that never changes becomes 0."""
    centred = values - values.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1))
