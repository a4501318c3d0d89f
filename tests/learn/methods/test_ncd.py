"""Causes by hard masks."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import LearnError
from actcause.learn.methods.ncd import GumbelMask


def test_an_outcome_that_needs_a_factor_lets_it_through_and_not_another() -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(2000, 3, 1))
    data = Transitions(factors=["a", "b", "c"], state=state, outcome=state[:, 0] + 2 * state[:, 1], own="a")
    learner = GumbelMask(steps=600, width=16, batch=128, learning_rate=5e-3, penalty=0.05).fit(data)
    shares = learner.predict(data).mean(axis=0)
    assert shares[1] > shares[2] + 0.4  # not always: where the factor is near 0 it changes little


def test_a_large_penalty_lets_nothing_through_and_says_so() -> None:
    data = collect("1-in", 500)
    learner = GumbelMask(steps=300, width=16, batch=64, penalty=0.99, learning_rate=1e-2).fit(data)
    assert not learner.predict(data)[:, 0].any()
    assert any("all zeros" in note for note in learner.notes_)


def test_a_temperature_of_0_is_refused() -> None:
    with pytest.raises(LearnError, match="'temperature' parameter of GumbelMask must be positive"):
        GumbelMask(temperature=0.0).fit(collect("1-in", 200))
