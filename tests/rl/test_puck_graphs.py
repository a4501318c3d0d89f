"""True graphs of pucks asked about any state: a step taken twice is the same, and what is apart can be exchanged."""

from __future__ import annotations

import numpy as np

from actcause.data import Recording, collect_recording
from actcause.rl import PuckGraphs, augment
from actcause.worlds.mujoco_pucks import SPREAD

TRUTH = PuckGraphs()


def record(frames: int) -> Recording:
    """Record states of pucks, and step each once more with all that is not seen at rest."""
    found = collect_recording("mujoco-pucks", frames, seed=2, dtype="float64")
    return found.replaced(next_state=TRUTH.step(found.state), cause=None)


def test_a_step_from_what_is_seen_is_always_the_same() -> None:
    recording = record(50)
    assert (TRUTH.step(recording.state) == recording.next_state).all()
    assert (TRUTH.predict(recording) == TRUTH.predict(recording)).all()


def test_a_pusher_that_runs_into_the_target_is_its_cause() -> None:
    recording = record(20)
    state = recording.state[:1].copy()
    state[0] = 0
    for number in range(1, state.shape[1]):  # all apart, at rest
        state[0, number, :2] = (-0.3 + 0.14 * number, 0.3)
    state[0, 1, :2], state[0, 2, :2], state[0, 0, :2] = (-0.1, 0.0), (0.0, 0.0), (1.5, 0.0)
    graph = TRUTH.predict(recording.subset(slice(0, 1)).replaced(state=state))[0]
    target = recording.outcomes.index("target")
    assert graph[target].tolist() == [True, True, True, False, False, False]
    assert graph[recording.outcomes.index("other1")].tolist() == [False, False, False, True, False, False]


def test_what_is_exchanged_by_true_graphs_is_exact() -> None:
    made = augment(record(150), TRUTH, pairs=150)
    assert made.recording is not None
    off = np.abs(TRUTH.step(made.recording.state) - made.recording.next_state)[:, 1:] / SPREAD
    assert (off <= 0.05).all(axis=(1, 2)).mean() >= 0.98
