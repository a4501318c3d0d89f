"""The contract of learners: every method keeps it, and each way of breaking it is noticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from actcause.data import Transitions
from actcause.errors import ContractError
from actcause.learn import METHODS, check_learner, fit_many
from actcause.learn.check_recordings import lamps, objects, pushing
from actcause.learn.learner import Array, Learner
from actcause.learn.training.batches import Sampler
from actcause.learn.training.encoding import Encoded, Encoder
from actcause.learn.training.layers import perceptron
from actcause.learn.training.loop import Stage, Trainer, one_cycle
from actcause.learn.training.replica import Replica
from actcause.learn.training.session import Session

# Too few to learn anything: the contract holds before anything is learned.
TINY: Mapping[str, int] = {
    "steps": 12, "distil_steps": 8, "pretrain": 4, "delay": 4, "batch": 16, "width": 8, "embedding": 8, "layers": 1,
    "labelled": 100,
}  # fmt: skip


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What methods do besides their own steps is cut short, too."""
    run = Trainer.run

    def cut_short(trainer: Trainer, stages: Sequence[Stage]) -> None:
        run(trainer, [replace(stage, steps=min(stage.steps, 6)) for stage in stages])

    monkeypatch.setattr(Trainer, "run", cut_short)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_contract(method: str) -> None:
    kind = METHODS[method]
    known = {field.name for field in fields(kind)}
    check_learner(lambda: kind(**{name: value for name, value in TINY.items() if name in known}))


@dataclass(kw_only=True)
class Honest(Learner):
    """Keeps the contract: names factors that are near 0."""

    reach: float = 0.5

    method: ClassVar[str] = "honest"
    summary: ClassVar[str] = "for tests"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require("reach", self.reach > 0, "positive")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {}

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        for replica in replicas:
            replica.learner.finish(replica, {}, {"spread": float(replica.encoded.inputs.std())})

    def _probabilities(self, encoded: Encoded) -> Array:
        size = np.abs(encoded.inputs).mean(axis=2) / self.learned_["spread"]
        return np.asarray(np.exp(-size / self.reach))


def test_a_learner_that_keeps_the_contract_passes_without_being_registered() -> None:
    check_learner(Honest)


class HasNoRevision(Honest):
    revisions = ()


class StoresMore(Honest):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.double = 2 * self.reach


class TakesAnyReach(Honest):
    def check_options(self) -> None:
        Learner.check_options(self)


class FitsInPlace(Honest):
    def fit(self, data: Transitions, **options: Any) -> Any:
        super().fit(data, **options)


class ChangesItsOptions(Honest):
    def fit(self, data: Transitions, **options: Any) -> Any:
        fitted = super().fit(data, **options)
        self.reach = self.reach / 2
        return fitted


class LearnsWithoutUnderscore(Honest):
    def fit(self, data: Transitions, **options: Any) -> Any:
        self.rows = len(data)
        return super().fit(data, **options)


class UsesGlobalRandomNumbers(Honest):
    def fit(self, data: Transitions, **options: Any) -> Any:
        torch.rand(3)
        return super().fit(data, **options)


class SeedsNumpy(Honest):
    def fit(self, data: Transitions, **options: Any) -> Any:
        fitted = super().fit(data, **options)
        np.random.seed(self.seed)
        return fitted


class AnswersUnfitted(Honest):
    def predict(self, data: Transitions) -> Array:
        return np.ones((len(data), len(data.factors)), dtype=bool)


class SaysNaN(Honest):
    def _probabilities(self, encoded: Encoded) -> Array:
        return np.full(encoded.inputs.shape[:2], np.nan)


class SaysMoreThanOne(Honest):
    def _probabilities(self, encoded: Encoded) -> Array:
        return np.full(encoded.inputs.shape[:2], 1.5)


class ForgetsTheOwnFactor(Honest):
    def explain_proba(self, data: Transitions) -> Array:
        return super().explain_proba(data) * 0.5


class NamesTheAbsent(Honest):
    def explain_proba(self, data: Transitions) -> Array:
        return np.ones_like(super().explain_proba(data))


class AnswersInNumbers(Honest):
    def predict(self, data: Transitions) -> Array:
        return super().predict(data).astype(int)


class DecidesOtherwise(Honest):
    def predict(self, data: Transitions) -> Array:
        return np.asarray(self.predict_proba(data) > 0.9)


class ComparesRows(Honest):
    def _probabilities(self, encoded: Encoded) -> Array:
        size = np.abs(encoded.inputs).mean(axis=2)
        return np.asarray(size / size.max())


class PeeksAtTheOutcome(Honest):
    def _probabilities(self, encoded: Encoded) -> Array:
        return np.broadcast_to(np.abs(encoded.target).mean(axis=1, keepdims=True) > 1, encoded.inputs.shape[:2])


class IsNeverTheSame(Honest):
    told: ClassVar[list[int]] = []

    def fit(self, data: Transitions, **options: Any) -> Any:
        fitted = super().fit(data, **options)
        self.told.append(1)
        self.learned_["spread"] *= 1 + 0.1 * len(self.told)
        return fitted


