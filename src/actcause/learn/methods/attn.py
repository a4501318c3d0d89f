"""Causes by attention: a factor is named where a forward model with attention over factors attends to it.

    b_i = 1( mean over heads of a_i > threshold )        (Rahaman et al. 2022; the paper's baseline Attn)

Every factor is a token, the outcome's own included. All that reaches the prediction goes through the attention. The
paper names what gets more than 1/N; here the threshold is chosen without labels, see `thresholds`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..learner import Array, Learner
from ..training.encoding import Encoded, Encoder
from ..training.events import own_state_model
from ..training.forward import DECAY, Batch, Course, Nets, answered, check_training, missing
from ..training.layers import Linear, perceptron
from ..training.loop import Settings, Stage, one_cycle
from ..training.networks import Embedding
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import Threshold, likelihood, named_model

ABSENT = -1e4  # what a head says to a factor that is not there


@final
@dataclass(kw_only=True)
class Attention(Learner):
    """Names factors that get much of the attention (`attn`).

    `heads` heads attend over the factors; `entropy` is the weight of a loss that makes each attend to few. `penalty`
    is the least that naming a factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba`
    ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 4000)
    >>> Attention(steps=100, width=32).fit(data).predict(data).shape
    (4000, 2)
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    heads: int = 4
    learning_rate: float = 1.5e-3
    entropy: float = 0.0
    penalty: float = 0.02

    method: ClassVar[str] = "attn"
    summary: ClassVar[str] = "attention over factors above a threshold"

    def check_options(self) -> None:
        super().check_options()
        check_training(self, "heads")
        self.require("width", self.width % self.heads == 0, f"a multiple of heads ({self.heads})")
        self.require("entropy", self.entropy >= 0, "0 or more")

    def networks(self, encoder: Encoder, runs: int) -> dict[str, nn.Module]:
        return {
            "passive": own_state_model(encoder, runs),
            "attention": AttentionModel(runs, encoder, width=self.width, layers=self.layers, heads=self.heads),
            "named": named_model(encoder, runs),
        }

    @classmethod
    def learn(cls, runs: Sequence[Replica], session: Session) -> None:
        learner = runs[0].learner
        assert isinstance(learner, Attention)
        course = Course(runs, session)
        threshold = Threshold(course, ("attention",), {"state": _attention}, learner.penalty)
        session.train(
            course.nets,
            [*course.stages(learner.steps), _stage(course, learner, threshold), threshold.stage(learner.steps)],
        )
        for position in range(len(runs)):
            course.finish(position, ("attention",), threshold.cuts(position), _prediction)

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _attention), self.learned_["state"])


class AttentionModel(nn.Module):
    """Predicts the outcome from what its heads attend to; the question they ask comes from all factors together."""

    def __init__(self, groups: int, encoder: Encoder, *, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.embedding = Embedding(groups, encoder.class_index, encoder.width, width)
        self.question = perceptron(groups, width, width, width, 1)
        self.key = Linear(groups, width, width)
        self.value = Linear(groups, width, width)
        self.head = perceptron(groups, width, width, encoder.outputs, layers)

    def forward(self, rows: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """(groups, rows, factors, inputs) to predictions, and attention (groups, rows, heads, factors)."""
        embedded = self.embedding(rows) * present.transpose(1, 2).unsqueeze(-1)
        groups, factors, count, width = embedded.shape
        question = self.question(embedded.sum(1)).reshape(groups, count, self.heads, -1)
        flat = embedded.reshape(groups, factors * count, width)
        split = (groups, factors, count, self.heads, width // self.heads)
        key, value = self.key(flat).reshape(split), self.value(flat).reshape(split)
        fit = torch.einsum("gbhd,gnbhd->gbhn", question, key) / math.sqrt(width // self.heads)
        attention = torch.softmax(fit.masked_fill(present.unsqueeze(2) == 0, ABSENT), dim=-1)
        mixed = torch.einsum("gbhn,gnbhd->gbhd", attention, value).reshape(groups, count, width)
        return self.head(mixed), attention


def _stage(course: Course, learner: Attention, threshold: Threshold) -> Stage:
    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        predicted, attention = course.nets["attention"](course.rows.seen(index), course.there(index))
        missed = predicted - course.events.target[index]
        entropy = -(attention * attention.clamp(min=1e-9).log()).sum(-1).mean(dim=(1, 2))
        fitted = missing(missed).mean(1) + learner.entropy * entropy
        return fitted.sum(), {"error": missed.detach().abs().mean(), "entropy": entropy.detach().mean()}

    return Stage(
        "forward", learner.steps, loss, course.sampler("forward", learner.batch), {"attention": 1.0},
        one_cycle(learner.learning_rate), weight_decay={"attention": DECAY}, end=threshold.prepare,
    )  # fmt: skip


@torch.no_grad()
def _attention(nets: Nets, batch: Batch) -> Tensor:
    """(rows, factors): the mean over heads."""
    attention: Tensor = nets["attention"](batch.seen, batch.present.unsqueeze(0))[1]
    return attention[0].mean(1) * batch.present


def _prediction(nets: Nets, batch: Batch) -> Tensor:
    predicted: Tensor = nets["attention"](batch.seen, batch.present.unsqueeze(0))[0]
    return predicted[0]
