"""Answers that leave out what the outcome hangs on are found without a label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import Transitions
from actcause.learn.training.omissions import measure_omitted

Array = np.ndarray[Any, Any]


@pytest.fixture
def pushes() -> Transitions:
    """A box that moves where an agent stands beside it and pushes; a bird that does nothing."""
    generator = np.random.default_rng(3)
    state = generator.random((4000, 4, 1))
    near, push = state[:, 1, 0] < 0.2, state[:, 2, 0] < 0.3
    outcome = state[:, 0] + 2.0 * (near & push)[:, None]
    return Transitions(factors=["box", "agent", "action", "bird"], state=state, outcome=outcome, own="box")


def predict(data: Transitions) -> tuple[Array, Array]:
    moved = (data.state[:, 1] < 0.2) & (data.state[:, 2] < 0.3)
    return data.state[:, 0] + 2.0 * moved, np.asarray(data.outcome)


def name(data: Transitions, *factors: str) -> Array:
    return np.tile([factor in ("box", *factors) for factor in data.factors], (len(data), 1))


def surprising(data: Transitions) -> Array:
    return np.asarray(np.abs(data.change[:, 0]) > 1)


@pytest.mark.parametrize(("named", "share"), [(("agent", "action"), 0.0), (("agent",), 1.0), (("action", "bird"), 1.0)])
def test_a_factor_whose_exchange_ends_the_event_is_missed(
    named: tuple[str, ...], share: float, pushes: Transitions
) -> None:
    assert measure_omitted(pushes, name(pushes, *named), surprising(pushes), predict) == pytest.approx(share, abs=0.02)


def test_rows_that_the_model_misses_say_nothing(pushes: Transitions) -> None:
    def predict_nothing(data: Transitions) -> tuple[Array, Array]:
        return np.asarray(data.state[:, 0]), np.asarray(data.outcome)

    assert measure_omitted(pushes, name(pushes, "agent"), surprising(pushes), predict_nothing) == 0


def test_a_factor_that_would_add_to_the_outcome_is_not_missed() -> None:
    generator = np.random.default_rng(5)
    state = generator.random((4000, 3, 1))
    acts = state[:, 1:, 0] < 0.5  # both act often, each by itself
    outcome = state[:, 0] + acts @ np.array([[2.0], [5.0]])

    def add(data: Transitions) -> tuple[Array, Array]:
        acts = data.state[:, 1:, 0] < 0.5
        return data.state[:, 0] + acts @ np.array([[2.0], [5.0]]), np.asarray(data.outcome)

    data = Transitions(factors=["y", "a", "b"], state=state, outcome=outcome, own="y")
    named = np.concatenate([np.ones((4000, 1), dtype=bool), acts], axis=1)
    assert measure_omitted(data, named, acts.any(axis=1), add) < 0.1


def test_objects_that_are_absent_elsewhere_are_exchanged_too(pushes: Transitions) -> None:
    mask = np.ones((len(pushes), 4), dtype=bool)
    mask[::7, 3] = False
    data = pushes.replaced(mask=mask)
    assert measure_omitted(data, name(data, "agent"), surprising(data), predict) == pytest.approx(1, abs=0.02)
