"""The stirred reactor: what does something in it, and what only seems to."""

from __future__ import annotations

import numpy as np
import pytest

from actcause import envs
from actcause.envs.base import Array, Step
from actcause.envs.reactor import CATALYST, FEEDS, HEATER, INHIBITOR, STIRRER, VESSEL
from actcause.errors import QueryError
from worlds import find_cause

REACTOR = envs.make("reactor")


def react(**changes: tuple[float, ...]) -> Step:
    """Step a hot and filled vessel with all controls at rest, but for the changes."""
    state = np.zeros((1, len(REACTOR.factors), REACTOR.width))
    state[0, VESSEL] = 0.5, 0.8, 0.0
    for factor, values in changes.items():
        state[0, REACTOR.index(factor), : len(values)] = values
    return REACTOR.step(state, np.zeros((1, REACTOR.action_size)))


def causes(step: Step) -> set[str]:
    return {factor for factor, here in zip(REACTOR.factors, step.cause[0], strict=True) if here} - {"vessel"}


def vessel(step: Step) -> list[float]:
    return [round(value, 6) for value in step.states[0, VESSEL].tolist()]


def roll_out(worlds: int, steps: int) -> list[tuple[Array, Step]]:
    generator = np.random.default_rng(1)
    states, rows = REACTOR.reset(generator, worlds), []
    for _ in range(steps):
        step = REACTOR.step(states, REACTOR.sample_actions(generator, states))
        rows.append((states, step))
        states = step.states
    return rows


def test_left_alone_the_vessel_drains_and_cools_by_itself() -> None:
    step = react()
    assert vessel(step) == [0.45, 0.776, 0.0]
    assert causes(step) == set()


def test_an_open_feed_pours_and_a_feed_that_is_nearly_open_does_not() -> None:
    assert vessel(react(feed2=(0.98, 0.5)))[0] == 0.75
    assert causes(react(feed2=(0.98, 0.5), feed3=(0.96, 0.9))) == {"feed2"}
    assert causes(react(feed1=(0.98, 0.5), feed4=(0.99, 0.1))) == {"feed1", "feed4"}


def test_a_reaction_takes_a_fast_stirrer_and_an_active_catalyst_together() -> None:
    both = react(stirrer=(0.8,), catalyst=(0.8, 0.8))
    assert vessel(both)[2] == 0.25
    assert causes(both) == {"stirrer", "catalyst"}
    for alone in (react(stirrer=(0.8,)), react(catalyst=(0.8, 0.8)), react(stirrer=(0.8,), catalyst=(0.8, 0.6))):
        assert vessel(alone) == vessel(react())
        assert causes(alone) == set()


def test_a_cold_or_an_empty_vessel_does_not_react() -> None:
    active = {"stirrer": (0.8,), "catalyst": (0.8, 0.8)}
    assert causes(react(vessel=(0.5, 0.4, 0.0), **active)) == set()
    assert causes(react(vessel=(0.05, 0.8, 0.0), **active)) == set()


def test_an_inhibitor_stops_a_reaction_and_is_no_cause_of_what_does_not_happen() -> None:
    stopped = react(stirrer=(0.8,), catalyst=(0.8, 0.8), inhibitor=(0.95,), heater=(0.98,))
    assert vessel(stopped) == vessel(react(heater=(0.98,)))
    assert causes(stopped) == {"heater"}


def test_labels_are_functional_causes() -> None:
    generator = np.random.default_rng(0)
    rows = [(states[world], step.cause[world]) for states, step in roll_out(12, 25) for world in range(12)]
    eventful = [row for row in rows if row[1].sum() > 1][:30]
    for state, cause in (*rows[:60], *eventful):
        label = tuple(factor for factor in REACTOR.edges if cause[REACTOR.index(factor)])
        assert find_cause(REACTOR, state, generator) == label


def test_causes_are_rare_and_controls_are_spread_evenly() -> None:
    rows = roll_out(400, 50)
    cause = np.concatenate([step.cause for _, step in rows]).mean(axis=0)
    assert cause[VESSEL] == 1
    assert cause[INHIBITOR] == 0
    assert 0.005 < cause[STIRRER] == cause[CATALYST] < 0.03
    assert (np.abs(cause[FEEDS:] - 0.03) < 0.01).all()
    power = np.concatenate([states[:, HEATER, 0] for states, _ in rows])
    assert np.abs(np.histogram(power, 10, (0, 1))[0] / len(power) - 0.1).max() < 0.015


def test_noise_is_added_to_the_vessel_and_changes_no_cause() -> None:
    quiet, noisy = envs.make("reactor"), envs.make("reactor", noise=0.1)
    generator = np.random.default_rng(2)
    states = quiet.reset(generator, 200)
    actions = noisy.sample_actions(generator, states)
    plain, shaken = quiet.step(states, actions[:, : quiet.action_size]), noisy.step(states, actions)
    assert np.array_equal(plain.cause, shaken.cause)
    difference = shaken.states[:, VESSEL] - plain.states[:, VESSEL]
    assert 0.08 < difference.std() < 0.12
    assert np.array_equal(shaken.states[:, FEEDS:], plain.states[:, FEEDS:])


def test_a_reactor_without_feeds_is_refused() -> None:
    with pytest.raises(QueryError, match=r"'feeds' of reactor must be 1 or more, an integer\. Got 0"):
        envs.make("reactor", feeds=0)
