"""Bonuses of many agents at once: when they are given, what they are worth by then, and to whom."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from actcause.errors import QueryError  # noqa: E402
from actcause.rl.episode_memory import EpisodeMemory  # noqa: E402
from actcause.rl.goal_agents import GoalAgents  # noqa: E402
from actcause.rl.goal_race import Race, run_race  # noqa: E402
from actcause.rl.goal_views import PushView  # noqa: E402
from actcause.rl.race_bonus import RaceBonus  # noqa: E402

CPU = torch.device("cpu")
KINDS = ("", "steady", "stored", "once", "unending", "bonus")
STILL = torch.zeros(1, 1, 3, dtype=torch.bool)  # one in which it is not
CAUSED = torch.tensor([[False, True, True]])  # one episode of three steps, in which the block is moved twice


def add_episodes(count: int) -> RaceBonus:
    """As many episodes with a motion as without one, so that half of the weight is left."""
    bonus = RaceBonus(KINDS, 2 * count, 3, 16.0, 4, CPU)
    for _ in range(count):
        bonus.add(torch.cat([CAUSED[None], STILL], dim=1).expand(len(KINDS), 2, 3))
    return bonus


def read_episode(bonus: RaceBonus, episode: int) -> list[list[float]]:
    rows = torch.full((len(KINDS), 3), episode), torch.arange(3).expand(len(KINDS), 3)
    return bonus.read(*rows).tolist()


def test_a_step_of_long_ago_is_worth_what_it_would_be_now():
    bonus = add_episodes(3)
    none, steady, stored, once, unending, seldom = read_episode(bonus, 0)
    assert none == [0, 0, 0]
    assert steady == [0, 4, 4]
    assert seldom == [0, 2, 2]
    assert once == [0, 2, 0]
    assert unending == [0, 16, 16]
    assert stored == [0, 16, 16]
    assert read_episode(bonus, 4)[1:3] == [[0, 4, 4], [0, 4, 4]]
    assert read_episode(bonus, 5)[5] == [0, 0, 0]


def test_after_its_times_a_bonus_is_worth_nothing_unless_it_never_ends_or_was_stored():
    found = read_episode(add_episodes(6), 0)
    assert found == [[0, 0, 0], [0, 0, 0], [0, 16, 16], [0, 0, 0], [0, 16, 16], [0, 0, 0]]


def test_who_moves_the_object_in_every_episode_needs_no_bonus():
    bonus = RaceBonus(("bonus", "steady"), 3, 3, 8.0, 100, CPU)
    bonus.add(CAUSED.expand(2, 3, 3))
    assert bonus.weights.tolist() == pytest.approx([0.0, 8 * 0.97])


def test_a_memory_gives_the_bonus_of_relabelled_steps_too():
    bonus = RaceBonus(("steady",), 1, 3, 8.0, 4, CPU)
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


def test_a_bonus_apart_is_worth_nothing_to_the_goal_and_takes_fewer_episodes_as_it_is_earned():
    bonus = RaceBonus(("apart", ""), 4, 3, 1.0, 4, CPU)
    assert bonus.episodes.tolist() == [0.5, 0.0]
    bonus.add(torch.cat([CAUSED[None], STILL], dim=1).expand(2, 2, 3))
    assert bonus.weights.tolist() == [0.0, 0.0]
    assert bonus.episodes.tolist() == pytest.approx([0.5 * 0.75 * 0.5, 0.0])


def test_rows_for_a_bonus_apart_are_an_agents_own_and_know_where_it_is_earned():
    bonus = RaceBonus(("apart", ""), 1, 3, 1.0, 4, CPU)
    memory = EpisodeMemory(2, 1, 3, 4, CPU, bonus=bonus)
    bonus.add(CAUSED.expand(2, 1, 3))
    states = torch.zeros(2, 1, 4, 4)
    states[:, 0, :, 2] = torch.tensor([0.0, 0.0, 1.0, 2.0])  # the place after each step tells the step
    memory.add(states, torch.zeros(2, 1, 3, 2), torch.zeros(2, 1, 2), torch.zeros(2, 1, dtype=torch.long))
    assert not memory.sample(1000, 0.5, torch.Generator().manual_seed(0)).apart.any()  # it moves in every episode
    bonus.rates[:] = 0.5
    batch = memory.sample(1000, 0.5, torch.Generator().manual_seed(0))
    assert 200 < batch.apart[0].sum() < 300
    assert not batch.apart[1].any()
    assert torch.equal(batch.earned[0] > 0, batch.after[0, :, 2] > 0)


def test_rows_for_a_bonus_apart_have_another_reward_and_say_so():
    agents = GoalAgents((0,), PushView(5.0), 0.5, 8, CPU, apart=True)
    state, goal = torch.rand(1, 3, 4), torch.rand(1, 3, 2)
    told = agents.act(state, goal, torch.ones(1, 3))
    assert not torch.equal(told, agents.act(state, goal))
    assert torch.equal(agents.act(state, goal), agents.act_alone(0, state, goal))
    memory = EpisodeMemory(1, 4, 5, 4, CPU)
    memory.add(torch.rand(1, 4, 6, 4), torch.rand(1, 4, 5, 2), torch.rand(1, 4, 2), torch.zeros(1, 4).long())
    batch = replace(memory.sample(16, 0.8, torch.Generator().manual_seed(0)), apart=torch.ones(1, 16).bool())
    first = copy.deepcopy(agents)
    agents.update(replace(batch, earned=torch.ones(1, 16)))
    first.update(replace(batch, earned=torch.zeros(1, 16)))
    assert not torch.equal(agents.critic[0].weight, first.critic[0].weight)


def test_a_race_takes_ways_with_a_bonus_and_refuses_unknown_ones():
    race = Race(arena=5.0, margin=0.25, horizon=10, worlds=4, updates=1, rows=16, width=8, episodes=5, steps=120)
    raced = run_race(race, ["her", "her+bonus", "true+once", "her+apart"], [0] * 4, device="cpu")
    assert [len(one.curve) for one in raced] == [1] * 4
    with pytest.raises(QueryError, match="Unknown bonus 'often'; choose from bonus, steady, stored, once, unending"):
        run_race(race, ["her+often"], [0], device="cpu")
