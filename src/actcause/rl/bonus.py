"""A bonus for causing something: to explore relations rather than space.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883,
last appendix.

One that never ends keeps agents from the task (`actcause reproduce rl_bonus`). So this one fades as it is earned; it is
a property of the step, since an agent does not see what it was paid for earlier in an episode; and replay adds what it
is worth now, since rewards of long ago tell of a bonus that is no longer there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

from ..envs.base import Array
from ..errors import QueryError, quote, suggest
from .arguments import check_amount, check_count, find_task, read_names
from .chains import ActionFollower
from .goal_recording import record_observations
from .graph_sources import TRUE, ask_in_hindsight, check_causes, learns_by_itself, read_true_graph
from .rarity import measure_news


class InteractionBonus(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards the agent for having a part, by a chain from its actions, in what an object does: the first times.

    It is given in every step in which a later action than before has a part in what the object is. Its weight is
    `scale` times the share of recent episodes in which that did not happen. It also falls with each episode in which it
    did and is 0 after `times` of them, so that in the end the task's own reward is all there is. `info["bonus"]` says
    what was added to `info["task_reward"]`, `info["caused"]` which of `objects` it was for, and `info["bonus_weights"]`
    what each is worth now.

    Replay keeps rewards of long ago. `InteractionReplayBuffer` knows better: it takes the bonus out of what it keeps,
    and adds what it is worth now to the transitions that it samples, relabelled or not.

    Args:
        env: One of our goal-conditioned environments, or one that has `layout` and `outcomes` as they have.
        causes: `"true"`, or whatever has `predict(recording)`; with `partial_fit` it is given each episode to learn
            from (`OnlineGraphs`). Where it has `explain(recording)`, that is asked.
        objects: The factors that count; by default the one that is to reach the goal.
        scale: The weight as long as nothing was caused; the task's reward is -1 in a step away from the goal.
        times: After how many episodes an object no longer counts.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        causes: Any = TRUE,
        *,
        objects: Iterable[str] | None = None,
        scale: float = 1.0,
        times: int = 500,
    ) -> None:
        task = find_task(env)
        super().__init__(env)
        self._layout, self._outcomes = task.layout, task.outcomes
        self.objects = (self._layout.moving,) if objects is None else read_names("objects", objects)
        for name in self.objects:
            if name not in self._outcomes:
                hint = suggest(name, self._outcomes) or f"; choose from {', '.join(self._outcomes)}."
                raise QueryError("Unknown object {got} in {parameter}{hint}", parameter="objects", got=quote(name),
                                 hint=hint)  # fmt: skip
        check_count("times", times)
        check_amount("scale", scale)
        check_causes(causes)
        self.causes, self.scale, self.times = causes, scale, times
        self.counts = dict.fromkeys(self.objects, 0)  # episodes that are over, or begun, in which each was reached
        self._rates = np.zeros(len(self.objects))  # the share of recent ones
        self._episodes = 0
        self._places = [self._layout.factors.index(name) for name in self.objects]
        self._rows: list[tuple[Any, Array, Any]] = []
        self._seen: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the weights are its own to its end."""
        self._rows = []
        counts = np.array([self.counts[name] for name in self.objects])
        self._weights = self.scale * np.maximum(0.0, 1 - counts / self.times) * (1 - self._rates)
        self._follower = ActionFollower(self._outcomes, self._layout.factors, self._layout.action)
        self._reached = np.full(len(self.objects), -1)  # the last action that had a part in each object
        observation, info = self.env.reset(seed=seed, options=options)
        self._seen = observation
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step, and add the bonus for the objects that a chain from a later action has reached."""
        following, reward, terminated, truncated, info = self.env.step(action)
        self._rows.append((self._seen, np.asarray(action), following))
        latest = self._follower.follow(self._find_graph(info))[self._places]
        self._seen = following
        caused = latest > self._reached
        for name in np.array(self.objects)[caused & (self._reached < 0)]:
            self.counts[str(name)] += 1
        self._reached = np.maximum(latest, self._reached)
        bonus = float(self._weights @ caused)
        if terminated or truncated:
            self._episodes += 1
            self._rates += ((self._reached >= 0) - self._rates) * measure_news(1, self._episodes)
            if learns_by_itself(self.causes):
                self.causes.partial_fit(self._record(self._rows))
        known = {"task_reward": float(reward), "bonus": bonus, "caused": caused, "bonus_weights": self._weights.copy()}
        return following, float(reward) + bonus, terminated, truncated, info | known

    def _find_graph(self, info: dict[str, Any]) -> Array:
        if self.causes == TRUE:
            graph = read_true_graph(info, self._outcomes, self._layout.factors)
        else:
            graph = ask_in_hindsight(self.causes, self._record(self._rows[-1:]))[0].copy()
        driven, action = self._outcomes.index(self._layout.driven), self._layout.factors.index(self._layout.action)
        graph[driven, action] = True  # the action drives its body; nobody has to learn that
        return graph

    def _record(self, rows: list[tuple[Any, Array, Any]]) -> Any:
        before, action, after = zip(*rows, strict=True)
        stacked = [{name: np.stack([one[name] for one in part]) for name in part[0]} for part in (before, after)]
        return record_observations(self._layout, self._outcomes, stacked[0], np.stack(action), stacked[1])
