"""Causes in pairs: a factor is named where it predicts the outcome better together with the own state than that alone.

    score_i = error of f(own) - error of f(own, factor i)        (Chuck et al. 2020, 2023)

Each factor has its pairwise model, here one network that is only ever shown the own factor and one other. From the
state alone the score is how far the two predictions are apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..training import masks
from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training, error_loss, plain_model
from ..training.loop import Loss, LossValues, Settings
from ..training.networks import MaskedModel, Nets, find_network
from .score import ScoreLearner


@final
@dataclass(kw_only=True)
class Pairwise(ScoreLearner):
    """Names factors that predict the outcome better in a pair with its own state (`granger`).

    `explain` uses the errors on the observed outcome, `predict` the distance of the two predictions. `penalty` is the
    least that naming a factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba` ranks; it
    is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Pairwise(steps=50, width=16).fit(data).explain(data).shape
    (1000, 2)
    """

    learning_rate: float = 1.5e-3
    penalty: float = 0.02

    method: ClassVar[str] = "granger"
    summary: ClassVar[str] = "error of the own state alone and of pairs with each factor"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {"forward": plain_model(encoder, replicas, width=self.width, layers=self.layers)}

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _apart, "hindsight": _drop}

    def make_loss(self, training: Training) -> Loss:
        factors = training.rows.factors
        alone = masks.only(factors, training.rows.own, training.device)

        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
            drawn = torch.rand(len(index), 2, index.shape[1], factors, device=index.device, generator=generator)
            drawn = drawn - 2 * alone
            partner = (drawn == drawn.amax(-1, keepdim=True)).float()
            shown = torch.cat([alone.expand(len(index), 1, index.shape[1], factors), partner + alone], dim=1)
            model, embedded = training.embedding("forward", index)
            target = training.surprises.target[index].unsqueeze(1)
            missed = model(embedded, shown * training.there(index).unsqueeze(1)) - target
            fitted = error_loss(missed)
            # The own state must tell what usually happens, so its rows count as often as they come.
            own = fitted[:, 0] * training.surprises.natural[index]
            error = missed.detach().abs().mean(dim=(0, 2, 3))
            return (own + fitted[:, 1] + fitted[:, 2]).mean(1).sum() / 3, {"own": error[0], "pairs": error[1:].mean()}

        return loss

    @classmethod
    def predict_outcome(cls, nets: Nets, batch: Batch) -> Tensor:
        """Predict by the pair whose predictions fit best over all rows: what this method knows at most."""
        _, pairs = _predictions(nets, batch)
        return pairs[(pairs - batch.target).abs().mean(dim=(1, 2)).argmin()]


@torch.no_grad()
def _predictions(nets: Nets, batch: Batch) -> tuple[Tensor, Tensor]:
    """Predict from the own state alone (rows, outputs), and from each pair (factors, rows, outputs)."""
    model = find_network(nets, "forward", MaskedModel)
    factors = batch.present.shape[1]
    alone = masks.only(factors, batch.own, batch.inputs.device)
    pairs = torch.cat([alone.unsqueeze(0), torch.maximum(torch.eye(factors, device=alone.device), alone)])
    predicted = model(model.embedding(batch.network_inputs), (pairs.unsqueeze(1) * batch.present).unsqueeze(0))[0]
    return predicted[0], predicted[1:]


def _apart(nets: Nets, batch: Batch) -> Tensor:
    """Measure, from the state alone, how far the pair's prediction is from the own state's."""
    own, pairs = _predictions(nets, batch)
    return (pairs - own).abs().mean(-1).T * batch.present


def _drop(nets: Nets, batch: Batch) -> Tensor:
    """Measure, in hindsight, by how much the pair's error is smaller."""
    own, pairs = _predictions(nets, batch)
    drop = (own - batch.target).abs().mean(-1) - (pairs - batch.target).abs().mean(-1)
    return drop.T * batch.present
