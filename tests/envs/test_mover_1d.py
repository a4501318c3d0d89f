"""The 1D mover: Table 1 of the paper, and that the simulator's labels are the exact core's causes."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.envs.mover_1d import Array, Mover1D, Step

DOMAIN = Mover1D()
ALL = np.array(list(product(range(4), range(3))), dtype=float)[:, :, None]


def advance(states: Array, domain: Mover1D = DOMAIN) -> Step:
    return domain.step(states, np.zeros((len(states), 0)))


def test_the_labels_are_the_functional_actual_causes_in_all_twelve_states() -> None:
    example = ac.examples.load("mover-1d")
    found = ac.partitions(example.model, "m'", alpha_sufficiency=0.4, alpha_necessity=0.01)
    assert found.variables == ("m", "o")
    step = advance(ALL)
    for state, cause in zip(ALL[:, :, 0].astype(int).tolist(), step.cause, strict=True):
        binary = "".join(str(int(digit)) for digit in cause)
        assert found.binaries(dict(zip("mo", state, strict=True))) == (binary,)


def test_the_outcomes_are_those_of_the_exact_model() -> None:
    space = ac.StateSpace.from_model(ac.examples.load("mover-1d").model, "m'")
    following = advance(ALL).states[:, 0, 0]
    for state, outcome in zip(ALL[:, :, 0].astype(int).tolist(), following, strict=True):
        index = space.find(dict(zip("mo", state, strict=True)))
        assert space.outcome_of(index) == outcome


def test_the_obstacle_is_a_cause_just_where_it_blocks() -> None:
    blocked = {(m, o) for (m, o), cause in zip(ALL[:, :, 0].tolist(), advance(ALL).cause, strict=True) if cause[1]}
    assert blocked == {(0, 1), (1, 2)}


def test_moving_the_obstacle_out_of_the_way_matters_just_where_it_is_a_cause() -> None:
    step = advance(ALL)
    other = DOMAIN.intervene(ALL, "obstacle", np.array([0.0]))
    assert ((other[:, 0] != step.states[:, 0, 0]) == step.cause[:, 1]).all()


def test_an_episode_ends_when_the_mover_has_left_the_fields() -> None:
    assert advance(ALL).terminated.tolist() == (ALL[:, 0, 0] == 3).tolist()


def test_episodes_begin_in_every_state_equally_often() -> None:
    states = DOMAIN.reset(np.random.default_rng(0), 12_000)[:, :, 0]
    _, counts = np.unique(states, axis=0, return_counts=True)
    assert len(counts) == 12
    assert (np.abs(counts - 1000) < 150).all()


@given(seed=st.integers(0, 2**32 - 1), fields=st.integers(1, 6), obstacle_fields=st.integers(1, 6))
def test_the_mover_never_enters_the_obstacle_and_a_batch_steps_as_its_worlds_do(
    seed: int, fields: int, obstacle_fields: int
) -> None:
    domain = Mover1D(fields=fields, obstacle_fields=obstacle_fields)
    states = domain.reset(np.random.default_rng(seed), 20)
    low, high = domain.bounds
    for _ in range(domain.horizon):
        kept = states.copy()
        step = advance(states, domain)
        assert (states == kept).all()
        entered = (step.states[:, 0] == step.states[:, 1]) & (states[:, 0] != states[:, 1])
        assert not entered.any()
        assert ((step.states >= low) & (step.states <= high)).all()
        for i in range(len(states)):
            alone = advance(states[i : i + 1], domain)
            assert (alone.states[0] == step.states[i]).all()
            assert (alone.cause[0] == step.cause[i]).all()
        states = np.where(step.terminated[:, None, None], kept, step.states)


def test_the_same_seed_gives_the_same_states_and_a_pickled_copy_is_equal() -> None:
    copy = pickle.loads(pickle.dumps(DOMAIN))
    assert copy == DOMAIN
    one, other = (domain.reset(np.random.default_rng(5), 100) for domain in (DOMAIN, copy))
    assert (one == other).all()


def test_no_fields_at_all_are_refused() -> None:
    with pytest.raises(ac.QueryError, match="'fields' of mover-1d must be 1 or more"):
        Mover1D(fields=0)