class LooksAtLabels(Honest):
    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        for replica in replicas:
            rate = 0.0 if replica.train.cause is None else float(replica.train.cause[:, 1].mean())
            replica.learner.finish(replica, {}, {"spread": 1 + rate})


class LooksAtLabelsInTheirOrder(Honest):
    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        for replica in replicas:
            truth = replica.train.cause
            spread = 1.0 if truth is None else 1 + float((truth[:, 1] * replica.encoded.inputs[:, 1, 0]).mean())
            replica.learner.finish(replica, {}, {"spread": spread})


class MixesReplicas(Honest):
    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        spread = float(np.mean([replica.encoded.inputs[:50].std() for replica in replicas]))
        for replica in replicas:
            replica.learner.finish(replica, {}, {"spread": spread})


class TakesAnyLayout(Honest):
    def _encode(self, data: Transitions) -> Encoded:
        if data.layout != pushing().layout:
            return Encoder.fit(data).encode(data)
        return super()._encode(data)


class ScoresItself(Honest):
    def score(self, data: Transitions) -> float:
        return super().score(data) / 2


class ScoresWithoutTruth(Honest):
    def score(self, data: Transitions) -> float:
        return super().score(pushing() if data.cause is None else data)


BROKEN: Mapping[type[Learner], str] = {
    HasNoRevision: "needs revisions",
    StoresMore: "store its options and nothing else",
    TakesAnyReach: "reach=nan must be refused with a LearnError",
    FitsInPlace: "must return the learner",
    ChangesItsOptions: "must not change its options",
    LearnsWithoutUnderscore: "'rows' does not",
    UsesGlobalRandomNumbers: "global random numbers",
    SeedsNumpy: "global random numbers",
    AnswersUnfitted: "predict before fit must be refused",
    SaysNaN: "not NaN",
    SaysMoreThanOne: "between 0 and 1",
    ForgetsTheOwnFactor: "always name the outcome's own factor",
    NamesTheAbsent: "never name an absent factor",
    AnswersInNumbers: "must be booleans",
    DecidesOtherwise: "follow from its probabilities",
    ComparesRows: "must not depend on the rows beside it",
    PeeksAtTheOutcome: "from the state alone",
    IsNeverTheSame: "the same when fitted again",
    LooksAtLabels: "never look at true causes",
    LooksAtLabelsInTheirOrder: "never look at true causes",
    MixesReplicas: "must not depend on another's data",
    TakesAnyLayout: "predict of other data must be refused",
    ScoresItself: "score must be 1 - edge error",
    ScoresWithoutTruth: "score without true causes must be refused",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_learner_that_breaks_the_contract_is_caught(kind: Callable[[], Learner]) -> None:
    with pytest.raises(ContractError, match=BROKEN[kind]):  # type: ignore[index]
        check_learner(kind)


def test_an_error_that_is_no_sentence_of_ours_is_caught() -> None:
    class Crashes(Honest):
        def check_options(self) -> None:
            assert self.seed >= 0

    with pytest.raises(ContractError, match=r"must be a LearnError of one sentence, and is AssertionError"):
        check_learner(Crashes)


def test_a_learner_that_hides_that_its_time_ran_out_is_caught() -> None:
    class Hides(Honest):
        @classmethod
        def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
            for replica in replicas:
                replica.learner.finish(replica, {}, {"spread": 1.0}, history=[{"stage": "all", "step": 1}])

    with pytest.raises(ContractError, match="must note that its training was stopped"):
        check_learner(Hides)


def test_a_learner_that_cannot_be_resumed_is_caught() -> None:
    class Forgets(Honest):
        """What it learns depends on how many steps this process has taken."""

        @classmethod
        def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
            net, taken = perceptron(1, 1, 2, 1, 1), [0]

            def loss(index: torch.Tensor, settings: Any, generator: torch.Generator) -> tuple[torch.Tensor, Any]:
                taken[0] += 1
                error = net(index.float().unsqueeze(-1)).square().mean()
                return error, {"error": error}

            def sampler() -> Sampler:
                return Sampler([[torch.arange(10)]], 4, [0], "all")

            stage = Stage("one", 2, loss, sampler, {"net": 1.0}, one_cycle(1e-3))
            with torch.no_grad():
                for parameter in net.parameters():
                    parameter.fill_(0.1)
            trainer = session.train({"net": net}, [stage, replace(stage, name="two")])
            for replica in replicas:
                replica.learner.finish(replica, {}, {"spread": float(taken[0])}, trainer.history)

    with pytest.raises(ContractError, match="must end the same when stopped and resumed"):
        check_learner(Forgets)


def test_the_recordings_differ_in_what_learners_must_cope_with() -> None:
    assert {len(names) for names in pushing().features.values()} == {1, 2, 3}
    assert objects().mask is not None
    assert lamps().own is None
    assert pushing(seed=1) != pushing(seed=2)


def test_learners_that_differ_in_more_than_seeds_are_not_fitted_together() -> None:
    with pytest.raises(ValueError, match="differ in their seeds only"):
        fit_many([Honest(reach=1.0), Honest(reach=2.0)], [pushing(), pushing()])
