"""Thresholds chosen without labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from actcause.data import Transitions
from actcause.learn.methods.grad import Gradient
from actcause.learn.methods.granger import Pairwise
from actcause.learn.training.forward import Batch, Training
from actcause.learn.training.networks import Nets
from actcause.learn.training.replica import prepare_replica
from actcause.learn.training.session import Session
from actcause.learn.training.thresholds import Threshold, likelihood

CPU = torch.device("cpu")


def make_switch(rate: float, rows: int = 4000) -> Transitions:
    """A value that another one is added to where a switch, 0 to 1, is above 1 - rate: that is the score, too."""
    generator = np.random.default_rng(0)
    state = generator.normal(size=(rows, 2, 2))
    state[:, 1, 1] = generator.random(rows)
    outcome = state[:, 0, :1] + 2 * np.where(state[:, 1, 1] > 1 - rate, state[:, 1, 0], 0)[:, None]
    return Transitions(
        factors=["value", "other"],
        features={"value": ["x", "y"], "other": ["x", "switch"]},
        outcome_features=["x"],
        state=state,
        outcome=outcome,
        own="value",
    )


def switch(nets: Nets, batch: Batch) -> Tensor:
    column = batch.inputs[:, 1, 1] * float(batch.encoder.scale[1, 1]) + float(batch.encoder.mean[1, 1])
    return torch.stack([torch.zeros_like(column), column], dim=1)


def constant(nets: Nets, batch: Batch) -> Tensor:
    return torch.zeros(len(batch), 2)


def chosen(data: Transitions, steps: int = 500, **scores: object) -> Mapping[str, Mapping[str, float]]:
    kind = Gradient if len(scores) == 1 else Pairwise
    replica = prepare_replica(kind(steps=steps, width=8), data)
    session = Session(CPU, 0)
    training = Training([replica], session)
    threshold = Threshold(training, (), scores, 0.02)  # type: ignore[arg-type]
    threshold.prepare()
    nets: dict[str, nn.Module] = {"named": training.nets["named"]}
    session.train(nets, [threshold.stage(steps)])
    return threshold.cuts(0)


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_a_score_that_tells_causes_is_cut_where_causes_begin(rate: float) -> None:
    found = chosen(make_switch(rate), state=switch)["state"]
    assert found["cut"] == pytest.approx(1 - rate, abs=0.06)
    assert found["named"] == pytest.approx(rate, abs=0.1)


def test_each_kind_of_score_has_its_own_threshold() -> None:
    found = chosen(make_switch(0.5), state=switch, hindsight=lambda nets, batch: -10 + 4 * switch(nets, batch))
    assert found["hindsight"]["cut"] == pytest.approx(-8, abs=0.3)
    assert found["state"]["cut"] == pytest.approx(0.5, abs=0.08)


def test_a_score_that_never_varies_names_all_or_nothing() -> None:
    assert chosen(make_switch(0.5), steps=50, state=constant)["state"]["named"] in (0.0, 1.0)


def test_the_likelihood_keeps_the_order_and_is_a_half_at_the_threshold() -> None:
    scores = np.array([-1e6, -1.0, 2.0, 2.1, 1e6])
    found = likelihood(scores, {"cut": 2.0, "spread": 0.5})
    assert found[2] == 0.5
    assert bool((np.diff(found) > 0).all())
    assert 0 < found[0] < found[-1] < 1
