"""Causes by null counterfactuals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError
from actcause.learn.methods.ncii import NullCounterfactual, _compare_expected, _compare_observed, _worlds
from actcause.learn.training.forward import Batch

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def learner_and_rows() -> tuple[NullCounterfactual, Batch, Transitions]:
    data = collect("3-in", 400)
    learner = NullCounterfactual(steps=30, width=16, batch=128, device="cpu").fit(data)
    return learner, Batch.of(learner.encoder_.encode(data), learner.encoder_, CPU), data


Fitted = tuple[NullCounterfactual, Batch, Transitions]


def test_the_score_is_the_difference_of_the_log_likelihoods(learner_and_rows: Fitted) -> None:
    learner, batch, _ = learner_and_rows
    worlds = torch.distributions.Normal(*_worlds(learner.nets_, batch))
    for score, outcome in ((_compare_observed, batch.target), (_compare_expected, worlds.mean[0])):
        likelihood = worlds.log_prob(outcome).mean(-1)
        assert torch.allclose(score(learner.nets_, batch), (likelihood[0] - likelihood[1:]).T, atol=1e-3)


def test_a_world_without_a_factor_does_not_see_it(learner_and_rows: Fitted) -> None:
    learner, batch, data = learner_and_rows
    state = data.state.copy()
    state[:, 1] = 0.5
    other = learner.encoder_.encode(data.replaced(state=state, cause=None))
    before, after = (_worlds(learner.nets_, each)[0] for each in (batch, Batch.of(other, learner.encoder_, CPU)))
    assert [torch.equal(before[k], after[k]) for k in range(5)] == [False, False, True, False, False]


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_what_would_not_have_happened_without_a_factor_names_it_and_no_other(absent: float) -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(2000, 3, 1))
    mask = np.ones((2000, 3), dtype=bool)
    mask[:, 1:] = generator.random((2000, 2)) >= absent
    outcome = state[:, 0] + 2 * np.where(mask[:, 1:2], state[:, 1], 0)
    data = Transitions(factors=["a", "b", "c"], state=state, outcome=outcome, own="a", mask=mask if absent else None)
    learner = NullCounterfactual(steps=200, width=16, batch=128, device="cpu").fit(data)
    for named in (learner.explain(data), learner.predict(data)):
        assert named[mask[:, 1], 1].mean() > 0.7 - absent  # whose absence is known to do little where it is small
        assert named[:, 2].mean() < 0.2
        assert not named[~mask].any()


def test_a_chance_that_is_none_is_refused() -> None:
    with pytest.raises(LearnError, match="'nulling' parameter of NullCounterfactual must be between 0 and 1"):
        NullCounterfactual(nulling=1.0).fit(collect("1-in", 500))
