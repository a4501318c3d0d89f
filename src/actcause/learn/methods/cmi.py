"""Causes by leaving one out: a factor is named where the outcome is much less likely without it.

    score_i = log p(y | all factors) - log p(y | all but factor i)

This is the pointwise form of the conditional mutual information by which local dependence is often measured (Seitzer
et al. 2021; Wang et al. 2022). One masked model with a spread of its own for each row gives both likelihoods. From
the state alone the score is what the model expects: the divergence of its two predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..training import masks
from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training
from ..training.loop import Loss, LossValues, Settings
from ..training.networks import MaskedModel, Nets, find_network
from .score import ScoreLearner

FLOOR = 0.01  # no prediction is taken to be surer than this share of the outcome's spread


@final
@dataclass(kw_only=True)
class LeaveOneOut(ScoreLearner):
    """Names factors without which the outcome is less likely (`cmi`).

    `explain` uses the likelihood of the observed outcome, `predict` the divergence of the predictions with and without
    the factor. `penalty` is the least that naming a factor costs when the threshold is chosen, in spreads of the
    outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> LeaveOneOut(steps=50, width=16).fit(data).explain(data).shape
    (1000, 2)
    """

    learning_rate: float = 1.5e-3
    penalty: float = 0.02

    method: ClassVar[str] = "cmi"
    summary: ClassVar[str] = "likelihood of the outcome with and without each factor"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        shape = {"width": self.width, "layers": self.layers}
        return {"forward": MaskedModel(replicas, encoder.class_index, encoder.width, 2 * encoder.outputs, **shape)}

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _divergence, "hindsight": _gap}

    def make_loss(self, training: Training) -> Loss:
        own, factors = training.rows.own, training.rows.factors

        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
            shown = masks.random((len(index), 3, index.shape[1], factors), own, generator)
            drawn = torch.rand(*index.shape, factors, device=index.device, generator=generator)
            shown[:, 1] = (drawn < drawn.amax(-1, keepdim=True)).float()  # all but one
            shown[:, 2] = 1
            if own is not None:
                shown[..., own] = 1
            model, embedded = training.embedding("forward", index)
            middle, spread = _read(model(embedded, shown * training.there(index).unsqueeze(1)))
            missed = (middle - training.surprises.target[index].unsqueeze(1)).abs()
            surprise = (missed / spread + spread.log()).mean(-1)
            # The squared error keeps surprising rows from being given up for a wide spread.
            fitted = surprise + missed.square().mean(-1)
            return fitted.mean(dim=(1, 2)).sum(), {
                "error": missed[:, 2].detach().mean(),
                "surprise": surprise.detach().mean(),
            }

        return loss

    @classmethod
    def predict_outcome(cls, nets: Nets, batch: Batch) -> Tensor:
        return _with_and_without(nets, batch)[0]


def _read(predicted: Tensor) -> tuple[Tensor, Tensor]:
    """Read the middle and the spread of a Laplace distribution for each of the outcome's columns."""
    middle, width = predicted.chunk(2, dim=-1)
    return middle, FLOOR + functional.softplus(width)


def _with_and_without(nets: Nets, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Predict middle and spread with all factors (rows, outputs), and without each (factors, rows, outputs)."""
    model = find_network(nets, "forward", MaskedModel)
    factors = batch.present.shape[1]
    left_out = 1 - torch.eye(factors, device=batch.inputs.device)
    shown = torch.cat([torch.ones_like(left_out[:1]), left_out]).unsqueeze(1) * batch.present
    middle, spread = _read(model(model.embedding(batch.network_inputs), shown.unsqueeze(0))[0])
    return middle[0], spread[0], middle[1:], spread[1:]


@torch.no_grad()
def _gap(nets: Nets, batch: Batch) -> Tensor:
    """Measure, in hindsight, the log-likelihood that is lost without each factor."""
    middle, spread, without, wider = _with_and_without(nets, batch)
    lost = (batch.target - without).abs() / wider + wider.log() - (batch.target - middle).abs() / spread - spread.log()
    return lost.mean(-1).T * batch.present


@torch.no_grad()
def _divergence(nets: Nets, batch: Batch) -> Tensor:
    """Measure, from the state alone, Kullback-Leibler's divergence of the prediction without each factor."""
    middle, spread, without, wider = _with_and_without(nets, batch)
    apart = (middle - without).abs()
    expected = (spread * torch.exp(-apart / spread) + apart) / wider + (wider / spread).log() - 1
    return expected.mean(-1).T * batch.present
