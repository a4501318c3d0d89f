"""Angles: features whose values begin anew after a full turn, and rotations as quaternions.

A heading that goes from 179 to -179 degrees has turned by 2 degrees, not by -358, and a quaternion of the opposite
sign is the same rotation. Taken as they stand, such steps would look like the largest events of a recording.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...data import Transitions

Array = np.ndarray[Any, Any]
TURNS = (2 * math.pi, 360.0)  # what a full turn may be, where nobody says it
NAMES = re.compile(r"(^|_)(angle|theta|phi|psi|yaw|pitch|roll|heading|bearing|azimuth|orientation|rotation)(_|$)")
SLACK = 0.01  # of a turn by which values may lie outside
COVERED = 0.9  # of a turn that values have to cover
JUMPS = 3  # steps over the end of a turn that show that there is one
UNIT = 1e-3  # how far the length of a quaternion may be from 1
FEW = 100  # rows in which nothing can be recognised


def find_periods(data: Transitions) -> dict[str, float]:
    """Find the features that are angles, with their full turn: as the metadata say, else as their values show.

    Values show it if they fill a turn and go no further, and either the name says that it is an angle or the outcome
    steps over the end of the turn.
    """
    given = {str(name): float(turn) for name, turn in data.metadata.get("periods", {}).items()}
    if len(data) < FEW:
        return given
    listed = {str(name).partition(".")[2] for name in data.metadata.get("categorical", ())}
    names = {name for factor in data.factors for name in data.features[factor]} - listed - set(given)
    found = {name: turn for name in sorted(names) for turn in TURNS if _is_angle(data, name, turn)}
    return {**found, **given}


def _is_angle(data: Transitions, name: str, turn: float) -> bool:
    steps = [data.change[:, k] for k, f in data.layout.shared if data.features[str(data.own)][f] == name]
    named = NAMES.search(name.lower()) is not None
    if not named and not any(int((np.abs(step) > turn / 2).sum()) >= JUMPS for step in steps):
        return False
    low, high = _find_bounds(data, name)
    slack = SLACK * turn
    fits = (low >= -turn / 2 - slack and high <= turn / 2 + slack) or (low >= -slack and high <= turn + slack)
    return fits and high - low >= COVERED * turn


def _find_bounds(data: Transitions, name: str) -> tuple[float, float]:
    """Find the least and the largest value of a feature, of all factors that have it, where they are there."""
    low, high = math.inf, -math.inf
    for position, factor in enumerate(data.factors):
        if name in data.features[factor]:
            values = data.state[:, position, data.features[factor].index(name)]
            values = values if data.mask is None else values[data.mask[:, position]]
            if len(values):
                low, high = min(low, float(values.min())), max(high, float(values.max()))
    return low, high


def wrap(change: Array, turn: float) -> Array:
    """Take a change the short way round.

    >>> wrap(np.array([-358.0, 2.0, 190.0]), 360.0).tolist()
    [2.0, 2.0, -170.0]
    """
    return (change + turn / 2) % turn - turn / 2


def find_rotations(data: Transitions) -> tuple[tuple[int, ...], ...]:
    """Find four outcome features in a row that are a quaternion before and after: always of length 1."""
    if len(data) < FEW or data.own is None:
        return ()
    before = data.state[:, data.layout.index(data.own)]
    pairs, found, at = dict(data.layout.shared), [], 0
    while at + 4 <= len(data.outcome_features):
        four = tuple(range(at, at + 4))
        if all(k in pairs for k in four) and all(
            bool((np.abs((values**2).sum(axis=1) - 1) < UNIT).all())
            for values in (data.outcome[:, four], before[:, [pairs[k] for k in four]])
        ):
            found.append(four)
            at += 4
        else:
            at += 1
    return tuple(found)


def turn_back(change: Array, outcome: Array, rotation: tuple[int, ...]) -> None:
    """Change the sign of quaternions in `outcome` that lie opposite to where they were, in the rows of `change`."""
    after = outcome[:, rotation]
    before = after - change[:, rotation]
    opposite = (after * before).sum(axis=1) < 0
    change[np.ix_(opposite, rotation)] -= 2 * after[opposite]
