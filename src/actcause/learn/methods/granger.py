"""Causes in pairs: a factor is named where it predicts the outcome better together with the own state than that alone.

    score_i = error of f(own) - error of f(own, factor i)        (Chuck et al. 2020, 2023)

Each factor has its pairwise model, here one network that is only ever shown the own factor and one other. From the
state alone the score is how far the two predictions are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..learner import Array, Learner
from ..training import masks
from ..training.encoding import Encoded, Encoder
from ..training.events import own_state_model
from ..training.forward import DECAY, Batch, Course, Nets, answered, check_training, masked, missing, plain_model
from ..training.loop import Settings, Stage, one_cycle
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import Threshold, likelihood, named_model


@final
@dataclass(kw_only=True)
class Pairwise(Learner):
    """Names factors that predict the outcome better in a pair with its own state (`granger`).

    `explain` uses the errors on the observed outcome, `predict` the distance of the two predictions. `penalty` is the
    least that naming a factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba` ranks; it
    is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 4000)
    >>> Pairwise(steps=100, width=32).fit(data).explain(data).shape
    (4000, 2)
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    learning_rate: float = 1.5e-3
    penalty: float = 0.02

    method: ClassVar[str] = "granger"
    summary: ClassVar[str] = "error of the own state alone and of pairs with each factor"

    def check_options(self) -> None:
        super().check_options()
        check_training(self)

    def networks(self, encoder: Encoder, runs: int) -> dict[str, nn.Module]:
        return {
            "passive": own_state_model(encoder, runs),
            "forward": plain_model(encoder, runs, width=self.width, layers=self.layers),
            "named": named_model(encoder, runs, kinds=2),
        }

    @classmethod
    def learn(cls, runs: Sequence[Replica], session: Session) -> None:
        learner = runs[0].learner
        assert isinstance(learner, Pairwise)
        course = Course(runs, session)
        threshold = Threshold(course, ("forward",), {"state": _apart, "hindsight": _drop}, learner.penalty)
        session.train(
            course.nets,
            [*course.stages(learner.steps), _stage(course, learner, threshold), threshold.stage(learner.steps)],
        )
        for position in range(len(runs)):
            course.finish(position, ("forward",), threshold.cuts(position), _best_pair)

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _apart), self.learned_["state"])

    def _hindsight(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _drop), self.learned_["hindsight"])


def _stage(course: Course, learner: Pairwise, threshold: Threshold) -> Stage:
    factors = course.rows.factors
    alone = masks.only(factors, course.rows.own, course.device)

    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        drawn = torch.rand(len(index), 2, index.shape[1], factors, device=index.device, generator=generator)
        drawn = drawn - 2 * alone
        partner = (drawn == drawn.amax(-1, keepdim=True)).float()
        shown = torch.cat([alone.expand(len(index), 1, index.shape[1], factors), partner + alone], dim=1)
        model, embedded = course.embedding("forward", index)
        target = course.events.target[index].unsqueeze(1)
        missed = model(embedded, shown * course.there(index).unsqueeze(1)) - target
        fitted = missing(missed)
        # The own state must tell what usually happens, so its rows count as often as they come.
        own = fitted[:, 0] * course.events.natural[index]
        error = missed.detach().abs().mean(dim=(0, 2, 3))
        return (own + fitted[:, 1] + fitted[:, 2]).mean(1).sum() / 3, {"own": error[0], "pairs": error[1:].mean()}

    return Stage(
        "forward", learner.steps, loss, course.sampler("forward", learner.batch), {"forward": 1.0},
        one_cycle(learner.learning_rate), weight_decay={"forward": DECAY}, end=threshold.prepare,
    )  # fmt: skip


@torch.no_grad()
def _predictions(nets: Nets, batch: Batch) -> tuple[Tensor, Tensor]:
    """From the own state alone (rows, outputs), and from each pair (factors, rows, outputs)."""
    model = masked(nets, "forward")
    factors = batch.present.shape[1]
    alone = masks.only(factors, batch.own, batch.inputs.device)
    pairs = torch.cat([alone.unsqueeze(0), torch.maximum(torch.eye(factors, device=alone.device), alone)])
    predicted = model(model.embedding(batch.seen), (pairs.unsqueeze(1) * batch.present).unsqueeze(0))[0]
    return predicted[0], predicted[1:]


def _apart(nets: Nets, batch: Batch) -> Tensor:
    """From the state alone: how far the pair's prediction is from the own state's."""
    own, pairs = _predictions(nets, batch)
    return (pairs - own).abs().mean(-1).T * batch.present


def _drop(nets: Nets, batch: Batch) -> Tensor:
    """In hindsight: by how much the pair's error is smaller."""
    own, pairs = _predictions(nets, batch)
    drop = (own - batch.target).abs().mean(-1) - (pairs - batch.target).abs().mean(-1)
    return drop.T * batch.present


def _best_pair(nets: Nets, batch: Batch) -> Tensor:
    """The pair whose predictions fit best over all rows: what this method knows at most."""
    _, pairs = _predictions(nets, batch)
    best = (pairs - batch.target).abs().mean(dim=(1, 2)).argmin()
    return pairs[best]
