"""JACI by annealed expectation-maximisation over masks (`em.py` has the algorithm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from ...data import Transitions
from ..learner import BLOCK, Array, Learner
from ..training.batches import FOLDS
from ..training.encoding import Encoded, Encoder
from ..training.hindsight import MaskErrors, score_masks
from ..training.layers import beside_own
from ..training.networks import BinaryNetwork, MaskedModel, find_network, own_state_model, to_probabilities
from ..training.replica import Replica
from ..training.session import Session
from ..training.surprises import SURPRISING
from .em import COLD, DISTILLED, VARIANTS, MaskEM

MANY_ROWS = 250_000
FEWEST = 0.005  # share of rows that count as surprising at least: of fewer, one left open says little
SMALL = {
    "steps": 3000, "distil_steps": 1500, "batch": 512, "width": 64, "layers": 2, "learning_rate": 5e-3,
    "forward_decay": 0.05,
}  # fmt: skip
LARGE = {
    "steps": 10_000, "distil_steps": 4000, "batch": 512, "width": 96, "layers": 2, "learning_rate": 1e-2,
    "forward_decay": 1e-4,
}  # fmt: skip


@dataclass(kw_only=True)
class MaskJACI(Learner):
    """Joint inference of a forward model and of actual causes, by annealed EM over masks (`jaci-em`).

    `steps` of EM (a quarter of them warm-up) with `batch` rows each, then `distil_steps`. `width` and `layers`
    (residual blocks) size both networks. What is None is set by the size of the recording (`SMALL`, `LARGE`);
    `sizes_` has what was used. `penalty` is what a factor costs, in spreads of the outcome; it is adjusted on
    held-out episodes. `sufficiency` is the weight of binaries that were not chosen, where events are rare.
    `proposals` binaries are tried for a row where they are too many to try all.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000, seed=3)
    >>> learner = MaskJACI(steps=50, distil_steps=20, width=16).fit(data)
    >>> learner.predict(data).shape
    (1000, 2)
    """

    steps: int | None = None
    distil_steps: int | None = None
    batch: int | None = None
    width: int | None = None
    layers: int | None = None
    learning_rate: float | None = None
    penalty: float = 0.02
    sufficiency: float = 0.1
    proposals: int = 10
    binary_decay: float = 0.5
    forward_decay: float | None = None

    method: ClassVar[str] = "jaci-em"
    summary: ClassVar[str] = "joint inference by annealed EM over masks, judged out of sample (ours)"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        for name in ("steps", "distil_steps", "batch", "width", "layers"):
            value = getattr(self, name)
            least = 2 if name == "batch" else 1  # a row for either fold
            right = value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least)
            self.require(name, right, f"an integer of at least {least}, or None")
        self.require("proposals", isinstance(self.proposals, int) and self.proposals >= 5, "an integer of at least 5")
        for name in ("learning_rate", "penalty"):
            value = getattr(self, name)
            right = value is None or (isinstance(value, (int, float)) and 0 < value < 1)
            self.require(name, right, "between 0 and 1")
        for name in ("sufficiency", "binary_decay", "forward_decay"):
            value = getattr(self, name)
            self.require(name, value is None or (isinstance(value, (int, float)) and value >= 0), "0 or more")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        sizes = self.sizes_ if hasattr(self, "sizes_") else self.learned_["sizes"]
        shape = {"width": int(sizes["width"]), "layers": int(sizes["layers"])}
        kinds, inputs = encoder.class_index, encoder.width
        return {
            "passive": own_state_model(encoder, replicas),
            "forward": MaskedModel(FOLDS * replicas, kinds, inputs, encoder.outputs, **shape),
            "binary": BinaryNetwork(replicas, kinds, inputs, **shape),
            **{name: BinaryNetwork(VARIANTS * replicas, kinds, inputs, **shape) for name in DISTILLED},
        }

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learners = [replica.learner for replica in replicas if isinstance(replica.learner, cls)]
        for learner in learners:  # replicas that are trained together have one size
            learner._size(replicas[0].train)
        training = MaskEM(learners[0], replicas, session)
        trainer = session.train(training.nets, training.stages())
        for position, replica in enumerate(replicas):
            training.finish(position, replica, trainer.history, session.stopped)

    def _size(self, data: Transitions) -> None:
        """Take the sizes given, and for the others those that fit the recording."""
        sizes = LARGE if len(data) >= MANY_ROWS else SMALL
        given = {name: getattr(self, name) for name in sizes}
        self.sizes_ = {name: value if given[name] is None else given[name] for name, value in sizes.items()}

    def measure_unexplained(self, data: Transitions, idle: Sequence[str] = ()) -> float:
        """Measure what share of the rows that the own state leaves open get no cause but idle ones in hindsight."""
        encoded = self._encode(data)
        missed = np.concatenate([self._miss_alone(part).cpu().numpy() for part in encoded.blocks(BLOCK)])
        others = [k for k, name in enumerate(data.factors) if k != self.encoder_.own and name not in idle]
        surprising = missed > SURPRISING
        left = surprising & ~self.explain(data)[:, others].any(axis=1)
        return float(left.sum() / max(surprising.sum(), FEWEST * len(data)))

    @torch.no_grad()
    def predict_outcome(self, data: Transitions) -> tuple[Array, Array]:
        """Predict outcomes seeing all factors, and return them beside what came: (rows, outputs) each, in spreads."""
        encoded = self._encode(data)
        parts = [self._predict_under(part, 1).mean(dim=0).cpu().numpy() for part in encoded.blocks(BLOCK)]
        return np.concatenate(parts), encoded.target

    @torch.no_grad()
    def measure_events(self, data: Transitions) -> float:
        """Measure the error under each row's best binary, as a share of that by the own state alone.

        Not under all factors: that binary is shown too seldom to be learned well.
        """
        parts = self._encode(data).blocks(BLOCK)
        best = torch.cat([self._score_masks(part).error.min(dim=0).values for part in parts])
        alone = torch.cat([self._miss_alone(part) for part in parts])
        return float(best.mean() / alone.mean().clamp(min=1e-9))

    # -- answers -----------------------------------------------------------------------------------

    @torch.no_grad()
    def _probabilities(self, encoded: Encoded) -> Array:
        odds = self._odds(encoded)
        return to_probabilities(odds, self.learned_["temperature"])

    def _hindsight(self, encoded: Encoded) -> Array:
        found = self._score_masks(encoded).marginal(self.learned_["penalty"], COLD)
        return np.asarray(found.clamp(0, 1).cpu().numpy())

    def _unsure(self, encoded: Encoded, hindsight: bool) -> Array:
        if hindsight:
            badly = self._score_masks(encoded).error.min(dim=0).values > self.learned_["worst_error"]
        else:
            badly = self._apart(encoded) > self.learned_["worst_disagreement"]
        return np.asarray(badly.cpu().numpy())

    @torch.no_grad()
    def _miss_alone(self, encoded: Encoded) -> Tensor:
        """(rows,): by how much the models miss the outcome, shown the outcome's own factor alone."""
        predicted = self._predict_under(encoded, 0)
        target = torch.as_tensor(encoded.target).to(predicted.device)
        return (predicted.mean(dim=0) - target).abs().mean(-1)

    @torch.no_grad()
    def _apart(self, encoded: Encoded) -> Tensor:
        """(rows,): how far the folds' models disagree, seeing all factors."""
        predicted = self._predict_under(encoded, 1)
        return (predicted[0] - predicted[1]).abs().mean(-1)

    def _predict_under(self, encoded: Encoded, others: float) -> Tensor:
        """(folds, rows, outputs): what each model predicts, shown the own factor and of the others all (1) or none."""
        forward = find_network(self.nets_, "forward", MaskedModel)
        device = next(forward.parameters()).device
        seen = beside_own(torch.as_tensor(encoded.inputs).to(device), self.encoder_.own).expand(FOLDS, -1, -1, -1)
        shown = np.full(encoded.inputs.shape[:2], others)
        if self.encoder_.own is not None:
            shown[:, self.encoder_.own] = 1
        if encoded.present is not None:
            shown *= encoded.present
        under = torch.as_tensor(shown).float().to(device).expand(FOLDS, 1, -1, -1)
        predicted: Tensor = forward(forward.embedding(seen), under)
        return predicted[:, 0]

    def _odds(self, encoded: Encoded) -> Array:
        binary = self.nets_["binary"]
        device = next(binary.parameters()).device
        seen = beside_own(torch.as_tensor(encoded.inputs).to(device), self.encoder_.own).unsqueeze(0)
        there = None if encoded.present is None else torch.as_tensor(encoded.present).float().to(device).unsqueeze(0)
        return np.asarray(binary(seen, there)[0].cpu().numpy())

    def _score_masks(self, encoded: Encoded) -> MaskErrors:
        forward = find_network(self.nets_, "forward", MaskedModel)
        binary = find_network(self.nets_, "binary", BinaryNetwork)
        device = next(forward.parameters()).device
        there = None if encoded.present is None else torch.as_tensor(encoded.present).float().to(device)
        inputs, target = torch.as_tensor(encoded.inputs).to(device), torch.as_tensor(encoded.target).to(device)
        return score_masks(forward, binary, inputs, target, there, self.encoder_.own, self.learned_["penalty"])
