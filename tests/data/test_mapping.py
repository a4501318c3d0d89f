"""Bringing one's own tables: slices, categories, missing objects, chosen outcomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actcause.data import DataError, Transitions, concatenate, convert, load, read_batches
from actcause.learn import Counterfactual

LOG = {"run": [1, 1, 1, 2, 2, 2], "x": [0.0, 1, 3, 0, 2, 4], "vx": [1.0, 2, 2, 2, 2, 1], "p": [1.0, 2, 3, 4, 5, 6]}
MAPPING = {"factors": {"ball": ["x", "vx"], "paddle": {"x": "p"}}, "outcome": "ball", "episode": "run"}
DOORS = "door,key,next\nshut,near,shut\nshut,held,open\nopen,far,open\nshut,held,open\n"
OF_DOORS = {
    "factors": {"door": {"state": "door"}, "key": {"at": "key"}},
    "outcome": {"door": {"state": "next"}},
    "categorical": ["door.state", "key"],
}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# -- outcomes --------------------------------------------------------------------------------------


def test_features_of_the_outcome_are_chosen_where_the_next_row_is_the_outcome() -> None:
    made = Transitions.from_frame(LOG, {**MAPPING, "outcome_features": ["vx"]})
    assert made.outcome_features == ("vx",)
    assert made.outcome.ravel().tolist() == [2, 2, 2, 1]
    assert made.features["ball"] == ("x", "vx")
    assert made.change.ravel().tolist() == [1, 0, 0, -1]


def test_features_of_the_outcome_are_chosen_among_columns_of_the_next_value() -> None:
    frame = {"a.x": [1.0, 2], "a.y": [0.0, 1], "b.x": [1.0, 1], "next.a.x": [2.0, 3], "next.a.y": [1.0, 5]}
    assert Transitions.from_frame(frame, {"outcome_features": ["y"]}).outcome.ravel().tolist() == [1, 5]


def test_columns_of_the_next_value_may_be_those_of_the_chosen_features_alone() -> None:
    frame = {**LOG, "after": LOG["x"][1:] + LOG["x"][:1]}
    chosen = {**MAPPING, "outcome": {"ball": ["after"]}, "outcome_features": ["x"]}
    assert Transitions.from_frame(frame, chosen).outcome_features == ("x",)
    with pytest.raises(DataError, match="'ball' has 2 features and 1 columns of the next value"):
        Transitions.from_frame(frame, {**MAPPING, "outcome": {"ball": ["after"]}})


def test_text_in_a_column_of_numbers_is_told_where_kinds_go() -> None:
    with pytest.raises(DataError, match="Got 'red' in row 1 instead; kinds go into 'categorical'"):
        Transitions.from_frame({**LOG, "p": ["red"] * len(LOG["p"])}, MAPPING)
    with pytest.raises(DataError, match=r"must hold true or false \(or 1 and 0\). Got 'perhaps' in row 1"):
        Transitions.from_frame({**LOG, "hit": ["perhaps"] * len(LOG["p"])}, {**MAPPING, "cause": {"paddle": "hit"}})


def test_an_outcome_that_is_read_from_the_states_own_column_is_refused() -> None:
    wrong = {**MAPPING, "outcome": {"ball": ["x", "vx"]}}
    with pytest.raises(
        DataError, match=r"'ball' is read from column 'x', which holds 'ball' before .*'outcome': 'ball'"
    ):
        Transitions.from_frame(LOG, wrong)
    with pytest.raises(DataError, match=r"'reward' is read from column 'p', which holds 'paddle' before the step"):
        Transitions.from_frame(LOG, {**MAPPING, "outcome": {"reward": ["p"]}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outcome_features": ["v"]}, "The outcome 'ball' has no feature 'v'; did you mean"),
        ({"outcome_features": "x"}, "'outcome_features' of the mapping must be a list"),
        ({"features": ["x"]}, "'features' of the mapping must be a table"),
        ({"features": {"ball": ["x"]}}, "features of 'ball' must be 2 different names"),
        ({"features": {"bal": ["x"]}}, "Unknown factor 'bal' .features.; did you mean 'ball'"),
        ({"places": "x"}, "'places' must be a list such as"),
        ({"places": ["z"]}, "Unknown feature 'z' .places."),
        ({"periods": {"z": 1}}, "Unknown feature 'z' .periods."),
        ({"categorical": "ball"}, "'categorical' must be a list such as"),
        ({"categorical": ["ball.z"]}, "Unknown categorical feature 'ball.z'; did you mean"),
        ({"categorical": {"ball.x": "a"}}, "categories of 'ball.x' must be a list"),
        ({"history": -1}, "'history' must be a number of past frames"),
        ({"history": 1.5}, "'history' must be a number of past frames"),
        ({"differences": "x"}, "'differences' must be true, or a list"),
        ({"differences": ["z"]}, "Unknown feature 'z' .differences."),
        ({"categorical": ["ball"], "differences": ["vx"]}, "'vx' .differences. is categorical"),
        ({"factors": {"ball": ["x", "x"]}}, "Column 'x' stands twice in 'ball'"),
    ],
)
def test_a_mistake_in_the_mapping_is_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as wrong:
        Transitions.from_frame(LOG, {**MAPPING, **changes})
    assert "\n" not in str(wrong.value)


# -- slices ----------------------------------------------------------------------------------------


def flat(rows: int = 6) -> dict[str, np.ndarray]:
    return {"obs": np.arange(4.0 * rows).reshape(rows, 4) ** 2, "act": np.arange(float(rows)), "t": np.zeros(rows)}


SLICES = {"factors": {"hand": "obs[0:2]", "block": ["obs[2]", "obs[3]"], "action": "act"}, "outcome": "block"}


def test_slices_of_a_flat_observation_are_factors() -> None:
    made = Transitions.from_frame(flat(), {**SLICES, "features": {"hand": ["x", "y"]}})
    assert made.features == {"hand": ("x", "y"), "block": ("x0", "x1"), "action": ("act",)}
    assert np.array_equal(made.state[:, 1], flat()["obs"][:-1, 2:])
    assert np.array_equal(made.outcome, flat()["obs"][1:, 2:])


def test_an_npz_file_is_read_as_a_frame_of_its_arrays_is(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **flat(), picture=np.zeros((6, 2, 2)))
    write(tmp_path / "m.json", json.dumps(SLICES))
    made = load(tmp_path / "a.npz", tmp_path / "m.json")
    assert made == Transitions.from_frame(flat(), SLICES)
    assert concatenate(read_batches(tmp_path / "a.npz", SLICES, rows=2)) == made
    np.savez(tmp_path / "b.npz", **flat(), n=np.zeros(1))
    with pytest.raises(DataError, match=r"6 rows in 'obs.0.' and 1 in 'n'"):
        load(tmp_path / "b.npz", {"factors": {"a": "obs", "n": "n"}, "outcome": "a"})


def test_a_table_whose_first_column_is_called_as_archives_begin_is_a_table(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "PK,a,next\n1,2,3\n2,3,5\n")
    made = load(tmp_path / "a.csv", {"factors": {"a": "a"}, "outcome": {"a": "next"}})
    assert made.outcome.tolist() == [[3], [5]]


def test_an_npz_file_never_runs_code(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", obs=np.array([{"x": 1}, {"x": 2}], dtype=object))
    with pytest.raises(DataError, match="cannot be read as NPZ"):
        load(tmp_path / "a.npz", {"factors": {"a": "obs"}, "outcome": "a"})


def test_numbered_columns_of_a_table_are_sliced_too(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "o_0,o_1,o_2,n_0,n_1\n1,2,3,4,5\n2,3,4,5,7\n")
    made = load(tmp_path / "a.csv", {"factors": {"a": "o_[0:2]", "b": "o_[2]"}, "outcome": {"a": "n_[0:2]"}})
    assert made.state.tolist() == [[[1, 2], [3, 0]], [[2, 3], [4, 0]]]
    assert made.outcome.tolist() == [[4, 5], [5, 7]]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"a": "obs[2:9]"}, "'obs.2:9.' is outside 'obs', which has 4 values: 0 to 3"),
        ({"a": "obz[0:2]"}, "no column 'obz.0:2.'"),
        ({"a": {"x": "obs[0:2]"}}, "'obs.0:2.' is 2 columns where one is wanted"),
    ],
)
def test_a_slice_that_does_not_fit_is_refused(factors: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Transitions.from_frame(flat(), {"factors": factors, "outcome": "a"})


# -- categories ------------------------------------------------------------------------------------


def test_text_categories_become_numbers_and_are_read_back_from_the_file(tmp_path: Path) -> None:
    source = write(tmp_path / "doors.csv", DOORS)
    made = load(source, OF_DOORS)
    assert made.metadata["categorical"] == ["door.state", "key.at", "next.state"]
    assert made.metadata["categories"]["key.at"] == ["far", "held", "near"]
    assert made.state[:, 0, 0].tolist() == [1, 1, 0, 1]
    convert(source, OF_DOORS, tmp_path / "doors.parquet", rows=1)
    again = load(tmp_path / "doors.parquet")
    assert again == made
    assert again.read_text("key.at").tolist() == ["near", "held", "far", "held"]
    assert again.read_text("next.state").tolist() == ["shut", "open", "open", "open"]
    with pytest.raises(DataError, match=r"No texts are known of 'key.as'; did you mean 'key.at'"):
        again.read_text("key.as")


@pytest.mark.parametrize("form", ["frame", "parquet", "categorical", "batches"])
def test_text_categories_are_the_same_wherever_they_come_from(tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "doors.csv", DOORS)
    frame = pd.read_csv(source)
    if form == "categorical":
        frame = frame.astype("category")
    if form == "frame":
        made = Transitions.from_frame(frame, OF_DOORS)
    elif form == "batches":
        made = concatenate(read_batches(source, OF_DOORS, rows=1))
    else:
        frame.to_parquet(tmp_path / "doors.parquet")
        made = load(tmp_path / "doors.parquet", OF_DOORS)
    assert made == load(source, OF_DOORS)


def test_categories_that_are_numbers_stay_numbers() -> None:
    frame = {"m": [3, 1, 3], "y": [0.0, 1, 2], "n": [1.0, 2, 0]}
    made = Transitions.from_frame(
        frame, {"factors": {"a": ["y"], "move": ["m"]}, "outcome": {"a": ["n"]}, "categorical": {"move": [1, 3]}}
    )
    assert made.metadata == {"categorical": ["move.m"]}
    assert made.state[:, 1, 0].tolist() == [3, 1, 3]


def test_given_categories_keep_their_order_and_refuse_others(tmp_path: Path) -> None:
    source = write(tmp_path / "doors.csv", DOORS)
    given = {"door.state": ["shut", "open"], "key.at": ["near", "held"]}
    with pytest.raises(DataError, match=r"'key' must hold one of its categories near, held. Got 'far' in row 3"):
        load(source, {**OF_DOORS, "categorical": given})
    made = load(source, {**OF_DOORS, "categorical": {**given, "key.at": ["near", "held", "far"]}})
    assert made.state[:, 1, 0].tolist() == [0, 1, 2, 1]
    assert made.metadata["categories"]["next.state"] == ["shut", "open"]


def test_too_many_texts_are_no_category() -> None:
    frame = {"k": [f"t{k}" for k in range(70)], "y": np.arange(70.0)}
    with pytest.raises(DataError, match="more than 64 texts"):
        Transitions.from_frame(frame, {"factors": {"a": ["k"]}, "outcome": {"y": "y"}, "categorical": ["a"]})


def lamps(order: list[str], rows: int = 300) -> Transitions:
    """A lamp that is lit by one of three switches' positions, whose texts come in this order."""
    generator = np.random.default_rng(0)
    switch = generator.choice(["off", "dim", "on"], rows)
    light = np.where(switch == "on", 1.0, np.where(switch == "dim", 0.4, 0.0))
    return Transitions.from_frame(
        {"switch": switch.astype(object), "noise": generator.random(rows), "light": light},
        {"factors": {"switch": {"at": "switch"}, "noise": ["noise"]}, "outcome": {"lamp": "light"},
         "categorical": {"switch": order}},
    )  # fmt: skip


