"""Environments of somebody else: a layout in a wrapper is all that they lack."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from stable_baselines3 import DDPG, DQN
from stable_baselines3.common.vec_env import DummyVecEnv

from actcause.errors import QueryError
from actcause.rl import (
    GoalLayout,
    GoalPush,
    InteractionBonus,
    InteractionReplayBuffer,
    NearGraphs,
    explain_action,
    explain_failure,
    read_policy,
    record_agent,
)

STEPS = 20


class Rail(gymnasium.Env[Any, Any]):
    """A cart shoves a box along a rail; knows nothing of causes."""

    action_space = Box(-1, 1, (1,), np.float32)
    observation_space = Dict(
        {
            "observation": Box(-99, 99, (2,), np.float32),
            "achieved_goal": Box(-99, 99, (1,), np.float32),
            "desired_goal": Box(-99, 99, (1,), np.float32),
        }
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.goal, self.left = np.array([0.0, 2.0]), self.np_random.uniform(2, 6, 1), STEPS
        return self._see(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at[0] += float(action[0])
        self.at[1] = max(self.at[1], self.at[0] + 1)
        self.left -= 1
        seen = self._see()
        reward = float(self.compute_reward(seen["achieved_goal"], seen["desired_goal"], {}))
        return seen, reward, False, self.left == 0, {}

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        return -(np.abs(achieved - desired)[..., 0] > 0.5).astype(np.float32)

    def _see(self) -> dict[str, Any]:
        parts = {"observation": self.at, "achieved_goal": self.at[1:], "desired_goal": self.goal}
        return {name: np.array(values, dtype=np.float32) for name, values in parts.items()}


LAYOUT: dict[str, Any] = {
    "factors": ("action", "cart", "box", "goal"),
    "features": {"action": ("dx",), "cart": ("x",), "box": ("x",), "goal": ("x",)},
    "moving": "box",
    "goal": "goal",
    "driven": "cart",
    "places": 1,
    "middle": np.zeros((4, 1)),
    "half": np.ones((4, 1)),
}


class WithFactors(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Says which numbers of an observation belong to whom."""

    layout = GoalLayout(**LAYOUT)
    outcomes = ("cart", "box")


class Keys(Rail):
    """The same with three keys: back, stay, forth."""

    action_space = Discrete(3)  # type: ignore[assignment]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(np.array([int(action) - 1.0]))


def chase(seen: Any) -> Any:
    return np.array([1.0])


def test_a_wrapper_that_names_the_factors_is_enough_for_every_verb() -> None:
    episode = record_agent(WithFactors(Rail()), chase, 1)
    assert episode.factors == LAYOUT["factors"]
    assert "success" not in episode.extra  # nobody told
    assert episode.state[0, 1:3, 0].tolist() == [0, 2]
    near = NearGraphs(1.5, tied={"action": "cart"})
    assert explain_failure(episode, factor="box", graphs=near).chain.action_steps[0] == 0
    curious = InteractionBonus(WithFactors(Rail()), near)
    curious.reset(seed=0)
    assert [bool(curious.step(chase(None))[4]["caused"][0]) for _ in range(3)] == [False, True, True]


def test_an_agent_trains_in_it_with_goals_and_a_bonus_by_distance() -> None:
    near = NearGraphs(1.5, tied={"action": "cart"})
    for env in (WithFactors(Rail()), InteractionBonus(WithFactors(Rail()), near)):
        agent = DDPG(
            "MultiInputPolicy", env, replay_buffer_class=InteractionReplayBuffer,
            replay_buffer_kwargs={"causes": near}, learning_starts=2 * STEPS, batch_size=32, buffer_size=500,
            policy_kwargs={"net_arch": [8]}, device="cpu", seed=0,
        )  # fmt: skip
        agent.learn(4 * STEPS)
        assert agent.replay_buffer is not None
        assert agent.replay_buffer.size() == 4 * STEPS


def test_discrete_actions_are_recorded_by_their_number_and_every_verb_takes_them() -> None:
    episodes = record_agent(WithFactors(Keys()), lambda seen: 2, 2)
    assert (episodes.state[:, 0] == 2).all()
    seen: list[Any] = []
    near = NearGraphs(1.5, tied={"action": "cart"})

    class Learning:
        """Keeps what it is given to learn from."""

        def partial_fit(self, recording: Any) -> None:
            seen.append(recording)

        def predict(self, recording: Any) -> Any:
            return near.predict(recording)

    agent = DQN(
        "MultiInputPolicy", InteractionBonus(WithFactors(Keys()), Learning()),
        replay_buffer_class=InteractionReplayBuffer, replay_buffer_kwargs={"causes": Learning()}, device="cpu",
        learning_starts=STEPS, batch_size=16, buffer_size=500, policy_kwargs={"net_arch": [8]}, seed=0,
    ).learn(2 * STEPS)  # fmt: skip
    assert [len(part) for part in seen] == [STEPS] * 4  # both are given both episodes
    assert set(np.unique(np.concatenate([part.state[:, 0, 0] for part in seen]))) <= {0, 1, 2}
    assert len(record_agent(WithFactors(Keys()), agent, 1)) == STEPS
    policy = read_policy(agent, WithFactors.layout)
    assert explain_action(policy, episodes, 3).action in (0, 1, 2)


