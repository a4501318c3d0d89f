"""MuJoCo pucks as a task: bring the target puck to a place on the table, among other pucks that move it too."""

from __future__ import annotations

import numpy as np

from ..envs.base import Array
from ..errors import import_extra
from ..worlds.mujoco_pucks import MOTION, SPREAD, MujocoPucks, reverse_action
from ..worlds.mujoco_steps import TakenStep
from ..worlds.puck_table import FASTEST, PLACED, WALL, PuckTable
from .goal_env import GoalEnv, GoalLayout

SPEED = 1.0  # what a puck's speed is scaled by, in m/s


class GoalPucks(GoalEnv):
    """The pusher is to bring the target puck to a place on the table (`actcause/GoalPucks-v0`).

    The scene and the steps are those of the world `mujoco-pucks`. All pucks slide at the beginning and hit each other,
    so that the target moves for other reasons than the pusher too. `info["graph"]` has a row for every body: who, taken
    away, would have left it elsewhere, or moving otherwise, by more than `threshold` spreads.

    Args:
        others: How many other pucks there are, up to 8.
        tolerance: How near the target must come to the goal, in m.
        max_steps: The steps of an episode, of 40 ms each.
        threshold: The least effect that makes a cause, in spreads of the target's change.
        with_causes: Whether `info` has the true local graph of each step; finding it takes further steps.
    """

    def __init__(
        self,
        others: int = 3,
        tolerance: float = 0.08,
        max_steps: int = 50,
        threshold: float = 0.05,
        with_causes: bool = True,
        render_mode: str | None = None,
    ) -> None:
        world = self._world = MujocoPucks(others=others, threshold=threshold)
        self.render_mode = render_mode
        bodies = world.factors[1:]
        self.outcomes = bodies
        self._table = PuckTable(import_extra("mujoco", "GoalPucks", "worlds"), bodies, "target", SPREAD)
        factors = (*world.factors, "goal")
        half = np.ones((len(factors), 4))
        half[1:, :2], half[1:, 2:], half[0] = WALL, SPEED, FASTEST
        layout = GoalLayout(
            factors, {**world.features, "goal": MOTION[:2]}, "target", "goal", "pusher",
            places=2, middle=np.zeros_like(half), half=half,
        )  # fmt: skip
        super().__init__(layout, max_steps=max_steps, tolerance=tolerance, with_causes=with_causes)

    def _begin(self, generator: np.random.Generator) -> Array:
        self._table.start(generator)
        state = self._read(np.zeros(2))
        place = state[self.layout.factors.index("target"), :2]
        goal = generator.uniform(-PLACED, PLACED, 2)
        while np.linalg.norm(goal - place) < self.tolerance:
            goal = generator.uniform(-PLACED, PLACED, 2)
        return self._read(goal)

    def _read(self, goal: Array) -> Array:
        state = np.zeros(self.layout.middle.shape)
        for body, motion in self._table.read().items():
            state[self.layout.factors.index(body)] = motion
        state[-1, :2] = goal
        return state

    def _move(self, state: Array, action: Array, generator: np.random.Generator) -> tuple[Array, Array | None]:
        table, speed = self._table, action * FASTEST
        others = [table.drive(other) for other in (np.zeros(2), reverse_action(speed))] if self.with_causes else []
        table.drive(speed)
        taken = table.steps.take(others)
        following = self._read(state[-1, :2])
        return following, self._find_graph(taken) if self.with_causes else None

    def _find_graph(self, taken: TakenStep) -> Array:
        """Ask of every body who made it go where it went: the same step without each that touched it."""
        factors = self.layout.factors
        found = self._world.find_graph(self._table, taken, self._table.read())
        self._table.steps.restore(taken.end)
        graph = np.zeros((len(self.outcomes), len(factors)), dtype=np.int8)
        for row, body in enumerate(self.outcomes):
            graph[row, [factors.index(name) for name in (body, *found[body])]] = 1
        return graph
