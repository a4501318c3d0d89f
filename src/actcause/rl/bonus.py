"""A bonus for causing something: to explore relations rather than space.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883,
last appendix.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

from ..envs.base import Array
from ..errors import QueryError, quote, suggest
from .chains import ActionFollower
from .goal_recording import record_observations
from .graph_sources import ask_graphs

TRUE = "true"


class InteractionBonus(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards the agent for having a part, by a chain from its actions, in what an object does: the first times.

    An object counts once an episode, when a chain first reaches it. The bonus begins with `scale`, falls by the same
    amount each time and is 0 after `times` of them, so that in the end the task's own reward is all there is;
    `info["bonus"]` says what was added. Hindsight relabelling computes its rewards by `compute_reward`, which has no
    bonus in it.

    Args:
        env: One of our goal-conditioned environments, or one that has `layout` and `outcomes` as they have.
        causes: `"true"`, or whatever has `predict(recording)`; with `partial_fit` it is given each episode to learn
            from (`OnlineGraphs`).
        objects: The factors that count; by default the one that is to reach the goal.
        scale: The first bonus.
        times: How many times an object counts.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        causes: Any = TRUE,
        *,
        objects: Iterable[str] | None = None,
        scale: float = 1.0,
        times: int = 100,
    ) -> None:
        super().__init__(env)
        task: Any = env.unwrapped
        self._layout, self._outcomes = task.layout, task.outcomes
        self.objects = (self._layout.moving,) if objects is None else tuple(objects)
        for name in self.objects:
            if name not in self._outcomes:
                hint = suggest(name, self._outcomes) or f"; choose from {', '.join(self._outcomes)}."
                raise QueryError("Unknown object {got} in {parameter}{hint}", parameter="objects", got=quote(name),
                                 hint=hint)  # fmt: skip
        if not isinstance(times, int) or isinstance(times, bool) or times < 1:
            raise QueryError(
                "{parameter} must be an integer of at least 1. Got {got} instead.", parameter="times", got=quote(times)
            )
        if causes != TRUE and not hasattr(causes, "predict"):
            raise QueryError(
                "{parameter} must be 'true' or have a method predict(recording). Got {got} instead.",
                parameter="causes", got=quote(causes),
            )  # fmt: skip
        self.causes, self.scale, self.times = causes, scale, times
        self.counts = dict.fromkeys(self.objects, 0)
        self._rows: list[tuple[Any, Array, Any]] = []
        self._seen: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, in which every object counts anew."""
        self._rows = []
        self._follower = ActionFollower(self._outcomes, self._layout.factors, self._layout.action)
        self._reached: set[str] = set()
        observation, info = self.env.reset(seed=seed, options=options)
        self._seen = observation
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step, and add the bonus for objects that a chain has reached."""
        following, reward, terminated, truncated, info = self.env.step(action)
        self._rows.append((self._seen, np.asarray(action), following))
        latest = self._follower.follow(self._find_graph(info))
        self._seen = following
        bonus = sum(self._count(name) for name in self.objects if latest[self._layout.factors.index(name)] >= 0)
        if (terminated or truncated) and hasattr(self.causes, "partial_fit"):
            self.causes.partial_fit(self._record(self._rows))
        return following, float(reward) + bonus, terminated, truncated, {**info, "bonus": bonus}

    def _count(self, name: str) -> float:
        """Return the bonus for an object that a chain has reached; 0 where it was so before in this episode."""
        if name in self._reached:
            return 0.0
        self._reached.add(name)
        self.counts[name] += 1
        return self.scale * max(0.0, 1 - (self.counts[name] - 1) / self.times)

    def _find_graph(self, info: dict[str, Any]) -> Array:
        if self.causes == TRUE:
            if "graph" not in info:
                raise QueryError(
                    "True {parameter} need info['graph'] of every step; make the environment with with_causes=True, "
                    "or give graphs.", parameter="causes",
                )  # fmt: skip
            graph = np.array(info["graph"], dtype=bool)
        else:
            graph = ask_graphs(self.causes, self._record(self._rows[-1:]))[0].copy()
        driven, action = self._outcomes.index(self._layout.driven), self._layout.factors.index(self._layout.action)
        graph[driven, action] = True  # the action drives its body; nobody has to learn that
        return graph

    def _record(self, rows: list[tuple[Any, Array, Any]]) -> Any:
        before, action, after = zip(*rows, strict=True)
        stacked = [{name: np.stack([one[name] for one in part]) for name in part[0]} for part in (before, after)]
        return record_observations(self._layout, self._outcomes, stacked[0], np.stack(action), stacked[1])
