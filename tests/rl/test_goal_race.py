"""Agents raced side by side: what they remember, which goals they are given, and that they never meet."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from actcause.envs.push import Push  # noqa: E402
from actcause.rl.episode_memory import EpisodeMemory  # noqa: E402
from actcause.rl.goal_agents import GoalAgents  # noqa: E402
from actcause.rl.goal_race import (  # noqa: E402
    Race,
    begin,
    find_earliest,
    play,
    record_episodes,
    run_race,
)
from actcause.rl.goal_views import PushView  # noqa: E402

CPU = torch.device("cpu")
TINY = {"arena": 5.0, "margin": 0.25, "horizon": 10, "worlds": 4, "updates": 1, "rows": 16, "width": 8, "episodes": 5}


def fill(first):
    """Two agents with three episodes of four steps; the block's place tells agent, episode and time."""
    memory = EpisodeMemory(2, 3, 4, 4, CPU)
    states = torch.zeros(2, 3, 5, 4)
    for agent in range(2):
        for episode in range(3):
            states[agent, episode, :, 2] = 100 * agent + 10 * episode + torch.arange(5)
    memory.add(states, torch.zeros(2, 3, 4, 2), torch.full((2, 3, 2), -1.0), torch.tensor(first))
    return memory


def test_goals_come_from_the_future_of_episodes_that_have_one_and_not_before_their_first():
    memory = fill([[4, 2, 4], [0, 0, 0]])
    batch = memory.sample(400, 1.0, torch.Generator().manual_seed(0))
    place, goal = batch.before[..., 2], batch.goal[..., 0]
    assert ((goal[0] >= 13) & (goal[0] <= 14)).all()  # episode 1, after its steps 2 and 3
    assert (goal[0] > place[0]).all()
    assert ((goal[1] // 10) == (place[1] // 10)).all()
    assert (goal[1] > place[1]).all()
    assert set(goal[1].int().tolist()) == {100 + 10 * episode + k for episode in range(3) for k in (1, 2, 3, 4)}


def test_an_agent_without_any_goal_in_hindsight_keeps_those_it_had():
    batch = fill([[4, 4, 4], [0, 0, 0]]).sample(50, 0.8, torch.Generator().manual_seed(0))
    assert (batch.goal[0] == -1).all()
    assert (batch.goal[1, :40] != -1).any()
    assert (batch.goal[1, 40:] == -1).all()


def test_agents_side_by_side_learn_what_each_would_learn_alone():
    agents, alone = (GoalAgents(seeds, PushView(5.0), 0.5, 8, CPU) for seeds in ((0, 1), (1,)))
    batch = fill([[0, 0, 0], [0, 0, 0]]).sample(32, 0.8, torch.Generator().manual_seed(0))
    half = type(batch)(*(getattr(batch, name)[1:] for name in ("before", "action", "after", "goal")))
    for _ in range(3):
        agents.update(batch)
        alone.update(half)
    assert not torch.allclose(agents.actor[0].weight[:1], alone.actor[0].weight, atol=1e-2)
    for both, one in zip(agents.actor.parameters(), alone.actor.parameters(), strict=True):
        assert torch.allclose(both[1:], one, atol=1e-6)


def test_agents_of_one_seed_begin_alike_whatever_their_way():
    race = Race(**TINY)
    agents = GoalAgents((3, 3, 4), PushView(race.arena), race.tolerance, race.width, CPU)
    streams = {seed: np.random.default_rng(seed) for seed in (3, 4)}
    played = play(race, agents, (3, 3, 4), streams, CPU)
    assert np.allclose(played.states[0], played.states[1], atol=1e-5)
    assert not np.allclose(played.states[0], played.states[2], atol=1e-2)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_episodes_are_the_domain_s_own_and_its_true_causes_say_who_touched_the_block(noise):
    race = Race(**TINY, noise=noise)
    agents = GoalAgents((0,), PushView(race.arena), race.tolerance, race.width, CPU)
    played = play(race, agents, (0,), {0: np.random.default_rng(0)}, CPU)
    moved = np.abs(np.diff(played.states[..., 2:], axis=2)).max(axis=-1) > 1e-4
    assert played.touched.any()
    if noise:
        assert (moved & ~played.touched).any()
    else:
        assert np.array_equal(moved & ~played.touched, np.zeros_like(moved))


def test_a_race_begins_where_the_block_is_not_at_its_goal():
    worlds = begin(Push(arena=5.0, obstacles=0), np.random.default_rng(0), 300, 0.5)
    assert len(worlds) == 300
    assert (np.linalg.norm(worlds[:, 2, :2] - worlds[:, 3, :2], axis=1) >= 0.5).all()


@pytest.mark.parametrize("method", ["jaci-em", "jaci-exchange"])
def test_every_way_gives_a_curve_and_causes_are_learned_on_the_way(method):
    options = {"steps": 20, "distil_steps": 10, "width": 8, "batch": 32}
    race = Race(**TINY, steps=400, every=100, fits=(80,), method=method, options=options)
    ways = ["her", "true", "moved", "learned", "learned", "online"]
    raced = run_race(race, ways, [0, 0, 0, 0, 1, 1], device="cpu")
    assert [at for at, _ in raced[0].curve] == [120, 240, 360, 400]
    assert all(0 <= share <= 100 for one in raced for _, share in one.curve)


def test_a_filter_is_wrong_where_it_departs_from_true_causes():
    race = Race(**TINY, noise=0.05, steps=240, every=120)
    her, true, moved = run_race(race, ["her", "true", "moved"], [0, 0, 0], device="cpu")
    assert {off for _, off in true.wrong} == {0.0}
    assert all(off > 30 for one in (her, moved) for _, off in one.wrong)


def test_whoever_runs_beside_it_learns_causes_online_in_a_crowd_too():
    race = Race(**TINY, others=2, steps=240, every=120, online_updates=5)
    raced = run_race(race, ["true", "online", "online"], [0, 0, 1], device="cpu")
    assert raced[0].wrong[-1][1] == 0.0
    assert 0 <= raced[1].wrong[-1][1] <= 100
    assert raced[1].wrong != raced[2].wrong


def test_without_noise_moved_is_the_same_as_true_causes():
    race = Race(**TINY, steps=240, every=120)
    true, moved = (run_race(race, [way], [0], device="cpu") for way in ("true", "moved"))
    assert true == moved  # alone each: batches are drawn by one stream


def test_episodes_are_recorded_as_learners_take_them():
    states, actions = np.arange(24, dtype=float).reshape(2, 3, 4), np.zeros((2, 2, 2))
    recording = record_episodes(states, actions, np.full((2, 2), 9.0))
    view = recording.view("block")
    assert view.outcome.tolist() == [[6, 7], [10, 11], [18, 19], [22, 23]]
    assert recording.episode.tolist() == [0, 0, 1, 1]


def test_the_earliest_step_is_that_of_the_first_truth():
    assert find_earliest(np.array([[[0, 1, 1], [0, 0, 0]]], dtype=bool)).tolist() == [[1, 3]]


def test_a_race_needs_neither_gymnasium_nor_stable_baselines_nor_pyarrow():
    code = f"""
import sys
for name in ("gymnasium", "stable_baselines3", "pyarrow", "typer", "rich", "fastapi"):
    sys.modules[name] = None
from actcause.rl.goal_race import Race, run_race
options = {{"steps": 5, "distil_steps": 5, "width": 8}}
race = Race(**{TINY!r}, steps=80, every=80, fits=(40,), options=options)
print(len(run_race(race, ["her", "learned"], [0, 0], device="cpu")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2"
