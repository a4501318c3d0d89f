"""Hindsight relabelling that asks who did it: goals that the agent brought about, not those that came by themselves.

Andrychowicz et al., "Hindsight Experience Replay", NeurIPS 2017. Chuck et al., "Null Counterfactual Factor Interactions
for Goal-Conditioned Reinforcement Learning" (HInt), arXiv 2505.03172.

Hindsight takes what was achieved for what was wanted. Where the object lay still, or was moved by somebody else, that
teaches nothing. Here a goal is taken only from steps to which a chain leads from an action of the episode to the
object. As many transitions are relabelled as in `HerReplayBuffer`, drawn from those for which there is such a goal;
as long as there is none, none is relabelled.

A bonus (`InteractionBonus`) is kept apart from the task's reward, and added to what is sampled as it is worth by then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.type_aliases import DictReplayBufferSamples
from stable_baselines3.her.goal_selection_strategy import GoalSelectionStrategy
from stable_baselines3.her.her_replay_buffer import HerReplayBuffer

from ..envs.base import Array
from ..errors import QueryError, quote
from .arguments import TASK, check_layout, refuse
from .chains import follow_actions
from .goal_recording import record_observations
from .graph_sources import TRUE, ask_in_hindsight, check_causes, learns_by_itself, read_true_graph

SINCE = ("episode", "transition")


class InteractionReplayBuffer(HerReplayBuffer):
    """A `HerReplayBuffer` whose goals are those that the agent brought about.

    A drop-in: `DDPG("MultiInputPolicy", env, replay_buffer_class=InteractionReplayBuffer)`. The environment is one of
    ours, or has `layout` and `outcomes` as they have.

    Args:
        causes: `"true"`, which takes `info["graph"]` of every step; or whatever has `predict(recording)`: a learner of
            local graphs, `GraphsByOutcome`, `NearGraphs`, `OnlineGraphs`, which is also given each episode to learn
            from. Where it has `explain(recording)`, that is asked: what became of the object is known by then.
        since: `"episode"`: the chain begins in any action of the episode; `"transition"`: in one at or after the
            transition that is relabelled.
    """

    def __init__(self, *given: Any, causes: Any = TRUE, since: str = "episode", **options: Any) -> None:
        strategy = options.get("goal_selection_strategy")
        names = [known.name.lower() for known in GoalSelectionStrategy]
        if isinstance(strategy, str) and strategy.lower() not in names:
            refuse("goal_selection_strategy", f"one of {', '.join(names)}", strategy)
        super().__init__(*given, **options)
        if since not in SINCE:
            raise QueryError(
                "{parameter} must be 'episode' or 'transition'. Got {got} instead.", parameter="since", got=quote(since)
            )
        check_causes(causes)
        assert self.env is not None
        for name in ("layout", "outcomes"):
            if not self.env.has_attr(name):
                refuse("env", TASK, "another")
        self.layout, self.outcomes = self.env.get_attr("layout")[0], self.env.get_attr("outcomes")[0]
        check_layout(self.layout, self.outcomes, self.env.observation_space, self.env.action_space)
        self.causes, self.since = causes, since
        shape = (self.buffer_size, self.n_envs)
        factors = len(self.layout.factors)
        self._graphs = np.zeros((*shape, len(self.outcomes), factors if causes == TRUE else 0), dtype=bool)
        self._first = np.zeros(shape, dtype=np.int64)  # the first step of the episode that may be a goal
        self._eligible = np.zeros(shape, dtype=bool)
        self._caused: Array | None = None  # (size, environments, objects), where the environment gives a bonus
        self._weights = np.zeros((self.n_envs, 0))  # what each object is worth now

    def add(  # type: ignore[override]  # as HerReplayBuffer has it
        self,
        obs: dict[str, Array],
        next_obs: dict[str, Array],
        action: Array,
        reward: Array,
        done: Array,
        infos: list[dict[str, Any]],
    ) -> None:
        """Store a transition of each environment, with its true graph where these are asked for."""
        self._eligible[self.pos] = False
        if self.causes == TRUE:
            for number, info in enumerate(infos):
                self._graphs[self.pos, number] = read_true_graph(info, self.outcomes, self.layout.factors)
        super().add(obs, next_obs, action, self._keep_bonus_apart(reward, infos), done, infos)

    def _keep_bonus_apart(self, reward: Array, infos: list[dict[str, Any]]) -> Array:
        """Keep who earned a bonus, and what it is worth by now; return the task's own rewards."""
        if not all("bonus_weights" in info for info in infos):
            return reward
        if self._caused is None:
            objects = len(infos[0]["caused"])
            self._caused = np.zeros((self.buffer_size, self.n_envs, objects), dtype=bool)
        self._caused[self.pos] = [info["caused"] for info in infos]
        self._weights = np.array([info["bonus_weights"] for info in infos])
        return np.array([info["task_reward"] for info in infos], dtype=reward.dtype)

    def _compute_episode_length(self, env_idx: int) -> None:
        """Find out, at the end of an episode, which of its steps the agent had a part in."""
        start = int(self._current_ep_start[env_idx])
        end = self.pos if self.pos >= start else self.pos + self.buffer_size
        rows = np.arange(start, end) % self.buffer_size
        super()._compute_episode_length(env_idx)
        if len(rows):
            latest = self._follow_object(rows, env_idx)
            steps = np.arange(len(rows))
            wanted = steps if self.since == "transition" else np.zeros_like(steps)
            # A chain never ends once it is there, so that `latest` never falls.
            first = np.maximum(np.searchsorted(latest, wanted), steps)
            self._first[rows, env_idx] = first
            self._eligible[rows, env_idx] = first < len(rows)

    def _follow_object(self, rows: Array, env_idx: int) -> Array:
        """Return for each step of an episode the last action with a chain to the object; -1 for none."""
        layout = self.layout
        if self.causes == TRUE:
            graphs = self._graphs[rows, env_idx].copy()
        else:
            recording = record_observations(
                layout,
                self.outcomes,
                {name: values[rows, env_idx] for name, values in self.observations.items()},
                self.actions[rows, env_idx],
                {name: values[rows, env_idx] for name, values in self.next_observations.items()},
            )
            if learns_by_itself(self.causes):
                self.causes.partial_fit(recording)
            graphs = ask_in_hindsight(self.causes, recording).copy()
        driven, action = self.outcomes.index(layout.driven), layout.factors.index(layout.action)
        graphs[:, driven, action] = True  # the action drives its body; nobody has to learn that
        latest = follow_actions(graphs, self.outcomes, layout.factors, layout.action)
        return np.maximum.accumulate(latest[:, layout.factors.index(layout.moving)])

    def _get_real_samples(
        self, batch_indices: Array, env_indices: Array, env: Any | None = None
    ) -> DictReplayBufferSamples:
        """Return transitions as they were, with the bonus that they would earn now."""
        samples = super()._get_real_samples(batch_indices, env_indices, env)
        return self._add_bonus(samples, batch_indices, env_indices)

    def _add_bonus(
        self, samples: DictReplayBufferSamples, batch_indices: Array, env_indices: Array
    ) -> DictReplayBufferSamples:
        if self._caused is None or not self._weights.any():
            return samples
        bonus = (self._caused[batch_indices, env_indices] * self._weights[env_indices]).sum(axis=1, keepdims=True)
        return samples._replace(rewards=samples.rewards + self.to_torch(bonus.astype(np.float32)))

    def _get_virtual_samples(
        self, batch_indices: Array, env_indices: Array, env: Any | None = None
    ) -> DictReplayBufferSamples:
        """Relabel as many transitions as were asked for, of those that have a goal that the agent brought about."""
        there = self._eligible[batch_indices, env_indices]
        if not there.all():
            eligible = np.flatnonzero(self._eligible & (self.ep_length > 0))
            if not len(eligible):
                return self._get_real_samples(batch_indices, env_indices, env)
            drawn = np.unravel_index(np.random.choice(eligible, int((~there).sum())), self._eligible.shape)
            batch_indices, env_indices = batch_indices.copy(), env_indices.copy()
            batch_indices[~there], env_indices[~there] = drawn
        samples = super()._get_virtual_samples(batch_indices, env_indices, env)
        return self._add_bonus(samples, batch_indices, env_indices)

    def _sample_goals(self, batch_indices: Array, env_indices: Array) -> Array:
        """Draw goals from the steps that the agent had a part in."""
        start = self.ep_start[batch_indices, env_indices]
        length = self.ep_length[batch_indices, env_indices]
        first = self._first[batch_indices, env_indices]
        if self.goal_selection_strategy == GoalSelectionStrategy.FINAL:
            chosen = length - 1
        elif self.goal_selection_strategy == GoalSelectionStrategy.FUTURE:
            chosen = np.random.randint(first, length)
        else:  # any step of the episode that will do for its first transition
            chosen = np.random.randint(self._first[start, env_indices], length)
        return np.asarray(self.next_observations["achieved_goal"][(chosen + start) % self.buffer_size, env_indices])
