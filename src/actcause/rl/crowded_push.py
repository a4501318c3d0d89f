"""Push among bodies that drift by themselves and shift the block when they hit it: it moves for other reasons too.

A step is one of `push` for the pusher, to which the bodies are obstacles, and then one for each body, to which the
pusher and the other bodies are. A body that is stopped, or that hits the block, turns back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..envs.base import Array
from ..envs.push import FIRST, PUSHER, Push

SPEED = 0.5  # of a body on each axis, at most, in strides
TURNED = 1e-9  # a body that comes this much less far than it wants turns back


@dataclass(frozen=True)
class CrowdedStep:
    """States after a step, how the bodies move then, and whether the pusher had a part in where the block is."""

    states: Array
    motion: Array
    touched: Array


def draw_motion(domain: Push, generator: np.random.Generator, worlds: int) -> Array:
    """Draw how the bodies move at the beginning, `(worlds, bodies, 2)`."""
    return generator.uniform(-SPEED, SPEED, (worlds, domain.obstacles, 2))


def step_crowd(domain: Push, states: Array, motion: Array, actions: Array) -> CrowdedStep:
    """Let the pusher act, then every body move, in worlds of `push` whose obstacles are the bodies.

    >>> from actcause.envs.push import BLOCK
    >>> domain = Push(obstacles=1, arena=9.0)
    >>> states = domain.reset(np.random.default_rng(0), 1)
    >>> states[0, 1:5:3, :2], states[0, BLOCK, :2] = [[8, 8], [2, 2]], [3.2, 2]
    >>> taken = step_crowd(domain, states, np.array([[[0.5, 0.0]]]), np.zeros((1, 2)))
    >>> taken.states[0, BLOCK, :2].round(6).tolist(), taken.motion.tolist(), taken.touched.tolist()
    ([3.5, 2.0], [[[-0.5, -0.0]]], [False])
    """
    taken = domain.step(states, actions)
    touched = taken.cause[:, PUSHER].copy()
    states, motion = taken.states, motion.copy()
    for body in range(domain.obstacles):
        at = FIRST + body
        swapped = _swap(states, at)
        moved = domain.step(swapped, motion[:, body])
        touched |= moved.cause[:, at]  # the pusher stopped a block that was hit
        short = np.abs(moved.states[:, PUSHER, :2] - swapped[:, PUSHER, :2] - motion[:, body] * domain.stride) > TURNED
        turned = short | moved.cause[:, PUSHER, None]
        motion[:, body] = np.where(turned, -motion[:, body], motion[:, body])
        states = _swap(moved.states, at)
    return CrowdedStep(states, motion, touched)


def _swap(states: Array, at: int) -> Array:
    """Exchange the pusher with the body at this position."""
    swapped = states.copy()
    swapped[:, [PUSHER, at]] = states[:, [at, PUSHER]]
    return swapped
