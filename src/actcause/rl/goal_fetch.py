"""Gymnasium-Robotics' FetchPush as a task with factors, and with the true cause of every step."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO

import gymnasium
import numpy as np

from ..envs.base import Array
from ..errors import import_extra
from ..worlds.fetch import FetchPush, reverse_action
from ..worlds.fetch_robot import FetchRobot
from .goal_env import GoalEnv, GoalLayout

OUTCOMES = ("gripper", "block")
MIDDLE = (1.34, 0.75, 0.45)  # of the part of the table that the hand can reach, in m
REACH = 0.25  # from there to its edges
SPEED = 0.5  # what speeds are scaled by, in m/s


class GoalFetchPush(GoalEnv):
    """The hand is to shove a cube to a place on the table (`actcause/GoalFetchPush-v0`).

    Robot, table, beginnings and goals are those of `FetchPush-v4`; the observation is made of the factors of the world
    `fetch-push`, scaled. `info["graph"]` has a row for the gripper (its action and itself) and one for the block: who,
    taken away, would have left it elsewhere by more than `threshold` spreads.

    Args:
        tolerance: How near the block must come to the goal, in m.
        max_steps: The steps of an episode.
        threshold: The least effect that makes a cause, in spreads of the block's change.
        with_causes: Whether `info` has the true local graph of each step; finding it takes further steps.
    """

    def __init__(
        self,
        tolerance: float = 0.05,
        max_steps: int = 50,
        threshold: float = 0.05,
        with_causes: bool = True,
        render_mode: str | None = None,
    ) -> None:
        world = FetchPush(threshold=threshold)
        self.render_mode, self.threshold, self.outcomes = render_mode, threshold, OUTCOMES
        mujoco = import_extra("mujoco", "GoalFetchPush", "worlds")
        with redirect_stderr(StringIO()):  # which tells about other environments than these
            gymnasium.register_envs(import_extra("gymnasium_robotics", "GoalFetchPush", "worlds"))
        self._robot = FetchRobot(mujoco, gymnasium.make(world.environment).unwrapped, np.full(3, world.spread))
        width = world.width
        middle, half = np.zeros((len(world.factors), width)), np.ones((len(world.factors), width))
        middle[1:, :3], half[1:, :3], half[1:, 3:6] = MIDDLE, REACH, SPEED
        layout = GoalLayout(
            world.factors, world.features, "block", "goal", "gripper", places=3, middle=middle, half=half
        )
        super().__init__(layout, max_steps=max_steps, tolerance=tolerance, with_causes=with_causes)

    def _begin(self, generator: np.random.Generator) -> Array:
        while True:
            self._robot.start(generator)
            state = self._read()
            if np.linalg.norm(state[2, :3] - state[3, :3]) >= self.tolerance:
                return state

    def _read(self) -> Array:
        state = np.zeros(self.layout.middle.shape)
        for factor, values in self._robot.read().items():
            state[self.layout.factors.index(factor), : len(values)] = values
        return state

    def _move(self, state: Array, action: Array, generator: np.random.Generator) -> tuple[Array, Array | None]:
        robot, graph = self._robot, None
        others = [robot.drive(other) for other in (np.zeros(4), reverse_action(action))] if self.with_causes else []
        robot.drive(action)
        taken = robot.steps.take(others)
        if self.with_causes:
            effects = robot.steps.measure_effects(taken, self.threshold)
            robot.steps.restore(taken.end)
            graph = np.zeros((len(OUTCOMES), len(self.layout.factors)), dtype=np.int8)
            graph[0, :2] = 1
            causes = ["block", *(name for name, effect in effects.items() if effect > self.threshold)]
            graph[1, [self.layout.factors.index(name) for name in causes]] = 1
        robot.settle()
        return self._read(), graph
