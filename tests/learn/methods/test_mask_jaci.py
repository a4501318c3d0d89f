from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError, MaskJACI, fit_many
from actcause.learn.evaluation import edge_error
from actcause.learn.methods.em import MaskEM
from actcause.learn.methods.mask_jaci import LARGE, MANY_ROWS, SMALL
from actcause.learn.training import surprises
from actcause.learn.training.hindsight import choose_network
from actcause.learn.training.loop import Stage, Trainer
from actcause.learn.training.networks import find_device
from actcause.learn.training.replica import prepare_replica
from actcause.learn.training.session import Session
from actcause.learn.training.surprises import RARE

QUICK = {"steps": 400, "distil_steps": 200, "width": 32, "batch": 128, "device": "cpu"}


def make_gate(rows: int, seed: int, *, factors: int = 1, rate: float = 0.5) -> Transitions:
    """The outcome jumps to the first factor's value where that factor and its own value say so; others do nothing."""
    generator = np.random.default_rng(seed)
    state = generator.uniform(-1, 1, size=(rows, 1 + factors, 2))
    own, first = state[:, -1], state[:, 0]
    score = first[:, 0] + 0.5 * own[:, 1]
    fires = score > np.quantile(score, 1 - rate)
    outcome = np.where(fires[:, None], first[:, ::-1] - own, 0.5 * own)
    cause = np.zeros((rows, 1 + factors), dtype=bool)
    cause[:, -1], cause[:, 0] = True, fires
    names = [*(f"a{k + 1}" for k in range(factors)), "y"]
    return Transitions(factors=names, state=state, outcome=outcome, own="y", cause=cause)


@pytest.fixture(scope="module", autouse=True)
def _few_passive_steps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 200)
        yield


@pytest.fixture(scope="module")
def learner_and_rows() -> tuple[MaskJACI, Transitions]:
    return MaskJACI(**QUICK).fit(make_gate(8000, 0)), make_gate(2000, 1)


