"""Relabelling by chains: goals are those that the agent brought about, and everything else is as in HER."""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import DDPG, HerReplayBuffer
from stable_baselines3.common.vec_env import DummyVecEnv

from actcause import rl
from actcause.errors import DataError, MissingExtraError, QueryError
from actcause.rl import (
    GoalPush,
    GraphsByOutcome,
    InteractionBonus,
    InteractionReplayBuffer,
    MovedGraphs,
    NearGraphs,
    OnlineGraphs,
    read_policy,
)
from actcause.rl.chains import follow_actions
from actcause.rl.goal_recording import record_agent

STEPS = 30


def make_env(**options: Any) -> GoalPush:
    return GoalPush(**{"arena": 6.0, "margin": 0.5, "max_steps": STEPS, **options})


def fill(buffer: Any, episodes: int, seed: int = 0) -> None:
    """Let random actions fill a buffer, as an agent's loop does."""
    env, generator = buffer.env, np.random.default_rng(seed)
    env.seed(seed)
    observation = env.reset()
    for _ in range(episodes * STEPS):
        action = generator.uniform(-1, 1, (env.num_envs, 2)).astype(np.float32)
        following, reward, done, infos = env.step(action)
        stored = {name: values.copy() for name, values in following.items()}
        for number in np.flatnonzero(done):
            for name, value in infos[number]["terminal_observation"].items():
                stored[name][number] = value
        buffer.add(observation, stored, action, reward, done, infos)
        observation = following


def make_buffer(kind: Any = InteractionReplayBuffer, *, envs: int = 1, size: int = 2000, **options: Any) -> Any:
    env = DummyVecEnv([make_env] * envs)
    space: Any = env.observation_space
    return kind(size, space, env.action_space, env, device="cpu", n_envs=envs, **options)


def find_touches(buffer: Any, env_idx: int = 0) -> dict[int, int | None]:
    """Return for each episode, by its start, the first step in which the block was touched, by the true graphs."""
    found: dict[int, int | None] = {}
    for start in np.unique(buffer.ep_start[buffer.ep_length[:, env_idx] > 0, env_idx]):
        contacts = [buffer._graphs[start + step, env_idx, 1, 1] for step in range(STEPS)]
        found[int(start)] = int(np.argmax(contacts)) if any(contacts) else None
    return found


def test_goals_come_from_steps_after_a_touch_and_only_from_episodes_with_one() -> None:
    buffer = make_buffer()
    fill(buffer, 20)
    first = find_touches(buffer)
    assert None in first.values()
    assert any(step is not None for step in first.values())
    for row in range(20 * STEPS):
        touch = first[int(buffer.ep_start[row, 0])]
        assert buffer._eligible[row, 0] == (touch is not None)
        if touch is not None:
            assert buffer._first[row, 0] == max(touch, row - buffer.ep_start[row, 0])
    rows = np.flatnonzero(buffer._eligible[:, 0])
    goals = buffer._sample_goals(rows, np.zeros_like(rows))
    for row, goal in zip(rows, goals, strict=True):
        start = int(buffer.ep_start[row, 0])
        steps = range(max(first[start] or 0, row - start), STEPS)
        assert any((buffer.next_observations["achieved_goal"][start + step, 0] == goal).all() for step in steps)


def test_a_chain_since_the_transition_ends_with_the_last_touch() -> None:
    buffer = make_buffer(since="transition")
    fill(buffer, 20)
    for start, touch in find_touches(buffer).items():
        contacts = [step for step in range(STEPS) if buffer._graphs[start + step, 0, 1, 1]]
        for step in range(STEPS):
            assert buffer._eligible[start + step, 0] == (touch is not None and step <= contacts[-1])


def test_samples_have_the_shapes_of_her_and_rewards_of_the_goals_that_were_drawn() -> None:
    buffer, plain = make_buffer(envs=2), make_buffer(HerReplayBuffer, envs=2)
    for one in (buffer, plain):
        fill(one, 10)
    np.random.seed(0)
    mine, theirs = buffer.sample(64), plain.sample(64)
    assert mine.rewards.shape == theirs.rewards.shape
    wanted = buffer.env.env_method(
        "compute_reward", mine.next_observations["achieved_goal"].numpy(),
        mine.next_observations["desired_goal"].numpy(), [{}] * 64, indices=[0],
    )[0]  # fmt: skip
    assert (mine.rewards.numpy().ravel() == wanted).all()


