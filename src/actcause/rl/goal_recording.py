"""Recordings of whole states made of what an agent has seen in a goal-conditioned environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..data import Recording
from ..envs.base import Array
from ..errors import QueryError
from .arguments import check_callable, check_count, find_task, refuse
from .goal_env import GoalLayout


def record_observations(
    layout: GoalLayout,
    outcomes: Sequence[str],
    observation: Mapping[str, Array],
    action: Array,
    following: Mapping[str, Array],
    *,
    episode: Array | None = None,
    cause: Array | None = None,
) -> Recording:
    """Turn observations before and after each step, and the actions between, into a recording of whole states."""
    wanted = ("observation", "achieved_goal", "desired_goal")
    for name in wanted:
        if name not in observation or name not in following:
            raise QueryError("Observations must have {wanted}. Got one without {got}.",
                             wanted=", ".join(wanted), got=name)  # fmt: skip
    return Recording(
        factors=layout.factors,
        features=layout.features,
        outcomes=outcomes,
        state=layout.read_states(observation, action),
        next_state=layout.read_states(following),
        episode=episode,
        cause=cause,
    )


def record_agent(env: Any, act: Any, episodes: int, *, seed: int = 0) -> Recording:
    """Let an agent act for some episodes and record whole states, with the true graphs where the environment tells.

    `act` is a function from an observation to an action, or an agent of Stable-Baselines3, which then does not explore.
    `extra["success"]` says in each row whether the object was
    at the goal after it, where the environment tells by `info["is_success"]`.

    >>> from actcause.rl import GoalPush
    >>> env = GoalPush(arena=6, margin=0.5, max_steps=10)
    >>> record_agent(env, lambda observation: env.action_space.sample(), 2)
    <Recording: 20 rows in 2 episodes of action, pusher, block, target; outcomes pusher, block, true causes known>
    """
    task = find_task(env)
    if not callable(act) and callable(getattr(act, "predict", None)):
        act = _follow_agent(act)
    check_callable("act", act, "a function from an observation to an action, or an agent of Stable-Baselines3")
    check_count("episodes", episodes)
    check_count("seed", seed, 0)
    rows: dict[str, list[Any]] = {name: [] for name in ("before", "action", "after", "episode", "graph", "success")}
    for number in range(episodes):
        observation, _ = env.reset(seed=seed + number)
        over = False
        while not over:
            given = act(observation)
            if isinstance(given, tuple):
                refuse("act", "a function to one action, not to several things; give the agent itself", given)
            action = np.asarray(given)
            following, _, terminated, truncated, info = env.step(action)
            values = (observation, action, following, number, info.get("graph"), info.get("is_success"))
            for name, value in zip(rows, values, strict=True):
                rows[name].append(value)
            observation, over = following, terminated or truncated
    known = all(graph is not None for graph in rows["graph"])
    recording = record_observations(
        task.layout,
        task.outcomes,
        _stack(rows["before"]),
        np.stack(rows["action"]),
        _stack(rows["after"]),
        episode=np.array(rows["episode"]),
        cause=np.stack(rows["graph"]).astype(bool) if known else None,
    )
    told = None not in rows["success"]
    return recording.replaced(extra={"success": np.array(rows["success"], dtype=bool)}) if told else recording


def _follow_agent(agent: Any) -> Callable[[Any], Any]:
    """Make a function of an agent of Stable-Baselines3: what it would do for good."""

    def act(observation: Any) -> Any:
        return agent.predict(observation, deterministic=True)[0]

    return act


def _stack(observations: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([one[name] for one in observations]) for name in observations[0]}