def test_it_finds_when_an_edge_fires_without_a_label(learner_and_rows: tuple[MaskJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    assert edge_error(test, learner.predict(test)) < 0.03
    assert learner.notes_ == ()


def test_knowing_the_outcome_does_not_hurt(learner_and_rows: tuple[MaskJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    assert edge_error(test, learner.explain(test)) <= edge_error(test, learner.predict(test))


def test_probabilities_are_sure_where_answers_are_right(learner_and_rows: tuple[MaskJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    assert learner.learned_["calibration_error"] < 0.05
    sure = np.abs(learner.predict_proba(test)[:, 0] - 0.5)
    right = learner.predict(test)[:, 0] == test.cause[:, 0]
    assert (sure[right][:, None] > sure[~right]).mean() > 0.75  # a right answer is surer than a wrong one


def test_rows_that_nothing_explains_are_marked(learner_and_rows: tuple[MaskJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    broken = test.replaced(outcome=np.concatenate([test.outcome[:50] + 5.0, test.outcome[50:]]))
    marked = learner.unsure(broken, hindsight=True)
    assert marked[:50].all()
    assert marked[50:].mean() < 0.02


@pytest.mark.parametrize(
    ("factors", "options", "passive_steps"),
    [
        (3, QUICK | {"steps": 800, "batch": 256}, 300),
        pytest.param(6, QUICK | {"steps": 2000, "width": 48, "batch": 512}, 1000, marks=pytest.mark.slow),
    ],
    ids=["few", "many"],
)
def test_distractors_are_not_named(
    factors: int, options: dict[str, Any], passive_steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surprises, "STEPS", passive_steps)
    learner = MaskJACI(**options).fit(make_gate(20_000, 2, factors=factors))
    test = make_gate(4000, 3, factors=factors)
    assert edge_error(test, learner.predict(test)) < 0.04
    assert learner.predict(test)[:, 1:-1].mean() < 0.01


def test_rare_events_are_balanced_and_sufficiency_is_learned() -> None:
    learner = MaskJACI(**QUICK).fit(make_gate(10_000, 4, rate=0.06))
    test = make_gate(4000, 5, rate=0.06)
    assert 0 < learner.learned_["events"] < RARE
    assert learner.learned_["sufficiency"] == learner.sufficiency
    assert edge_error(test, learner.predict(test)) < 0.02


def test_common_events_are_left_as_they_are(learner_and_rows: tuple[MaskJACI, Transitions]) -> None:
    learner, _ = learner_and_rows
    assert learner.learned_["events"] > RARE
    assert learner.learned_["sufficiency"] == 0


def test_an_event_is_a_row_that_the_own_state_does_not_explain() -> None:
    learner = MaskJACI(**QUICK)
    replica = prepare_replica(learner, make_gate(8000, 6, rate=0.1))
    learner._size(replica.train)
    training = MaskEM(learner, [replica], Session(find_device("cpu"), 0))
    passive = training.stages()[0]
    Trainer(training.nets, 0, find_device("cpu")).run([passive])
    truth = replica.train.cause[:, 0]
    assert abs(training.surprises.share[0] - truth.mean()) < 0.05


def test_replicas_trained_together_learn_their_own_data() -> None:
    together = fit_many(
        [MaskJACI(seed=0, **QUICK), MaskJACI(seed=1, **QUICK)], [make_gate(10_000, 7), make_gate(10_000, 8, rate=0.3)]
    )
    for learner, test in zip(together, (make_gate(2000, 9), make_gate(2000, 9, rate=0.3)), strict=True):
        assert edge_error(test, learner.predict(test)) < 0.06


def test_sizes_follow_the_recording_unless_they_are_given() -> None:
    small = collect("1-in", 1000)
    learner = MaskJACI(width=32)
    learner._size(small)
    assert learner.sizes_ == {**SMALL, "width": 32}
    rows = np.zeros((MANY_ROWS, 1, 1), dtype=np.float32)
    rows[1:] = 1
    learner._size(Transitions(factors=["a"], state=rows, outcome=rows[:, 0]))
    assert learner.sizes_ == {**LARGE, "width": 32}


def test_a_network_nearer_to_hindsight_is_taken_only_where_it_gains_more_than_noise() -> None:
    misses = {"first": 0.040, "second": 0.038, "third": 0.036}
    assert choose_network(misses, noise=0.0) == "third"
    assert choose_network(misses, noise=0.0025) == "second"
    assert choose_network(misses, noise=0.005) == "first"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "The 'steps' parameter of MaskJACI must be an integer of at least 1, or None. Got 0 instead."),
        ({"width": True}, "The 'width' parameter of MaskJACI must be an integer of at least 1, or None. Got True"),
        ({"proposals": 2}, "The 'proposals' parameter of MaskJACI must be an integer of at least 5. Got 2 instead."),
    ],
)
def test_wrong_options_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(LearnError, match=message):
        MaskJACI(**options).fit(make_gate(200, 0))


def test_the_stages_come_in_the_order_that_the_algorithm_gives() -> None:
    learner = MaskJACI(**QUICK)
    replica = prepare_replica(learner, make_gate(1000, 0))
    learner._size(replica.train)
    stages: list[Stage] = MaskEM(learner, [replica], Session(torch.device("cpu"), 0)).stages()
    assert [stage.name for stage in stages] == ["passive", "warm-up", "em", "distil"]
    assert sum(stage.steps for stage in stages[1:3]) == QUICK["steps"]


def test_a_training_row_is_judged_by_the_model_that_has_not_seen_its_episode() -> None:
    learner = MaskJACI(**QUICK)
    replica = prepare_replica(learner, make_gate(1000, 0))
    learner._size(replica.train)
    training = MaskEM(learner, [replica], Session(torch.device("cpu"), 0))
    forward = training.nets["forward"]
    with torch.no_grad():  # the first fold's model predicts 0 whatever it sees, the second's 5
        for parameter in forward.parameters():
            parameter.zero_()
        forward.head.last.bias[1] = 5
        target = torch.zeros(4, training.rows.target.shape[1])
        for fold, error in ((0, 0.0), (1, 5.0), (None, 2.5)):
            found = training._judge(0, fold)(training.rows.inputs[:4], target, None)
            assert torch.equal(found.error, torch.full_like(found.error, error))
    asked = []
    judge = training._judge

    def told(replica: int, fold: int | None = None):
        tries = judge(replica, fold)

        def score_masks(inputs, target, there):
            asked.append((fold, inputs))
            return tries(inputs, target, there)

        return score_masks

    training._judge = told
    training.find_posteriors()
    for fold, inputs in asked:
        if fold is not None:
            rows = (training.rows.inputs[:, None] == inputs[None, :50]).flatten(2).all(-1).any(1)
            assert set(training.rows.fold[rows].tolist()) == {1 - fold}
    assert {fold for fold, _ in asked} == {None, 0, 1}


def test_rows_that_the_own_state_leaves_open_and_nothing_explains_are_counted(
    learner_and_rows: tuple[MaskJACI, Transitions], monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, test = learner_and_rows
    assert learner.measure_unexplained(test) < 0.05
    monkeypatch.setattr(learner, "explain", lambda data: np.zeros((len(data), 2), dtype=bool))
    assert learner.measure_unexplained(test) == 1
