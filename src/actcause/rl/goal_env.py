"""What every goal-conditioned environment has in common: factors in, a Dict observation out, a reward that is sparse.

Observations are as Gymnasium-Robotics has them, and as hindsight relabelling wants them: `observation` (all factors but
the action and the goal, one after the other), `achieved_goal` (where the object is) and `desired_goal` (where it is to
be). Numbers are scaled to about [-1, 1] by the factors' ranges; `read_states` turns them back into factors, which is
what a learner of causes is given.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from ..envs.base import Array
from ..errors import QueryError, quote
from .arguments import check_count, refuse

LIMIT = 100.0  # of an observation; what is usual is within 1


@dataclass(frozen=True)
class GoalLayout:
    """Which factors there are, and where they stand in an observation.

    `moving` is the object that is to reach the goal, `goal` the factor that says where, `driven` the body that the
    action drives. `observation` has the features of all factors but the action and the goal, one after the other.
    `middle` and `half`, each `(factors, width)`, are the middles and half widths of the ranges by which observations
    are scaled: zeros and ones where they are not. A discrete action has one feature, its number.
    """

    factors: tuple[str, ...]
    features: Mapping[str, tuple[str, ...]]
    moving: str
    goal: str
    driven: str
    places: int  # how many of the object's first features are its place
    middle: Array
    half: Array
    action: str = "action"

    def __post_init__(self) -> None:
        if isinstance(self.factors, str) or len(set(self.factors)) < len(self.factors):
            refuse("factors", "names, none of them twice", self.factors)
        for role in ("moving", "goal", "driven", "action"):
            if getattr(self, role) not in self.factors:
                refuse(role, f"one of the factors, {', '.join(self.factors)}", getattr(self, role))
        lacking = [factor for factor in self.factors if not self.features.get(factor)]
        if lacking:
            refuse("features", "the features of every factor", f"none of {lacking[0]}")
        check_count("places", self.places)
        for factor in (self.moving, self.goal):
            if self.places > len(self.features[factor]):
                refuse("places", f"at most the features of {factor}, {len(self.features[factor])}", self.places)
        widest = max(len(self.features[factor]) for factor in self.factors)
        for name in ("middle", "half"):
            shape = np.shape(getattr(self, name))
            if len(shape) != 2 or shape[0] != len(self.factors) or shape[1] < widest:
                refuse(name, f"an array of (factors, width), ({len(self.factors)}, {widest}) or wider", shape)
        if not (np.asarray(self.half) > 0).all():
            refuse("half", "half the width of every range, above 0", self.half)

    @property
    def seen(self) -> tuple[str, ...]:
        """The factors of `observation`, in order."""
        return tuple(factor for factor in self.factors if factor not in (self.action, self.goal))

    @property
    def size(self) -> int:
        """How many numbers an observation has."""
        return sum(len(self.features[factor]) for factor in self.seen)

    def observe(self, state: Array) -> dict[str, Array]:
        """Turn states, `(..., factors, width)`, into scaled observations."""
        if np.shape(state)[-2:] != self.middle.shape:
            refuse("state", f"of shape (..., {len(self.factors)}, {self.middle.shape[1]}), for "
                   f"{', '.join(self.factors)}", np.shape(state))  # fmt: skip
        scaled = (state - self.middle) / self.half
        parts = [scaled[..., self.factors.index(factor), : len(self.features[factor])] for factor in self.seen]
        moving, goal = self.factors.index(self.moving), self.factors.index(self.goal)
        # The goal is a place of the object, so it is scaled as that is.
        wanted = (state[..., goal, : self.places] - self.middle[moving, : self.places]) / self.half[
            moving, : self.places
        ]
        return {
            "observation": np.concatenate(parts, axis=-1).astype(np.float32),
            "achieved_goal": scaled[..., moving, : self.places].astype(np.float32),
            "desired_goal": wanted.astype(np.float32),
        }

    def read_states(self, observation: Mapping[str, Array], action: Array | None = None) -> Array:
        """Turn observations back into states, `(..., factors, width)`; without an action its features are 0."""
        flat = np.asarray(observation["observation"], dtype=float)
        state = np.zeros((*flat.shape[:-1], len(self.factors), self.middle.shape[1]))
        start = 0
        for factor in self.seen:
            at, used = self.factors.index(factor), len(self.features[factor])
            state[..., at, :used] = flat[..., start : start + used] * self.half[at, :used] + self.middle[at, :used]
            start += used
        moving, goal = self.factors.index(self.moving), self.factors.index(self.goal)
        wanted = np.asarray(observation["desired_goal"], dtype=float)
        state[..., goal, : self.places] = wanted * self.half[moving, : self.places] + self.middle[moving, : self.places]
        if action is not None:
            at, used = self.factors.index(self.action), len(self.features[self.action])
            given = np.asarray(action, dtype=float)
            if given.ndim < flat.ndim:  # of a discrete action: its number
                given = given[..., None]
            if given.shape != (*flat.shape[:-1], used):
                refuse("action", f"of shape {(*flat.shape[:-1], used)}, as the layout names its features", given.shape)
            state[..., at, :used] = given * self.half[at, :used] + self.middle[at, :used]
        return state


class GoalEnv(gymnasium.Env[dict[str, Array], Array]):
    """An object is to be brought to a goal; the reward is 0 where it is there and -1 everywhere else.

    An episode lasts `max_steps` steps and is never ended by success. `info["is_success"]` says whether the object is
    there, and with `with_causes` `info["graph"]` is the true local graph of the step: `(outcomes, factors)`, an
    outcome for each of `outcomes`. Subclasses say how a world begins and steps.
    """

    layout: GoalLayout
    outcomes: tuple[str, ...]  # the factors that have a row in a graph

    def __init__(self, layout: GoalLayout, *, max_steps: int, tolerance: float, with_causes: bool) -> None:
        if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
            raise QueryError(
                "{parameter} must be an integer of at least 1. Got {got} instead.", parameter="max_steps",
                got=quote(max_steps),
            )  # fmt: skip
        if not isinstance(tolerance, (int, float)) or isinstance(tolerance, bool) or not tolerance > 0:
            raise QueryError(
                "{parameter} must be a positive distance. Got {got} instead.", parameter="tolerance",
                got=quote(tolerance),
            )  # fmt: skip
        self.layout, self.max_steps, self.tolerance, self.with_causes = layout, max_steps, tolerance, with_causes
        goal = gymnasium.spaces.Box(-LIMIT, LIMIT, (layout.places,), np.float32)
        boxes: dict[str, gymnasium.Space[Any]] = {
            "observation": gymnasium.spaces.Box(-LIMIT, LIMIT, (layout.size,), np.float32),
            "achieved_goal": goal,
            "desired_goal": goal,
        }
        self.observation_space: gymnasium.spaces.Dict[Any] = gymnasium.spaces.Dict(boxes)  # type: ignore[assignment]
        size = len(layout.features[layout.action])
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (size,), np.float32)
        moving = layout.factors.index(layout.moving)
        self._unit = layout.half[moving, : layout.places]
        self._state: Array | None = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        super().reset(seed=seed)
        self._state = self._begin(self.np_random)
        self._steps = 0
        return self.layout.observe(self._state), {"is_success": False}

    def step(self, action: Array) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        if self._state is None:
            raise gymnasium.error.ResetNeeded("Call reset before the first step.")
        given = self._read_action(action)
        self._state, graph = self._move(self._state, given, self.np_random)
        self._steps += 1
        observation = self.layout.observe(self._state)
        info: dict[str, Any] = {} if graph is None else {"graph": graph}
        reward = float(self.compute_reward(observation["achieved_goal"], observation["desired_goal"], info))
        info["is_success"] = reward == 0
        return observation, reward, False, self._steps >= self.max_steps, info

    def _read_action(self, action: Any) -> Array:
        """Return an action within its bounds."""
        size = len(self.layout.features[self.layout.action])
        try:
            given = np.asarray(action, dtype=float).reshape(-1)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != (size,) or np.isnan(given).any():
            raise QueryError(
                "{parameter} must be {count} numbers. Got {got} instead.", parameter="action", count=size,
                got=quote(action),
            )  # fmt: skip
        return np.asarray(np.clip(given, -1, 1))

    def compute_reward(self, achieved_goal: Array, desired_goal: Array, info: Any) -> Any:
        """Return 0 where the object is within the tolerance of the goal, else -1; for one goal or for many."""
        away = np.linalg.norm((np.asarray(achieved_goal) - np.asarray(desired_goal)) * self._unit, axis=-1)
        return np.where(away < self.tolerance, 0.0, -1.0).astype(np.float32)[()]

    def read_states(self, observation: Mapping[str, Array], action: Array | None = None) -> Array:
        """Turn observations, one or many, and the actions taken there back into factors."""
        return self.layout.read_states(observation, action)

    @abstractmethod
    def _begin(self, generator: np.random.Generator) -> Array:
        """Draw a state, `(factors, width)`, in which the object is not at the goal."""

    @abstractmethod
    def _move(self, state: Array, action: Array, generator: np.random.Generator) -> tuple[Array, Array | None]:
        """Return the next state, and the true graph where it is wanted."""
