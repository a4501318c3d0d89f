"""How many independent rows a recording is worth."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.envs import make
from actcause.learn.training.sample_size import effective_rows


def walks(memory: float, episodes: int = 100, length: int = 100) -> Transitions:
    """Episodes in which a state keeps this share of itself from row to row."""
    generator = np.random.default_rng(0)
    state = np.zeros((episodes, length, 2))
    state[:, 0] = generator.normal(size=(episodes, 2))
    for t in range(1, length):
        state[:, t] = memory * state[:, t - 1] + np.sqrt(1 - memory**2) * generator.normal(size=(episodes, 2))
    rows = state.reshape(-1, 2, 1)
    return Transitions(
        factors=["a", "b"], state=rows, outcome=rows[:, 0], own="a", episode=np.repeat(np.arange(episodes), length)
    )


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_rows_that_resemble_each_other_are_worth_less_by_the_time_they_remember(memory: float) -> None:
    data = walks(memory)
    assert effective_rows(data) == pytest.approx(len(data) * (1 - memory) / (1 + memory), rel=0.15)


def test_an_episode_that_stands_still_is_worth_one_row() -> None:
    data = walks(1.0, length=20)
    assert effective_rows(data) == pytest.approx(100, rel=0.1)


def test_the_slowest_factor_counts() -> None:
    fast, slow = walks(0.0), walks(0.9)
    state = np.concatenate([fast.state[:, :1], slow.state[:, 1:]], axis=1)
    assert effective_rows(fast.replaced(state=state)) < 0.1 * len(fast)


def test_without_episodes_every_row_counts() -> None:
    data = walks(0.9).replaced(episode=None)
    assert effective_rows(data) == len(data)


def test_columns_that_never_change_are_left_out() -> None:
    data = walks(0.5)
    state = np.array(data.state)
    state[:, 1] = 3.0
    assert effective_rows(data.replaced(state=state)) > 0.2 * len(data)
    state[:] = 3.0
    assert effective_rows(data.replaced(state=state)) == 1


def test_the_increment_form_of_random_vectors_is_worth_far_fewer_rows() -> None:
    usual = effective_rows(collect(make("1-in"), 20_000))
    increments = effective_rows(collect(make("1-in", dynamics="increment"), 20_000))
    assert increments < usual / 5
