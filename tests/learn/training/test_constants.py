"""Factors that are constant within episodes: which they are, and which make no difference."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions
from actcause.learn import JACI
from actcause.learn.methods import exchange_training, jaci
from actcause.learn.training import surprises
from actcause.learn.training.constants import find_constant, find_idle
from actcause.learn.training.diagnostics import diagnose_model

EPISODES, STEPS = 60, 10


def record(seed: int, mask: np.ndarray | None = None) -> Transitions:
    """A ball that a fan moves; the ball's mass stays the same in an episode and matters, a goal and a lamp do not."""
    generator = np.random.default_rng(seed)
    rows = EPISODES * STEPS
    ball, fan = generator.normal(size=(2, rows))
    mass, goal = (np.repeat(generator.uniform(0.5, 2, EPISODES), STEPS) for _ in range(2))
    state = np.stack([ball, fan, mass, goal, np.full(rows, 3.0)], axis=1)[:, :, None]
    return Transitions(
        factors=["ball", "fan", "mass", "goal", "lamp"],
        state=state,
        outcome=(ball + fan / mass)[:, None],
        own="ball",
        episode=np.repeat(np.arange(EPISODES), STEPS),
        mask=mask,
    )


def predict(data: Transitions) -> tuple[np.ndarray, np.ndarray]:
    """Predict by the rule, and a little by the goal: as one who remembers episodes would."""
    ball, fan, mass, goal, _ = (data.state[:, k, 0] for k in range(5))
    return (ball + fan / mass + 0.1 * np.sin(50 * goal))[:, None], data.outcome


def test_what_never_varies_within_an_episode_is_constant() -> None:
    data = record(0)
    assert find_constant(data) == ["mass", "goal", "lamp"]
    assert find_constant(data.replaced(episode=np.arange(len(data)))) == []  # a row each: all would be
    assert find_constant(data.replaced(episode=None)) == ["lamp"]
    assert find_constant(data.replaced(episode=np.arange(len(data)) // 120)) == []  # too few episodes to tell
    there = np.ones((len(data), 5), dtype=bool)
    there[::7, 3] = False
    assert find_constant(record(0, there)) == ["mass", "lamp"]  # what comes and goes is none


def test_idle_is_what_makes_no_difference_to_episodes_not_seen() -> None:
    train, held, own_classes = record(0), record(1), ["ball", "fan", "mass", "goal", "lamp"]
    assert find_idle(train, held, own_classes, predict) == ["goal", "lamp"]
    assert find_idle(train, held.replaced(episode=None), own_classes, predict) == ["lamp"]
    assert find_idle(train, held, ["ball", "fan", "still", "still", "lamp"], predict) == ["lamp"]


def test_the_default_names_no_idle_factor_and_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 50)
    monkeypatch.setattr(exchange_training, "ALONE_STEPS", 20)
    monkeypatch.setattr(jaci, "find_idle", lambda *given: ["fan"])
    data = record(0)
    learner = JACI(steps=30, distil_steps=20, width=8, batch=32, device="cpu").fit(data)
    assert learner.learned_["idle"] == ["fan"]
    assert learner.learned_["shares"]["fan"] == 0
    assert not learner.predict_proba(data)[:, 1].any()
    assert not learner.explain_proba(data)[:, 1].any()


def test_there_is_a_note_where_an_idle_factor_had_been_named_or_events_are_not_learned() -> None:
    shown = {"omitted": 0.0, "event_error": 0.2, "idle": ["goal"], "shares": {"goal": 0.3}}
    assert [note.startswith("Left out: goal.") for note in diagnose_model(shown)] == [True]
    (note,) = diagnose_model({"omitted": 0.0, "event_error": 0.8, "idle": [], "shares": {}})
    assert "errs by 80% of what the outcome's own state alone errs by" in note
