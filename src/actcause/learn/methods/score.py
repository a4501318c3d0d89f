"""What methods that score factors share: a network, a score or two, and a threshold chosen without labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor, nn

from ..learner import Array, Learner
from ..training import forward
from ..training.encoding import Encoded, Encoder
from ..training.forward import Batch, Score, Training
from ..training.loop import Loss, Stage, one_cycle
from ..training.networks import Nets, own_state_model
from ..training.replica import Replica
from ..training.session import Session
from ..training.thresholds import NamedModel, Threshold, likelihood


@dataclass(kw_only=True)
class ScoreLearner(Learner):
    """Names factors whose score exceeds a threshold.

    A method gives the networks that it trains and keeps, their loss, and its scores: "state", and where it can use the
    outcome "hindsight". Its options follow those of here; `learning_rate` and `penalty` have a place of their own in
    each, as saved settings are in the order of the fields.
    """

    steps: int = 2000
    batch: int = 512
    width: int = 96
    layers: int = 2
    if TYPE_CHECKING:
        learning_rate: float = 0.0
        penalty: float = 0.0

    trained: ClassVar[str] = "forward"  # the network whose loss is `make_loss`
    kept: ClassVar[tuple[str, ...]] = ("forward",)  # the networks that answers need

    @abstractmethod
    def method_networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        """Build the networks that are kept."""

    @classmethod
    @abstractmethod
    def scores(cls) -> Mapping[str, Score]:
        """Return the score from the state alone, and the one in hindsight where there is one."""

    def make_loss(self, training: Training) -> Loss:
        """Return the loss of the network `trained`: by default that of a forward model that sees all factors."""
        return forward.plain_loss(training)

    @classmethod
    def predict_outcome(cls, nets: Nets, batch: Batch) -> Tensor:
        """Predict what the method expects when it sees everything: (rows, outputs)."""
        return forward.plain_prediction(nets, batch)

    def before_training(self, training: Training) -> None:
        """Set what is known before the first step."""

    def captures_graph(self) -> bool:
        """Return whether a step can be captured as a CUDA graph."""
        return True

    def check_options(self) -> None:
        super().check_options()
        forward.check_training(self)

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {
            "passive": own_state_model(encoder, replicas),
            **self.method_networks(encoder, replicas),
            "named": NamedModel(len(self.scores()) * replicas, encoder),
        }

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learner = replicas[0].learner
        assert isinstance(learner, ScoreLearner)
        training = Training(replicas, session)
        learner.before_training(training)
        threshold = Threshold(training, cls.kept, cls.scores(), learner.penalty)
        stages = [
            *training.surprises.stages(learner.steps),
            learner._stage(training, threshold.prepare),
            threshold.stage(learner.steps),
        ]
        session.train(training.nets, stages)
        for position in range(len(replicas)):
            training.finish(position, cls.kept, threshold.cuts(position), cls.predict_outcome)

    def _stage(self, training: Training, end: Callable[[], None]) -> Stage:
        return Stage(
            "forward", self.steps, self.make_loss(training), training.sampler("forward", self.batch),
            {self.trained: 1.0}, one_cycle(self.learning_rate), weight_decay={self.trained: forward.DECAY}, end=end,
            graph=self.captures_graph(),
        )  # fmt: skip

    def _probabilities(self, encoded: Encoded) -> Array:
        return likelihood(forward.score_rows(self, encoded, self.scores()["state"]), self.learned_["state"])

    def _hindsight(self, encoded: Encoded) -> Array:
        scores = self.scores()
        if "hindsight" not in scores:
            return self._probabilities(encoded)
        return likelihood(forward.score_rows(self, encoded, scores["hindsight"]), self.learned_["hindsight"])
