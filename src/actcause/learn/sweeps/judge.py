"""How good a run's answers are, judged without labels on held-out transitions, the same way for every method.

A cause is sufficient and minimal: whoever sees the named factors alone can tell the outcome, and none is named in vain.
So a fresh network, which knows nothing of the method, learns the outcome from the factors that the run names in the
training rows, and is asked about the held-out rows. It also learns it from the outcome's own factor alone, and from all
factors. With these at 0 and 1, the error under the named factors says which share they `explained`. True causes can be
above 1: that nothing is named says something too. `named` is how many there were in a row. `ranking` says what a sweep
makes of both. Where surprising rows are rare, half of the rows that are learned from and half of the weight is theirs.

A penalty or a loss of the methods' own could not do it: they have different ones, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...data import Transitions
from ..learner import Learner
from ..training.batches import DeviceRows, Sampler, folds_of
from ..training.encoding import Encoder
from ..training.forward import error_loss
from ..training.loop import LossValues, Settings, Stage, Trainer, one_cycle
from ..training.networks import find_device, own_state_model
from ..training.replica import split_of
from ..training.surprises import SURPRISING, Surprises
from ..training.thresholds import NamedModel

Array = np.ndarray[Any, Any]
LEARNED, HELD = 100_000, 20_000  # rows looked at, at most
BATCH, RATE, DECAY = 512, 3e-3, 1e-3
STEPS, LEAST, OFTEN = 1000, 50, 20  # steps: at most, at least, and as many as show every row so often
TOLD = (0.0, 0.5, 1.0)  # an input that tells the network what it is shown: the own factor alone, those named, all
NOTHING = 0.01  # where all factors tell less than this share of the rows apart, there is nothing to explain
SEED = 0


@dataclass(frozen=True)
class Judgement:
    """`explained`: 0 for as much as the own factor alone tells, 1 for all factors. `named`: factors in a row."""

    explained: float
    named: float


def judge_learner(learner: Learner, data: Transitions) -> Judgement:
    """Judge a fitted learner by the rows that it held out of the data that it was trained on."""
    train, held = split_of(data, learner.held_out, learner.seed)
    train, held = _thin(train, LEARNED), _thin(held, HELD)
    encoder = Encoder.fit(train, classes=learner.classes, categorical=learner.categorical)
    judge = _Judge(encoder, _ShownRows.of(learner, train, encoder), find_device(learner.device))
    judge.learn()
    return judge.judge(_ShownRows.of(learner, held, encoder))


@dataclass(frozen=True)
class _ShownRows:
    """Rows on the device, and the factors that the network is shown in each way: `masks` (rows, `TOLD`, factors)."""

    rows: DeviceRows
    masks: Tensor

    @classmethod
    def of(cls, learner: Learner, data: Transitions, encoder: Encoder) -> _ShownRows:
        device, own = find_device(learner.device), encoder.own
        rows = DeviceRows.load([encoder.encode(data)], [folds_of(data.episode, len(data), SEED)], own, device)
        there = np.ones((len(data), rows.factors), bool) if data.mask is None else data.mask
        alone = np.zeros_like(there)
        if own is not None:
            alone[:, own] = there[:, own]
        masks = np.stack([alone, learner.predict(data) & there | alone, there], axis=1)
        return cls(rows, torch.as_tensor(masks.astype(np.float32)).to(device))

    @property
    def named(self) -> Tensor:
        """The number of factors named besides the outcome's own: (rows,)."""
        return (self.masks[:, 1] - self.masks[:, 0]).sum(-1)


class _Judge:
    """The network, and how it learns."""

    def __init__(self, encoder: Encoder, shown: _ShownRows, device: torch.device) -> None:
        self.shown, self.device = shown, device
        self.told = torch.tensor(TOLD, device=device).view(1, -1, 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            self.passive = own_state_model(encoder, 1).to(device)
            self.model = NamedModel(1, encoder).to(device)
        self.surprises = Surprises(shown.rows, self.passive, [SEED])

    def learn(self) -> None:
        steps = min(max(OFTEN * len(self.shown.rows) // BATCH, LEAST), STEPS)
        stage = Stage(
            "judge", steps, self._loss, self._sampler, {"named": 1.0}, one_cycle(RATE), weight_decay={"named": DECAY}
        )
        nets = {"passive": self.passive, "named": self.model}
        Trainer(nets, SEED, self.device).run([*self.surprises.stages(steps), stage])

    @torch.no_grad()
    def judge(self, held: _ShownRows) -> Judgement:
        rows, parts = held.rows, torch.split(torch.arange(len(held.rows), device=self.device), BATCH)
        target = rows.target / self.surprises.scale[0]
        error = torch.cat([(self._expect(held, p.unsqueeze(0)) - target[p]).abs().mean(-1)[0] for p in parts], dim=1)
        weight = torch.ones(len(rows), device=self.device)
        if bool(self.surprises.rare[0]):
            assert rows.own is not None
            alone = self.passive(rows.inputs[:, rows.own].expand(len(rows.groups()), -1, -1))
            surprising = (alone - rows.target).abs().mean(-1).mean(0) > SURPRISING
            share = float(surprising.float().mean())
            if 0 < share < 1:
                weight = torch.where(surprising, 0.5 / share, 0.5 / (1 - share))
        # A row counts as explained or not, however large the change: the error with all shown is the measure of that.
        unexplained = error / (error + (weight * error[-1]).mean().clamp(min=1e-6))
        least, named, everything = (weight * unexplained).double().mean(1).tolist()
        possible = least - everything
        explained = (least - named) / possible if possible > NOTHING else 0.0
        return Judgement(explained, float((weight * held.named).double().mean()))

    def _loss(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        missed = self._expect(self.shown, index) - self.surprises.target[index].unsqueeze(1)
        return error_loss(missed).mean(), {"error": missed.detach().abs().mean()}

    def _sampler(self) -> Sampler:
        return Sampler([self.surprises.pools(0)], BATCH, [SEED], "judge", self.device)

    def _expect(self, shown: _ShownRows, index: Tensor) -> Tensor:
        """Predict the outcome in each way of showing factors: (1, `TOLD`, rows, outputs)."""
        told = self.told.expand(1, -1, index.shape[1])
        embedded = self.model.embedding(shown.rows.network_inputs(index))
        predicted: Tensor = self.model(embedded, shown.masks[index].transpose(1, 2), told)
        return predicted


def _thin(data: Transitions, most: int) -> Transitions:
    """Take at most so many rows, evenly spaced."""
    if len(data) <= most:
        return data
    return data.subset(np.linspace(0, len(data) - 1, most).astype(np.int64))
