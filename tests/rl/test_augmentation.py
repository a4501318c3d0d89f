"""Augmentation: what is kept is exact, what is not asked again is not, and the rest stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import Recording, collect_recording
from actcause.envs import make
from actcause.errors import DataError, QueryError
from actcause.rl import GraphsByOutcome, MovedGraphs, NearGraphs, TrueGraphs, augment
from actcause.rl.augmentation import choose_groups

PUSH = make("push")
TRUTH = TrueGraphs(PUSH)
RECORDING = collect_recording(PUSH, frames=4000, seed=1, dtype="float64")


@pytest.mark.parametrize(("name", "parameters"), [("push", {}), ("push", {"arena": 8.0}), ("break", {})])
def test_with_true_graphs_nearly_all_that_is_kept_is_exact(name: str, parameters: dict[str, Any]) -> None:
    domain = make(name, **parameters)
    truth = TrueGraphs(domain)
    made = augment(collect_recording(domain, frames=3000, dtype="float64"), truth, pairs=5000)
    exact = made.measure_exactness(truth)
    assert exact is not None
    assert exact >= 0.995
    assert made.share > 0.2


def test_without_asking_again_an_exchange_makes_edges_fire() -> None:
    asked, unasked = (augment(RECORDING, TRUTH, recheck=recheck) for recheck in (True, False))
    assert (asked.measure_exactness(TRUTH) or 0) > (unasked.measure_exactness(TRUTH) or 1) + 0.05
    assert len(unasked) > len(asked)


def test_exchanging_anything_is_worst_and_proximity_keeps_next_to_nothing() -> None:
    anything, near, true = (augment(RECORDING, graphs) for graphs in (None, NearGraphs(2.0), TRUTH))
    assert (anything.measure_exactness(TRUTH) or 1) < 0.8
    assert near.share < true.share / 5


def test_the_group_comes_from_the_second_row_and_the_rest_from_the_first() -> None:
    made = augment(RECORDING, TRUTH, pairs=500)
    assert made.recording is not None
    for row in range(0, len(made), 17):
        for name in ("state", "next_state"):
            sources = getattr(RECORDING, name)
            expected = np.where(made.exchanged[row, :, None], sources[made.second[row]], sources[made.first[row]])
            assert (getattr(made.recording, name)[row] == expected).all()
    assert not made.exchanged.all(axis=1).any()
    assert made.tried == 500


def test_what_is_joined_by_edges_is_exchanged_together() -> None:
    graphs = np.repeat(np.eye(7, dtype=bool)[None, 1:], 200, axis=0)
    graphs[:, 0, 0] = True  # the action moves the pusher
    graphs[:, 1, 1] = True  # which moves the block
    chosen = choose_groups(RECORDING, graphs, np.random.default_rng(0))
    assert (chosen[:, 0] == chosen[:, 1]).all()
    assert (chosen[:, 0] == chosen[:, 2]).all()
    assert chosen.any(axis=1).all()
    assert not chosen.all(axis=1).any()
    assert 0.3 < chosen.mean() < 0.7
    assert choose_groups(RECORDING, np.ones_like(graphs), np.random.default_rng(0)).all()


def test_the_same_seed_gives_the_same_rows_and_nothing_given_is_changed() -> None:
    before = RECORDING.state.copy()
    one, two = (augment(RECORDING, TRUTH, pairs=300, seed=3) for _ in range(2))
    assert one.recording == two.recording
    assert (RECORDING.state == before).all()


def test_nothing_kept_is_no_error() -> None:
    made = augment(RECORDING, NearGraphs(100.0), pairs=50)
    assert made.recording is None
    assert len(made) == 0
    assert made.measure_exactness(TRUTH) is None
    assert repr(made) == "<Augmentation: 0 new rows of 50 pairs>"


def test_learned_graphs_are_asked_as_true_ones_are() -> None:
    small = RECORDING.subset(slice(0, 1500))
    learned = GraphsByOutcome("always").fit(small)
    assert {"pusher", "block"} <= set(learned.learners_) <= {"pusher", "block", "target"}  # obstacles never change
    made = augment(small, learned, pairs=200)
    assert made.recording is None or isinstance(made.recording, Recording)
    with pytest.raises(QueryError, match="call fit"):
        GraphsByOutcome("always").predict(small)


def test_what_has_no_predict_is_refused_and_so_is_a_wrong_shape() -> None:
    class Flat:
        def predict(self, recording: Any) -> Any:
            return np.zeros((len(recording), 2))

    for wrong in ("truth", Flat()):
        with pytest.raises(QueryError) as caught:
            augment(RECORDING, wrong)
        assert caught.value.parameter == "graphs"
    with pytest.raises(QueryError, match="pairs"):
        augment(RECORDING, TRUTH, pairs=0)


def test_moved_graphs_blame_the_driven_body_for_every_change() -> None:
    graphs = MovedGraphs("pusher").predict(RECORDING)
    block = RECORDING.outcomes.index("block")
    moved = (RECORDING.next_state[:, 2] != RECORDING.state[:, 2]).any(axis=1)
    assert (graphs[:, block, 1] == moved).all()
    assert graphs[:, block, 2].all()


def test_every_exchange_of_a_pair_is_tried_and_all_of_them_are_exact():
    domain = make("push", obstacles=1)
    truth = TrueGraphs(domain)
    recording = collect_recording(domain, 300, seed=3, dtype="float64")
    one, every = (augment(recording, truth, pairs=100, every=every, seed=1) for every in (False, True))
    assert every.tried == 100
    assert every.share > 2 * one.share
    assert every.measure_exactness(truth) == 1.0
    made = np.concatenate([every.first[:, None], every.second[:, None], every.exchanged], axis=1)
    assert len(np.unique(made, axis=0)) > 0.95 * len(made)  # pairs may be drawn twice


def test_a_factor_that_is_ignored_is_near_nothing_but_itself() -> None:
    target = RECORDING.index("target")
    plain, ignoring = NearGraphs(1.0).predict(RECORDING), NearGraphs(1.0, ignored=["target"]).predict(RECORDING)
    assert plain[:, :2, target].any()
    assert not ignoring[:, :2, target].any()
    rest = [k for k in range(7) if k != target]
    assert (plain[:, :2][:, :, rest] == ignoring[:, :2][:, :, rest]).all()
    with pytest.raises(DataError, match="did you mean 'target'"):
        NearGraphs(1.0, ignored=["targt"]).predict(RECORDING)
    with pytest.raises(QueryError, match="ignored must be a list of names"):
        NearGraphs(1.0, ignored="target")