def test_a_full_buffer_forgets_what_it_overwrites() -> None:
    buffer = make_buffer(size=4 * STEPS + 7)
    fill(buffer, 15)
    assert buffer.full
    for _ in range(20):
        buffer.sample(32)
    alive = buffer.ep_length > 0
    assert (buffer._first[alive & buffer._eligible] < STEPS).all()


def test_where_nothing_was_ever_touched_samples_keep_their_own_goals() -> None:
    buffer = make_buffer(causes=NearGraphs(0.0))
    fill(buffer, 3)
    assert not buffer._eligible.any()
    sampled = buffer.sample(32)
    goals = {tuple(goal) for goal in buffer.observations["desired_goal"][: 3 * STEPS, 0].tolist()}
    assert {tuple(goal) for goal in sampled.observations["desired_goal"].numpy().tolist()} <= goals


def test_without_noise_whatever_moved_is_the_same_filter_as_true_causes() -> None:
    true, moved = make_buffer(), make_buffer(causes=MovedGraphs("pusher"))
    for one in (true, moved):
        fill(one, 10)
    pinned = (true._eligible != moved._eligible)[: 10 * STEPS].mean()  # touched, but it could not give way
    assert pinned <= 0.1


def test_an_agent_of_stable_baselines_trains_with_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = DDPG(
            "MultiInputPolicy", make_env(), replay_buffer_class=InteractionReplayBuffer,
            replay_buffer_kwargs={"causes": "true"}, learning_starts=60, batch_size=32, buffer_size=500,
            policy_kwargs={"net_arch": [16]}, device="cpu", seed=0,
        )  # fmt: skip
        agent.learn(120)
    assert isinstance(agent.replay_buffer, InteractionReplayBuffer)
    assert agent.replay_buffer.size() >= 120
    env = make_env()
    policy, states = read_policy(agent, env.layout), np.stack([env._begin(np.random.default_rng(0))] * 3)
    assert policy(states).shape == (3, 2)
    assert (policy(states) == agent.predict(env.layout.observe(states[0]), deterministic=True)[0]).all()


def test_without_stable_baselines_the_line_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3.her.her_replay_buffer", None)
    monkeypatch.delitem(sys.modules, "actcause.rl.relabelling")
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'actcause[rl]'")):
        rl.InteractionReplayBuffer  # noqa: B018 - asking for the name imports it


def test_causes_are_learned_from_what_the_agent_has_seen() -> None:
    learned = OnlineGraphs(GraphsByOutcome("proximity", {"steps": 20}, outcomes=["block"]), first=300)
    buffer = make_buffer(causes=learned)
    fill(buffer, 12)
    assert learned.fits_ == 1
    assert list(learned.learner.learners_) == ["block"]
    early, late = buffer._eligible[: 9 * STEPS], buffer._eligible[9 * STEPS : 12 * STEPS]
    assert not early.any()
    assert late.any()


