"""Causes by gradients: a factor is named where a small change of it would change the prediction.

    b_i = 1( || dy / ds_i ||_1 > threshold )        (Wang et al. 2023, ELDEN; the paper's baseline Grad)

The gradient is that of a forward model that sees all factors; columns that tell a factor's distance from the outcome
follow the factor's own features. The threshold is chosen without labels, see `thresholds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..learner import Array, Learner
from ..training.batches import beside_own
from ..training.columns import Relative, spans
from ..training.encoding import Encoded, Encoder
from ..training.events import own_state_model
from ..training.forward import (
    DECAY,
    Batch,
    Course,
    Nets,
    answered,
    check_training,
    masked,
    missing,
    plain_model,
    plain_prediction,
)
from ..training.loop import Settings, Stage, one_cycle
from ..training.networks import MaskedModel
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import Threshold, likelihood, named_model


@final
@dataclass(kw_only=True)
class Gradient(Learner):
    """Names factors with a large input gradient (`grad`).

    `gradient_penalty` adds the gradients' size to the loss, as ELDEN does. `penalty` is the least that naming a
    factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 4000)
    >>> Gradient(steps=100, width=32).fit(data).predict(data).shape
    (4000, 2)
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    learning_rate: float = 1.5e-3
    gradient_penalty: float = 0.0
    penalty: float = 0.02

    method: ClassVar[str] = "grad"
    summary: ClassVar[str] = "input gradients of a forward model above a threshold"

    def check_options(self) -> None:
        super().check_options()
        check_training(self)
        self.require("gradient_penalty", self.gradient_penalty >= 0, "0 or more")

    def networks(self, encoder: Encoder, runs: int) -> dict[str, nn.Module]:
        return {
            "passive": own_state_model(encoder, runs),
            "forward": plain_model(encoder, runs, width=self.width, layers=self.layers),
            "named": named_model(encoder, runs),
        }

    @classmethod
    def learn(cls, runs: Sequence[Replica], session: Session) -> None:
        learner = runs[0].learner
        assert isinstance(learner, Gradient)
        course = Course(runs, session)
        threshold = Threshold(course, ("forward",), {"state": _score}, learner.penalty)
        session.train(
            course.nets,
            [*course.stages(learner.steps), _stage(course, learner, threshold), threshold.stage(learner.steps)],
        )
        for position in range(len(runs)):
            course.finish(position, ("forward",), threshold.cuts(position), plain_prediction)

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _score), self.learned_["state"])


def _stage(course: Course, learner: Gradient, threshold: Threshold) -> Stage:
    encoders = [run.encoder for run in course.runs]
    relative = Relative.of(encoders, course.device)
    measured, outputs = _measured(encoders[0], course.device), encoders[0].outputs

    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        model, there, target = masked(course.nets, "forward"), course.there(index), course.events.target[index]
        inputs = course.rows.inputs[index]
        missed = model(model.embedding(beside_own(inputs, course.rows.own)), there.unsqueeze(1))[:, 0] - target
        fitted, values = missing(missed).mean(1), {"error": missed.detach().abs().mean()}
        if learner.gradient_penalty:
            # Every row is copied for each output: so many fewer rows cost as much as the error itself.
            some, own = slice(None, None, outputs), course.rows.own
            size = _sizes(model, inputs[:, some], there[:, some], own, relative, measured, outputs, learned=True)
            fitted = fitted + learner.gradient_penalty * size.sum(-1).mean(1)
            values["gradient"] = size.detach().mean()
        return fitted.sum(), values

    return Stage(
        "forward", learner.steps, loss, course.sampler("forward", learner.batch), {"forward": 1.0},
        one_cycle(learner.learning_rate), weight_decay={"forward": DECAY}, end=threshold.prepare,
        graph=not learner.gradient_penalty,
    )  # fmt: skip


def _score(nets: Nets, batch: Batch) -> Tensor:
    device = batch.inputs.device
    relative, measured = Relative.of([batch.encoder], device), _measured(batch.encoder, device)
    model, inputs = masked(nets, "forward"), batch.inputs.unsqueeze(0)
    return _sizes(model, inputs, batch.present.unsqueeze(0), batch.own, relative, measured, batch.encoder.outputs)[0]


def _measured(encoder: Encoder, device: torch.device) -> Tensor:
    """(factors, columns): 1 for columns that hold a feature of the factor itself."""
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
    """(groups, rows, factors): the summed absolute derivatives of all outputs by a factor's own features."""
    groups, rows, factors, _ = inputs.shape
    with torch.enable_grad():
        # A copy of the rows for every output, so that one backward pass gives the derivatives of each.
        copies = inputs.detach().repeat(1, outputs, 1, 1).requires_grad_()
        present = there.repeat(1, outputs, 1)
        changed = copies if relative is None else relative.followed(copies)
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
