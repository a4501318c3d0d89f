"""Gymnasium-Robotics' FetchPush and FetchSlide: an arm shoves a block (or a puck) over a table. What moved it?

Outcome: where the block is next. The goal is where the task wants it: it moves nothing.

True cause. Where gripper and block press on each other, the step is taken again from the same state with a gripper that
touches nothing. The gripper, which stands for the whole arm, is a cause if the block would then be elsewhere by more
than `threshold` of the spread of its change in one step. So a hand that lies on a block at rest, or reaches it at the
very end of the step, is none. The action is a cause where the gripper is, and standing still or going the other way at
full speed would have made such a difference.

Most of the time the hand goes behind the block and through it, in a random direction; else it wanders. An episode ends
where the block falls from the table.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from io import StringIO
from typing import ClassVar

import numpy as np

from ..envs.base import Array
from .base import World, WorldRow, find_version
from .fetch_robot import FetchRobot
from .functional_cause import BODY_ALPHA, find_functional_cause
from .mujoco_steps import TakenStep

FALLEN = 0.3  # the height under which the block has left the table, in m
PLANNED = 25  # steps that a plan is kept
VISITED = 10  # episodes from which other states of the arm are taken, to exchange it


@dataclass(frozen=True)
class Fetch(World):
    """What both tasks have in common."""

    horizon = 50
    simulator = "gymnasium-robotics"
    licence = "MIT"
    untold = "the gripper hangs on an arm whose joints are no factor of a row"
    factors = ("action", "gripper", "block", "goal")
    features: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "action": ("dx", "dy", "dz", "grip"),
        "gripper": ("x", "y", "z", "vx", "vy", "vz"),
        "block": ("x", "y", "z", "vx", "vy", "vz", "qw", "qx", "qy", "qz"),
        "goal": ("x", "y", "z"),
    }
    outcome = "block"
    outcome_features = ("x", "y", "z")

    threshold: float = 0.05
    check: bool = False

    def __post_init__(self) -> None:
        self._check("threshold", positive=True)

    @property
    @abstractmethod
    def environment(self) -> str:
        """The name under which Gymnasium knows the task."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """The standard deviation of the block's change on an axis in one step, in m."""

    @property
    def version(self) -> str | None:
        """The versions of the tasks and of the physics under them; None unless both are installed."""
        tasks, physics = super().version, find_version("mujoco")
        return None if tasks is None or physics is None else f"{tasks}, mujoco {physics}"

    def episodes(self, generator: np.random.Generator) -> Iterator[Sequence[WorldRow]]:
        """Yield the rows of one episode after the other, without end."""
        gymnasium, mujoco = self.load("gymnasium"), self.load("mujoco")
        with redirect_stderr(StringIO()):  # which tells about other environments than these
            robotics = self.load("gymnasium_robotics")
        gymnasium.register_envs(robotics)
        robot = FetchRobot(mujoco, gymnasium.make(self.environment).unwrapped, np.full(3, self.spread))
        (exchanges,) = generator.spawn(1)  # which leaves the generator as it is, so that a check changes no row
        if self.check:
            for _ in range(VISITED):
                robot.start(exchanges)
                for _ in replace(self, check=False)._episode(robot, exchanges, exchanges):
                    robot.remember()
        while True:
            robot.start(generator)
            yield list(self._episode(robot, generator, exchanges))

    def _episode(
        self, robot: FetchRobot, generator: np.random.Generator, exchanges: np.random.Generator
    ) -> Iterator[WorldRow]:
        for time in range(self.horizon):
            before = robot.read()
            if before["block"][2] < FALLEN:
                return
            if time % PLANNED == 0:
                plan = _HandPlan(generator)
            action = plan.choose_action(generator, before["gripper"][:3], before["block"][:3])
            begun = robot.steps.save()
            others = [robot.drive(other) for other in (np.zeros(4), reverse_action(action))]
            robot.drive(action)
            taken = robot.steps.take(others)
            effects = robot.steps.measure_effects(taken, self.threshold)
            extra: dict[str, float | bool] = {
                "effect.action": effects.get("action", 0.0),
                "effect.gripper": effects.get("gripper", 0.0),
                "impulse.gripper": sum(taken.impulses.values()),
                "contact.gripper": bool(taken.impulses),
            }
            if self.check:
                extra |= self._look_again(robot, taken, begun, action, exchanges)
            if effects or self.check:
                robot.steps.restore(taken.end)
            robot.settle()
            cause = [factor for factor, effect in effects.items() if effect > self.threshold]
            yield WorldRow({"action": action, **before}, taken.outcome, cause, extra)

    def _look_again(
        self, robot: FetchRobot, taken: TakenStep, begun: Array, action: Array, generator: np.random.Generator
    ) -> dict[str, bool]:
        """Take the gripper away, touching or not, and find the functional cause of the block's next place."""

        def changes(exchanged: tuple[str, ...]) -> bool:
            robot.put_back(begun, generator if "gripper" in exchanged else None)
            start = robot.drive(generator.uniform(-1, 1, 4) if "action" in exchanged else action)
            return robot.steps.measure_effect(taken, start) > self.threshold

        differs = robot.steps.find_differences(taken, self.threshold)
        found = find_functional_cause(self.edges, changes, alpha=BODY_ALPHA)
        return {f"differs.{factor}": different for factor, different in differs.items()} | {
            f"fac.{factor}": factor in found for factor in self.edges
        }


