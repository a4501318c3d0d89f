"""Causes by hard masks: a network names factors for each state, and a forward model sees only these.

    m ~ Gumbel-sigmoid(h(s)), hard, straight-through;  loss = error of f(s, m) + cost x |m|

Both networks learn from the same loss by gradient descent (Hwang et al. 2023, Neural Contextual Decomposition). The
cost of a factor decides everything and must not be tuned with labels. Here it begins at what the factor is worth: by
how much the error grows on average without it, after a warm-up with random masks. So a factor is let through where it
is worth more than usual, and the forward model learns what happens without it where it is worth less. Then the cost
falls to the given penalty, for a factor that always matters is to be let through always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..learner import Array, Learner
from ..training import forward, masks
from ..training.encoding import Encoded, Encoder
from ..training.forward import Batch, Training
from ..training.loop import LossValues, Settings, Stage, one_cycle
from ..training.networks import BinaryNetwork, MaskedModel, Nets, find_network, own_state_model, to_probabilities
from ..training.replica import Replica
from ..training.session import Session

PRICED_ROWS = 10_000  # rows that costs are measured with


@final
@dataclass(kw_only=True)
class GumbelMask(Learner):
    """Names factors that a hard mask inside a forward model lets through (`ncd`).

    `steps` in all, a quarter of which the forward model learns from random masks alone. `penalty` is what a
    factor costs in the end, in spreads of the outcome; `temperature` is that of the Gumbel noise. `predict_proba` is
    the chance that the mask lets a factor through; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> GumbelMask(steps=50, width=16).fit(data).predict(data).shape
    (1000, 2)
    """

    steps: int = 3000
    batch: int = 512
    width: int = 96
    layers: int = 2
    learning_rate: float = 1.5e-3
    penalty: float = 0.02
    temperature: float = 1.0

    method: ClassVar[str] = "ncd"
    summary: ClassVar[str] = "hard Gumbel masks inside a forward model, learned by gradients"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        forward.check_training(self)
        self.require("temperature", self.temperature > 0, "positive")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        shape = {"width": self.width, "layers": self.layers}
        return {
            "passive": own_state_model(encoder, replicas),
            "forward": forward.plain_model(encoder, replicas, **shape),
            "binary": BinaryNetwork(replicas, encoder.class_index, encoder.width, **shape),
            "costs": Costs(replicas, len(encoder.classes)),
        }

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learner = replicas[0].learner
        assert isinstance(learner, GumbelMask)
        training = Training(replicas, session)
        session.train(training.nets, [*training.surprises.stages(learner.steps), *_stages(training, learner)])
        for position in range(len(replicas)):
            training.finish(position, ("forward", "binary"), {}, forward.plain_prediction)

    def _probabilities(self, encoded: Encoded) -> Array:
        return to_probabilities(forward.score_rows(self, encoded, _odds), 1.0)


class Costs(nn.Module):
    """What each factor costs at first, (replicas, factors), kept with the networks for a training that is resumed."""

    values: Tensor

    def __init__(self, replicas: int, factors: int) -> None:
        super().__init__()
        self.register_buffer("values", torch.zeros(replicas, factors))


def _stages(training: Training, learner: GumbelMask) -> list[Stage]:
    own, factors = training.rows.own, training.rows.factors
    others = 1 - masks.only(factors, own, training.device)
    costs = find_network(training.nets, "costs", Costs)
    warm = max(learner.steps // 4, 1)
    begun = warm / learner.steps

    def errors_under(index: Tensor, shown: Tensor) -> Tensor:
        """Return the errors of the forward model under these masks, (groups, masks, rows, outputs)."""
        if own is not None:
            shown = torch.cat([shown[..., :own], torch.ones_like(shown[..., :1]), shown[..., own + 1 :]], dim=-1)
        model, embedded = training.embedding("forward", index)
        missed: Tensor = model(embedded, shown * training.there(index).unsqueeze(1))
        return missed - training.surprises.target[index].unsqueeze(1)

    def warm_up(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        shown = torch.rand(len(index), 2, index.shape[1], factors, device=index.device, generator=generator).round()
        missed = errors_under(index, torch.cat([torch.ones_like(shown[:, :1]), shown[:, 1:]], dim=1))
        return forward.error_loss(missed).mean(dim=(1, 2)).sum(), {"full": missed[:, 0].detach().abs().mean()}

    def decompose(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        odds = training.nets["binary"](training.rows.network_inputs(index), training.there(index))
        uniform = torch.rand(odds.shape, device=odds.device, generator=generator).clamp(1e-6, 1 - 1e-6)
        soft = torch.sigmoid((odds + uniform.log() - (1 - uniform).log()) / learner.temperature)
        mask = (soft > 0.5).float() + soft - soft.detach()
        missed = errors_under(index, mask.unsqueeze(1))[:, 0]
        cost = torch.lerp(learner.penalty * others, costs.values, settings["worth"]).unsqueeze(1)
        price = (torch.sigmoid(odds) * training.there(index) * cost).sum(-1).mean(1)
        fitted = missed.abs().mean(dim=(1, 2)) + price
        return fitted.sum(), {"error": missed.detach().abs().mean(), "price": price.detach().mean()}

    @torch.no_grad()
    def find_costs() -> None:
        for replica in range(len(training.replicas)):
            batch = training.training_rows(replica, torch.cat(training.spread_rows(replica, PRICED_ROWS)))
            costs.values[replica] = (
                _worth(training.networks_of(replica, ("forward",)), batch).clamp(min=learner.penalty) * others
            )

    rate, decay = learner.learning_rate, {"forward": forward.DECAY, "binary": forward.DECAY}
    return [
        Stage(
            "warm-up", warm, warm_up, training.sampler("warm-up", learner.batch), {"forward": 1.0},
            one_cycle(rate, end=begun), weight_decay=decay, end=find_costs,
        ),
        Stage(
            "masks", max(learner.steps - warm, 1), decompose, training.sampler("masks", learner.batch),
            {"forward": 1.0, "binary": 1.0}, one_cycle(rate, start=begun),
            lambda done: {"worth": max(1 - 1.5 * done, 0.0)}, weight_decay=decay,
        ),
    ]  # fmt: skip


def _worth(nets: Nets, batch: Batch) -> Tensor:
    """Measure by how much the forward model's error grows without each factor: (factors,)."""
    model = find_network(nets, "forward", MaskedModel)
    factors = batch.present.shape[1]
    left_out = 1 - torch.eye(factors, device=batch.inputs.device)
    shown = torch.cat([torch.ones_like(left_out[:1]), left_out]).unsqueeze(1)
    total = torch.zeros(factors + 1, device=batch.inputs.device)
    for block in batch.blocks():
        predicted = model(model.embedding(block.network_inputs), (shown * block.present).unsqueeze(0))[0]
        total += (predicted - block.target).abs().mean(-1).sum(-1)
    return (total[1:] - total[0]) / len(batch)


@torch.no_grad()
def _odds(nets: Nets, batch: Batch) -> Tensor:
    odds: Tensor = nets["binary"](batch.network_inputs, batch.present.unsqueeze(0))[0]
    return odds
