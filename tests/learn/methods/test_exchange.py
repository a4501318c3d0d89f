from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from actcause.data import Transitions
from actcause.learn import ExchangeJACI, LearnError, fit_many, load
from actcause.learn.evaluation import edge_error
from actcause.learn.methods import exchange_training
from actcause.learn.methods.exchange import WORD
from actcause.learn.methods.exchange_training import ExchangeTraining, is_learned
from actcause.learn.training import surprises
from actcause.learn.training.layers import select_groups
from actcause.learn.training.sufficiency import STRANGE

QUICK = {"steps": 300, "distil_steps": 200, "width": 32, "batch": 128, "labelled": 2000, "device": "cpu"}


def strike(rows: int, seed: int, *, noise: float = 0.0) -> Transitions:
    """Two equal balls and a wall: a ball that is near throws the outcome back by where it is; the wall never acts."""
    generator = np.random.default_rng(seed)
    state = generator.uniform(-1, 1, size=(rows, 4, 2))
    own = state[:, 3]
    near = np.abs(state[:, :2, 0] - own[:, None, 0]) < 0.25
    first = near[:, 0]
    second = near[:, 1] & ~first
    pushed = np.where(first[:, None], own - state[:, 0], np.where(second[:, None], own - state[:, 1], 0.0))
    outcome = own + 2 * pushed + 0.1 * own + noise * generator.normal(size=(rows, 2))
    cause = np.zeros((rows, 4), dtype=bool)
    cause[:, 0], cause[:, 1], cause[:, 3] = first, second, True
    return Transitions(
        factors=["ball1", "ball2", "wall", "puck"],
        state=state,
        outcome=outcome,
        own="puck",
        cause=cause,
        outcome_features=["x1", "x2"],
    )


@pytest.fixture(scope="module", autouse=True)
def _few_passive_steps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 100)
        patch.setattr(exchange_training, "ALONE_STEPS", 150)
        yield


@pytest.fixture(scope="module")
def learner_and_rows() -> tuple[ExchangeJACI, Transitions]:
    return ExchangeJACI(**QUICK).fit(strike(5000, 0)), strike(800, 1)


