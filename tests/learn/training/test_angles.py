"""Angles and rotations: what begins anew after a full turn is no event."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from actcause.data import Transitions
from actcause.learn.training.angles import find_periods, find_rotations
from actcause.learn.training.encoding import Encoder

Array = np.ndarray[Any, Any]
ROWS = 2000


def turning(name: str = "heading", turn: float = 360.0, low: float = -180.0, **given: Any) -> Transitions:
    """A wheel that turns by up to a hundredth of a turn, beside a hand that does nothing."""
    random = np.random.default_rng(1)
    before = random.uniform(low, low + turn, ROWS)
    after = (before + random.uniform(0, turn / 100, ROWS) - low) % turn + low
    state = np.stack([before, random.normal(size=ROWS)], axis=1)[:, :, None]
    return Transitions(
        factors=["wheel", "hand"], state=state, outcome=after[:, None], own="wheel",
        features={"wheel": [name], "hand": ["push"]}, outcome_features=[name], **given,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "turn", "low"),
    [("heading", 360.0, -180.0), ("yaw", 2 * math.pi, 0.0), ("theta", 2 * math.pi, -math.pi), ("value", 360.0, 0.0)],
)
def test_an_angle_is_recognised_by_its_name_or_by_steps_over_the_end_of_the_turn(
    name: str, turn: float, low: float
) -> None:
    data = turning(name, turn, low)
    assert find_periods(data) == {name: turn}
    encoder = Encoder.fit(data)
    change = encoder.encode(data).target * encoder.target_scale + encoder.target_mean
    assert change.min() + 1e-3 >= 0
    assert change.max() < turn / 100 + 1e-3


def test_what_only_reaches_as_far_as_a_turn_is_no_angle() -> None:
    """A place on a screen of 360 dots is a place."""
    random = np.random.default_rng(2)
    state = random.uniform(0, 360, (ROWS, 2, 1))
    outcome = np.clip(state[:, 0] + random.normal(size=(ROWS, 1)), 0, 360)
    features = {"ball": ["x"], "wall": ["x"]}
    data = Transitions(
        factors=["ball", "wall"], state=state, outcome=outcome, own="ball", features=features, outcome_features=["x"]
    )
    assert find_periods(data) == {}


def test_a_pole_that_is_only_tilted_is_no_turning_angle() -> None:
    random = np.random.default_rng(3)
    state = random.uniform(-0.2, 0.2, (ROWS, 2, 1))
    data = Transitions(
        factors=["pole", "cart"], state=state, outcome=state[:, 0] * 0.9, own="pole",
        features={"pole": ["angle"], "cart": ["x"]}, outcome_features=["angle"],
    )  # fmt: skip
    assert find_periods(data) == {}


def test_a_full_turn_can_be_said() -> None:
    data = turning("x", 10.0, 0.0, periods={"x": 10})
    assert find_periods(data) == {"x": 10.0}
    assert find_periods(turning("x", 10.0, 0.0)) == {}


def test_an_angle_is_shown_by_cosine_and_sine_too_and_read_back_from_a_file() -> None:
    data = turning()
    encoder = Encoder.fit(data)
    assert encoder.count_columns("wheel", "heading") == 3
    again = Encoder.from_json(data.layout, encoder.to_json())
    assert np.array_equal(again.encode(data).inputs, encoder.encode(data).inputs)
    assert np.array_equal(again.encode(data).target, encoder.encode(data).target)


def test_an_angle_that_is_predicted_is_as_near_to_what_came_as_it_can_be() -> None:
    data = turning()
    encoder = Encoder.fit(data)
    decoded = encoder.decode(data, encoder.encode(data).target.astype(np.float64))
    assert np.allclose(decoded, data.outcome, atol=1e-3)


def test_a_quaternion_of_the_opposite_sign_is_the_same_rotation() -> None:
    random = np.random.default_rng(4)
    before = random.normal(size=(ROWS, 4))
    before /= np.linalg.norm(before, axis=1, keepdims=True)
    after = before + random.normal(scale=0.01, size=before.shape)
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    after[::7] *= -1
    names = ["w", "x", "y", "z"]
    data = Transitions(
        factors=["block", "hand"], state=np.stack([before, random.normal(size=before.shape)], axis=1), outcome=after,
        own="block", features={"block": names, "hand": ["a", "b", "c", "d"]}, outcome_features=names,
    )  # fmt: skip
    assert find_rotations(data) == ((0, 1, 2, 3),)
    encoder = Encoder.fit(data)
    change = encoder.encode(data).target * encoder.target_scale + encoder.target_mean
    assert np.abs(change).max() < 0.1
    apart = data.replaced(outcome=data.outcome * 1.5)
    assert find_rotations(apart) == ()
