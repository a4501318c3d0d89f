"""Bonuses of many agents at once: when they are given, what they are worth by then, and to whom."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from actcause.errors import QueryError  # noqa: E402
from actcause.rl.episode_memory import EpisodeMemory  # noqa: E402
from actcause.rl.goal_agents import GoalAgents  # noqa: E402
from actcause.rl.goal_race import Race, run_race  # noqa: E402
from actcause.rl.goal_views import PushView  # noqa: E402
from actcause.rl.race_bonus import RaceBonus  # noqa: E402

CPU = torch.device("cpu")
KINDS = ("", "bonus", "stored", "once", "unending")
CAUSED = torch.tensor([[False, True, True]])  # one episode of three steps, in which the block is moved twice


def add_episodes(count: int) -> RaceBonus:
    bonus = RaceBonus(KINDS, count, 3, 8.0, 4, CPU)
    for _ in range(count):
        bonus.add(CAUSED.expand(len(KINDS), 1, 3))
    return bonus


def read_episode(bonus: RaceBonus, episode: int) -> list[list[float]]:
    rows = torch.full((len(KINDS), 3), episode), torch.arange(3).expand(len(KINDS), 3)
    return bonus.read(*rows).tolist()


def test_a_step_of_long_ago_is_worth_what_it_would_be_now():
    bonus = add_episodes(3)
    assert read_episode(bonus, 0) == [[0, 0, 0], [0, 2, 2], [0, 8, 8], [0, 2, 0], [0, 8, 8]]
    assert read_episode(bonus, 2) == [[0, 0, 0], [0, 2, 2], [0, 4, 4], [0, 2, 0], [0, 8, 8]]


def test_after_its_times_a_bonus_is_worth_nothing_unless_it_never_ends_or_was_stored():
    assert read_episode(add_episodes(6), 1) == [[0, 0, 0], [0, 0, 0], [0, 6, 6], [0, 0, 0], [0, 8, 8]]


def test_a_memory_gives_the_bonus_of_relabelled_steps_too():
    bonus = RaceBonus(("bonus",), 1, 3, 8.0, 4, CPU)
    memory = EpisodeMemory(1, 1, 3, 4, CPU, bonus=bonus)
    bonus.add(CAUSED[None])
    states = torch.zeros(1, 1, 4, 4)
    states[0, 0, :, 2] = torch.tensor([0.0, 0.0, 1.0, 2.0])  # the place after each step tells the step
    memory.add(states, torch.zeros(1, 1, 3, 2), torch.full((1, 1, 2), -1.0), torch.zeros(1, 1, dtype=torch.long))
    batch = memory.sample(100, 1.0, torch.Generator().manual_seed(0))
    moved = batch.after[0, :, 2] > 0
    assert 0 < moved.sum() < 100
    assert torch.equal(batch.bonus[0], 6.0 * moved)


def test_an_agent_without_a_bonus_learns_the_same_beside_one_that_has_it():
    plain, beside = (GoalAgents((0, 1), PushView(5.0), 0.5, 8, CPU) for _ in range(2))
    generator = torch.Generator().manual_seed(0)
    memory = EpisodeMemory(2, 4, 5, 4, CPU)
    states, actions, goals = (torch.rand(2, 4, *shape, generator=generator) for shape in ((6, 4), (5, 2), (2,)))
    memory.add(states, actions, goals, torch.zeros(2, 4, dtype=torch.long))
    batch = memory.sample(16, 0.8, generator)
    worth = torch.tensor([[0.0], [3.0]])
    rewarded = type(batch)(batch.before, batch.action, batch.after, batch.goal, worth.expand(2, 16), worth)
    for _ in range(3):
        plain.update(batch)
        beside.update(rewarded)
    first, second = plain.critic[0].weight, beside.critic[0].weight
    assert torch.equal(first[0], second[0])
    assert not torch.equal(first[1], second[1])


def test_a_race_takes_ways_with_a_bonus_and_refuses_unknown_ones():
    race = Race(arena=5.0, margin=0.25, horizon=10, worlds=4, updates=1, rows=16, width=8, episodes=5, steps=120)
    raced = run_race(race, ["her", "her+bonus", "true+once"], [0, 0, 0], device="cpu")
    assert [len(one.curve) for one in raced] == [1, 1, 1]
    with pytest.raises(QueryError, match="Unknown bonus 'often'; choose from bonus, stored, once, unending"):
        run_race(race, ["her+often"], [0], device="cpu")