def test_it_finds_which_of_two_balls_struck(learner_and_rows: tuple[ExchangeJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    assert test.cause is not None
    never = float(test.cause[:, :3].mean())
    assert never > 0.1
    assert edge_error(test, learner.explain(test)) < 0.03
    assert edge_error(test, learner.predict(test)) < 0.06


def test_it_says_which_factor_is_never_named(learner_and_rows: tuple[ExchangeJACI, Transitions]) -> None:
    learner, _ = learner_and_rows
    assert any("Never named as a cause: wall" in note for note in learner.notes_)


def test_answers_survive_a_file(learner_and_rows: tuple[ExchangeJACI, Transitions], tmp_path: Path) -> None:
    learner, test = learner_and_rows
    learner.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors", device="cpu")
    assert np.array_equal(again.predict_proba(test), learner.predict_proba(test))
    assert np.array_equal(again.explain(test), learner.explain(test))


def test_a_strange_outcome_is_explained_by_the_state_alone(learner_and_rows: tuple[ExchangeJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    wild = test.replaced(outcome=test.outcome + 50, cause=None)
    assert np.array_equal(learner.explain(wild), learner.predict(wild))
    assert learner.unsure(wild, hindsight=True).all()


def test_explaining_starts_from_predicting_and_adds_what_the_outcome_shows(
    learner_and_rows: tuple[ExchangeJACI, Transitions],
) -> None:
    learner, test = learner_and_rows
    test = test.subset(slice(0, 400))
    encoded = learner._encode(test)
    judged, odds = learner._judge(encoded), learner._odds(encoded)
    named, clear = (judged.binary > 0.5).numpy(), (judged.passed >= STRANGE).numpy()
    explained, predicted = learner.explain(test), learner.predict(test)
    sure = (np.abs(odds) > WORD) & (judged.lean <= 0).numpy()[:, None]
    assert np.array_equal(explained[sure], predicted[sure])
    unsure = (np.abs(odds) < WORD) & clear[:, None]
    assert np.array_equal(explained[unsure], named[unsure])
    assert np.array_equal(explained[~clear], predicted[~clear])
    assert edge_error(test, explained) <= edge_error(test, predicted)


@pytest.mark.parametrize("kept", ["sums", "both", "attention"])
def test_one_network_answers_or_two_as_one(kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exchange_training, "choose_simplest", lambda misses, noise: kept)
    data = strike(500, 0)
    learner = ExchangeJACI(**{**QUICK, "steps": 20, "distil_steps": 20, "width": 16, "labelled": 200}).fit(data)
    answering = {"attention", "sums"} if kept == "both" else {kept}
    assert answering == learner.nets_.keys() & {"attention", "sums"}
    encoded = learner._encode(data)
    inputs, there = learner._load(encoded)
    each = [exchange_training.find_odds(learner.nets_[name], name, inputs, there, 3) for name in answering]
    mean = torch.stack(each).mean(0).detach().numpy() - learner.learned_["shift"]
    assert np.allclose(learner._odds(encoded), mean, atol=1e-5)
    learner.save(tmp_path / "model.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").predict_proba(data), learner.predict_proba(data))


def test_a_judge_of_one_model_sees_what_that_model_sees(learner_and_rows: tuple[ExchangeJACI, Transitions]) -> None:
    learner, test = learner_and_rows
    inputs, _ = learner._load(learner._encode(test))
    whole = learner.nets_["whole"]
    both = whole(inputs.expand(2, -1, -1, -1), None)
    for model in range(2):
        one = select_groups(whole, slice(model, model + 1))
        assert torch.allclose(one(inputs[None], None)[0], both[model], atol=1e-5)


def test_two_seeds_side_by_side_are_two_learners() -> None:
    options = {**QUICK, "steps": 20, "distil_steps": 20, "width": 16, "labelled": 200}
    data = strike(500, 0)
    one, two = fit_many([ExchangeJACI(seed=seed, **options) for seed in (0, 1)], [data, data])
    assert one.predict(data).shape == two.predict(data).shape == (500, 4)
    assert not np.array_equal(one.predict_proba(data), two.predict_proba(data))


def test_a_switch_that_always_does_the_same_is_named_when_it_acts() -> None:
    """Both outcomes are as sharp; only that the one without the switch comes more often tells which needs it."""
    generator = np.random.default_rng(0)
    level, valve, other = generator.uniform(-1, 1, 2500), *generator.integers(0, 4, size=(2, 2500))
    acts = valve == 3
    data = Transitions(
        factors=["level", "valve", "other"],
        state=np.stack([level, valve, other], axis=1)[:, :, None],
        outcome=(0.9 * level + 0.4 * acts + 0.02 * generator.normal(size=2500))[:, None],
        own="level",
        cause=np.stack([np.ones(2500, bool), acts, np.zeros(2500, bool)], axis=1),
    )
    learner = ExchangeJACI(**{**QUICK, "steps": 200, "distil_steps": 100, "width": 16}).fit(data)
    for named in (learner.predict(data), learner.explain(data)):
        assert named[acts, 1].mean() > 0.95
        assert named[~acts, 1].mean() < 0.02
        assert named[:, 2].mean() < 0.02


def test_training_ends_when_held_out_events_hold_nothing_more_to_learn() -> None:
    looks = [{"stage": "whole", "held": held} for held in (0.5, 0.004, 0.003, 0.004)]
    assert not is_learned(looks[:3])
    assert is_learned(looks)
    assert not is_learned([*looks, {"stage": "whole"}])


def test_the_weights_are_kept_that_served_held_out_rows_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look is the best one: later weights are not kept, however long training goes on."""
    monkeypatch.setattr(exchange_training, "CHECKED", 50)
    averages: list[dict[str, Tensor]] = []

    def cost(training: ExchangeTraining, position: int, name: str) -> tuple[float, float]:
        looked = (3.0, 1.0, 2.0, 2.0)
        if name == "average":
            averages.append({k: v.clone() for k, v in training.nets["average"].state_dict().items()})
            return looked[len(averages) - 1], 1.0
        return min(looked[: len(averages) - 1]), 1.0

    monkeypatch.setattr(ExchangeTraining, "_cost", cost)
    learner = ExchangeJACI(**{**QUICK, "steps": 250, "distil_steps": 5, "width": 16, "labelled": 200, "batch": 64})
    learner.fit(strike(500, 0))
    kept = learner.nets_["whole"].state_dict()
    assert len(averages) == 4
    assert all(torch.equal(kept[name], weight) for name, weight in averages[1].items())
    assert any(not torch.equal(kept[name], weight) for name, weight in averages[2].items())


def test_factors_are_hidden_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []

    def learn(training: ExchangeTraining, index: Tensor, *rest: Any) -> Any:
        shown, weight = training._hide(index, rest[-1])
        shares.append((None if shown is None else float(shown.mean()), weight.shape == index.shape))
        return original(training, index, *rest)

    original = ExchangeTraining._learn_whole
    monkeypatch.setattr(ExchangeTraining, "_learn_whole", learn)
    options = {**QUICK, "steps": 4, "distil_steps": 1, "width": 16, "labelled": 50, "batch": 64}
    ExchangeJACI(**options).fit(strike(300, 0))
    assert shares == [(None, True)] * len(shares)
    shares.clear()
    monkeypatch.setattr(exchange_training, "MANY", 3)
    ExchangeJACI(**options).fit(strike(300, 0))
    assert all(share is not None and 0.5 < share < 1 and fits for share, fits in shares)


def test_categories_are_judged_by_their_chances() -> None:
    """A door opens when the hand is at it and pulls; the paint does nothing."""
    rows, generator = 4000, np.random.default_rng(0)
    state = np.stack([generator.integers(0, 4, rows), generator.integers(0, 3, rows), np.zeros(rows)], axis=1)
    state[:, 2] = generator.integers(0, 2, rows)
    opens = (state[:, 0] == 1) & (state[:, 2] == 0)
    outcome = np.where(opens, 1.0, state[:, 2])[:, None]
    cause = np.stack([opens, np.zeros_like(opens), np.ones_like(opens)], axis=1)
    data = Transitions(
        factors=["hand", "paint", "door"],
        features={"hand": ["pull"], "paint": ["colour"], "door": ["open"]},
        state=state[..., None],
        outcome=outcome,
        own="door",
        outcome_features=["open"],
        cause=cause,
        metadata={"categorical": ["hand.pull", "paint.colour", "door.open", "next.open"]},
    )
    learner = ExchangeJACI(**{**QUICK, "steps": 150, "distil_steps": 150}).fit(data)
    assert edge_error(data, learner.explain(data)) == 0
    assert edge_error(data, learner.predict(data)) == 0


@pytest.mark.parametrize(("option", "value"), [("width", 6), ("steps", 0), ("decay", -1.0), ("learning_rate", 2.0)])
def test_options_that_make_no_sense_are_refused(option: str, value: float) -> None:
    with pytest.raises(LearnError, match=option):
        ExchangeJACI(**{option: value}).fit(strike(1000, 0))


def test_the_callers_random_numbers_are_not_used_up() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    ExchangeJACI(**{**QUICK, "steps": 20, "distil_steps": 5, "labelled": 100}).fit(strike(500, 0))
    assert torch.equal(torch.rand(3), expected)
