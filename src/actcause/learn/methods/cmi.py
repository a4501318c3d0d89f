"""Causes by leaving one out: a factor is named where the outcome is much less likely without it.

    score_i = log p(y | all factors) - log p(y | all but factor i)

This is the pointwise form of the conditional mutual information by which local dependence is often measured (Seitzer
et al. 2021; Wang et al. 2022). One masked model with a spread of its own for each row gives both likelihoods. From
the state alone the score is what the model expects: the divergence of its two predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..learner import Array, Learner
from ..training import masks
from ..training.encoding import Encoded, Encoder
from ..training.events import own_state_model
from ..training.forward import DECAY, Batch, Course, Nets, answered, check_training, masked
from ..training.loop import Settings, Stage, one_cycle
from ..training.networks import MaskedModel
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import Threshold, likelihood, named_model

FLOOR = 0.01  # no prediction is taken to be surer than this share of the outcome's spread


@final
@dataclass(kw_only=True)
class LeaveOneOut(Learner):
    """Names factors without which the outcome is less likely (`cmi`).

    `explain` uses the likelihood of the observed outcome, `predict` the divergence of the predictions with and without
    the factor. `penalty` is the least that naming a factor costs when the threshold is chosen, in spreads of the
    outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 4000)
    >>> LeaveOneOut(steps=100, width=32).fit(data).explain(data).shape
    (4000, 2)
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    learning_rate: float = 1.5e-3
    penalty: float = 0.02

    method: ClassVar[str] = "cmi"
    summary: ClassVar[str] = "likelihood of the outcome with and without each factor"

    def check_options(self) -> None:
        super().check_options()
        check_training(self)

    def networks(self, encoder: Encoder, runs: int) -> dict[str, nn.Module]:
        shape = {"width": self.width, "layers": self.layers}
        return {
            "passive": own_state_model(encoder, runs),
            "forward": MaskedModel(runs, encoder.class_index, encoder.width, 2 * encoder.outputs, **shape),
            "named": named_model(encoder, runs, kinds=2),
        }

    @classmethod
    def learn(cls, runs: Sequence[Replica], session: Session) -> None:
        learner = runs[0].learner
        assert isinstance(learner, LeaveOneOut)
        course = Course(runs, session)
        kinds = {"state": _divergence, "hindsight": _gap}
        threshold = Threshold(course, ("forward",), kinds, learner.penalty)
        session.train(
            course.nets,
            [*course.stages(learner.steps), _stage(course, learner, threshold), threshold.stage(learner.steps)],
        )
        for position in range(len(runs)):
            course.finish(position, ("forward",), threshold.cuts(position), _prediction)

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _divergence), self.learned_["state"])

    def _hindsight(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _gap), self.learned_["hindsight"])


def _stage(course: Course, learner: LeaveOneOut, threshold: Threshold) -> Stage:
    own, factors = course.rows.own, course.rows.factors

    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        shown = masks.random((len(index), 3, index.shape[1], factors), own, generator)
        drawn = torch.rand(*index.shape, factors, device=index.device, generator=generator)
        shown[:, 1] = (drawn < drawn.amax(-1, keepdim=True)).float()  # all but one
        shown[:, 2] = 1
        if own is not None:
            shown[..., own] = 1
        model, embedded = course.embedding("forward", index)
        middle, spread = _read(model(embedded, shown * course.there(index).unsqueeze(1)))
        missed = (middle - course.events.target[index].unsqueeze(1)).abs()
        surprise = (missed / spread + spread.log()).mean(-1)
        # The squared error keeps rare events from being given up for a wide spread.
        fitted = surprise + missed.square().mean(-1)
        return fitted.mean(dim=(1, 2)).sum(), {
            "error": missed[:, 2].detach().mean(),
            "surprise": surprise.detach().mean(),
        }

    return Stage(
        "forward", learner.steps, loss, course.sampler("forward", learner.batch), {"forward": 1.0},
        one_cycle(learner.learning_rate), weight_decay={"forward": DECAY}, end=threshold.prepare,
    )  # fmt: skip


def _read(predicted: Tensor) -> tuple[Tensor, Tensor]:
    """The middle and the spread of a Laplace distribution for each of the outcome's columns."""
    middle, width = predicted.chunk(2, dim=-1)
    return middle, FLOOR + functional.softplus(width)


def _with_and_without(nets: Nets, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Middle and spread with all factors (rows, outputs), and without each (factors, rows, outputs)."""
    model = masked(nets, "forward")
    factors = batch.present.shape[1]
    left_out = 1 - torch.eye(factors, device=batch.inputs.device)
    shown = torch.cat([torch.ones_like(left_out[:1]), left_out]).unsqueeze(1) * batch.present
    middle, spread = _read(model(model.embedding(batch.seen), shown.unsqueeze(0))[0])
    return middle[0], spread[0], middle[1:], spread[1:]


@torch.no_grad()
def _gap(nets: Nets, batch: Batch) -> Tensor:
    """In hindsight: the log-likelihood that is lost without each factor."""
    middle, spread, without, wider = _with_and_without(nets, batch)
    lost = (batch.target - without).abs() / wider + wider.log() - (batch.target - middle).abs() / spread - spread.log()
    return lost.mean(-1).T * batch.present


@torch.no_grad()
def _divergence(nets: Nets, batch: Batch) -> Tensor:
    """From the state alone: Kullback-Leibler's divergence of the prediction without each factor."""
    middle, spread, without, wider = _with_and_without(nets, batch)
    apart = (middle - without).abs()
    expected = (spread * torch.exp(-apart / spread) + apart) / wider + (wider / spread).log() - 1
    return expected.mean(-1).T * batch.present


def _prediction(nets: Nets, batch: Batch) -> Tensor:
    return _with_and_without(nets, batch)[0]
