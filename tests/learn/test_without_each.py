"""What a learned model predicts without each factor."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import ExchangeJACI, Learner, MaskJACI, PaperJACI, predict_without_each
from actcause.learn.training import surprises


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
def test_a_model_of_the_whole_state_predicts_without_each_factor(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 20)
    data = collect(domain, 600, seed=3)
    check_own_state_counts(ExchangeJACI(steps=60, distil_steps=5, width=16, labelled=100).fit(data), data)


@pytest.mark.parametrize("method", [MaskJACI, PaperJACI])
def test_a_masked_model_predicts_without_each_factor(method: type[Learner]) -> None:
    data = collect("1-in", 1000, seed=3)
    check_own_state_counts(method(steps=60, width=16).fit(data), data)