def test_a_learner_knows_texts_by_their_words_not_by_their_numbers(tmp_path: Path) -> None:
    first, other = lamps(["off", "dim", "on"]), lamps(["on", "off", "dim"])
    learner = Counterfactual(steps=30, width=16, device="cpu").fit(first)
    assert not np.array_equal(first.state, other.state)
    assert np.array_equal(learner.predict_proba(first), learner.predict_proba(other))
    assert learner.predict_proba(lamps(["on", "off", "dim", "broken"])).shape == (300, 2)


# -- missing objects -------------------------------------------------------------------------------


def test_an_object_without_values_is_absent(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a.x,b.x,b.y,next.a.x\n1,1,2,2\n2,,,3\n3,NaN,nan,4\n")
    for rows in (1, 100):
        made = concatenate(read_batches(source, rows=rows))
        assert made.mask is not None
        assert made.mask.tolist() == [[True, True], [True, False], [True, False]]
        assert made.state[1:, 1].tolist() == [[0, 0], [0, 0]]
    assert convert(source, None, tmp_path / "a.parquet", rows=1) == 3
    assert load(tmp_path / "a.parquet") == made
    pq.write_table(
        pa.table({"a.x": [1.0, 2.0], "b.x": [None, 2.0], "next.a.x": [2.0, float("3")]}), tmp_path / "b.parquet"
    )
    found = load(tmp_path / "b.parquet").mask
    assert found is not None
    assert found[:, 1].tolist() == [False, True]


def test_an_object_of_which_some_values_are_missing_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a.x,b.x,b.y,next.a.x\n1,1,2,2\n2,,5,3\n")
    with pytest.raises(DataError, match=r"Column 'b.x' has no value in row 2"):
        load(source)


def test_an_object_that_is_said_to_be_there_must_have_values(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a.x,b.x,present.b,next.a.x\n1,,yes,2\n2,3,yes,3\n")
    with pytest.raises(DataError, match=r"Column 'b.x' has no value in row 1"):
        load(source)


def test_a_log_has_no_transition_from_or_to_a_row_without_the_outcome(tmp_path: Path) -> None:
    text = "a.x,b.x\n1,1\n2,2\n,3\n4,4\n5,\n6,6\n"
    for rows in (1, 2, 100):
        made = concatenate(read_batches(write(tmp_path / "a.csv", text), {"outcome": "a"}, rows=rows))
        assert made.state[:, 0, 0].tolist() == [1, 4, 5]
        assert made.outcome.ravel().tolist() == [2, 5, 6]
        assert made.mask is not None
        assert made.mask[:, 1].tolist() == [True, True, False]
    with pytest.raises(DataError, match=r"Column 'a.x' has no value in row 1"):
        load(write(tmp_path / "b.csv", "a.x,b.x,next.a.x\n,1,2\n2,1,3\n"))


def test_an_array_with_nan_means_absent_too() -> None:
    state = np.array([[[1.0, 2], [3, 0]], [[1, 2], [np.nan, 0]]])
    features = {"ball": ["x", "y"], "lamp": ["on"]}
    made = Transitions(factors=list(features), features=features, state=state, outcome=[[1.0, 2], [2, 2]], own="ball")
    assert made.mask is not None
    assert made.mask.tolist() == [[True, True], [True, False]]
    state[0, 0, 0] = np.nan
    with pytest.raises(DataError, match=r"ball.x is nan in row 0"):
        Transitions(factors=list(features), features=features, state=state, outcome=[[1.0, 2], [2, 2]], own="ball")
    state[0, 0] = np.nan
    with pytest.raises(DataError, match="'ball' is absent in row 0, where its next value is the outcome"):
        Transitions(factors=list(features), features=features, state=state, outcome=[[1.0, 2], [2, 2]], own="ball")
