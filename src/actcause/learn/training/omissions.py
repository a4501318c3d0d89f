"""Factors that answers leave out though the outcome hangs on them: an answer's own model is asked, without a label.

A network that learns which factors to look at can tell by that choice alone that something happened: a box that moves
is "explained" by the agent beside it, since the agent is looked at only in rows in which the box moves, whatever the
agent did. So answers are tried out. In rows in which something happened, each factor that was not named is exchanged
for that of other rows; where the event then often vanishes, in favour of what comes of the own state, it was needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...data import Transitions
from .surprises import SURPRISING

Array = np.ndarray[Any, Any]
Predict = Callable[[Transitions], tuple[Array, Array]]  # (rows, outputs) each: what a model predicts, and what came
MOST = 1000  # rows tried out
DRAWS = 8  # rows that a factor is taken from
PLAIN = 12  # rows that all factors are taken from, to see what usually comes of the own state
NEAR = 0.25  # of the way between what usually comes and what came: so near to either counts as it
OFTEN = 0.35  # share of the draws in which an event vanishes that hangs on the factor
FEW = 20  # rows of which one can tell nothing


def measure_omitted(data: Transitions, named: Array, surprising: Array, predict: Predict) -> float:
    """Measure what share of the surprising rows with a cause hangs on a factor that was not named, too.

    `named` (rows, factors) holds the answers, `surprising` (rows,) where something happened; `predict` is a model that
    sees all factors. Rows whose outcome the model misses, or is usual anyway, say nothing; 0 where too few are left.

    >>> rng = np.random.default_rng(0)
    >>> state = np.stack([np.zeros(500), rng.random(500) < 0.3, rng.random(500) < 0.3], axis=1)[:, :, None]
    >>> moves = state[:, 1] * state[:, 2]
    >>> data = Transitions(factors=["box", "agent", "action"], state=state, outcome=moves, own="box")
    >>> def predict(data):
    ...     return data.state[:, 1] * data.state[:, 2], data.outcome
    >>> both, one = np.ones((500, 3), bool), np.array([[True, True, False]] * 500)
    >>> [round(measure_omitted(data, named, moves[:, 0] > 0, predict), 1) for named in (both, one)]
    [0.0, 1.0]
    """
    own = None if data.own is None else data.layout.index(data.own)
    others = [k for k in range(len(data.factors)) if k != own]
    rows = np.flatnonzero(surprising & named[:, others].any(axis=1))
    if own is None or len(rows) < FEW:
        return 0.0
    rows = rows[np.linspace(0, len(rows) - 1, min(MOST, len(rows))).astype(int)]
    draws = np.random.default_rng(0).integers(0, len(data), size=(PLAIN, len(rows)))
    part = data.subset(rows)
    seen, came = predict(part)
    usual = np.median([predict(_exchange(part, data, others, draw))[0] for draw in draws], axis=0)
    apart = np.abs(came - usual).mean(axis=1)
    far = NEAR * apart
    known = (np.abs(seen - came).mean(axis=1) <= far) & (apart > SURPRISING)
    if known.sum() < FEW:
        return 0.0
    needed = np.zeros(len(rows), dtype=bool)
    for factor in others:
        vanished = [
            np.abs(predict(_exchange(part, data, [factor], draw))[0] - usual).mean(axis=1) <= far
            for draw in draws[:DRAWS]
        ]
        needed |= (np.mean(vanished, axis=0) >= OFTEN) & ~named[rows, factor]
    return float(needed[known].mean())


def _exchange(part: Transitions, data: Transitions, factors: list[int], draw: Array) -> Transitions:
    """Take some factors of rows from other rows."""
    state = np.array(part.state)
    state[:, factors] = data.state[draw][:, factors]
    changed: dict[str, Any] = {"state": state}
    if part.mask is not None and data.mask is not None:
        mask = np.array(part.mask)
        mask[:, factors] = data.mask[draw][:, factors]
        changed["mask"] = mask
    return part.replaced(**changed)
