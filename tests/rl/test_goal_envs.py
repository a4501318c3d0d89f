"""Goal-conditioned environments: they pass the checks, give factors back, and say what caused what."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_sb3

import actcause.rl.gym
from actcause import rl
from actcause.errors import QueryError

each = pytest.mark.parametrize("identity", sorted(actcause.rl.gym.IDS))


def make(identity: str, **options: Any) -> Any:
    return gymnasium.make(identity, **options).unwrapped


@each
def test_an_environment_passes_the_checks_of_gymnasium_and_of_stable_baselines(identity: str) -> None:
    env = make(identity, with_causes=False)
    check_env(env, skip_render_check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells that it takes this for a GoalEnv, which it is
        check_for_sb3(env)


@each
def test_factors_can_be_read_back_from_observations_and_graphs_name_each_factor_itself(identity: str) -> None:
    env = make(identity, max_steps=5)
    observation, _ = env.reset(seed=3)
    env.action_space.seed(3)
    for step in range(5):
        action = env.action_space.sample()
        observation, reward, _, truncated, info = env.step(action)
        state = env.read_states(observation, action)
        known = [env.layout.factors.index(factor) for factor in (*env.layout.seen,)]
        assert state.shape == (len(env.layout.factors), env.layout.middle.shape[1])
        assert np.allclose(state[known], env._state[known], atol=1e-4)
        places = env.layout.places
        goal = env.layout.factors.index(env.layout.goal)
        assert np.allclose(state[goal, :places], env._state[goal, :places], atol=1e-5)
        graph = info["graph"]
        assert graph.shape == (len(env.outcomes), len(env.layout.factors))
        assert all(graph[row, env.layout.factors.index(name)] for row, name in enumerate(env.outcomes))
        assert reward == env.compute_reward(observation["achieved_goal"], observation["desired_goal"], info)
        assert truncated == (step == 4)


@each
def test_a_seed_gives_the_same_episode_with_causes_and_without(identity: str) -> None:
    seen = []
    for with_causes in (True, False):
        env = make(identity, with_causes=with_causes)
        observation, _ = env.reset(seed=5)
        generator = np.random.default_rng(0)
        for _ in range(15):
            observation, *_ = env.step(generator.uniform(-1, 1, env.action_space.shape))
        seen.append(observation)
    assert all((seen[0][name] == seen[1][name]).all() for name in seen[0])


def test_the_reward_is_computed_for_many_goals_at_once() -> None:
    env = make("actcause/GoalPush-v0", arena=10, tolerance=0.5)
    achieved = np.zeros((3, 2), dtype=np.float32)
    desired = np.array([[0, 0], [0.09, 0], [0.11, 0]], dtype=np.float32)  # in halves of the arena, of 5
    assert env.compute_reward(achieved, desired, [{}] * 3).tolist() == [0, 0, -1]
    assert env.compute_reward(achieved[0], desired[2], {}) == -1


def test_the_block_of_push_is_said_to_be_moved_by_the_pusher_that_pushes_it() -> None:
    env = make("actcause/GoalPush-v0")
    env.reset(seed=0)
    env._state[1, :2], env._state[2, :2] = (5, 5), (6, 5)
    env._state = env._state.copy()
    before = env._state[2].copy()
    _, _, _, _, info = env.step(np.array([1.0, 0.0], dtype=np.float32))
    assert env._state[2, 0] == before[0] + 1
    block = env.outcomes.index("block")
    assert info["graph"][block, :3].tolist() == [1, 1, 1]
    _, _, _, _, info = env.step(np.array([-1.0, 0.0], dtype=np.float32))
    assert info["graph"][block, :3].tolist() == [0, 0, 1]


def test_pushers_begin_as_far_away_as_is_asked() -> None:
    env = make("actcause/GoalPush-v0", apart=5.0)
    for seed in range(20):
        env.reset(seed=seed)
        assert np.linalg.norm(env._state[1, :2] - env._state[2, :2]) >= 5


@pytest.mark.parametrize(("name", "value"), [("max_steps", 0), ("tolerance", -1), ("apart", 12)])
def test_a_wrong_parameter_is_named(name: str, value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        rl.GoalPush(**{name: value})
    assert caught.value.parameter == name


def test_a_step_before_the_first_reset_is_refused() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        rl.GoalPush().step(np.zeros(2))
