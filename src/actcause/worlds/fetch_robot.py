"""The robot of `fetch-push` and `fetch-slide`: Gymnasium-Robotics' environment, read and stepped piece by piece.

A step is the environment's own: its action sets where the hand is to go, MuJoCo takes 20 substeps, and a callback holds
the fingers shut. Only the substeps are taken here, so that no touch is missed and so that they can be taken again.
Observations, rewards and pictures are not computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..envs.base import Array
from .mujoco_steps import MujocoSteps

BLOCK, HAND, SHOULDER = "object0", "robot0:grip", "robot0:shoulder_pan_link"  # as the environments call them
OVERLAP = 0.002  # how deep robot and block may lie in each other where one of them is exchanged, in m


class FetchRobot:
    """An arm with a gripper, and a block on a table. `env` is the environment without its wrappers."""

    def __init__(self, mujoco: Any, env: Any, spread: Array) -> None:
        self._mujoco, self._env = mujoco, env
        model, data = env.model, env.data
        joint = model.joint(f"{BLOCK}:joint")
        place, speed = int(joint.qposadr[0]), int(joint.dofadr[0])
        self._places, self._speeds = slice(place, place + 7), slice(speed, speed + 6)  # of the block
        self._hand = int(model.site(HAND).id)
        self.steps = MujocoSteps(
            mujoco,
            model,
            data,
            substeps=env.n_substeps,
            bodies={**dict.fromkeys(_find_arm(model), "gripper"), int(model.geom(BLOCK).id): "block"},
            outcome="block",
            driven="gripper",
            read_outcome=self.read_place,
            spread=spread,
        )
        self._remembered: list[tuple[Array, Array]] = []

    def start(self, generator: np.random.Generator) -> None:
        """Reset the environment: the block and the goal at random."""
        self._env.reset(seed=int(generator.integers(2**31)))

    def read_place(self) -> Array:
        """Return where the block is."""
        return np.array(self._env.data.qpos[self._places][:3])

    def read(self) -> Mapping[str, Array]:
        """Return the features of gripper, block and goal."""
        data, velocity = self._env.data, np.empty(6)
        site = self._mujoco.mjtObj.mjOBJ_SITE
        self._mujoco.mj_objectVelocity(self._env.model, data, site, self._hand, velocity, 0)
        rotation = data.qpos[self._places][3:]
        turned = rotation if rotation[0] >= 0 else -rotation  # both stand for the same rotation
        return {
            "gripper": np.concatenate([data.site_xpos[self._hand], velocity[3:]]),
            "block": np.concatenate([self.read_place(), data.qvel[self._speeds][:3], turned]),
            "goal": np.array(self._env.goal),
        }

    def drive(self, action: Iterable[float]) -> Array:
        """Tell the hand where to go; return the state from which the step then starts."""
        self._env._set_action(np.asarray(action, dtype=float))
        return self.steps.save()

    def settle(self) -> None:
        """End a step as the environment does: hold the fingers shut, and compute what follows from the state."""
        self._env._step_callback()

    def remember(self) -> None:
        """Keep the arm's state, to be exchanged for that of another row."""
        self._remembered.append((np.array(self._env.data.qpos), np.array(self._env.data.qvel)))

    def put_back(self, state: Array, generator: np.random.Generator | None = None) -> None:
        """Go back to a saved state; with a generator the arm is put into another remembered one, outside the block."""
        data = self._env.data
        self.steps.restore(state)
        self._mujoco.mj_forward(self._env.model, data)
        if generator is None:
            return
        place, speed = np.array(data.qpos[self._places]), np.array(data.qvel[self._speeds])
        for number in generator.permutation(len(self._remembered)):
            data.qpos[:], data.qvel[:] = self._remembered[number]
            data.qpos[self._places], data.qvel[self._speeds] = place, speed
            self._mujoco.mj_forward(self._env.model, data)
            if self.steps.find_overlap() < OVERLAP:
                return


def _find_arm(model: Any) -> list[int]:
    """Return the geoms of all that moves from the shoulder on; base and torso stand still, as the table does."""
    arm = {int(model.body(SHOULDER).id)}
    for body, parent in enumerate(model.body_parentid):  # a parent stands before its children
        if int(parent) in arm:
            arm.add(body)
    return [geom for geom, body in enumerate(model.geom_bodyid) if int(body) in arm]
