"""Causes by counterfactuals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError
from actcause.learn.methods.cf import Counterfactual, _distance
from actcause.learn.training.forward import Batch, plain_prediction


def measure_scores(learner: Counterfactual, data: Transitions) -> np.ndarray:
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))
    return np.asarray(_distance(learner.nets_, batch))


def test_the_score_is_the_mean_change_of_the_prediction_when_a_factor_is_replaced() -> None:
    data = collect("3-in", 300)
    learner = Counterfactual(steps=30, width=16, samples=3).fit(data)
    encoder, pool = learner.encoder_, learner.nets_["pool"].values[0].numpy()  # type: ignore[union-attr, index]

    def predict(part: Transitions) -> np.ndarray:
        with torch.no_grad():
            return plain_prediction(learner.nets_, Batch.of(encoder.encode(part), encoder, torch.device("cpu"))).numpy()

    for factor in range(3):
        moved = np.zeros(300)
        for values in pool:
            state = data.state.copy()
            state[:, factor] = values[factor, :4] * encoder.scale[factor, :4] + encoder.mean[factor, :4]
            moved += np.abs(predict(data.replaced(state=state, cause=None)) - predict(data)).mean(axis=1)
        assert np.allclose(measure_scores(learner, data)[:, factor], moved / 3, atol=1e-4)


def test_observed_replacements_were_seen_and_uniform_ones_fill_the_range() -> None:
    data = collect("1-in", 400)
    for replacement in ("observed", "uniform"):
        learner = Counterfactual(steps=5, width=8, samples=50, replacement=replacement).fit(data)
        pool = learner.nets_["pool"].values[0, :, 0, :4].numpy()  # type: ignore[union-attr, index]
        seen = learner.encoder_.encode(data).inputs[:, 0, :4]
        known = (np.abs(pool[:, None] - seen[None]).max(axis=2) < 1e-6).any(axis=1)
        assert known.all() if replacement == "observed" else not known.any()
        assert (pool >= seen.min(axis=0) - 1e-6).all()
        assert (pool <= seen.max(axis=0) + 1e-6).all()


def test_uniform_replacements_of_a_categorical_feature_are_values_it_can_have() -> None:
    generator = np.random.default_rng(0)
    state = np.stack([generator.normal(size=300), generator.integers(0, 3, 300)], axis=1)[:, :, None]
    data = Transitions(
        factors=["a", "kind"], state=state, outcome=state[:, 0] + (state[:, 1] == 2), own="a",
        metadata={"categorical": ["kind.x0"]},
    )  # fmt: skip
    learner = Counterfactual(steps=5, width=8, replacement="uniform").fit(data)
    pool = learner.nets_["pool"].values[0, :, 1, :3].numpy()  # type: ignore[union-attr, index]
    on = pool * learner.encoder_.scale[1, :3] + learner.encoder_.mean[1, :3]
    assert np.allclose(np.sort(on, axis=1), [0, 0, 1], atol=1e-6)


def test_an_unknown_replacement_is_refused() -> None:
    with pytest.raises(LearnError, match="must be 'observed' or 'uniform'"):
        Counterfactual(replacement="gauss").fit(collect("1-in", 200))
