"""A forward model of whole states: rows that the world would never have given stand out, and few of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from actcause.data import collect_recording
from actcause.envs import make
from actcause.errors import QueryError
from actcause.rl import TransitionModel, TrueGraphs, augment


@pytest.fixture(scope="module")
def recording():
    return collect_recording(make("push", obstacles=0), 3000, seed=1, dtype="float64")


@pytest.fixture(scope="module")
def model(recording):
    return TransitionModel(steps=150, rows=128, width=24).fit(recording)


def test_rows_that_cannot_be_lie_further_off_than_those_that_happened(recording, model):
    fresh = collect_recording(make("push", obstacles=0), 500, seed=2, dtype="float64")
    moved = fresh.next_state.copy()
    moved[:, fresh.index("pusher"), 0] += 1.0
    usual, odd = model.measure_gaps(fresh), model.measure_gaps(fresh.replaced(next_state=moved))
    assert np.median(odd) > 3 * np.median(usual)


def test_a_stricter_limit_is_never_larger_and_expects_fewer_wrong(recording, model):
    gaps = model.measure_gaps(recording)
    limits = [model.choose_limit(gaps, wrong) for wrong in (0.6, 0.5, 0.4)]
    assert limits == sorted(limits, reverse=True)
    assert len(set(limits)) > 1
    assert model.estimate_wrong(gaps, limits[0]) <= 0.6


def test_better_models_may_keep_more(recording, model):
    gaps = model.measure_gaps(recording)
    before = model.estimate_wrong(gaps, 1.0)
    better = TransitionModel()
    better.gaps_, better.unit_, better.error_ = model.gaps_, model.unit_, model.error_ / 10
    assert better.estimate_wrong(gaps, 1.0) < before


def test_the_same_seed_gives_the_same_gaps(recording, model):
    again = TransitionModel(steps=150, rows=128, width=24).fit(recording)
    assert np.allclose(again.measure_gaps(recording), model.measure_gaps(recording))


class Knowing:
    """A model that knows the world."""

    def __init__(self, truth):
        self.truth = truth

    def measure_gaps(self, recording):
        places = [recording.index(outcome) for outcome in recording.outcomes]
        return np.abs(self.truth.step(recording.state) - recording.next_state)[:, places].max(axis=(1, 2))

    def choose_limit(self, gaps, wrong):
        return 1e-4

    def estimate_wrong(self, gaps, limit):
        return 0.0


def test_what_the_model_does_not_predict_is_left_out():
    truth = TrueGraphs(make("push"))
    recording = collect_recording("push", 1500, seed=0, dtype="float64")
    loose = augment(recording, truth, recheck=False)
    strict = augment(recording, truth, recheck=False, model=Knowing(truth))
    assert loose.measure_exactness(truth) < 0.9
    assert strict.measure_exactness(truth) == 1.0
    assert 0.5 * len(loose) < len(strict) < len(loose)
    assert strict.expected_wrong == 0.0


@pytest.mark.parametrize("options", [{"steps": 0}, {"rows": 1.5}, {"width": True}])
def test_sizes_that_make_no_sense_are_refused_in_a_sentence(options):
    with pytest.raises(QueryError, match="must be an integer of at least 1"):
        TransitionModel(**options)


def test_a_model_that_was_not_fitted_says_so(recording):
    with pytest.raises(QueryError, match="call fit"):
        TransitionModel().measure_gaps(recording)