@pytest.mark.parametrize(("name", "value"), [("since", "yesterday"), ("causes", "guess")])
def test_a_wrong_option_is_named(name: str, value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        make_buffer(**{name: value})
    assert caught.value.parameter == name


def test_true_causes_that_nobody_tells_are_asked_for() -> None:
    env = DummyVecEnv([lambda: make_env(with_causes=False)])
    space: Any = env.observation_space
    buffer = InteractionReplayBuffer(500, space, env.action_space, env, device="cpu")
    with pytest.raises(QueryError, match="with_causes=True"):
        fill(buffer, 1)


def test_goals_and_bonus_ask_in_hindsight_where_the_graphs_can_tell() -> None:
    class Hindsight(MovedGraphs):
        """Has no idea from the state alone."""

        def explain(self, recording: Any) -> Any:
            return super().predict(recording)

        def predict(self, recording: Any) -> Any:
            return np.zeros_like(super().predict(recording))

    sources = {"moved": MovedGraphs("pusher"), "hindsight": Hindsight("pusher"), "online": None}
    sources["online"] = OnlineGraphs(Learned(sources["hindsight"]), first=STEPS)
    buffers = {name: make_buffer(causes=source) for name, source in sources.items()}
    for buffer in buffers.values():
        fill(buffer, 8)
    assert buffers["moved"]._eligible.any()
    for name in ("hindsight", "online"):
        assert (buffers[name]._eligible[STEPS:] == buffers["moved"]._eligible[STEPS:]).all()
        env = InteractionBonus(make_env(), sources[name])
        push_block(env)
        earned = [env.step(np.array([0.5, 0.0], dtype=np.float32))[4]["bonus"] for _ in range(2)]
        assert earned == [0, 1]  # the action moves the pusher, and the pusher the block one step later


class Learned:
    """Graphs that call themselves learned."""

    def __init__(self, source: Any) -> None:
        self.predict, self.explain = source.predict, source.explain

    def fit(self, recording: Any) -> Learned:
        return self


def test_learners_of_one_outcome_answer_in_hindsight_too() -> None:
    env = make_env()
    part = record_agent(env, lambda observation: env.action_space.sample(), 20)
    graphs = GraphsByOutcome("always", outcomes=["block"]).fit(part)
    assert (graphs.explain(part) == graphs.predict(part)).all()
    assert graphs.explain(part)[:, 1].all()


# -- chains, online learning, the bonus ------------------------------------------------------------------


def test_a_chain_goes_through_other_bodies_and_takes_a_step_for_each() -> None:
    factors, outcomes = ["action", "pusher", "other", "target"], ["pusher", "other", "target"]
    own = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    hits, strikes = own.copy(), own.copy()
    hits[1, 1] = True  # the pusher hits the other puck
    strikes[2, 2] = True  # which strikes the target
    latest = follow_actions(np.stack([own, hits, own, strikes, own]), outcomes, factors)
    assert latest[:, 3].tolist() == [-1, -1, -1, 0, 0]
    assert follow_actions(np.stack([strikes, hits]), outcomes, factors)[:, 3].tolist() == [-1, -1]


class Counting:
    """Learns nothing but how often it was asked to, and on how many rows."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def fit(self, recording: Any) -> Counting:
        self.rows.append(len(recording))
        return self

    def predict(self, recording: Any) -> Any:
        return np.ones((len(recording), len(recording.outcomes), len(recording.factors)), dtype=bool)


class Warm(Counting):
    """Goes on from where it is."""

    def partial_fit(self, recording: Any) -> Warm:
        self.rows.append(-len(recording))
        return self


def test_graphs_are_learned_again_as_rows_come_in() -> None:
    env = make_env()
    part = record_agent(env, lambda observation: env.action_space.sample(), 1)
    anew, warm = OnlineGraphs(Counting(), first=50, growth=2.0, memory=100), OnlineGraphs(Warm(), first=50, growth=2.0)
    assert anew.predict(part).sum() == len(part) * 2  # nothing known yet: each outcome by itself
    for _ in range(9):
        anew.partial_fit(part)
        warm.partial_fit(part)
    assert anew.learner.rows == [60, 100]
    assert warm.learner.rows == [60, -90]
    assert anew.predict(part).all()


def test_a_fit_that_fails_is_tried_again() -> None:
    class Picky(Counting):
        def fit(self, recording: Any) -> Picky:
            if len(recording) < 100:
                raise DataError("too little")
            super().fit(recording)
            return self

    env = make_env()
    part = record_agent(env, lambda observation: env.action_space.sample(), 1)
    graphs = OnlineGraphs(Picky(), first=30, growth=2.0)
    for _ in range(8):
        graphs.partial_fit(part)
    assert graphs.fits_ == 1


def push_block(env: Any) -> Any:
    env.reset(seed=0)
    env.unwrapped._state = env.unwrapped._state.copy()
    env.unwrapped._state[1, :2], env.unwrapped._state[2, :2] = (2, 3), (3, 3)
    env._seen = env.unwrapped.layout.observe(env.unwrapped._state)


def test_the_bonus_is_for_every_step_that_moves_the_block_and_dwindles_by_episodes() -> None:
    env = InteractionBonus(make_env(max_steps=4), times=2, scale=4.0)
    bonuses = []
    for _ in range(3):
        push_block(env)
        for move in (0.5, 0.5, -0.5):  # two shoves, and away; the episode is not brought to its end
            _, reward, _, _, info = env.step(np.array([move, 0.0], dtype=np.float32))
            bonuses.append(info["bonus"])
            assert info["caused"].tolist() == [move > 0]
            assert reward in (info["bonus"], info["bonus"] - 1)
    assert bonuses == [4, 4, 0, 2, 2, 0, 0, 0, 0]
    assert env.counts == {"block": 3}


def test_the_bonus_is_worth_less_the_more_often_it_was_earned_lately() -> None:
    env = InteractionBonus(make_env(max_steps=1), scale=4.0, times=1000)
    weights = []
    for move in (0.5, -0.5, 0.5, 0.5):
        push_block(env)
        weights.append(float(env.step(np.array([move, 0.0], dtype=np.float32))[4]["bonus_weights"][0]))
    shares, counts = np.array([0, 1, 1 / 2, 2 / 3]), np.array([0, 1, 1, 2])
    assert np.allclose(weights, 4 * (1 - shares) * (1 - counts / 1000))


def test_a_buffer_keeps_the_bonus_apart_and_samples_what_it_is_worth_now() -> None:
    env = DummyVecEnv([lambda: InteractionBonus(make_env(), scale=4.0, times=40)])
    space: Any = env.observation_space
    buffer: Any = InteractionReplayBuffer(2000, space, env.action_space, env, device="cpu")
    fill(buffer, 20)
    assert set(np.unique(buffer.rewards[: 20 * STEPS])) <= {-1.0, 0.0}
    caused, (weight,) = buffer._caused[: 20 * STEPS, 0, 0], buffer._weights[0]
    assert caused.any()
    assert 0 < weight < 4
    rows, zeros = np.flatnonzero(caused), np.zeros(caused.sum(), dtype=int)
    real = buffer._get_real_samples(rows, zeros).rewards.numpy()[:, 0]
    assert np.allclose(real, buffer.rewards[rows, 0] + weight)
    relabelled = buffer._get_virtual_samples(rows, zeros).rewards.numpy()[:, 0]
    assert (np.isclose(relabelled, weight - 1) | np.isclose(relabelled, weight)).all()
    still = np.flatnonzero(~caused)
    assert (buffer._get_real_samples(still, np.zeros(len(still), dtype=int)).rewards <= 0).all()
    buffer._weights[:] = 0  # the bonus has ended
    assert (buffer.sample(200).rewards <= 0).all()


def test_an_agent_is_trained_with_a_bonus() -> None:
    env = InteractionBonus(make_env())
    agent = DDPG("MultiInputPolicy", env, replay_buffer_class=InteractionReplayBuffer, learning_starts=2 * STEPS,
                 policy_kwargs={"net_arch": [8]}, device="cpu", seed=0)  # fmt: skip
    agent.learn(4 * STEPS)
    kept: Any = agent.replay_buffer
    assert kept._weights.shape == (1, 1)
    assert kept.rewards.max() <= 0


def test_no_touch_no_bonus_and_other_causes_can_be_asked() -> None:
    env = InteractionBonus(make_env())
    push_block(env)
    assert env.step(np.array([-1.0, 0.0], dtype=np.float32))[4]["bonus"] == 0
    env = InteractionBonus(make_env(with_causes=False), NearGraphs(1.5))
    push_block(env)
    assert env.step(np.array([0.0, 0.0], dtype=np.float32))[4]["bonus"] == 1  # near is taken for touching


def test_the_bonus_gives_its_episodes_to_a_learner_that_learns_online() -> None:
    graphs = OnlineGraphs(Counting(), first=2 * STEPS)
    env = InteractionBonus(make_env(), graphs)
    for seed in range(2):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, _, over, _ = env.step(env.action_space.sample())
    assert graphs.learner.rows == [2 * STEPS]


def test_an_unknown_object_is_refused() -> None:
    with pytest.raises(QueryError, match="did you mean 'block'"):
        InteractionBonus(make_env(), objects=["blok"])


@pytest.mark.parametrize("scale", [-1.0, True, "1", float("nan"), float("inf")])
def test_a_bonus_that_is_no_amount_is_refused(scale: Any) -> None:
    with pytest.raises(QueryError, match="scale must be a number of at least 0"):
        InteractionBonus(make_env(), scale=scale)
