"""Causes by counterfactuals: a factor is named where other values of it would change the prediction.

    b_i = 1( E_{v ~ C_i} || f(s with s_i := v) - y ||_1 > threshold )      (Pitis et al. 2020; the paper's baseline CF)

The paper draws values uniformly over a factor's range, most of which never occur together with the rest of the state
where ranges are wide. Values that were observed in other rows are the honest choice, and the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..training.batches import seed_of
from ..training.columns import Relative, spans
from ..training.encoding import Encoder
from ..training.forward import Batch, Score, Training, plain_model
from ..training.layers import beside_own
from ..training.networks import MaskedModel, Nets, find_network
from ..training.replica import Replica
from .score import ScoreLearner

REPLACEMENTS = ("observed", "uniform")


@final
@dataclass(kw_only=True)
class Counterfactual(ScoreLearner):
    """Names factors whose replacement changes the forward model's prediction (`cf`).

    `samples` values replace a factor, drawn once when fitting: those of other rows (`replacement="observed"`) or
    uniform over its range (`"uniform"`, as in the paper). `predict` compares with the model's prediction, `explain`
    with the outcome that was observed. `penalty` is the least that naming a factor costs when the threshold is
    chosen, in spreads of the outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> Counterfactual(steps=50, width=16, samples=4).fit(data).predict(data).shape
    (1000, 2)
    """

    learning_rate: float = 1.5e-3
    samples: int = 16
    replacement: str = "observed"
    penalty: float = 0.02

    method: ClassVar[str] = "cf"
    summary: ClassVar[str] = "change of a forward model's prediction when a factor is replaced"
    kept: ClassVar[tuple[str, ...]] = ("forward", "pool")
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require_integer("samples")
        self.require("replacement", self.replacement in REPLACEMENTS, "'observed' or 'uniform'")

    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {
            "forward": plain_model(encoder, replicas, width=self.width, layers=self.layers),
            "pool": ReplacementValues(replicas, self.samples, len(encoder.classes), encoder.columns),
        }

    @classmethod
    def scores(cls) -> Mapping[str, Score]:
        return {"state": _distance, "hindsight": lambda nets, batch: _distance(nets, batch, batch.target)}

    def before_training(self, training: Training) -> None:
        pool = find_network(training.nets, "pool", ReplacementValues)
        pool.values.copy_(torch.stack([_replacements(replica, self) for replica in training.replicas]))


class ReplacementValues(nn.Module):
    """Values to replace each factor's by: (replicas, samples, factors, columns), kept with the networks."""

    values: Tensor

    def __init__(self, replicas: int, samples: int, factors: int, columns: int) -> None:
        super().__init__()
        self.register_buffer("values", torch.zeros(replicas, samples, factors, columns))


def _replacements(replica: Replica, learner: Counterfactual) -> Tensor:
    """Draw for each factor values of its own from rows in which it is there: (samples, factors, columns)."""
    generator = torch.Generator().manual_seed(seed_of("replacements", replica.learner.seed))
    inputs, there = replica.encoded.inputs, replica.encoded.present
    drawn = torch.zeros(learner.samples, *inputs.shape[1:])
    for factor in range(inputs.shape[1]):
        seen = torch.as_tensor(inputs[:, factor] if there is None else inputs[there[:, factor], factor])
        if len(seen):
            rows = torch.randint(0, len(seen), (learner.samples,), generator=generator)
            drawn[:, factor] = seen[rows]
            if learner.replacement == "uniform":
                _spread(drawn[:, factor], seen, replica.encoder, factor, generator)
    return drawn


def _spread(drawn: Tensor, seen: Tensor, encoder: Encoder, factor: int, generator: torch.Generator) -> None:
    """Overwrite the factor's features by uniform ones; of a categorical feature each value is as likely."""
    least, most = seen.min(dim=0).values, seen.max(dim=0).values
    for span in spans(encoder):
        if span.factor != factor:
            continue
        at, width = slice(span.start, span.stop), span.stop - span.start
        if span.categorical:
            chosen = torch.randint(0, width, (len(drawn),), generator=generator)
            share = nn.functional.one_hot(chosen, width).float()
        else:
            share = torch.rand(len(drawn), width, generator=generator)
        drawn[:, at] = least[at] + share * (most[at] - least[at])


@torch.no_grad()
def _distance(nets: Nets, batch: Batch, outcome: Tensor | None = None) -> Tensor:
    """Measure, (rows, factors), the mean distance from the outcome (or else the prediction) without each factor."""
    model, pool = find_network(nets, "forward", MaskedModel), find_network(nets, "pool", ReplacementValues)
    relative = Relative.of([batch.encoder], batch.inputs.device)
    there = batch.present.transpose(0, 1)[None, :, :, None]
    embedded = model.embedding(batch.network_inputs) * there
    whole = embedded.sum(dim=1, keepdim=True)
    reference = model.head(whole[:, 0])[0] if outcome is None else outcome
    moved = torch.zeros_like(batch.present)
    for values in pool.values[0]:
        # An embedding is a factor's own, so all factors can be replaced at once and then exchanged one by one.
        inputs = values.expand_as(batch.inputs).clone()
        if batch.own is not None:
            inputs[:, batch.own] = batch.inputs[:, batch.own]
        changed = inputs.unsqueeze(0) if relative is None else relative.update(inputs.unsqueeze(0))
        other = model.embedding(beside_own(changed, batch.own)) * there
        exchanged = whole - embedded + other  # (1, factors, rows, width)
        predicted = model.head(exchanged.flatten(1, 2)).reshape(*exchanged.shape[1:3], -1)
        moved += (predicted - reference).abs().mean(-1).T
    return moved / pool.values.shape[1] * batch.present
