"""JACI by exchanging factors: for worlds that are not like the paper's (`exchange_training.py` has the algorithm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor, nn

from ...data import Transitions
from ..learner import BLOCK, Array, Learner
from ..training.attention import CauseModel, OutcomeModel
from ..training.density import OutcomeColumns
from ..training.encoding import Encoded, Encoder
from ..training.layers import perceptron
from ..training.networks import BinaryNetwork, own_state_model, to_probabilities
from ..training.other_rows import OtherRows
from ..training.replica import Replica
from ..training.session import Session
from ..training.sufficiency import STRANGE, Judge, Judged
from .exchange_training import BOTH, DISTILLED, MODELLING, MODELS, ExchangeTraining, find_odds, sum_odds

OWN_WIDTH = 64
WORD = 0.5  # log-odds that what the outcome shows adds to what the state says


@final
@dataclass(kw_only=True)
class ExchangeJACI(Learner):
    """Causes by the definition itself, applied to a learned model of the whole state (`jaci-exchange`).

    One model learns how the outcome is distributed given all factors, which see each other and how near they are.
    A set of factors then suffices as far as the outcome comes again with all others exchanged for those of other rows.
    `steps` of `batch` rows teach the model, and of its weights along the way the best on held-out rows are kept.
    A network learns in `distil_steps` what was found for at most `labelled` rows, so that `predict` needs the state
    alone.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000, seed=3)
    >>> learner = ExchangeJACI(steps=50, distil_steps=20, width=16, labelled=200).fit(data)
    >>> learner.predict(data).shape
    (1000, 2)
    """

    steps: int = 8000
    batch: int = 512
    width: int = 64
    layers: int = 2
    learning_rate: float = 5e-3
    decay: float = 0.3
    distil_steps: int = 1500
    labelled: int = 60_000

    method: ClassVar[str] = "jaci-exchange"
    summary: ClassVar[str] = "sufficiency by exchanging factors in a learned model of the whole state (ours)"
    revisions: ClassVar[tuple[str, ...]] = (
        "first recorded revision",
        "explain says what predict says where the outcome decides nothing",
        "the best average of weights is kept, events in noise are found, parts of the own state's prediction suffice; "
        "explain adds the outcome's word to what predict says",
        "more rows are judged; the simplest network that is near to the judgements is kept, or two as one; events in "
        "noise are shown as often as others",
        "judgements are remembered in half as many steps; where a network says yes is looked for more finely",
        "in noise the models are shown rows a little off; what often undoes an event, if exchanged alone, is needed",
        "of several sharp outcomes that the own state predicts, only the most common is what comes by itself",
    )

    def check_options(self) -> None:
        super().check_options()
        for name in ("steps", "batch", "layers", "distil_steps", "labelled"):
            self.require_integer(name, 2 if name == "batch" else 1)
        self.require(
            "width", isinstance(self.width, int) and self.width >= 4 and self.width % 4 == 0, "a multiple of 4"
        )
        self.require("learning_rate", 0 < self.learning_rate < 1, "between 0 and 1")
        self.require("decay", self.decay >= 0, "0 or more")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        outputs = OutcomeColumns.of(encoder).outputs
        shape = {"width": self.width, "layers": self.layers}
        *modelling, sketch = MODELLING
        return {
            "passive": own_state_model(encoder, replicas),
            "alone": perceptron(MODELS * replicas, encoder.columns, OWN_WIDTH, outputs, 2),
            **{name: OutcomeModel(MODELS * replicas, encoder, outputs, **shape) for name in modelling},
            "attention": CauseModel(replicas, encoder, **shape),
            "sums": BinaryNetwork(replicas, encoder.class_index, encoder.width, **shape),
            "others": OtherRows(replicas, len(encoder.classes), encoder.columns),
            sketch: OutcomeModel(MODELS * replicas, encoder, outputs, **shape),
        }

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        training = ExchangeTraining(replicas[0].learner, replicas, session)
        trainer = session.train(training.nets, [*training.surprises.stages(), *training.stages()])
        for position, replica in enumerate(replicas):
            training.finish(position, replica, trainer.history, session.stopped)

    @torch.no_grad()
    def predict_outcome(self, data: Transitions) -> tuple[Array, Array]:
        """Predict outcomes seeing all factors, and return them beside what came: (rows, outputs) each, in spreads."""
        columns, encoded = OutcomeColumns.of(self.encoder_), self._encode(data)
        predicted = np.zeros_like(encoded.target)
        for at, part in zip(range(0, len(encoded), BLOCK), encoded.blocks(BLOCK), strict=True):
            inputs, there = self._load(part)
            many = None if there is None else there.expand(MODELS, -1, -1)
            density = columns.read(self.nets_["whole"](inputs.expand(MODELS, -1, -1, -1), many))
            if columns.measured:
                predicted[at : at + BLOCK, list(columns.measured)] = density.expect().mean(dim=0).cpu().numpy()
            for place, chances in zip(columns.categorical, density.chances, strict=True):
                chance = chances.exp().mean(dim=0).cpu().numpy()
                mean, scale = self.encoder_.target_mean[place], self.encoder_.target_scale[place]
                predicted[at : at + BLOCK, place] = (chance - mean) / scale
        return predicted, encoded.target

    # -- answers -----------------------------------------------------------------------------------

    def _probabilities(self, encoded: Encoded) -> Array:
        return to_probabilities(self._odds(encoded), self.learned_["temperature"])

    def _hindsight(self, encoded: Encoded) -> Array:
        """Start from what the state says, and let the outcome add its word, unless it contradicts all that was learned.

        Against a cause it speaks the louder, the likelier the outcome was given the own state alone.
        """
        judged = self._judge(encoded)
        against = WORD + judged.lean.clamp(min=0).unsqueeze(1)
        word = torch.where(judged.binary > 0.5, WORD, -against) * (judged.passed >= STRANGE).unsqueeze(1)
        return to_probabilities(self._odds(encoded) + word.cpu().numpy(), self.learned_["temperature"])

    def _unsure(self, encoded: Encoded, hindsight: bool) -> Array:
        judged = self._judge(encoded, hindsight)
        return np.asarray((judged.passed < STRANGE if hindsight else judged.reached < 0.5).cpu().numpy())

    @torch.no_grad()
    def _odds(self, encoded: Encoded) -> Array:
        kept = self.learned_["kept"]
        inputs, there = self._load(encoded)
        names = DISTILLED if kept == BOTH else (kept,)
        odds = sum_odds([find_odds(self.nets_[name], name, inputs, there, self.encoder_.own) for name in names])
        return np.asarray((odds - self.learned_["shift"]).cpu().numpy())

    def _judge(self, encoded: Encoded, hindsight: bool = True) -> Judged:
        inputs, there = self._load(encoded)
        judge = Judge.of(self.nets_, self.encoder_, self.learned_["noise"], MODELS, there is not None)
        target = torch.as_tensor(encoded.target, device=inputs.device) if hindsight else None
        return judge.judge(inputs, there, target)

    def _load(self, encoded: Encoded) -> tuple[Tensor, Tensor | None]:
        """Load inputs, and which factors are there, onto the device."""
        device = next(self.nets_["whole"].parameters()).device
        there = None if encoded.present is None else torch.as_tensor(encoded.present, device=device).float()
        return torch.as_tensor(encoded.inputs, device=device), there
