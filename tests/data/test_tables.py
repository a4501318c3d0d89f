"""Other people's files: tables of their own columns, read by a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actcause.data import (
    DataError,
    Transitions,
    concatenate,
    convert,
    load,
    read_batches,
)

CSV = "trial,bx,by,px,hit,nbx,nby\nA,0,0.5,1,yes,1,0.5\nA,1,0.5,5,no,1,0.5\nB,1,2,1,yes,2,2\n"
MAPPING = {
    "factors": {"block": {"x": "bx", "y": "by"}, "push": ["px"]},
    "outcome": {"block": ["nbx", "nby"]},
    "cause": {"push": "hit"},
    "episode": "trial",
}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["dict", "json", "toml"])
def test_a_csv_with_two_factors_and_an_outcome_becomes_transitions(tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "mine.csv", CSV)
    mapping: Any = MAPPING
    if form == "json":
        mapping = write(tmp_path / "map.json", json.dumps(MAPPING))
    if form == "toml":
        mapping = write(
            tmp_path / "map.toml",
            'episode = "trial"\n[factors]\nblock = {x = "bx", y = "by"}\npush = ["px"]\n'
            '[outcome]\nblock = ["nbx", "nby"]\n[cause]\npush = "hit"\n',
        )
    made = load(source, mapping)
    assert made.features == {"block": ("x", "y"), "push": ("px",)}
    assert made.state.tolist() == [[[0, 0.5], [1, 0]], [[1, 0.5], [5, 0]], [[1, 2], [1, 0]]]
    assert made.outcome.tolist() == [[1, 0.5], [1, 0.5], [2, 2]]
    assert made.episode is not None
    assert made.episode.tolist() == [0, 0, 1]
    assert made.rates() == {"block": 0, "push": pytest.approx(2 / 3)}
    assert (made.own, made.edges) == ("block", ("push",))
    assert convert(source, mapping, tmp_path / "mine.parquet", rows=2) == 3
    assert load(tmp_path / "mine.parquet") == made
    assert Transitions.from_frame(pd.read_csv(source), mapping) == made


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_blanks_and_a_byte_order_mark_are_understood(tmp_path: Path, delimiter: str) -> None:
    text = "\ufeff" + CSV.replace(",", f" {delimiter} ").replace("\n", "\r\n")
    assert load(write(tmp_path / "b.csv", text), MAPPING) == load(write(tmp_path / "a.csv", CSV), MAPPING)


def test_whole_numbers_first_and_fractions_later_are_one_column(tmp_path: Path) -> None:
    rows = [f"{i},{i + (0.5 if i > 4 else 0)},{i}" for i in range(10)]
    source = write(tmp_path / "a.csv", "\n".join(["a.x,b.x,next.a.x", *rows]))
    batches = list(read_batches(source, rows=3))
    assert [len(batch) for batch in batches] == [3, 3, 3, 1]
    assert concatenate(batches).state[:, 1, 0].tolist() == [0, 1, 2, 3, 4, 5.5, 6.5, 7.5, 8.5, 9.5]


def test_a_trajectory_without_next_columns_pairs_every_row_with_the_following_of_its_episode(tmp_path: Path) -> None:
    text = "episode,a.x,b.x,cause.b\n" + "".join(f"{e},{10 * e + t},{t},{t % 2}\n" for e in (3, 1, 2) for t in range(4))
    source = write(tmp_path / "a.csv", text + "9,0,0,0\n")
    for rows in (1, 2, 3, 100):
        made = concatenate(read_batches(source, {"outcome": "a"}, rows=rows))
        assert made.state[:, 0, 0].tolist() == [30, 31, 32, 10, 11, 12, 20, 21, 22]
        assert made.outcome.ravel().tolist() == [31, 32, 33, 11, 12, 13, 21, 22, 23]
        assert made.episode is not None
        assert made.episode.tolist() == [3] * 3 + [1] * 3 + [2] * 3
        assert made.cause is not None
        assert made.cause[:, 1].tolist() == [False, True, False] * 3


def test_scattered_episodes_have_no_following_row(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "episode,a.x,b.x\n0,1,1\n1,1,1\n0,2,2\n")
    with pytest.raises(DataError, match="sort them by 'episode'"):
        load(source, {"outcome": "a"})


def test_absent_objects_may_have_no_values(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a.x,b.x,present.b,next.a.x\n1,,no,2\n2,4,yes,3\n")
    made = load(source)
    assert made.mask is not None
    assert made.mask.tolist() == [[True, False], [True, True]]
    assert made.state[:, 1, 0].tolist() == [0, 4]


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (CSV.replace("0.5,5,", ",5,"), {}, "Column 'by' has no value in row 2"),
        (CSV.replace("0.5,5,", "NaN,5,"), {}, "Column 'by' has no value in row 2"),
        (CSV.replace("0.5,5,", "inf,5,"), {}, "Column 'by' is infinite in row 2"),
        (CSV.replace("0.5,5,", "half,5,"), {}, "Column 'by' must hold numbers. Got 'half' in row 2"),
        (CSV.replace("no,", "perhaps,"), {}, "'hit' must hold .*Got 'perhaps' in row 2"),
        (CSV.replace("no,", "2,").replace("yes", "1"), {}, "'hit' must hold true or false .* Got 2 in row 2"),
        (CSV.replace("no,", ","), {}, "'hit' must hold true or false .* in row 2"),
        (CSV.replace("A,1,", ",1,"), {}, "'trial' has no value in row 2"),
        (CSV.replace("B,", "B,B,"), {}, "cannot be read as CSV"),
        (CSV.replace("px,", "bx,"), {}, "two columns called 'bx'"),
        (CSV.splitlines()[0], {}, "no row|not a single transition"),
        (CSV.splitlines()[0] + "\n", {}, "no row|not a single transition"),
        (CSV, {"factors": {"block": ["bx", "bi"], "push": ["px"]}}, "no column 'bi'; did you mean 'b.'"),
        (CSV, {"factors": {"block": [], "push": ["px"]}}, "columns of 'block' must be a list"),
        (CSV, {"factors": ["bx"]}, "'factors' of the mapping must be a table"),
        (CSV, {"factors": None}, "do not say what they are"),
        (CSV, {"outcome": {"block": ["nbx"]}}, "2 features and 1 columns of the next value"),
        (CSV, {"outcome": {"block": ["nbx", "nbz"]}}, "no column 'nbz'; did you mean"),
        (CSV, {"outcome": "blok"}, "Unknown factor 'blok' .outcome.; did you mean 'block'"),
        (CSV, {"outcome": None}, "The outcome is not named and there is no column next"),
        (CSV, {"outcome": {}}, "must be a table of one outcome"),
        (CSV, {"own": "pus"}, "Unknown factor 'pus' .own.; did you mean 'push'"),
        (CSV, {"cause": {"pusher": "hit"}}, "Unknown factor 'pusher' .cause.; did you mean 'push'"),
        (CSV, {"cause": {"push": "hits"}}, "no column 'hits'; did you mean 'hit'"),
        (CSV, {"cause": "hit"}, "'cause' of the mapping must be a table"),
        (CSV, {"episode": "trail"}, "no column 'trail'; did you mean 'trial'"),
        (CSV, {"epsiode": "trial"}, "Unknown key 'epsiode' of the mapping; did you mean 'episode'"),
        (CSV, {"metadata": 3}, "'metadata' of the mapping must be a table"),
        (CSV, {"classes": 3}, "'classes' must be a table of factors"),
        (CSV, {"classes": {"push": ""}}, "'classes' must be a table of factors"),
        (CSV, {"classes": {"pus": "a"}}, "Unknown factor 'pus' .classes.; did you mean 'push'"),
        (CSV, {"classes": {"push": "a", "block": "a"}}, "'push' and 'block' are both of class 'a' and must have"),
        (CSV, {"edges": ["blok"]}, "did you mean 'block'"),
    ],
)
def test_a_mistake_in_a_table_or_its_mapping_is_one_sentence(
    tmp_path: Path, text: str, changes: dict[str, Any], message: str
) -> None:
    mapping = {key: value for key, value in (MAPPING | changes).items() if value is not None}
    source = write(tmp_path / "mine.csv", text)
    with pytest.raises(DataError, match=message) as wrong:
        load(source, mapping)
    assert str(wrong.value).startswith(str(source))
    assert "\n" not in str(wrong.value)
    with pytest.raises(DataError, match=message):
        convert(source, mapping, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


def test_a_mapping_file_that_is_none_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "mine.csv", CSV)
    with pytest.raises(DataError, match="is not a mapping in JSON"):
        load(source, write(tmp_path / "m.json", "{"))
    with pytest.raises(DataError, match="is not a mapping in TOML"):
        load(source, write(tmp_path / "m.toml", "{"))
    with pytest.raises(DataError, match="must be a table with the keys"):
        load(source, write(tmp_path / "n.json", "3"))
    with pytest.raises(DataError, match="No such file"):
        load(source, tmp_path / "nowhere.toml")


def test_an_error_deep_in_a_file_names_the_row_of_the_file(tmp_path: Path) -> None:
    rows = ["1,2,3"] * 5000 + ["1,oops,3"]
    source = write(tmp_path / "a.csv", "\n".join(["a.x,b.x,next.a.x", *rows]))
    with pytest.raises(DataError, match="Got 'oops' in row 5001"):
        for _ in read_batches(source, rows=100):
            pass


def test_episodes_that_change_their_kind_are_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "episode,a.x,b.x,next.a.x\n1,1,1,1\n2,1,1,2\nx,1,1,3\n")
    assert load(source).episode is not None
    with pytest.raises(DataError, match="whole numbers up to row 2"):
        list(read_batches(source, rows=1))


def test_a_foreign_parquet_is_read_with_a_mapping(tmp_path: Path) -> None:
    frame = pd.DataFrame({"u": np.arange(3, dtype="float32"), "v": [1, 2, 4], "w": np.arange(1, 4, dtype="float32")})
    frame.to_parquet(tmp_path / "a.parquet")
    made = load(tmp_path / "a.parquet", {"factors": {"a": ["u"], "b": ["v"]}, "outcome": {"a": ["w"]}})
    assert made.state[:, :, 0].tolist() == [[0, 1], [1, 2], [2, 4]]
    single = load(tmp_path / "a.parquet", {"factors": {"a": ["u"]}, "outcome": {"reward": {"r": "w"}}})
    assert (single.state.dtype, single.own, single.outcome_features) == (np.float32, None, ("r",))
    pq.write_table(pa.table({"u": ["a"], "v": [[[1.0], [2.0]]], "w": [None], "n": [1.0]}), tmp_path / "b.parquet")
    for column, message in (("u", "Got 'a' in row 1"), ("v", "must hold numbers"), ("w", "has no value in row 1")):
        with pytest.raises(DataError, match=message):
            load(tmp_path / "b.parquet", {"factors": {"a": ["n"]}, "outcome": {"y": [column]}})


def test_a_frame_with_columns_of_different_lengths_is_refused() -> None:
    with pytest.raises(DataError, match="one value per row"):
        Transitions.from_frame({"a.x": [1.0, 2.0], "next.a.x": [1.0]})
    with pytest.raises(DataError, match="at least one transition"):
        Transitions.from_frame({"a.x": [], "next.a.x": []})


def test_a_mapping_may_say_which_factors_are_of_one_class(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "a.x,b.x,y.x,next.y.x\n1,2,3,4\n2,3,4,6\n")
    write(tmp_path / "m.toml", 'classes = {a = "hand", b = "hand"}\nmetadata = {by = "me"}\n')
    made = load(tmp_path / "a.csv", tmp_path / "m.toml")
    assert made.metadata == {"by": "me", "classes": {"a": "hand", "b": "hand", "y": "y"}}
    made.save(tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet").metadata["classes"]["b"] == "hand"
