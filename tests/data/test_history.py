"""Past frames as further features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actcause.data import DataError, Transitions, collect, concatenate, load, read_batches

LOG = {
    "run": [1, 1, 1, 1, 2, 2, 2],
    "x": [0.0, 1, 3, 6, 10, 15, 21],
    "kind": ["a", "b", "a", "b", "a", "a", "b"],
    "p": [0.0, 2, 4, 6, 8, 10, 12],
}
MAPPING = {
    "factors": {"ball": {"x": "x", "kind": "kind"}, "paddle": {"x": "p"}},
    "outcome": "ball",
    "outcome_features": ["x"],
    "episode": "run",
    "categorical": ["ball.kind"],
}


def test_past_frames_are_features_and_rows_without_them_are_left_out() -> None:
    made = Transitions.from_frame(LOG, {**MAPPING, "history": 1, "differences": ["x"]})
    assert made.features["ball"] == ("x", "kind", "x@-1", "kind@-1", "x.change")
    assert made.features["paddle"] == ("x", "x@-1", "x.change")
    assert made.state[:, 0].tolist() == [[1, 1, 0, 0, 1], [3, 0, 1, 1, 2], [15, 0, 10, 0, 5]]
    assert made.state[:, 1, :3].tolist() == [[2, 0, 2], [4, 2, 2], [10, 8, 2]]
    assert made.outcome.ravel().tolist() == [3, 6, 21]
    assert made.metadata["categorical"] == ["ball.kind", "ball.kind@-1"]
    assert made.read_text("ball.kind@-1").tolist() == ["a", "b", "a"]


def test_history_of_a_table_is_that_of_its_transitions(tmp_path: Path) -> None:
    text = "\n".join([",".join(LOG), *(",".join(map(str, row)) for row in zip(*LOG.values(), strict=True))])
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    wanted = load(tmp_path / "log.csv", MAPPING).with_history(2, differences=True)
    for rows in (1, 2, 3, 100):
        batches = read_batches(tmp_path / "log.csv", {**MAPPING, "history": 2, "differences": True}, rows=rows)
        assert concatenate(batches) == wanted
    assert wanted.features["paddle"] == ("x", "x@-1", "x@-2", "x.change")


def test_one_of_our_files_is_read_with_its_past(tmp_path: Path) -> None:
    data = collect("break", 300, seed=1)
    data.save(tmp_path / "break.parquet")
    past = load(tmp_path / "break.parquet", {"history": 2})
    assert past == data.with_history(2)
    assert past.metadata == data.metadata
    assert set(past.extra) == set(data.extra)
    assert past.episode is not None
    assert len(past) == len(data) - 2 * len(np.unique(data.episode))
    assert concatenate(read_batches(tmp_path / "break.parquet", {"history": 2}, rows=7)) == past


def test_differences_alone_need_one_frame_and_add_one_feature() -> None:
    data = collect("push", 100)
    moved = data.with_history(0, differences=["x"])
    assert moved.features["block"] == ("x", "y", "x.change")
    assert moved.features["action"] == ("dx", "dy")
    assert data.with_history(0) is data


def test_an_object_that_was_absent_seems_to_have_stood_still() -> None:
    state = np.zeros((4, 2, 1))
    state[:, 0, 0], state[:, 1, 0] = [1, 2, 3, 4], [5, 6, 7, 9]
    mask = np.ones((4, 2), dtype=bool)
    mask[1, 1] = False
    data = Transitions(factors=["a", "b"], state=state, outcome=state[:, 0] + 1, own="a", mask=mask)
    past = data.with_history(2, differences=True)
    assert past.state[:, 1].tolist() == [[7, 7, 5, 0], [9, 7, 7, 2]]


def test_a_gap_in_a_log_is_no_past() -> None:
    log = {"a.x": [1.0, 2, np.nan, 4, 5, 6], "b.x": [1.0, 2, 3, 4, 5, 6]}
    made = Transitions.from_frame(log, {"outcome": "a", "history": 1})
    assert made.state[:, 0].tolist() == [[5, 4]]


def test_a_past_that_cannot_be_had_is_refused() -> None:
    data = collect("push", 40)
    with pytest.raises(DataError, match="No row has 30 rows of its episode before it"):
        data.with_history(30)
    shuffled = data.subset(np.random.default_rng(0).permutation(40)).replaced(episode=[0, 1] * 20)
    with pytest.raises(DataError, match="must be together to have a past"):
        shuffled.with_history(1)
    with pytest.raises(DataError, match="'history' must be"):
        data.with_history(-1)
    with pytest.raises(DataError, match=r"has a feature 'd.@-1' already: the past can be added only once"):
        data.with_history(1).with_history(1)
    log = {"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 1.0]}
    mapping = {"factors": {"a": ["a"], "b": ["b"]}, "outcome": "a", "history": 5}
    with pytest.raises(DataError, match="No row has 5 rows of its episode before it"):
        Transitions.from_frame(log, mapping)


def test_learning_with_a_past_finds_what_one_frame_cannot() -> None:
    """A ball whose speed was not recorded: where it is next follows from two frames, not from one."""
    generator = np.random.default_rng(0)
    speed = generator.normal(size=(40, 1))
    place = generator.normal(size=(40, 1)) + speed * np.arange(12)
    log = {"run": np.repeat(np.arange(40), 12), "x": place.ravel()}
    mapping = {"factors": {"ball": ["x"]}, "outcome": "ball", "episode": "run"}
    blind, seeing = (Transitions.from_frame(log, {**mapping, "history": frames}) for frames in (0, 1))

    def measure_error(data: Transitions) -> float:
        features = np.column_stack([data.state[:, 0], np.ones(len(data))])
        fitted = np.linalg.lstsq(features, data.outcome, rcond=None)[0]
        return float(np.abs(features @ fitted - data.outcome).mean())

    assert measure_error(seeing) < 1e-6 < measure_error(blind)
