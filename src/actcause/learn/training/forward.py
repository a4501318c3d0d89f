"""What the baselines share: rows on the device, surprising rows, a plain forward model, and how a training ends.

A forward model predicts the outcome's change from all factors at once. It is trained on absolute plus squared
errors: absolute ones alone would give up surprising rows that are rare in some states.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from .batches import DeviceRows, Sampler, folds_of
from .diagnostics import diagnose
from .encoding import Encoded, Encoder
from .layers import beside_own, group_weights
from .loop import Loss, LossValues, Settings
from .networks import MaskedModel, Nets, find_network
from .replica import Replica, seeds_of
from .session import Session
from .surprises import Surprises

if TYPE_CHECKING:
    from ..learner import Learner

Array = np.ndarray[Any, Any]
DECAY = 1e-4
BLOCK = 2048  # rows looked at together


@dataclass(frozen=True)
class Batch:
    """Rows of one replica on the device, as a fitted learner meets them."""

    inputs: Tensor  # (rows, factors, columns)
    target: Tensor  # (rows, outputs)
    present: Tensor  # (rows, factors), 1 where there
    encoder: Encoder

    @classmethod
    def of(cls, encoded: Encoded, encoder: Encoder, device: torch.device) -> Batch:
        inputs = torch.as_tensor(encoded.inputs).to(device)
        shape = encoded.inputs.shape[:2]
        there = np.ones(shape, np.float32) if encoded.present is None else encoded.present.astype(np.float32)
        return cls(inputs, torch.as_tensor(encoded.target).to(device), torch.as_tensor(there).to(device), encoder)

    @property
    def own(self) -> int | None:
        return self.encoder.own

    @property
    def network_inputs(self) -> Tensor:
        """(1, rows, factors, width) as networks see them."""
        return beside_own(self.inputs, self.own).unsqueeze(0)

    def __len__(self) -> int:
        return len(self.inputs)

    def blocks(self, size: int = BLOCK) -> Iterator[Batch]:
        for at in range(0, len(self), size):
            part = slice(at, at + size)
            yield Batch(self.inputs[part], self.target[part], self.present[part], self.encoder)


Score = Callable[[Nets, Batch], Tensor]  # (rows, factors): larger where a factor is more of a cause


class Training:
    """One training of a baseline, of one or several replicas side by side."""

    def __init__(self, replicas: Sequence[Replica], session: Session) -> None:
        self.replicas, self.session, self.device = replicas, session, session.device
        self.learner = replicas[0].learner
        self.seeds = seeds_of(replicas)
        encoder = replicas[0].encoder
        folds = [
            folds_of(replica.train.episode, len(replica.train), seed)
            for replica, seed in zip(replicas, self.seeds, strict=True)
        ]
        self.rows = DeviceRows.load([replica.encoded for replica in replicas], folds, encoder.own, self.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seeds[0] % 2**63)
            self.nets = self.learner.networks(encoder, len(replicas))
            # What each replica's networks are copied from: all of a method are built in one go, so asking for one of
            # them would build the others too.
            self._blank = [self.learner.networks(replica.encoder, 1) for replica in replicas]
        for net in self.nets.values():
            net.to(self.device)
        self.surprises = Surprises(self.rows, self.nets["passive"], self.seeds)

    # -- for stages --------------------------------------------------------------------------------

    def sampler(self, stage: str, size: int) -> Callable[[], Sampler]:
        """Sample rows of each replica, as many surprising ones as others where these are rare."""
        return lambda: Sampler(
            [self.surprises.pools(replica) for replica in range(len(self.replicas))],
            size,
            self.seeds,
            stage,
            self.device,
        )

    def there(self, index: Tensor) -> Tensor:
        """Mark the factors that are present with 1: (…, factors)."""
        there = self.rows.there(index)
        return self.rows.inputs.new_ones(*index.shape, self.rows.factors) if there is None else there

    def embedding(self, name: str, index: Tensor) -> tuple[MaskedModel, Tensor]:
        """Return a masked model, and its embedding of these rows."""
        model = find_network(self.nets, name, MaskedModel)
        return model, model.embedding(self.rows.network_inputs(index))

    # -- for ends ----------------------------------------------------------------------------------

    def network_of(self, replica: int, name: str) -> nn.Module:
        """Cut a network of one replica out of those of all."""
        each = self.nets[name]
        groups = len(next(iter(each.state_dict().values()))) // len(self.replicas)
        one = copy.deepcopy(self._blank[replica][name]).to(self.device)
        one.load_state_dict(group_weights(each, slice(groups * replica, groups * (replica + 1))))
        return one.eval()

    def encoder_of(self, replica: int) -> Encoder:
        """Return one replica's encoder, its target in the spreads of the rows shown."""
        encoder, scale = self.replicas[replica].encoder, self.surprises.scale[replica]
        return encoder.with_target_scale(encoder.target_scale * scale.cpu().double().numpy())

    def networks_of(self, replica: int, names: Sequence[str]) -> dict[str, nn.Module]:
        return {name: self.network_of(replica, name) for name in names}

    def spread_rows(self, replica: int, most: int) -> list[Tensor]:
        """Take at most so many training rows of one replica, of each kind as many, evenly spaced."""
        pools = self.surprises.pools(replica)
        return [_thin(pool, most // len(pools)) for pool in pools]

    def training_rows(self, replica: int, index: Tensor) -> Batch:
        """Take training rows of one replica."""
        return Batch(
            self.rows.inputs[index], self.surprises.target[index], self.there(index), self.replicas[replica].encoder
        )

    def take_held_out_rows(self, replica: int, most: int) -> Batch:
        """Take held-out rows of one replica, evenly spaced where there are more than `most`."""
        encoded = self.replicas[replica].held_encoded
        rows = np.unique(np.linspace(0, len(encoded) - 1, min(most, len(encoded))).astype(np.int64))
        batch = Batch.of(encoded[rows], self.replicas[replica].encoder, self.device)
        return Batch(batch.inputs, batch.target / self.surprises.scale[replica], batch.present, batch.encoder)

    def finish(
        self, replica: int, names: Sequence[str], learned: Mapping[str, Any], predicted: Callable[[Nets, Batch], Tensor]
    ) -> None:
        """Hand one replica's networks and numbers to its learner, and note what went wrong; `predicted` sees all."""
        mine = self.replicas[replica]
        learner, nets = mine.learner, self.networks_of(replica, names)
        held = self.take_held_out_rows(replica, 10_000)
        with torch.no_grad():
            error = torch.cat([(predicted(nets, b) - b.target).abs().mean(-1) for b in held.blocks()]).mean()
        blind = (held.target - held.target.median(dim=0).values).abs().mean()
        encoder = self.encoder_of(replica)
        numbers = {**learned, "threshold": 0.5, "events": self.surprises.share[replica], "held_error": float(error)}
        history = [] if self.session.trainer is None else self.session.trainer.history
        learner.finish(mine, nets, numbers, history, encoder=encoder)
        found = learner.predict(mine.held).mean(axis=0)
        shares = {name: float(found[k]) for k, name in enumerate(mine.train.factors) if k != encoder.own}
        learner.learned_["shares"] = shares
        learner.notes_ = tuple(
            diagnose(shares=shares, full_error=float(error), blind_error=float(blind), stopped=self.session.stopped)
        )


def _thin(pool: Tensor, most: int) -> Tensor:
    if len(pool) <= most:
        return pool
    return pool[torch.linspace(0, len(pool) - 1, most, device=pool.device).long()]


def plain_model(encoder: Encoder, replicas: int, *, width: int, layers: int) -> MaskedModel:
    """Make a forward model that is only ever shown what is there."""
    return MaskedModel(replicas, encoder.class_index, encoder.width, encoder.outputs, width=width, layers=layers)


def plain_prediction(nets: Nets, batch: Batch) -> Tensor:
    """Predict from all factors by the network `forward`: (rows, outputs)."""
    model = find_network(nets, "forward", MaskedModel)
    predicted: Tensor = model(model.embedding(batch.network_inputs), batch.present[None, None])
    return predicted[0, 0]


def plain_loss(training: Training) -> Loss:
    """Return the loss of the network `forward` that sees all factors."""

    def loss(index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        model, embedded = training.embedding("forward", index)
        missed = model(embedded, training.there(index).unsqueeze(1))[:, 0] - training.surprises.target[index]
        return error_loss(missed).mean(1).sum(), {"error": missed.detach().abs().mean()}

    return loss


def error_loss(missed: Tensor) -> Tensor:
    """Add absolute and squared error, meaned over the outcome's columns."""
    return missed.abs().mean(-1) + missed.square().mean(-1)


def check_training(learner: Learner) -> None:
    """Refuse wrong values of the options that all trained baselines have."""
    for name in ("steps", "batch", "width", "layers"):
        learner.require_integer(name)
    for name in ("learning_rate", "penalty"):
        learner.require(name, 0 < getattr(learner, name) < 1, "between 0 and 1")


def score_rows(learner: Learner, encoded: Encoded, score: Score) -> Array:
    """Score rows by a fitted learner: (rows, factors)."""
    device = next(next(iter(learner.nets_.values())).parameters()).device
    batch = Batch.of(encoded, learner.encoder_, device)
    return torch.cat([score(learner.nets_, block).detach() for block in batch.blocks()]).cpu().double().numpy()