def test_a_learner_that_was_fitted_before_is_asked_and_not_fitted_again() -> None:
    class Fitted(NearGraphs):
        def fit(self, recording: Any) -> None:
            raise AssertionError

        partial_fit = fit

    fitted = Fitted(1.5, tied={"action": "cart"})
    env = DummyVecEnv([lambda: InteractionBonus(WithFactors(Rail()), fitted)])
    space: Any = env.observation_space
    buffer = InteractionReplayBuffer(100, space, env.action_space, env, device="cpu", causes=fitted)
    before: Any = env.reset()
    for _ in range(STEPS):
        after, reward, done, infos = env.step(np.ones((1, 1)))
        buffer.add(before, after, np.ones((1, 1)), reward, done, infos)  # type: ignore[arg-type]
        before = after
    assert buffer._eligible.any()


def test_true_graphs_of_somebody_elses_environment_are_read_and_refused_in_another_shape() -> None:
    class Telling(WithFactors):
        graph: Any = np.ones((2, 4))

        def step(self, action: Any) -> Any:
            *parts, info = self.env.step(action)
            return *parts, info | {"graph": self.graph}

    class Flat(Telling):
        graph = np.ones(4)

    assert record_agent(Telling(Rail()), chase, 1).cause is not None
    InteractionBonus(Telling(Rail())).reset(seed=0)
    for kind, words in ((Flat, r"of shape \(2, 4\): \(outcomes, factors\). Got \(4,\)"), (WithFactors, "NearGraphs")):
        curious = InteractionBonus(kind(Rail()))
        curious.reset(seed=0)
        with pytest.raises(QueryError, match=words):
            curious.step(chase(None))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"factors": ("cart", "cart", "box", "goal")}, "factors must be names, none of them twice"),
        ({"moving": "bx"}, "moving must be one of the factors, action, cart, box, goal. Got 'bx'"),
        ({"features": {"cart": ("x",)}}, "features must be the features of every factor. Got 'none of action'"),
        ({"places": 2}, "places must be at most the features of box, 1. Got 2"),
        ({"places": 0}, "places must be an integer of at least 1"),
        ({"middle": np.zeros(4)}, "middle must be an array of (factors, width), (4, 1) or wider. Got (4,)"),
        ({"half": np.zeros((4, 1))}, "half must be half the width of every range, above 0"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_in_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(QueryError) as caught:
        GoalLayout(**(LAYOUT | change))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_layout_that_does_not_fit_the_environment_is_refused() -> None:
    class Longer(WithFactors):
        layout = GoalLayout(**(LAYOUT | {"features": LAYOUT["features"] | {"cart": ("x", "vx")}, "middle": np.zeros(
            (4, 2)), "half": np.ones((4, 2))}))  # fmt: skip

    class Fewer(WithFactors):
        outcomes = ("box",)

    class Plane(WithFactors):
        layout = GoalLayout(**(LAYOUT | {"features": LAYOUT["features"] | {"action": ("dx", "dy")}, "middle": np.zeros(
            (4, 2)), "half": np.ones((4, 2))}))  # fmt: skip

    for kind, words in (
        (Longer, "3 numbers for observation, and the environment gives (2,)"),
        (Fewer, "with cart"),
        (Plane, "2 features for action, and an action of the environment has 1"),
    ):
        with pytest.raises(QueryError, match=words.replace("(", r"\(").replace(")", r"\)")):
            InteractionBonus(kind(Rail()), NearGraphs(1.0))
        env = DummyVecEnv([lambda kind=kind: kind(Rail())])  # type: ignore[misc]
        space: Any = env.observation_space
        with pytest.raises(QueryError, match=words.replace("(", r"\(").replace(")", r"\)")):
            InteractionReplayBuffer(100, space, env.action_space, env, device="cpu", causes=NearGraphs(1.0))


def test_our_own_environments_fit_their_layouts_wrapped_or_not() -> None:
    wrapped = gymnasium.wrappers.TimeLimit(GoalPush(arena=6, margin=0.5, max_steps=5), 5)
    assert len(record_agent(wrapped, lambda seen: np.zeros(2), 1)) == 5
