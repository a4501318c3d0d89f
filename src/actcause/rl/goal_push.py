"""2D Pushing as a task: bring the block to the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.base import Array
from ..envs.push import BLOCK, PUSHER, TARGET, Push
from ..errors import QueryError, quote
from .goal_env import GoalEnv, GoalLayout

BEGINNINGS = 64  # drawn at once, which costs hardly more than one
ROUNDS = 200  # times that beginnings are drawn before we say that there are none
OUTCOMES = ("pusher", "block")


class GoalPush(GoalEnv):
    """The pusher is to bring the block to the target (`actcause/GoalPush-v0`).

    The dynamics are those of the domain `push`. The larger the `arena`, the rarer does anything touch the block: under
    random actions in 9% of the steps in an arena of 5, in 2% in one of 12, in 1% in one of 16. An episode begins with
    the block away from the target, and at least `apart` away from the pusher.

    `info["graph"]` has a row for the pusher (its action and itself; what stands in its way is not listed) and one for
    the block (the domain's true cause).

    Args:
        arena: The side of the square arena.
        obstacles: How many obstacles there are.
        margin: How far inside the arena boxes are placed.
        noise: The standard deviation of a chance shift of the block in every step.
        tolerance: How near the block's midpoint must come to the target's, in the arena's units.
        max_steps: The steps of an episode.
        apart: The least distance of pusher and block at the beginning.
        with_causes: Whether `info` has the true local graph of each step.
    """

    def __init__(
        self,
        arena: float = 12.0,
        obstacles: int = 0,
        margin: float = 1.5,
        noise: float = 0.0,
        tolerance: float = 0.5,
        max_steps: int = 60,
        apart: float = 0.0,
        with_causes: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.domain = Push(arena=arena, obstacles=obstacles, margin=margin, noise=noise)
        if not isinstance(apart, (int, float)) or isinstance(apart, bool) or not 0 <= apart < self.domain.arena:
            raise QueryError(
                "{parameter} must be a distance from 0 to less than the arena's side, {arena}. Got {got} instead.",
                parameter="apart", arena=arena, got=quote(apart),
            )  # fmt: skip
        self.apart, self.render_mode = apart, render_mode
        count = len(self.domain.factors)
        middle, half = np.full((count, 3), self.domain.arena / 2), np.full((count, 3), self.domain.arena / 2)
        middle[0], half[0] = 0, 1
        layout = GoalLayout(
            self.domain.factors, self.domain.features, "block", "target", "pusher", places=2, middle=middle, half=half
        )
        self.outcomes = OUTCOMES
        super().__init__(layout, max_steps=max_steps, tolerance=tolerance, with_causes=with_causes)
        self._beginnings: list[Array] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        if seed is not None:
            self._beginnings = []
        return super().reset(seed=seed, options=options)

    def _begin(self, generator: np.random.Generator) -> Array:
        for _ in range(ROUNDS):
            if self._beginnings:
                return self._beginnings.pop()
            drawn = self.domain.reset(generator, BEGINNINGS)
            away = np.linalg.norm(drawn[:, BLOCK, :2] - drawn[:, TARGET, :2], axis=1) >= self.tolerance
            free = np.linalg.norm(drawn[:, BLOCK, :2] - drawn[:, PUSHER, :2], axis=1) >= self.apart
            self._beginnings = list(drawn[away & free])
        raise QueryError(
            "No beginning has pusher and block {apart_} apart and the block {tolerance_} away from the target; "
            "give a smaller {apart} or {tolerance}.", apart_=self.apart, tolerance_=self.tolerance,
        )  # fmt: skip

    def _move(self, state: Array, action: Array, generator: np.random.Generator) -> tuple[Array, Array | None]:
        step = self.domain.step(state[None], self.domain.with_noise(generator, action[None]))
        if not self.with_causes:
            return step.states[0], None
        graph = np.zeros((len(OUTCOMES), len(self.layout.factors)), dtype=np.int8)
        graph[0, [0, PUSHER]] = 1
        graph[1] = step.cause[0]
        return step.states[0], graph
