"""Small recordings on which the contract of learners is checked, each with something that others lack."""

from __future__ import annotations

import numpy as np

from ..data import Transitions

EPISODES, LENGTH = 24, 12


def pushing(seed: int = 0) -> Transitions:
    """Record a block that a near pusher shifts, and a stone that does nothing: factors of several widths."""
    generator = np.random.default_rng([seed, 0])
    rows = EPISODES * LENGTH
    state = np.zeros((rows, 3, 3))
    state[:, 0, :2], state[:, 1], state[:, 2, :1] = (generator.uniform(-1, 1, (rows, k)) for k in (2, 3, 1))
    near = np.abs(state[:, 0, 0] - state[:, 1, 0]) < 0.6
    outcome = state[:, 0, :2] + np.where(near, state[:, 1, 2], 0)[:, None]
    return Transitions(
        factors=["block", "pusher", "stone"],
        features={"block": ["x", "y"], "pusher": ["x", "y", "force"], "stone": ["x"]},
        state=state,
        outcome=outcome,
        own="block",
        cause=np.stack([np.ones(rows, dtype=bool), near, np.zeros(rows, dtype=bool)], axis=1),
        episode=np.arange(rows) // LENGTH,
        extra={"moved": near},
    )


def objects() -> Transitions:
    """Record a ball and three blocks of one class, of one number each and not always there; one episode in all."""
    generator = np.random.default_rng([0, 1])
    rows = EPISODES * LENGTH
    state = generator.uniform(-1, 1, (rows, 4, 1))
    mask = np.concatenate([np.ones((rows, 1), dtype=bool), generator.random((rows, 3)) < 0.7], axis=1)
    hit = mask & (np.abs(state[:, :, 0] - state[:, :1, 0]) < 0.2)
    outcome = state[:, 0] + 0.5 * hit[:, 1:].sum(axis=1, keepdims=True)
    return Transitions(
        factors=["ball", "a", "b", "c"],
        state=state,
        outcome=outcome,
        own="ball",
        cause=hit,
        mask=mask,
        episode=np.zeros(rows, dtype=int),
        metadata={"classes": {"a": "block", "b": "block", "c": "block"}},
    )


def lamps() -> Transitions:
    """Record a lamp whose own state is not known, a switch with three positions, a dimmer: rows without episodes."""
    generator = np.random.default_rng([0, 2])
    rows = EPISODES * LENGTH
    switch, dimmer = generator.integers(0, 3, rows), generator.random(rows)
    on = switch > 0
    return Transitions(
        factors=["switch", "dimmer"],
        state=np.stack([switch, dimmer], axis=1)[:, :, None],
        outcome=np.where(on, dimmer * switch, 0)[:, None],
        outcome_factor="lamp",
        cause=np.stack([np.ones(rows, dtype=bool), on], axis=1),
        metadata={"categorical": ["switch.x0"]},
    )


def crowd() -> Transitions:
    """Record a ball among eight blocks: more binaries than can all be tried."""
    generator = np.random.default_rng([0, 3])
    rows = EPISODES * LENGTH
    state = generator.uniform(-1, 1, (rows, 9, 1))
    hit = np.abs(state[:, :, 0] - state[:, :1, 0]) < 0.1
    return Transitions(
        factors=["ball", *(f"block{k}" for k in range(1, 9))],
        state=state,
        outcome=state[:, 0] + 0.5 * hit[:, 1:].sum(axis=1, keepdims=True),
        own="ball",
        cause=hit,
        episode=np.arange(rows) // LENGTH,
    )
