"""Causes by counterfactuals: a factor is named where other values of it would change the prediction.

    b_i = 1( E_{v ~ C_i} || f(s with s_i := v) - y ||_1 > threshold )      (Pitis et al. 2020; the paper's baseline CF)

The paper draws values uniformly over a factor's range, most of which never occur together with the rest of the state
where ranges are wide. Values that were observed in other rows are the honest choice, and the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn

from ..learner import Array, Learner
from ..training.batches import beside_own, seed_of
from ..training.columns import Relative, spans
from ..training.encoding import Encoded, Encoder
from ..training.events import own_state_model
from ..training.forward import (
    Batch,
    Course,
    Nets,
    answered,
    check_training,
    masked,
    plain_model,
    plain_prediction,
    plain_stage,
)
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import Threshold, likelihood, named_model

REPLACEMENTS = ("observed", "uniform")


@final
@dataclass(kw_only=True)
class Counterfactual(Learner):
    """Names factors whose replacement changes the forward model's prediction (`cf`).

    `samples` values replace a factor, drawn once when fitting: those of other rows (`replacement="observed"`) or
    uniform over its range (`"uniform"`, as in the paper). `predict` compares with the model's prediction, `explain`
    with the outcome that was observed. `penalty` is the least that naming a factor costs when the threshold is
    chosen, in spreads of the outcome. `predict_proba` ranks; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 4000)
    >>> Counterfactual(steps=100, width=32, samples=4).fit(data).predict(data).shape
    (4000, 2)
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    learning_rate: float = 1.5e-3
    samples: int = 16
    replacement: str = "observed"
    penalty: float = 0.02

    method: ClassVar[str] = "cf"
    summary: ClassVar[str] = "change of a forward model's prediction when a factor is replaced"

    def check_options(self) -> None:
        super().check_options()
        check_training(self, "samples")
        self.require("replacement", self.replacement in REPLACEMENTS, "'observed' or 'uniform'")

    def networks(self, encoder: Encoder, runs: int) -> dict[str, nn.Module]:
        return {
            "passive": own_state_model(encoder, runs),
            "forward": plain_model(encoder, runs, width=self.width, layers=self.layers),
            "pool": Pool(runs, self.samples, len(encoder.classes), encoder.columns),
            "named": named_model(encoder, runs, kinds=2),
        }

    @classmethod
    def learn(cls, runs: Sequence[Replica], session: Session) -> None:
        learner = runs[0].learner
        assert isinstance(learner, Counterfactual)
        course = Course(runs, session)
        pool = course.nets["pool"]
        assert isinstance(pool, Pool)
        pool.values.copy_(torch.stack([_replacements(run, learner) for run in runs]))
        kept = ("forward", "pool")
        threshold = Threshold(course, kept, {"state": _change, "hindsight": _difference}, learner.penalty)
        forward = plain_stage(course, learner.steps, learner.batch, learner.learning_rate, threshold.prepare)
        session.train(course.nets, [*course.stages(learner.steps), forward, threshold.stage(learner.steps)])
        for position in range(len(runs)):
            course.finish(position, kept, threshold.cuts(position), plain_prediction)

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _change), self.learned_["state"])

    def _hindsight(self, encoded: Encoded) -> Array:
        return likelihood(answered(self, encoded, _difference), self.learned_["hindsight"])


class Pool(nn.Module):
    """Values to replace each factor's by: (runs, samples, factors, columns), kept with the networks."""

    values: Tensor

    def __init__(self, runs: int, samples: int, factors: int, columns: int) -> None:
        super().__init__()
        self.register_buffer("values", torch.zeros(runs, samples, factors, columns))


def _replacements(run: Replica, learner: Counterfactual) -> Tensor:
    """(samples, factors, columns): for each factor values of its own, drawn from rows in which it is there."""
    generator = torch.Generator().manual_seed(seed_of("replacements", run.learner.seed))
    inputs, there = run.encoded.inputs, run.encoded.present
    drawn = torch.zeros(learner.samples, *inputs.shape[1:])
    for factor in range(inputs.shape[1]):
        seen = torch.as_tensor(inputs[:, factor] if there is None else inputs[there[:, factor], factor])
        if len(seen):
            rows = torch.randint(0, len(seen), (learner.samples,), generator=generator)
            drawn[:, factor] = seen[rows]
            if learner.replacement == "uniform":
                _spread(drawn[:, factor], seen, run.encoder, factor, generator)
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


def _change(nets: Nets, batch: Batch) -> Tensor:
    """From the state alone: how far the prediction moves."""
    return _moved(nets, batch, None)


def _difference(nets: Nets, batch: Batch) -> Tensor:
    """In hindsight: how far the prediction is from the observed outcome."""
    return _moved(nets, batch, batch.target)


@torch.no_grad()
def _moved(nets: Nets, batch: Batch, outcome: Tensor | None) -> Tensor:
    """(rows, factors): mean distance from the outcome (or else the prediction) after replacing each factor."""
    model, pool = masked(nets, "forward"), nets["pool"]
    assert isinstance(pool, Pool)
    relative = Relative.of([batch.encoder], batch.inputs.device)
    there = batch.present.transpose(0, 1)[None, :, :, None]
    embedded = model.embedding(batch.seen) * there
    whole = embedded.sum(dim=1, keepdim=True)
    reference = model.head(whole[:, 0])[0] if outcome is None else outcome
    moved = torch.zeros_like(batch.present)
    for values in pool.values[0]:
        # An embedding is a factor's own, so all factors can be replaced at once and then exchanged one by one.
        inputs = values.expand_as(batch.inputs).clone()
        if batch.own is not None:
            inputs[:, batch.own] = batch.inputs[:, batch.own]
        changed = inputs.unsqueeze(0) if relative is None else relative.followed(inputs.unsqueeze(0))
        other = model.embedding(beside_own(changed, batch.own)) * there
        exchanged = whole - embedded + other  # (1, factors, rows, width)
        predicted = model.head(exchanged.flatten(1, 2)).reshape(*exchanged.shape[1:3], -1)
        moved += (predicted - reference).abs().mean(-1).T
    return moved / pool.values.shape[1] * batch.present
