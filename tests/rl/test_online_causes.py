"""Causes learned on the way: how soon they are those of the simulator, whatever else moves the block."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from actcause.rl.episode_memory import EpisodeMemory  # noqa: E402
from actcause.rl.goal_agents import GoalAgents  # noqa: E402
from actcause.rl.goal_race import Race, find_earliest, play  # noqa: E402
from actcause.rl.goal_views import PushView  # noqa: E402
from actcause.rl.online_causes import OnlineCauses  # noqa: E402

CPU = torch.device("cpu")


def learn(race, seeds, rounds, updates=60):
    """Let agents that know nothing act, learn in every round; return the memory, what was learned, and the truth."""
    agents = GoalAgents(seeds, PushView(race.arena), race.tolerance, 16, CPU)
    streams = {seed: np.random.default_rng([seed, 1]) for seed in seeds}
    memory = EpisodeMemory(len(seeds), rounds * race.worlds, race.horizon, 4, CPU, others=race.others)
    causes = OnlineCauses(range(len(seeds)), seeds, race.arena, race.others, CPU)
    touched = []
    for _ in range(rounds):
        played = play(race, agents, seeds, streams, CPU)
        parts = [torch.as_tensor(part).float() for part in (played.states, played.actions, played.goals, played.others)]
        memory.add(*parts[:3], torch.zeros(len(seeds), race.worlds, dtype=torch.long), parts[3])
        causes.learn(memory, updates)
        touched.append(played.touched)
    return memory, causes, np.concatenate(touched, axis=1)


@pytest.mark.parametrize(
    ("differs", "error", "wrong"),
    [({}, 0.002, 0.005), ({"noise": 0.05}, 0.02, 0.04), ({"others": 2}, 0.005, 0.02)],
    ids=["still", "noise", "crowd"],
)
def test_within_ten_thousand_steps_causes_are_nearly_those_of_the_simulator(differs, error, wrong):
    race = Race(arena=6.0, margin=0.5, horizon=30, worlds=16, **differs)
    memory, causes, touched = learn(race, (0, 1), rounds=20)
    found = causes.judge(memory).numpy()
    first, true = causes.find_first(memory).numpy(), find_earliest(touched)
    moved = (memory.states[..., 2:].diff(dim=2).abs().amax(dim=-1) > 1e-4).numpy()
    assert touched.mean() > 0.02
    assert (found != touched).mean() < error
    assert np.abs(first - true).mean() / race.horizon < wrong
    if differs:  # where what moved is no answer
        assert np.abs(find_earliest(moved) - true).mean() / race.horizon > 3 * wrong


def test_agents_side_by_side_learn_what_each_would_learn_alone():
    race = Race(arena=5.0, margin=0.25, horizon=10, worlds=8, noise=0.05)
    memory, both, _ = learn(race, (0, 1), rounds=2, updates=0)
    alone = OnlineCauses([1], [1], race.arena, 0, CPU)
    alone.learn(memory, 0)
    episode, step = torch.arange(8).expand(2, -1), torch.full((2, 8), 3)
    assert torch.allclose(
        both._weigh(memory, episode, step)[1:], alone._weigh(memory, episode[:1], step[:1]), rtol=1e-4
    )
    both.learn(memory, 3)
    assert not torch.allclose(
        both._weigh(memory, episode, step)[1:], alone._weigh(memory, episode[:1], step[:1]), rtol=1e-4
    )


def test_an_episode_in_which_nothing_happens_has_no_goal_in_hindsight():
    race = Race(arena=6.0, margin=0.5, horizon=30, worlds=16)
    memory, causes, touched = learn(race, (0,), rounds=4)
    still = ~touched.any(axis=2)
    assert still.any()
    assert (causes.find_first(memory).numpy()[still] == race.horizon).all()


def test_without_agents_there_is_nothing_to_learn():
    memory = EpisodeMemory(1, 1, 4, 4, CPU)
    OnlineCauses([], [], 5.0, 0, CPU).learn(memory, 3)
