"""What networks see of a recording."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from actcause.data import DataError, Transitions, collect
from actcause.learn import LearnError
from actcause.learn.training.encoding import Encoder


def recording(rows: int = 300, **others: Any) -> Transitions:
    """A ball with two features, a paddle that shares one of them, and a switch with three positions."""
    generator = np.random.default_rng(0)
    state = np.zeros((rows, 3, 2))
    state[:, 0] = generator.normal(5, 2, (rows, 2))
    state[:, 1, 0] = generator.normal(-3, 0.5, rows)
    state[:, 2, 0] = generator.integers(0, 3, rows)
    features = {"ball": ["x", "y"], "paddle": ["x"], "switch": ["at"]}
    outcome = state[:, 0] + generator.normal(1, 0.1, (rows, 2))
    factors = ["ball", "paddle", "switch"]
    return Transitions(factors=factors, features=features, state=state, outcome=outcome, own="ball", **others)


def test_columns_are_standardised_on_the_rows_that_were_fitted() -> None:
    data = recording()
    encoded = Encoder.fit(data).encode(data)
    assert encoded.inputs.dtype == encoded.target.dtype == np.float32
    np.testing.assert_allclose(encoded.inputs[:, 0, :2].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(encoded.inputs[:, 0, :2].std(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(encoded.target.std(axis=0), 1, atol=1e-5)
    shifted = data.replaced(state=data.state * 1.1)
    assert Encoder.fit(data).encode(shifted).inputs[:, 0, 0].mean() > 0.1


def test_a_factor_that_shares_a_feature_with_the_outcome_is_shown_relative_to_it_with_contact_at_0() -> None:
    data = recording()
    state = np.array(data.state)
    state[0, 1, 0] = state[0, 0, 0]
    encoder = Encoder.fit(data)
    inputs = encoder.encode(data.replaced(state=state)).inputs
    assert inputs.shape == (300, 3, 3)
    assert inputs[0, 1, 2] == 0
    np.testing.assert_allclose(inputs[:, 1, 2] * encoder.scale[1, 2], state[:, 1, 0] - state[:, 0, 0], atol=1e-4)
    assert not inputs[:, 0, 2].any()
    assert not inputs[:, 2, 2].any()


def test_the_target_is_the_change_of_the_outcome() -> None:
    data = recording()
    encoder = Encoder.fit(data)
    back = encoder.encode(data).target * encoder.target_scale + encoder.target_mean
    np.testing.assert_allclose(back, data.change, atol=1e-4)


def test_categorical_features_get_a_column_for_each_value_seen() -> None:
    data = recording(metadata={"categorical": ["switch.at"]})
    encoder = Encoder.fit(data)
    raw = encoder.encode(data).inputs[:, 2, :3] * encoder.scale[2, :3] + encoder.mean[2, :3]
    np.testing.assert_allclose(raw, np.eye(3)[data.state[:, 2, 0].astype(int)], atol=1e-5)
    unseen = np.array(data.state)
    unseen[:, 2, 0] = 7
    raw = encoder.encode(data.replaced(state=unseen)).inputs[:, 2, :3] * encoder.scale[2, :3] + encoder.mean[2, :3]
    np.testing.assert_allclose(raw, 0, atol=1e-5)


def test_a_categorical_outcome_becomes_columns_of_the_target() -> None:
    generator = np.random.default_rng(0)
    lit = generator.integers(0, 2, 200)
    data = Transitions(
        factors=["a"], state=lit[:, None, None].astype(float), outcome=lit[:, None].astype(float), outcome_factor="lamp"
    )
    encoder = Encoder.fit(data, categorical=["next.lamp.y0"])
    assert encoder.outputs == 2
    back = encoder.encode(data).target * encoder.target_scale + encoder.target_mean
    np.testing.assert_allclose(back, np.eye(2)[lit], atol=1e-5)


def test_columns_that_never_vary_stay_small() -> None:
    data = recording()
    still = np.array(data.state)
    still[:, 1, 0] = 1e6
    encoded = Encoder.fit(data.replaced(state=still)).encode(data.replaced(state=still))
    assert np.abs(encoded.inputs[:, 1, 0]).max() < 1
    assert np.isfinite(encoded.inputs).all()


def test_factors_of_one_class_are_measured_with_one_ruler() -> None:
    generator = np.random.default_rng(0)
    state = generator.normal([[[0.0], [10.0], [20.0]]], [[[1.0], [1.0], [5.0]]], (500, 3, 1))
    data = Transitions(factors=["own", "a", "b"], state=state, outcome=state[:, 0] + state[:, 1], own="own")
    encoder = Encoder.fit(data, classes={"a": "block", "b": "block"})
    assert encoder.class_index == [0, 1, 1]
    np.testing.assert_array_equal(encoder.mean[1], encoder.mean[2])
    np.testing.assert_array_equal(encoder.scale[1], encoder.scale[2])
    both = encoder.encode(data).inputs[:, 1:, 0]
    assert both.mean() == pytest.approx(0, abs=1e-4)
    assert both.std() == pytest.approx(1, abs=1e-3)


def test_classes_default_to_what_the_recording_says() -> None:
    data = collect("break", 300)
    assert len(set(Encoder.fit(data).classes)) < len(data.factors)
    assert Encoder.fit(data, classes={}).classes == data.factors


def test_absent_factors_are_0_and_do_not_count_for_the_spread() -> None:
    data = recording()
    mask = np.ones((300, 3), dtype=bool)
    mask[::2, 1] = False
    masked = data.replaced(mask=mask)
    encoder = Encoder.fit(masked)
    encoded = encoder.encode(masked)
    assert not encoded.inputs[::2, 1].any()
    np.testing.assert_allclose(encoder.mean[1, 0], data.state[1::2, 1, 0].mean())
    assert encoded.present is not None
    assert encoded.present.flags.writeable
    np.testing.assert_array_equal(encoded.present, mask)


def test_without_an_own_factor_nothing_is_relative() -> None:
    data = Transitions(
        factors=["a", "b"], state=np.random.default_rng(0).normal(size=(50, 2, 1)), outcome=np.arange(50.0)[:, None]
    )
    encoder = Encoder.fit(data)
    assert encoder.own is None
    assert encoder.width == encoder.columns == 1


def test_another_layout_is_refused_with_both_named() -> None:
    encoder = Encoder.fit(recording())
    with pytest.raises(LearnError, match=r"trained on \(ball, paddle, switch; outcome ball\). Got a1, y; outcome y"):
        encoder.encode(collect("1-in", 100))


@pytest.mark.parametrize("categorical", [(), ("switch.at", "next.ball.x")])
def test_an_encoder_comes_back_from_json_as_it_was(categorical: tuple[str, ...]) -> None:
    data = recording(200)
    data = data.replaced(outcome=np.round(np.array(data.outcome)))
    encoder = Encoder.fit(data, categorical=categorical, classes={"ball": "thing"})
    again = Encoder.from_json(data.layout, json.loads(json.dumps(encoder.to_json())))
    ours, theirs = encoder.encode(data), again.encode(data)
    np.testing.assert_array_equal(ours.inputs, theirs.inputs)
    np.testing.assert_array_equal(ours.target, theirs.target)
    assert again.classes == encoder.classes


def test_a_description_that_is_none_is_refused() -> None:
    data = recording()
    with pytest.raises(LearnError, match="Not a description of an encoder"):
        Encoder.from_json(data.layout, {"classes": []})
    with pytest.raises(LearnError, match="does not fit the layout"):
        Encoder.from_json(collect("1-in", 100).layout, Encoder.fit(data).to_json())


def test_names_that_are_not_there_are_refused_with_the_nearest() -> None:
    data = recording()
    with pytest.raises(LearnError, match=r"Unknown factor 'bal' \(classes\); did you mean 'ball'"):
        Encoder.fit(data, classes={"bal": "x"})
    with pytest.raises(LearnError, match="did you mean 'switch'"):
        Encoder.fit(data, categorical=["swich.at"])
    with pytest.raises(LearnError, match=r"Unknown categorical feature 'switch\.att'; did you mean 'at'"):
        Encoder.fit(data, categorical=["switch.att"])
    with pytest.raises(LearnError, match="must have the same features"):
        Encoder.fit(data, classes={"ball": "x", "paddle": "x"})
    with pytest.raises(DataError, match="64 are the most"):
        Encoder.fit(data, categorical=["ball.x"])


def test_what_networks_predict_is_decoded_into_the_outcomes_own_units() -> None:
    data = collect("push", 400)
    encoder = Encoder.fit(data)
    assert np.allclose(encoder.decode(data, encoder.encode(data).target), data.outcome, atol=1e-5)


def test_a_categorical_outcome_is_decoded_into_one_of_its_values() -> None:
    state = np.random.default_rng(0).random((50, 2, 1))
    outcome = np.arange(50)[:, None] % 3
    data = Transitions(factors=["a", "b"], state=state, outcome=outcome, metadata={"categorical": ["next.y0"]})
    encoder = Encoder.fit(data)
    assert np.array_equal(encoder.decode(data, encoder.encode(data).target), outcome)
