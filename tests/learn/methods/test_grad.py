"""Causes by gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError
from actcause.learn.methods.grad import Gradient, _score
from actcause.learn.training.forward import Batch, plain_prediction


def differentiate(learner: Gradient, data: Transitions, factor: int) -> np.ndarray:
    """The derivatives by finite differences of the recorded features, in encoded units."""

    def predict_outcome(state: np.ndarray) -> np.ndarray:
        encoded = learner.encoder_.encode(data.replaced(state=state, cause=None))
        with torch.no_grad():
            batch = Batch.of(encoded, learner.encoder_, torch.device("cpu"))
            return plain_prediction(learner.nets_, batch).double().numpy()

    total = np.zeros(len(data))
    for feature in range(len(data.features[data.factors[factor]])):
        step = 1e-2 * learner.encoder_.scale[factor, feature]
        moved = [data.state.copy() for _ in range(2)]
        moved[0][:, factor, feature] += step
        moved[1][:, factor, feature] -= step
        total += np.abs(predict_outcome(moved[0]) - predict_outcome(moved[1])).sum(axis=1) / 2e-2
    return total


def test_the_score_is_the_gradient_by_a_factors_own_features() -> None:
    data = collect("3-in", 300)
    learner = Gradient(steps=40, width=16).fit(data)
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))
    score = _score(learner.nets_, batch).numpy()
    for factor in range(3):
        assert np.allclose(score[:, factor], differentiate(learner, data, factor), rtol=0.05, atol=0.02)


def test_gradients_do_clearly_better_than_chance() -> None:
    data = collect("1-in", 8000)
    train, test = data.split()
    assert Gradient(steps=300, width=48, batch=256).fit(train).score(test) > 0.7


def test_a_gradient_penalty_makes_gradients_smaller() -> None:
    data = collect("1-in", 1000)

    def size(penalty: float) -> float:
        learner = Gradient(steps=60, width=16, batch=128, gradient_penalty=penalty).fit(data)
        batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))
        return float(_score(learner.nets_, batch).mean())

    assert size(0.1) < 0.8 * size(0.0)


def test_a_negative_gradient_penalty_is_refused() -> None:
    with pytest.raises(LearnError, match="'gradient_penalty' parameter of Gradient must be 0 or more"):
        Gradient(gradient_penalty=-1.0).fit(collect("1-in", 200))
