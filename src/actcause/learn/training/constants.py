"""Factors that stay as they are throughout an episode, such as a goal or a colour: do they make any difference?

Such a factor tells episodes apart, so a model may use it to remember each episode's outcomes. That it acts shows in
episodes that the model has not seen: there its predictions get worse if the factor is exchanged for that of another
episode, in the rows in which that changes them. Where they do not, the factor is idle, and no cause: factors of one
class are, if all of them together are. One that never changes at all cannot be told to be a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...data import Transitions

Array = np.ndarray[Any, Any]
Predict = Callable[[Transitions], tuple[Array, Array]]  # (rows, outputs) each: what a model predicts, and what came
STILL = 1e-6  # of a feature's spread: what varies less does not vary
LEAST_EPISODES = 10  # of fewer one cannot tell
LEAST_ROWS = 3  # of an episode, on the average: in shorter ones anything is constant
EXCHANGES = 3  # episodes that a factor is taken from
SURE = 2.0  # standard errors between episodes by which predictions must get worse on the average


def find_constant(data: Transitions) -> list[str]:
    """Find the factors, the outcome's own left out, that vary within no episode.

    >>> goal = np.repeat(np.arange(20.0), 5)
    >>> state = np.stack([np.random.default_rng(0).normal(size=100), goal], axis=1)[:, :, None]
    >>> find_constant(Transitions(factors=["ball", "goal"], state=state, outcome=state[:, 0], episode=goal.astype(int)))
    ['goal']
    """
    if data.episode is None:
        return [name for name in data.factors if name != data.own and not _vary(data, name).any()]
    _, episode, counts = np.unique(data.episode, return_inverse=True, return_counts=True)
    if len(counts) < LEAST_EPISODES or counts.mean() < LEAST_ROWS:
        return []
    return [name for name in data.factors if name != data.own and _is_constant(data, name, episode)]


def find_idle(train: Transitions, held: Transitions, classes: Sequence[str], predict: Predict) -> list[str]:
    """Find the constant factors of the rows learned from that make no difference to held-out episodes.

    `predict` is a model that sees all factors, and was not shown the held-out episodes; `classes` has one for each
    factor.
    """
    constant = find_constant(train)
    varying = [name for name in constant if _vary(train, name).any()]
    idle = [name for name in constant if name not in varying]
    if not varying or held.episode is None:
        return idle
    kinds = dict(zip(train.factors, classes, strict=True))
    worse = _measure_exchanges(held, varying, predict)
    for kind in {kinds[name] for name in varying}:
        members = [name for name in varying if kinds[name] == kind]
        together = np.sum([worse[name] for name in members], axis=0)
        error = together.std() / max(len(together) - 1, 1) ** 0.5
        if together.mean() <= SURE * error:
            idle += members
    return [name for name in constant if name in idle]


def _measure_exchanges(held: Transitions, names: Sequence[str], predict: Predict) -> dict[str, Array]:
    """Measure for each factor, (episodes,), how much worse predictions get when it is exchanged.

    A row weighs by how far its prediction moves, which does not depend on what came of it.
    """
    _, episode = np.unique(np.asarray(held.episode), return_inverse=True)
    before, came = predict(held)
    missed = np.abs(before - came).mean(axis=1)
    found = {}
    for name in names:
        worse = np.zeros(len(held))
        for turn in range(EXCHANGES):
            after, _ = predict(_exchange(held, name, turn))
            worse += np.abs(after - before).mean(axis=1) * (np.abs(after - came).mean(axis=1) - missed)
        found[name] = np.bincount(episode, weights=worse)
    return found


def _vary(data: Transitions, name: str) -> Array:
    """Tell for each feature of a factor whether it varies over the rows in which the factor is there."""
    values = _values(data, name)
    if not len(values):
        return np.zeros(values.shape[1], dtype=bool)
    size = np.maximum(np.abs(values).max(axis=0), 1e-12)
    return np.asarray(values.max(axis=0) - values.min(axis=0) > STILL * size)


def _is_constant(data: Transitions, name: str, episode: Array) -> bool:
    """Tell whether a factor's features are the same in all rows of an episode in which it is there, and it always is.

    An object that comes and goes is no constant.
    """
    position = data.layout.index(name)
    if data.mask is not None and not data.mask[:, position].all():
        return False
    values = _values(data, name)
    order = np.argsort(episode, kind="stable")
    starts = np.flatnonzero(np.diff(episode[order], prepend=-1))
    values = values[order]
    apart = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
    return bool((apart <= STILL * np.maximum(values.std(axis=0), 1e-12)).all())


def _values(data: Transitions, name: str) -> Array:
    position = data.layout.index(name)
    values = np.asarray(data.state[:, position, : len(data.features[name])], dtype=np.float64)
    return values if data.mask is None else values[data.mask[:, position]]


def _exchange(data: Transitions, name: str, turn: int) -> Transitions:
    """Take a factor from rows that lie far off: half of all rows away, and at later turns elsewhere."""
    position = data.layout.index(name)
    away = len(data) * (turn + 1) // (EXCHANGES + 1)
    state = np.array(data.state)
    state[:, position] = np.roll(state[:, position], away, axis=0)
    return data.replaced(state=state)
