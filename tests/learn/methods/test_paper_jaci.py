"""The paper's Algorithm 1: what it learns, what its options do, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from actcause.data import Transitions, collect
from actcause.learn import LearnError, fit_many
from actcause.learn.check import check_learner
from actcause.learn.evaluation import edge_error
from actcause.learn.methods.paper_jaci import PaperJACI
from actcause.learn.methods.paper_networks import BitNetwork, GaussianModel, gaussian_misfit
from actcause.learn.training import surprises

TINY = PaperJACI(steps=20, pretrain=5, delay=5, batch=32, width=8, embedding=8, layers=1, device="cpu")


@pytest.fixture(autouse=True)
def few_passive_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 5)


@pytest.fixture(scope="module")
def data() -> Transitions:
    return collect("1-in", 1500, seed=1)


def test_it_keeps_the_contract_of_learners() -> None:
    check_learner(lambda: TINY)


def test_a_gate_that_opens_for_half_of_the_states_is_found() -> None:
    generator = np.random.default_rng(0)
    state = generator.uniform(-1, 1, (8000, 2, 2))
    near = state[:, 1, 0] > 0
    outcome = state[:, 0] + np.where(near, 1.0, 0.0)[:, None] * state[:, 1, 1:]
    cause = np.stack([np.ones_like(near), near], axis=1)
    gate = Transitions(factors=["own", "other"], state=state, outcome=outcome, own="own", cause=cause)
    sizes = {"batch": 256, "width": 24, "embedding": 24, "layers": 1}
    rates = {"learning_rate": 3e-3, "ratio": 0.5, "penalty": 10.0, "sharp": 0.5}
    learner = PaperJACI(steps=500, pretrain=150, device="cpu", **sizes, **rates).fit(gate)  # type: ignore[arg-type]
    assert edge_error(gate, learner.predict(gate)) < 0.1
    assert edge_error(gate, learner.explain(gate)) < 0.1
    assert learner.notes_ == ()


@pytest.mark.parametrize(
    ("mixing", "sharp", "adapting"),
    [("bernoulli", 0.0, "plain"), ("straight-through", 1.0, "gap"), ("soft", 0.0, "gap")],
)
def test_every_choice_trains(data: Transitions, mixing: str, sharp: float, adapting: str) -> None:
    learner = replace(TINY, mixing=mixing, sharp=sharp, adapting=adapting).fit(data)
    assert {entry["stage"] for entry in learner.history_} == {"passive", "pretrain", "delay", "joint"}
    assert np.isfinite(learner.predict_proba(data)).all()


def test_a_larger_threshold_finds_fewer_causes(data: Transitions) -> None:
    low, high = (replace(TINY, threshold=threshold).fit(data) for threshold in (0.1, 0.99))
    np.testing.assert_array_equal(low.predict_proba(data), high.predict_proba(data))
    assert low.predict(data).sum() > high.predict(data).sum()


def test_a_penalty_that_is_far_too_large_collapses_and_says_so(data: Transitions) -> None:
    learner = replace(TINY, penalty=1e4, steps=100, ratio=1.0, learning_rate=0.01).fit(data)
    assert any("all zeros" in note for note in learner.notes_)


def test_settling_keeps_the_binary_network_from_certainty(data: Transitions) -> None:
    loose, tied = (
        replace(TINY, steps=150, ratio=1.0, learning_rate=0.01, settling=weight).fit(data) for weight in (0.0, 1.0)
    )
    sure = [np.abs(learner.predict_proba(data)[:, 0] - 0.5).mean() for learner in (loose, tied)]
    assert sure[1] < 0.5 * sure[0]


def test_seeds_learn_side_by_side(data: Transitions) -> None:
    first, second = fit_many([TINY, replace(TINY, seed=1)], [data, data])
    assert not np.array_equal(first.predict_proba(data), second.predict_proba(data))


@pytest.mark.parametrize(
    ("name", "value"),
    [("steps", 0), ("pretrain", -1), ("mixing", "hard"), ("adapting", "none"), ("threshold", 1.0), ("ratio", 0.0),
     ("floor", 0.0), ("penalty", -1.0), ("settling", -0.1)],
)  # fmt: skip
def test_options_without_sense_are_refused(data: Transitions, name: str, value: object) -> None:
    with pytest.raises(LearnError, match=f"The '{name}' parameter of PaperJACI must be"):
        replace(TINY, **{name: value}).fit(data)  # type: ignore[arg-type]


# -- networks --------------------------------------------------------------------------------------


def test_the_forward_model_is_blind_to_what_is_masked_out() -> None:
    model = GaussianModel(2, [0, 1, 2], 4, 3, width=8, embedding=8, layers=2, floor=0.1)
    rows = torch.randn(2, 5, 3, 4)
    other = rows.clone()
    other[:, :, 1] = torch.randn(2, 5, 4)
    mask = torch.tensor([1.0, 0.0, 1.0]).expand(2, 5, 3)
    before, after = (model(model.embedding(seen), mask) for seen in (rows, other))
    torch.testing.assert_close(before, after)
    seen = model(model.embedding(other), torch.ones_like(mask))
    assert not torch.allclose(seen[0], model(model.embedding(rows), torch.ones_like(mask))[0])


def test_deviations_stay_above_the_floor_and_outliers_surprise() -> None:
    model = GaussianModel(1, [0], 2, 1, width=4, embedding=4, layers=1, floor=0.1)
    mean, deviation = model(model.embedding(torch.randn(1, 6, 1, 2)), torch.ones(1, 6, 1))
    assert bool((deviation > 0.1).all())
    assert bool((gaussian_misfit(mean + 1, mean, deviation) > gaussian_misfit(mean, mean, deviation)).all())


def test_a_bit_depends_on_the_other_factors_too_but_not_on_absent_ones() -> None:
    network = BitNetwork(1, [0, 0], 3, width=8, embedding=8, layers=2)
    rows = torch.randn(1, 4, 2, 3)
    other = rows.clone()
    other[:, :, 1] += 1
    assert not torch.allclose(network(rows)[..., 0], network(other)[..., 0])
    there = torch.tensor([1.0, 0.0]).expand(1, 4, 2)
    torch.testing.assert_close(network(rows, there)[..., 0], network(other, there)[..., 0])
