"""What a learned model predicts without each factor."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import (
    ExchangeJACI,
    Learner,
    MaskJACI,
    Never,
    PaperJACI,
    add_predictions_without_each,
    predict_without_each,
)

pytestmark = pytest.mark.usefixtures("brief_surprises")


def check_own_state_counts(learner: Learner, data: Transitions) -> None:
    """Without its own state the outcome is predicted worse than from everything."""
    predicted = predict_without_each(learner, data)
    assert predicted is not None
    everything, without = predicted
    assert everything.shape == np.shape(data.outcome)
    assert without.shape == (len(data.factors), *everything.shape)
    own = data.factors.index(str(data.own))
    assert np.abs(without[own] - data.outcome).mean() > np.abs(everything - data.outcome).mean()


@pytest.mark.parametrize("domain", ["1-in", "door-key"])
def test_a_model_of_the_whole_state_predicts_without_each_factor(domain: str) -> None:
    data = collect(domain, 600, seed=3)
    check_own_state_counts(ExchangeJACI(steps=60, distil_steps=5, width=16, labelled=100).fit(data), data)


@pytest.mark.parametrize(
    "learner",
    [MaskJACI(steps=60, distil_steps=5, width=16), PaperJACI(steps=60, pretrain=200, width=16)],
    ids=lambda one: one.method,
)
def test_a_masked_model_predicts_without_each_factor(learner: Learner) -> None:
    data = collect("1-in", 1000, seed=3)
    check_own_state_counts(learner.fit(data), data)


def test_predictions_stand_beside_the_rows_unless_they_would_be_too_many() -> None:
    data = collect("1-in", 1000, seed=3)
    learner = MaskJACI(steps=30, distil_steps=5, width=8).fit(data)
    added = add_predictions_without_each(learner, data).extra
    name = data.outcome_features[0]
    predicted = predict_without_each(learner, data)
    assert predicted is not None
    assert np.allclose(added[f"expected.{name}"], predicted[0][:, 0], atol=1e-6)
    assert np.allclose(added[f"without.a1.{name}"], predicted[1][data.factors.index("a1"), :, 0], atol=1e-6)
    assert f"without.{data.own}.{name}" not in added
    assert add_predictions_without_each(learner, data, most_columns=1) is data
    assert add_predictions_without_each(Never().fit(data), data) is data
