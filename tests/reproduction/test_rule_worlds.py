"""Worlds with known rules: what is labelled is what the rules say."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.learn.training.angles import wrap
from actcause.reproduction.rule_worlds import RULE_WORLDS, record_rules

ROWS = 3000


@pytest.mark.parametrize("name", RULE_WORLDS)
def test_a_seed_gives_the_same_world_and_another_seed_another(name: str) -> None:
    one, same, other = (record_rules(name, ROWS, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.state, same.state)
    assert np.array_equal(one.outcome, same.outcome)
    assert not np.array_equal(one.state, other.state)


@pytest.mark.parametrize("name", RULE_WORLDS)
def test_every_world_has_rows_with_a_cause_and_rows_without(name: str) -> None:
    data = record_rules(name, ROWS, 1)
    caused = data.cause[:, 1:].any(axis=1)
    assert 0.05 < caused.mean() < 0.9


@pytest.mark.parametrize("name", RULE_WORLDS)
def test_the_outcome_is_the_next_state_of_the_own_factor(name: str) -> None:
    data = record_rules(name, ROWS, 1)
    following = np.flatnonzero(data.episode[1:] == data.episode[:-1])
    for at, feature in enumerate(data.outcome_features):
        column = data.features[str(data.own)].index(feature)
        assert np.allclose(data.state[following + 1, 0, column], data.outcome[following, at]), (name, feature)


def test_an_axe_changes_in_just_the_rows_with_a_cause() -> None:
    data = record_rules("crafting", ROWS, 1)
    assert np.array_equal(data.change[:, 0] != 0, data.cause[:, 1:].any(axis=1))


def test_a_wheel_that_no_hand_touches_turns_as_before() -> None:
    data = record_rules("wheel", ROWS, 1)
    moved = np.abs(wrap(data.change[:, 0] - 0.95 * data.state[:, 0, 3], 2 * np.pi)) > 0.03
    assert np.array_equal(moved, data.cause[:, 1:].any(axis=1))


def test_a_charge_that_no_beam_strikes_decays() -> None:
    data = record_rules("impacts", ROWS, 1)
    struck = ~np.isclose(data.outcome[:, 0], 0.8 * data.state[:, 0, 2])
    assert np.array_equal(struck, data.cause[:, 1:].any(axis=1))
