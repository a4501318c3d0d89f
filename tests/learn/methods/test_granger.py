"""Causes in pairs."""

from __future__ import annotations

import numpy as np
import torch

from actcause.data import Transitions, collect
from actcause.learn.methods.granger import Pairwise, _apart, _drop, _predictions
from actcause.learn.training.forward import Batch


def test_a_pair_sees_its_factor_and_no_other() -> None:
    data = collect("3-in", 300)
    learner = Pairwise(steps=20, width=16, batch=64).fit(data)
    state = data.state.copy()
    state[:, 1] = 0.5
    changed = [
        Batch.of(learner.encoder_.encode(part), learner.encoder_, torch.device("cpu"))
        for part in (data, data.replaced(state=state, cause=None))
    ]
    (own, pairs), (own_after, pairs_after) = (_predictions(learner.nets_, batch) for batch in changed)
    assert torch.equal(own, own_after)
    assert [torch.equal(pairs[k], pairs_after[k]) for k in range(4)] == [True, False, True, True]
    assert torch.equal(pairs[3], own)


def test_an_outcome_that_needs_a_factor_names_it_and_not_another() -> None:
    generator = np.random.default_rng(0)
    state = generator.normal(size=(2000, 3, 1))
    data = Transitions(factors=["a", "b", "c"], state=state, outcome=state[:, 0] + 2 * state[:, 1], own="a")
    learner = Pairwise(steps=200, width=16, batch=128).fit(data)
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, torch.device("cpu"))
    for score in (_apart, _drop):
        found = score(learner.nets_, batch).mean(0)
        assert float(found[1]) > 4 * float(found[2])
    shares = learner.predict(data).mean(axis=0)
    assert shares[1] > shares[2] + 0.3
