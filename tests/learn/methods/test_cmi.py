"""Causes by leaving one out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn.methods.cmi import LeaveOneOut, _divergence, _gap, _with_and_without
from actcause.learn.training.forward import Batch


@pytest.fixture(scope="module")
def learner_and_rows() -> tuple[LeaveOneOut, Batch]:
    data = collect("3-in", 400)
    learner = LeaveOneOut(steps=30, width=16, batch=128).fit(data)
    return learner, Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))


def test_the_gap_is_the_difference_of_the_log_likelihoods(learner_and_rows: tuple[LeaveOneOut, Batch]) -> None:
    learner, batch = learner_and_rows
    middle, spread, without, wider = _with_and_without(learner.nets_, batch)
    laplace = torch.distributions.Laplace
    wanted = (laplace(middle, spread).log_prob(batch.target) - laplace(without, wider).log_prob(batch.target)).mean(-1)
    assert torch.allclose(_gap(learner.nets_, batch), wanted.T, atol=1e-4)


def test_the_divergence_is_what_the_model_expects_of_the_gap(learner_and_rows: tuple[LeaveOneOut, Batch]) -> None:
    learner, batch = learner_and_rows
    middle, spread, without, wider = _with_and_without(learner.nets_, batch)
    laplace = torch.distributions.Laplace
    wanted = torch.distributions.kl_divergence(laplace(middle, spread), laplace(without, wider)).mean(-1)
    assert torch.allclose(_divergence(learner.nets_, batch), wanted.T, atol=1e-4)
    assert float(_divergence(learner.nets_, batch).min()) > -1e-4


def test_an_outcome_that_needs_a_factor_names_it_and_not_another() -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(2000, 3, 1))
    data = Transitions(factors=["a", "b", "c"], state=state, outcome=state[:, 0] + 2 * state[:, 1], own="a")
    shares = LeaveOneOut(steps=200, width=16, batch=128).fit(data).explain(data).mean(axis=0)
    assert shares[1] > 0.8
    assert shares[2] < 0.2
