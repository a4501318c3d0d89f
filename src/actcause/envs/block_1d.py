"""1-D Block Pushing, the paper's Example 2.1 and Figure 1, with continuous positions.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883, Example 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import ClassVar

import numpy as np

from ..errors import QueryError
from .base import Array, Domain, Step
from .physics import TOUCH, gap, lesser, nudge, unpack, where

PUSHER, BLOCK, FIRST = 0, 1, 2  # rows of a state; the obstacles come last


@dataclass(frozen=True)
class Block1D(Domain):
    """A pusher that always goes right, a block that it may push, and obstacles that may stop the block.

    **Description.** The paper's first example: the obstacle is a cause of where the block ends only where
    it is in the way, not wherever it *could* have been in the way.

    **Factors.** `pusher` (x), `block` (x), `obstacle` (x); with several obstacles `obstacle1`, ... The
    outcome is the block's next x.

    **Actions.** None; the array of actions has no columns (with `noise` one, the random number).

    **Dynamics.** The pusher goes `reach` to the right. A block in front that it comes to is pushed until
    the pusher stops or the block meets an obstacle in front of it; then the pusher stops at the block. All
    bodies are `body` = 1 wide: the pusher at 49 goes to 51 and leaves the block of Example 2.1 at 52. With
    `noise` the block is then shifted by chance, as far as pusher, obstacles and the world's ends let it.

    **True cause** of the block's next x. The block: always. The pusher: if it came to where the block was,
    even if the block could not give way. An obstacle: if it stopped the push short; two, if they stand at
    the same place. `extra["moved"]` and `extra["pinned"]` tell contacts that moved the block from
    those that left it in its place. On a grid of integers this is the functional actual cause
    (`alpha_sufficiency` 0.2) in every state but the pinned ones: pusher right behind the
    block or one place off, obstacle right in front of it. There the block ends where it would end in nearly
    every other state too, so the block alone is the functional actual cause, while the simulator names
    all three that touched. Noise does not change the labels: they are those of the step before the shift.

    **Parameters.** `obstacles` how many; `size` the length of the world; `reach` the length of a step;
    `body` the width of every body; `noise` the standard deviation of a Gaussian shift of the block in every
    step, which no factor explains: its random number is the only column of the actions.

    **Choices where the paper is silent.** Bodies are one unit wide, which the example's 49, 50, 52 asks for.
    Obstacles are in the block's way only: the pusher "always" moves. Positions are drawn uniformly, pusher
    and obstacles again while they overlap the block. The episode ends when pusher or block has reached the
    end of the world, or when the pusher is stopped, since nothing would ever move again.

    >>> domain = Block1D()
    >>> states = np.array([[[49.0], [50.0], [20.0]], [[49.0], [50.0], [52.0]]])
    >>> step = domain.step(states, np.zeros((2, 0)))
    >>> step.states[:, 1, 0].tolist(), step.cause.tolist()
    ([52.0, 51.0], [[True, True, False], [True, True, True]])
    """

    name: ClassVar[str] = "block-1d"
    title: ClassVar[str] = "1-D Block Pushing"
    horizon: ClassVar[int] = 50
    outcome: ClassVar[str] = "block"
    shared_class: ClassVar[tuple[str, int]] = ("obstacle", FIRST)
    choices: ClassVar[Array] = np.zeros((1, 0))  # one action, which says nothing
    noise_axes: ClassVar[int] = 1
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    obstacles: int = 1
    size: float = 100.0
    reach: float = 2.0
    body: float = 1.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        self._check("obstacles", whole=True)
        self._check("size", "reach", positive=True)
        self._check("body", "noise")
        if not 0 <= 4 * self.body <= self.size:
            raise QueryError(
                f"The 'body' of block-1d must be 0 to a quarter of its size, {self.size / 4}. Got {self.body} instead."
            )

    @cached_property
    def factors(self) -> tuple[str, ...]:
        if self.obstacles == 1:
            return ("pusher", "block", "obstacle")
        return ("pusher", "block", *(f"obstacle{i + 1}" for i in range(self.obstacles)))

    @cached_property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        return dict.fromkeys(self.factors, ("x",))

    @property
    def edges(self) -> tuple[str, ...]:
        return ("pusher", *self.factors[FIRST:])

    @property
    def bounds(self) -> tuple[Array, Array]:
        high = np.full((len(self.factors), 1), self.size)
        high[: BLOCK + 1] += self.reach  # the last step out of the world
        return np.zeros_like(high), high

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        states = generator.uniform(0, self.size, (worlds, len(self.factors), 1))
        block = states[:, BLOCK, None].copy()
        while True:
            overlap = np.abs(states - block) < self.body
            overlap[:, BLOCK] = False
            if not overlap.any():
                return states
            states[overlap] = generator.uniform(0, self.size, int(overlap.sum()))

    def step(self, states: Array, actions: Array) -> Step:
        actions = self._check_actions(states, actions)
        following = states.copy()
        cause = np.zeros(states.shape[:2], dtype=bool)
        cause[:, BLOCK] = True
        moved, pinned, ended = np.zeros((3, len(states)), dtype=bool)
        (pusher,), (block,), *obstacles = unpack(states)
        before = gap(block - pusher, True, self.body)
        contact = before < self.reach - TOUCH
        push = where(contact, self.reach - before, 0.0)
        gaps = [gap(obstacle - block, True, self.body) for (obstacle,) in obstacles]
        free = push + inf
        for room in gaps:
            free = lesser(free, room)
        short = push > free + TOUCH
        given = where(short, free, push)
        to, at = block + given, pusher + where(contact, before + given, self.reach)
        cause[:, PUSHER] = contact
        # Whoever stops the block stands at the free distance.
        for position, room in enumerate(gaps, start=FIRST):
            cause[:, position] = short & (room <= free + TOUCH)
        moved[:] = contact & (to != block)
        pinned[:] = contact & (to == block)
        if actions.shape[1]:
            shift = self.noise * unpack(actions)[0]
            solid = [(other, (self.body,), True) for other in ((at,), *obstacles)]
            [to] = nudge((to,), (shift,), solid, ((0.0,), (self.size + self.reach,)))
        following[:, PUSHER, 0], following[:, BLOCK, 0] = at, to
        ended[:] = (at >= self.size) | (to >= self.size) | (at == pusher)
        return Step(states.copy(), following, cause, ended, {"moved": moved, "pinned": pinned})

    def graph(self, states: Array, actions: Array, step: Step) -> Array:
        """Return who caused what, `(worlds, outcomes, factors)`.

        The pusher's next x: the pusher, and where an obstacle stops the push, that obstacle and the block.
        """
        graph = super().graph(states, actions, step)
        graph[:, PUSHER, FIRST:] = step.cause[:, FIRST:]
        graph[:, PUSHER, BLOCK] = step.cause[:, FIRST:].any(axis=1)
        return graph
