"""True local graphs: the row of the domain's own outcome is its cause, and what is not named may go away."""

from __future__ import annotations

import numpy as np
import pytest

from actcause import envs
from actcause.envs.base import Array, Domain
from actcause.envs.push import FIRST, PUSHER, TARGET, Push

FAR = 50.0  # where a body touches nobody


def take_steps(domain: Domain, steps: int = 12, worlds: int = 400) -> tuple[Array, Array]:
    """Return states and actions of many steps, one after the other."""
    generator = np.random.default_rng(3)
    states, seen, acted = domain.reset(generator, worlds), [], []
    for _ in range(steps):
        actions = domain.sample_actions(generator, states)
        seen.append(states)
        acted.append(actions)
        states = domain.step(states, actions).states
    return np.concatenate(seen), np.concatenate(acted)


@pytest.mark.parametrize("name", envs.names())
def test_the_row_of_the_outcome_is_the_cause_and_every_factor_causes_itself(name: str) -> None:
    domain = envs.make(name)
    states, actions = take_steps(domain, 5, 100)
    step = domain.step(states, actions)
    graph = domain.graph(states, actions, step)
    assert graph.shape == (len(states), len(domain.outcomes), len(domain.factors))
    assert graph.dtype == bool
    np.testing.assert_array_equal(graph[:, domain.outcomes.index(domain.outcome)], step.cause)
    for place, outcome in enumerate(domain.outcomes):
        assert graph[:, place, domain.index(outcome)].all()


@pytest.mark.parametrize("name", ["push", "break", "block-1d", "3-chain"])
def test_one_world_has_the_graph_that_it_has_among_many(name: str) -> None:
    domain = envs.make(name)
    states, actions = take_steps(domain, 8, 30)
    together = domain.graph(states, actions, domain.step(states, actions))
    for world in range(len(states)):
        one = slice(world, world + 1)
        alone = domain.graph(states[one], actions[one], domain.step(states[one], actions[one]))
        np.testing.assert_array_equal(alone[0], together[world])


def test_in_push_what_is_not_named_can_go_away_and_the_pusher_is_where_it_was() -> None:
    domain = Push()
    states, actions = take_steps(domain, worlds=2000)
    step = domain.step(states, actions)
    graph = domain.graph(states, actions, step)[:, domain.outcomes.index("pusher")]
    bodies = [2, *range(FIRST, len(domain.factors))]
    emptied = states.copy()
    for body in bodies:
        emptied[~graph[:, body], body, :2] = FAR * body
    after = domain.step(emptied, actions).states[:, PUSHER]
    np.testing.assert_allclose(after, step.states[:, PUSHER], atol=1e-9)
    for body in bodies:  # and what is named makes a difference, where nobody else stands at the same place
        without = states.copy()
        without[:, body, :2] = FAR
        moved = (domain.step(without, actions).states[:, PUSHER] != step.states[:, PUSHER]).any(axis=1)
        assert graph[:, body].any()
        assert moved[graph[:, body]].mean() > 0.95


def test_in_push_the_target_is_caused_by_others_where_it_goes_on_or_off() -> None:
    domain = Push(arena=3.0, obstacles=0)
    states, actions = take_steps(domain)
    step = domain.step(states, actions)
    graph = domain.graph(states, actions, step)
    row = graph[:, domain.outcomes.index("target")]
    switched = states[:, TARGET, 2] != step.states[:, TARGET, 2]
    assert switched.any()
    np.testing.assert_array_equal(row[:, domain.index("block")], switched)
    np.testing.assert_array_equal(row[:, PUSHER], switched & step.cause[:, PUSHER])


def test_in_break_the_ball_is_a_cause_of_a_block_where_it_hits_it() -> None:
    domain = envs.make("break")
    generator = np.random.default_rng(0)
    states, hits = domain.reset(generator, 500), 0
    for _ in range(60):
        actions = domain.scripted_actions(states)  # type: ignore[attr-defined]
        step = domain.step(states, actions)
        graph = domain.graph(states, actions, step)
        alive = states[:, 3:, 4] != step.states[:, 3:, 4]
        np.testing.assert_array_equal(graph[:, 2:, 2], alive)
        assert graph[:, 0, 0].all()
        hits += int(alive.sum())
        states = step.states
    assert hits > 100


def test_a_paddle_that_a_ball_stops_has_the_ball_as_a_cause() -> None:
    domain = envs.make("break")
    states = domain.reset(np.random.default_rng(0), 2)
    states[:, 2, :4] = (20.0, 11.0, 1.0, -1.0), (27.0, 30.0, 1.0, -1.0)
    actions = np.ones((2, 1))
    graph = domain.graph(states, actions, domain.step(states, actions))
    assert graph[:, 0, 2].tolist() == [True, False]


def test_in_block_1d_what_stops_the_block_stops_the_pusher() -> None:
    domain = envs.make("block-1d")
    states = np.array([[[49.0], [50.0], [20.0]], [[49.0], [50.0], [52.0]]])
    graph = domain.graph(states, np.zeros((2, 0)), domain.step(states, np.zeros((2, 0))))
    assert graph[:, 0].tolist() == [[True, False, False], [True, True, True]]
