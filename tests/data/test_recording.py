"""Recordings of whole states: views are one outcome's transitions, files give back what was written."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actcause import data, envs
from actcause.data import DataError, Recording, collect, collect_recording, join_recordings
from actcause.errors import QueryError


def make_recording(**changes: Any) -> Recording:
    """Two episodes of three rows: a block that an action moves, and a lamp that may be absent."""
    generator = np.random.default_rng(0)
    given: dict[str, Any] = {
        "factors": ["action", "block", "lamp"],
        "features": {"action": ["push"], "block": ["x", "y"], "lamp": ["on"]},
        "state": np.concatenate([generator.normal(size=(6, 3, 1)), np.zeros((6, 3, 1))], axis=2),
        "next_state": np.concatenate([generator.normal(size=(6, 3, 1)), np.zeros((6, 3, 1))], axis=2),
        "cause": generator.integers(0, 2, (6, 2, 3)),
        "episode": [0, 0, 0, 4, 4, 4],
        "extra": {"moved": [True, False, True, True, False, False]},
        "metadata": {"domain": "mine", "classes": {"lamp": "light"}},
    }
    return Recording(**given | changes)


@pytest.mark.parametrize("name", envs.names())
def test_the_view_of_the_outcome_is_what_collect_gives(name: str, tmp_path: Path) -> None:
    whole, one = collect_recording(name, frames=300, seed=2), collect(name, frames=300, seed=2)
    assert whole.view(one.outcome_factor) == one
    whole.save(tmp_path / "whole.parquet")
    assert Recording.load(tmp_path / "whole.parquet") == whole


def test_the_next_state_is_the_state_of_the_next_step() -> None:
    recording = collect_recording("push", frames=200, seed=0)
    outcomes = [recording.index(outcome) for outcome in recording.outcomes]
    assert recording.step.tolist() == [*range(20)] * 10
    for number in range(10):
        episode = recording.take_episode(number)
        np.testing.assert_array_equal(episode.next_state[:-1, outcomes], episode.state[1:, outcomes])


def test_pucks_have_a_graph_of_every_body() -> None:
    pytest.importorskip("mujoco")
    whole, one = (take("mujoco-pucks", frames=60, seed=1) for take in (collect_recording, collect))
    assert whole.view("target") == one
    assert whole.cause is not None
    assert whole.cause[:, whole.outcome_index("pusher"), whole.index("action")].all()
    np.testing.assert_array_equal(whole.next_state[:24, 1:], whole.state[1:25, 1:])


def test_worlds_that_do_not_tell_everything_are_refused() -> None:
    with pytest.raises(QueryError, match="highway"):
        collect_recording("highway", frames=10)


def test_columns_are_named_after_factors_and_outcomes(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    make_recording(mask=[[True, True, False]] * 6, cause=np.zeros((6, 2, 3))).save(tmp_path / "a.parquet")
    names = parquet.read_schema(tmp_path / "a.parquet").names
    assert names[:8] == [
        *("action.push", "block.x", "block.y", "lamp.on"),
        *("next.action.push", "next.block.x", "next.block.y", "next.lamp.on"),
    ]
    assert names[8:14] == [f"cause.{outcome}.{f}" for outcome in ("block", "lamp") for f in ("action", "block", "lamp")]
    assert names[14:] == ["present.action", "present.block", "present.lamp", "extra.moved", "episode", "step"]


def test_a_recording_is_a_value() -> None:
    recording = make_recording()
    assert pickle.loads(pickle.dumps(recording)) == recording
    assert join_recordings([recording.subset(slice(0, 2)), recording.subset([2, 3, 4, 5])]) == recording
    assert recording.step.tolist() == [0, 1, 2, 0, 1, 2]
    assert recording.inputs == ("action",)
    assert recording.classes == {"action": "action", "block": "block", "lamp": "light"}
    with pytest.raises(ValueError, match="read-only"):
        recording.state[0] = 1


def test_parts_are_whole_episodes() -> None:
    first, second = make_recording().split(0.5)
    assert {*first.episode.tolist()} | {*second.episode.tolist()} == {0, 4}
    assert len(first) == len(second) == 3


def test_rows_without_the_outcome_are_not_in_its_view() -> None:
    mask = np.ones((6, 3), dtype=bool)
    mask[1, 2] = False
    recording = make_recording(mask=mask, cause=None)
    assert (len(recording.view("block")), len(recording.view("lamp"))) == (6, 5)
    assert recording.rows_of("lamp").tolist() == [0, 2, 3, 4, 5]
    assert not recording.state[1, 2].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"next_state": np.zeros((5, 3, 2))}, "must be of the state's shape"),
        ({"outcomes": ["blok"]}, "did you mean 'block'"),
        ({"outcomes": []}, "one factor or more"),
        ({"cause": np.zeros((6, 3))}, r"\(rows, outcomes, factors\)"),
        ({"cause": np.full((6, 2, 3), 2)}, "true or false"),
        ({"step": [0, 1]}, "integer of at least 0"),
        ({"next_state": np.full((6, 3, 2), np.nan)}, "next.action.push is nan in row 0"),
        ({"state": np.ones((6, 3, 2))}, "name them all"),
        ({"mask": np.zeros((6, 3)), "cause": np.ones((6, 2, 3))}, "absent in row 0"),
        ({"edges": {"block": ["lmap"]}}, "did you mean 'lamp'"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_recording(**changes)


def test_files_of_the_other_kind_are_refused(tmp_path: Path) -> None:
    make_recording().save(tmp_path / "whole.parquet")
    make_recording().view("block").save(tmp_path / "one.parquet")
    with pytest.raises(DataError, match="is a recording of whole states"):
        data.load(tmp_path / "whole.parquet")
    with pytest.raises(DataError, match="is no recording of whole states"):
        Recording.load(tmp_path / "one.parquet")
    with pytest.raises(DataError, match="no episode 9"):
        make_recording().take_episode(9)
