"""Causes by distance."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions
from actcause.learn import LearnError
from actcause.learn.methods.proximity import Proximity, best_radius, choose_places, distances
from actcause.learn.training.encoding import Encoder


def billiard(rows: int = 3000) -> Transitions:
    """A ball that is shifted where the cue is within 0.5, and a lamp that has no place."""
    generator = np.random.default_rng(0)
    state = np.zeros((rows, 3, 2))
    state[:, :2] = generator.uniform(-1, 1, (rows, 2, 2))
    state[:, 2, 0] = generator.random(rows)
    near = np.linalg.norm(state[:, 0] - state[:, 1], axis=1) < 0.5
    return Transitions(
        factors=["ball", "cue", "lamp"],
        features={"ball": ["x", "y"], "cue": ["x", "y"], "lamp": ["light"]},
        state=state,
        outcome=state[:, 0] + 3 * near[:, None],
        own="ball",
        cause=np.stack([np.ones(rows, dtype=bool), near, np.zeros(rows, dtype=bool)], axis=1),
    )


def test_the_radius_is_found_from_surprise_alone() -> None:
    data = billiard()
    learner = Proximity(steps=200).fit(data.replaced(cause=None))
    assert learner.learned_["radius"] == pytest.approx(0.5, abs=0.02)
    assert learner.score(data) > 0.99


def test_a_factor_that_shares_no_feature_is_never_named() -> None:
    data = billiard(500)
    assert not Proximity(steps=50).fit(data).predict_proba(data)[:, 2].any()


def test_an_absent_factor_is_infinitely_far() -> None:
    data = billiard(200)
    mask = np.ones((200, 3), dtype=bool)
    mask[0, 1] = False
    part = data.replaced(mask=mask, cause=None)
    encoder = Encoder.fit(part)
    away = distances(encoder, encoder.encode(part))
    assert np.isinf(away[0, 1])
    assert np.isfinite(away[1:, 1]).all()


def test_without_an_own_factor_nothing_is_near_and_a_note_says_so() -> None:
    data = billiard(500)
    blind = Transitions(factors=["a", "b", "c"], state=data.state, outcome=data.outcome)
    learner = Proximity(steps=10).fit(blind)
    assert not learner.predict(blind).any()
    assert "no own factor" in learner.notes_[0]


def test_nearness_that_calms_is_no_cause() -> None:
    assert best_radius(np.array([0.1, 0.2, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0])) == 0


def rolling(rows: int = 3000) -> Transitions:
    """The billiard, with speeds that are far larger than distances."""
    data = billiard(rows)
    fast = np.zeros((rows, 3, 4))
    fast[:, :, :2] = data.state
    fast[:, :2, 2:] = np.random.default_rng(1).normal(scale=20, size=(rows, 2, 2))
    named = ["x", "y", "vx", "vy"]
    return Transitions(
        factors=data.factors,
        features={"ball": named, "cue": named, "lamp": ["light"]},
        state=fast,
        outcome=data.outcome,
        outcome_features=["x", "y"],
        own="ball",
        cause=data.cause,
    )


def test_places_are_measured_and_speeds_are_not() -> None:
    data = rolling()
    learner = Proximity(steps=200).fit(data)
    assert learner.learned_["places"] == ["x", "y"]
    assert learner.learned_["radius"] == pytest.approx(0.5, abs=0.05)
    assert learner.score(data) > 0.98


def test_places_are_those_given_else_the_recordings() -> None:
    data = rolling(500)
    assert Proximity(steps=20, places=["y"]).fit(data).learned_["places"] == ["y"]
    assert Proximity(steps=20).fit(data.replaced(metadata={"places": ["vx"]})).learned_["places"] == ["vx"]
    with pytest.raises(LearnError, match=r"'ball' has no feature 'yy' \(places\); did you mean"):
        Proximity(steps=20, places=["yy"]).fit(data)
    with pytest.raises(LearnError, match="a list of features"):
        Proximity(places="xy").fit(data)


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["x0", "x1", "x2"], ["x0", "x1", "x2"]),
        (["x", "x@-1", "x.change"], ["x"]),
        (["position.0", "velocity.0", "charge"], ["position.0"]),
        (["a", "b"], ["a", "b"]),
        (["vx", "speed"], []),
    ],
)
def test_places_are_read_from_names(names: list[str], places: list[str]) -> None:
    assert choose_places(names) == places


def test_without_a_place_nothing_is_near_and_a_note_says_what_to_give() -> None:
    data = billiard(500)
    features = {"ball": ["vx", "vy"], "cue": ["vx", "vy"], "lamp": ["light"]}
    blind = Transitions(factors=data.factors, features=features, state=data.state, outcome=data.outcome, own="ball")
    learner = Proximity(steps=10).fit(blind)
    assert not learner.predict(blind)[:, 1:].any()
    assert "say which features are 'places'" in learner.notes_[0]
