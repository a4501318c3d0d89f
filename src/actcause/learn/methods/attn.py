"""Causes by attention: a factor is named where a forward model with attention over factors attends to it.

    b_i = 1( mean over heads of a_i > threshold )        (Rahaman et al. 2022; the paper's baseline Attn)

Every factor is a token, the outcome's own included. All that reaches the prediction goes through the attention. The
paper names what gets more than 1/N; here the threshold is chosen without labels, see `thresholds`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training, error_loss
from ..training.layers import Linear, perceptron
from ..training.loop import Loss, LossValues, Settings
from ..training.networks import Embedding, Nets
from .score import ScoreLearner

ABSENT = -1e4  # what a head says to a factor that is not there


@final
@dataclass(kw_only=True)
class Attention(ScoreLearner):
    """Names factors that get much of the attention (`attn`).

    `heads` heads attend over the factors; `entropy` is the weight of a loss that makes each attend to few. `penalty`
    is the least that naming a factor costs when the threshold is chosen, in spreads of the outcome. `predict_proba`
    ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Attention(steps=50, width=16).fit(data).predict(data).shape
    (1000, 2)
    """

    heads: int = 4
    learning_rate: float = 1.5e-3
    entropy: float = 0.0
    penalty: float = 0.02

    method: ClassVar[str] = "attn"
    summary: ClassVar[str] = "attention over factors above a threshold"
    trained: ClassVar[str] = "attention"
    kept: ClassVar[tuple[str, ...]] = ("attention",)
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require_integer("heads")
        self.require("width", self.width % self.heads == 0, f"a multiple of heads ({self.heads})")
        self.require("entropy", self.entropy >= 0, "0 or more")

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        model = AttentionModel(replicas, encoder, width=self.width, layers=self.layers, heads=self.heads)
        return {"attention": model}

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _attention}

    def make_loss(self, training: Training) -> Loss:
        def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
            predicted, attention = training.nets["attention"](
                training.rows.network_inputs(index), training.there(index)
            )
            missed = predicted - training.surprises.target[index]
            entropy = -(attention * attention.clamp(min=1e-9).log()).sum(-1).mean(dim=(1, 2))
            fitted = error_loss(missed).mean(1) + self.entropy * entropy
            return fitted.sum(), {"error": missed.detach().abs().mean(), "entropy": entropy.detach().mean()}

        return loss

    @classmethod
    def predict_outcome(cls, nets: Nets, batch: Batch) -> Tensor:
        predicted: Tensor = nets["attention"](batch.network_inputs, batch.present.unsqueeze(0))[0]
        return predicted[0]


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
        """Map (groups, rows, factors, inputs) to predictions, and attention (groups, rows, heads, factors)."""
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


@torch.no_grad()
def _attention(nets: Nets, batch: Batch) -> Tensor:
    """Average the attention over heads: (rows, factors)."""
    attention: Tensor = nets["attention"](batch.network_inputs, batch.present.unsqueeze(0))[1]
    return attention[0].mean(1) * batch.present