@dataclass(frozen=True)
class FetchPush(Fetch):
    """FetchPush-v4: a cube that stops where the gripper leaves it.

    Args:
        threshold: The least effect that makes a cause, in spreads of the block's change.
        check: Find the functional cause of every row by stepping again from the same state.
    """

    name = "fetch-push"
    title = "FetchPush"
    environment = "FetchPush-v4"
    spread = 0.008
    revisions = ("first recorded",)


@dataclass(frozen=True)
class FetchSlide(Fetch):
    """FetchSlide-v4: a puck on a long, smooth table, which slides on after a push.

    Args:
        threshold: The least effect that makes a cause, in spreads of the puck's change.
        check: Find the functional cause of every row by stepping again from the same state.
    """

    name = "fetch-slide"
    title = "FetchSlide"
    environment = "FetchSlide-v4"
    spread = 0.01
    revisions = ("first recorded",)


class _HandPlan:
    """What the hand does for a while: it goes behind the block and through it, or it wanders."""

    def __init__(self, generator: np.random.Generator) -> None:
        angle = generator.uniform(0, 2 * np.pi)
        self._push = generator.random() < 0.7
        self._way = np.array([np.cos(angle), np.sin(angle), 0.0])
        self._speed = generator.uniform(0.2, 1)
        self._drift = generator.uniform(-0.5, 0.5, 4)
        self._behind = False

    def choose_action(self, generator: np.random.Generator, hand: Array, block: Array) -> Array:
        noise = generator.uniform(-1, 1, 4)
        if not self._push:
            return np.clip(self._drift + 0.7 * noise, -1, 1)
        if self._behind:
            return np.clip(np.append(self._speed * self._way, 0) + 0.3 * noise, -1, 1)
        behind = block - 0.09 * self._way
        if float(np.linalg.norm((hand - behind)[:2])) > 0.03:
            behind[2] += 0.12  # over the block, or it would be pushed on the way
        self._behind = float(np.linalg.norm(hand - behind)) < 0.03 and hand[2] < block[2] + 0.04
        return np.clip(np.append(15 * (behind - hand), 0) + 0.2 * noise, -1, 1)


def reverse_action(action: Array) -> Array:
    """Return the action that takes the hand the other way at full speed."""
    return np.append(-action[:3] / max(float(np.abs(action[:3]).max()), 1e-6), action[3])
