"""Causes by null counterfactuals: a factor is named where the outcome would have been another had it not been there.

    score_i = log p(y | s) - log p(y | s with factor i nulled)        (Chuck et al. 2025, arXiv 2505.03172: NCII)

To null a factor is to take it out of the scene, not to give it another value: the forward model sees the state without
it, as if it were absent. For that the model has to know scenes with fewer objects. Recordings in which objects come and
go have some; more are made while it learns, by nulling one factor of a row, and each other with a chance of `nulling`;
the outcome's own factor never. From the state alone the outcome that is compared is the one that the model expects of
the whole scene.

Where `cmi` asks what one factor tells beyond all others, this asks what its absence would do. The model is a Gaussian
with a spread of its own for each row. While it learns, its likelihood is weighed by the spread, so that surprising rows
do not drown the others (Seitzer et al. 2022). The paper gives the least difference that counts; here it is chosen
without labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training, error_loss
from ..training.loop import Loss, LossValues, Settings
from ..training.networks import MaskedModel, Nets, find_network
from .score import ScoreLearner

FLOOR = 0.01  # no prediction is taken to be surer than this share of the outcome's spread


@final
@dataclass(kw_only=True)
class NullCounterfactual(ScoreLearner):
    """Names factors whose absence would have changed the outcome (`ncii`).

    While the forward model learns, one factor is taken out of a row, and each other with the chance `nulling`.
    `explain` uses the likelihood of the observed outcome, `predict` that of the outcome which the model expects.
    `penalty` is the least that naming a factor costs when the threshold is chosen, in spreads of the outcome.
    `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> NullCounterfactual(steps=50, width=16).fit(data).explain(data).shape
    (1000, 2)
    """

    learning_rate: float = 1.5e-3
    penalty: float = 0.02
    nulling: float = 0.1

    method: ClassVar[str] = "ncii"
    summary: ClassVar[str] = "likelihood of the outcome in a world without each factor"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require("nulling", 0 < self.nulling < 1, "between 0 and 1")

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        shape = {"width": self.width, "layers": self.layers}
        return {"forward": MaskedModel(replicas, encoder.class_index, encoder.width, 2 * encoder.outputs, **shape)}

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _compare_expected, "hindsight": _compare_observed}

    def make_loss(self, training: Training) -> Loss:
        own, factors = training.rows.own, training.rows.factors

        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
            drawn = torch.rand(*index.shape, factors, device=index.device, generator=generator)
            if own is not None:
                drawn[..., own] = 2  # it is never nulled
            left = ((drawn >= self.nulling) & (drawn > drawn.amin(-1, keepdim=True))).float()
            shown = torch.stack([torch.ones_like(left), left], dim=1) * training.there(index).unsqueeze(1)
            model, embedded = training.embedding("forward", index)
            middle, spread = _read(model(embedded, shown))
            target = training.surprises.target[index].unsqueeze(1)
            surprise = (-_log_likelihood(target, middle, spread) * spread.detach()).mean(-1)
            missed = middle - target
            # Errors keep rare events from being given up for a wide spread.
            fitted = surprise + error_loss(missed)
            values = {"error": missed[:, 0].detach().abs().mean(), "surprise": surprise.detach().mean()}
            return fitted.mean(dim=(1, 2)).sum(), values

        return loss

    @classmethod
    def predict_outcome(cls, nets: Nets, batch: Batch) -> Tensor:
        return _worlds(nets, batch)[0][0]


def _read(predicted: Tensor) -> tuple[Tensor, Tensor]:
    """Read the mean and the standard deviation of a Gaussian for each of the outcome's columns."""
    middle, width = predicted.chunk(2, dim=-1)
    return middle, FLOOR + functional.softplus(width)


def _log_likelihood(outcome: Tensor, middle: Tensor, spread: Tensor) -> Tensor:
    return -((outcome - middle) / spread).square() / 2 - spread.log() - math.log(2 * math.pi) / 2


def _worlds(nets: Nets, batch: Batch) -> tuple[Tensor, Tensor]:
    """Mean and deviation, (1 + factors, rows, outputs): in the world as it is, and in those without each factor."""
    model = find_network(nets, "forward", MaskedModel)
    every = torch.ones(1, batch.present.shape[1], device=batch.inputs.device)
    without = 1 - torch.eye(batch.present.shape[1], device=batch.inputs.device)
    shown = torch.cat([every, without]).unsqueeze(1) * batch.present
    return _read(model(model.embedding(batch.network_inputs), shown.unsqueeze(0))[0])


def _difference(nets: Nets, batch: Batch, observed: Tensor | None) -> Tensor:
    """(rows, factors): the log-likelihood of the outcome, or of the one expected, that is lost without each factor."""
    middle, spread = _worlds(nets, batch)
    likelihood = _log_likelihood(middle[0] if observed is None else observed, middle, spread).mean(-1)
    return (likelihood[0] - likelihood[1:]).T * batch.present


@torch.no_grad()
def _compare_expected(nets: Nets, batch: Batch) -> Tensor:
    return _difference(nets, batch, None)


@torch.no_grad()
def _compare_observed(nets: Nets, batch: Batch) -> Tensor:
    return _difference(nets, batch, batch.target)
