"""Causes by gradients: a factor is named where a small change of it would change the prediction.

    b_i = 1( || dy / ds_i ||_1 > threshold )        (Wang et al. 2023, ELDEN; the paper's baseline Grad)

The gradient is that of a forward model that sees all factors; columns that tell a factor's distance from the outcome
follow the factor's own features. The threshold is chosen without labels, see `thresholds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..training.columns import Relative, spans
from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training, error_loss, plain_model
from ..training.layers import beside_own
from ..training.loop import Loss, LossValues, Settings
from ..training.networks import MaskedModel, Nets, find_network
from .score import ScoreLearner


@final
@dataclass(kw_only=True)
class Gradient(ScoreLearner):
    """Names factors with a large input gradient (`grad`).

    `gradient_penalty` adds the gradients' size to the loss, as ELDEN does. `penalty` is the least that naming a
    factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Gradient(steps=50, width=16).fit(data).predict(data).shape
    (1000, 2)
    """

    learning_rate: float = 1.5e-3
    gradient_penalty: float = 0.0
    penalty: float = 0.02

    method: ClassVar[str] = "grad"
    summary: ClassVar[str] = "input gradients of a forward model above a threshold"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require("gradient_penalty", self.gradient_penalty >= 0, "0 or more")

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {"forward": plain_model(encoder, replicas, width=self.width, layers=self.layers)}

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _score}

    def make_loss(self, training: Training) -> Loss:
        encoders = [replica.encoder for replica in training.replicas]
        relative = Relative.of(encoders, training.device)
        measured, outputs = _mark_own_columns(encoders[0], training.device), encoders[0].outputs

        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
            model, there = find_network(training.nets, "forward", MaskedModel), training.there(index)
            inputs, target = training.rows.inputs[index], training.surprises.target[index]
            missed = model(model.embedding(beside_own(inputs, training.rows.own)), there.unsqueeze(1))[:, 0] - target
            fitted, values = error_loss(missed).mean(1), {"error": missed.detach().abs().mean()}
            if self.gradient_penalty:
                # Every row is copied for each output: so many fewer rows cost as much as the error itself.
                some, own = slice(None, None, outputs), training.rows.own
                size = _sizes(model, inputs[:, some], there[:, some], own, relative, measured, outputs, learned=True)
                fitted = fitted + self.gradient_penalty * size.sum(-1).mean(1)
                values["gradient"] = size.detach().mean()
            return fitted.sum(), values

        return loss

    def captures_graph(self) -> bool:
        return not self.gradient_penalty


def _score(nets: Nets, batch: Batch) -> Tensor:
    device = batch.inputs.device
    relative, measured = Relative.of([batch.encoder], device), _mark_own_columns(batch.encoder, device)
    model, inputs = find_network(nets, "forward", MaskedModel), batch.inputs.unsqueeze(0)
    return _sizes(model, inputs, batch.present.unsqueeze(0), batch.own, relative, measured, batch.encoder.outputs)[0]


def _mark_own_columns(encoder: Encoder, device: torch.device) -> Tensor:
    """Mark columns that hold a feature of the factor itself: (factors, columns), 1 for these."""
    mask = torch.zeros(len(encoder.classes), encoder.columns, device=device)
    for span in spans(encoder):
        mask[span.factor, span.start : span.stop] = 1
    return mask


def _sizes(
    model: MaskedModel,
    inputs: Tensor,
    there: Tensor,
    own: int | None,
    relative: Relative | None,
    measured: Tensor,
    outputs: int,
    *,
    learned: bool = False,
) -> Tensor:
    """Sum the absolute derivatives of all outputs by a factor's own features: (groups, rows, factors)."""
    groups, rows, factors, _ = inputs.shape
    with torch.enable_grad():
        # A copy of the rows for every output, so that one backward pass gives the derivatives of each.
        copies = inputs.detach().repeat(1, outputs, 1, 1).requires_grad_()
        present = there.repeat(1, outputs, 1)
        changed = copies if relative is None else relative.update(copies)
        predicted = model(model.embedding(beside_own(changed, own)), present.unsqueeze(1))[:, 0]
        chosen = predicted.reshape(groups, outputs, rows, outputs).diagonal(dim1=1, dim2=3).sum()
        (slopes,) = torch.autograd.grad(chosen, copies, create_graph=learned)
    sizes = (slopes.abs() * measured).sum(-1).reshape(groups, outputs, rows, factors).sum(1)
    sizes = sizes * there
    if own is None:
        return sizes
    others = torch.ones(factors, device=inputs.device)
    others[own] = 0
    return sizes * others
