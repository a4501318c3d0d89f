"""What every learner has in common: one contract for all methods.

    learner = JACI(seed=0).fit(data)      # labels in `data` are never looked at
    learner.predict(data)                 # (rows, factors): from the state alone, as the paper
    learner.explain(data)                 # the same, knowing the outcome that was observed
    learner.predict_proba(data), learner.explain_proba(data)
    learner.unsure(data)                  # (rows,): where the answer is marked, not guessed
    learner.score(data)                   # 1 - edge error; the only place that needs the truth

`__init__` only stores; `fit` validates and returns the learner; what was learned ends in `_`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..data import Transitions
from ..data.categories import recode_texts
from ..errors import quote
from .checkpoint import save
from .errors import LearnError
from .evaluation import edge_error
from .preimages import LearnedPreimages, learned_preimages
from .training.encoding import Encoded, Encoder
from .training.loop import TrainingProgress
from .training.replica import Replica
from .training.session import Session, fit_many

if TYPE_CHECKING:
    from os import PathLike
    from typing import Self

    from torch import nn


Array = np.ndarray[Any, Any]
BLOCK = 8192  # rows that are looked at together when predicting


@dataclass(kw_only=True)
class Learner(ABC):
    """A method that says, for each transition, which factors caused the outcome.

    Subclasses are final dataclasses whose fields are the method's options.
    """

    seed: int = 0
    device: str = "auto"  # "cpu", "cuda", or "auto": cuda where there is one
    held_out: float = 0.1  # share of the episodes kept for choices and calibration
    classes: Mapping[str, str] | None = None  # factors of one class share weights; default: the recording's
    categorical: Sequence[str] | None = None  # "factor.feature" or "next.feature"; default: the recording's
    max_seconds: float | None = None
    max_memory: float | None = None  # GiB beyond the recording; of a larger one, episodes are left out

    method: ClassVar[str]  # as on the command line
    summary: ClassVar[str]  # one line for lists
    revisions: ClassVar[tuple[str, ...]] = ()  # each time its answers were meant to change, and why: one line
    revision: ClassVar[int] = 0  # how many lines there are; results are kept as long as it stays

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        cls.revision = len(cls.revisions)

    # -- the contract ------------------------------------------------------------------------------

    def fit(self, data: Transitions, *, callback: Callable[[TrainingProgress], None] | None = None) -> Self:
        """Learn from transitions; `callback` is told of progress."""
        fit_many([self], [data], callback=callback)
        return self

    def predict_proba(self, data: Transitions) -> Array:
        """Say how likely each factor is a cause of a row's outcome, from its state alone: (rows, factors)."""
        return self._answer(data, self._probabilities)

    def predict(self, data: Transitions) -> Array:
        """Name the causes of each row's outcome, judged from its state alone: (rows, factors), true for a cause."""
        return self._decide(data, self.predict_proba(data))

    def explain_proba(self, data: Transitions) -> Array:
        """Answer as `predict_proba` does, in hindsight: with the observed outcome, where the method can use it."""
        return self._answer(data, self._hindsight)

    def explain(self, data: Transitions) -> Array:
        """Answer as `predict` does, in hindsight: by the binary that best explains the outcome that was observed."""
        return self._decide(data, self.explain_proba(data))

    def unsure(self, data: Transitions, *, hindsight: bool = False) -> Array:
        """Mark rows, (rows,), whose outcome even all factors predict badly: no answer can be trusted there."""
        encoded = self._encode(data)
        return np.concatenate([self._unsure(part, hindsight) for part in encoded.blocks(BLOCK)])

    def score(self, data: Transitions) -> float:
        """Return 1 - edge error over the factors in question; this needs true causes."""
        return 1.0 - edge_error(data, self.predict(data))

    def preimages(self, data: Transitions, **options: Any) -> LearnedPreimages:
        """Group states by binary: the share and the cost of each, and how far P1 and P2 are violated."""
        return learned_preimages(self, data, **options)

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted learner to one safetensors file with a JSON header."""
        save(self, path)

    def settings(self) -> dict[str, Any]:
        """Return the options as JSON can hold them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    # -- for methods -------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        """Train the learners of all replicas at once and call `finish` on each."""

    @abstractmethod
    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        """Make untrained networks for so many replicas side by side; a fitted learner has those of one replica."""

    @abstractmethod
    def _probabilities(self, encoded: Encoded) -> Array:
        """Answer from the state alone, (rows, factors); the outcome's own factor and absent ones do not matter."""

    def _hindsight(self, encoded: Encoded) -> Array:
        """Answer knowing the outcome, (rows, factors); methods that cannot use it answer from the state."""
        return self._probabilities(encoded)

    def _unsure(self, encoded: Encoded, hindsight: bool) -> Array:
        return np.zeros(len(encoded), dtype=bool)

    def check_options(self) -> None:
        """Refuse options that make no sense; called by `fit`."""
        self.require_integer("seed", 0)
        for field in dataclasses.fields(self):  # so that other checks can compare numbers without further ado
            if isinstance(field.default, (int, float)) and not isinstance(field.default, bool):
                value = getattr(self, field.name)
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                self.require(field.name, number, "a number")
        self.require("held_out", isinstance(self.held_out, float) and 0 < self.held_out <= 0.5, "above 0, at most 0.5")
        for name in ("max_seconds", "max_memory"):
            limit = getattr(self, name)
            right = limit is None or (isinstance(limit, (int, float)) and not isinstance(limit, bool) and limit > 0)
            self.require(name, right, "positive, or None")
        self.require(
            "device", self.device in ("auto", "cpu") or str(self.device).startswith("cuda"), "'auto', 'cpu' or 'cuda'"
        )

    def require(self, name: str, holds: bool, wanted: str) -> None:
        """Refuse an option unless it holds, by one template for all."""
        if not holds:
            raise LearnError(
                "The '{parameter}' parameter of {method} must be {wanted}. Got {got} instead.",
                parameter=name,
                method=type(self).__name__,
                wanted=wanted,
                got=quote(getattr(self, name)),
            )

    def require_integer(self, name: str, least: int = 1) -> None:
        """Refuse what is no integer, or too small a one."""
        value = getattr(self, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        self.require(name, whole and value >= least, f"an integer of at least {least}")

    def finish(
        self,
        replica: Replica,
        nets: Mapping[str, nn.Module],
        learned: Mapping[str, Any],
        history: Sequence[Mapping[str, Any]] = (),
        notes: Sequence[str] = (),
        encoder: Encoder | None = None,
    ) -> None:
        """Store what was learned: networks of one replica, numbers (JSON) by name, and sentences worth reading."""
        self.encoder_ = replica.encoder if encoder is None else encoder
        self.nets_ = dict(nets)
        texts = replica.train.metadata.get("categories")
        self.learned_ = {**learned, **({} if texts is None else {"categories": texts})}
        self.history_ = list(history)
        self.notes_ = tuple(notes)
        self.threshold_ = float(learned.get("threshold", 0.5))

    # -- shared ------------------------------------------------------------------------------------

    def _encode(self, data: Transitions) -> Encoded:
        if not hasattr(self, "encoder_"):
            raise LearnError(f"This {type(self).__name__} has not been fitted; call fit(data) first.")
        if not isinstance(data, Transitions):
            raise LearnError(f"The data must be Transitions. Got {type(data).__name__} instead.")
        texts = self.learned_.get("categories")
        return self.encoder_.encode(recode_texts(data, texts) if texts else data)

    def _answer(self, data: Transitions, answer: Callable[[Encoded], Array]) -> Array:
        encoded = self._encode(data)
        found = np.concatenate([answer(part) for part in encoded.blocks(BLOCK)]).astype(np.float32)
        if data.mask is not None:
            found *= data.mask
        if self.encoder_.own is not None:
            found[:, self.encoder_.own] = 1.0
        return found

    def _decide(self, data: Transitions, probabilities: Array) -> Array:
        return np.asarray(probabilities > self.threshold_)
