"""Lists in the columns of somebody's Parquet file, and numbers with decimal commas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

from actcause.data import DataError, load
from actcause.data.column_summary import summarise_columns
from actcause.data.roles import choose_mapping
from actcause.data.tables import chunks, column_names


def write_lists(path: Path, **columns: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("fixed", [False, True])
def test_lists_in_a_parquet_file_are_columns_part_by_part(tmp_path: Path, fixed: bool) -> None:
    kind = pyarrow.list_(pyarrow.float64(), 2) if fixed else pyarrow.list_(pyarrow.float64())
    balls = [[float(k), 2.0 * k] for k in range(40_000)]  # more than are read at a time
    moved = [[x + 1, y] for x, y in balls]
    columns = {"ball": balls, "paddle": [[0.0, 1.0]] * len(balls), "next_ball": moved}
    path = write_lists(
        tmp_path / "lists.parquet", **{name: pyarrow.array(rows, kind) for name, rows in columns.items()}
    )
    assert column_names(path)[:3] == ("ball[0]", "ball[1]", "paddle[0]")
    data = load(path, mapping=choose_mapping(path).mapping)
    assert (data.factors, data.outcome_features) == (("ball", "paddle"), ("x0", "x1"))
    assert data.outcome[-1].tolist() == moved[-1]
    assert data.state[20_000].tolist() == [balls[20_000], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1, 2], [3]], "'a' must hold lists of one length. Row 2"),
        ([[1, 2], None], "'a' must hold lists of one length. Row 2"),
    ],
)
def test_lists_that_are_no_columns_are_refused_in_one_line(tmp_path: Path, rows: list[Any], said: str) -> None:
    path = write_lists(tmp_path / "odd.parquet", a=rows)
    with pytest.raises(DataError, match=re.escape(said)):
        list(chunks(path, column_names(path), 10))


@pytest.mark.parametrize("odd", [[[], [1]], [[[1], [2]], [[2], [3]]], [{"x": 1}, {"x": 2}]])
def test_what_is_no_list_of_values_is_told_where_it_is_used_and_else_no_matter(tmp_path: Path, odd: list[Any]) -> None:
    path = write_lists(tmp_path / "odd.parquet", ball_x=[1.0, 2.0], hand_x=[0.0, 1.0], ball_x_next=[2.0, 3.0], info=odd)
    mapping = {"factors": {"ball": ["ball_x"], "hand": ["hand_x"]}, "outcome": {"ball": ["ball_x_next"]}}
    assert len(load(path, mapping)) == 2
    assert [one.type for one in summarise_columns(path).columns] == [*["whole numbers"] * 3, "text"]
    with pytest.raises(DataError, match="Column 'info' must hold numbers"):
        load(path, mapping | {"factors": {"ball": ["ball_x"], "hand": ["info"]}})


def test_lists_of_another_length_far_down_are_refused(tmp_path: Path) -> None:
    path = write_lists(tmp_path / "far.parquet", a=[[1, 2]] * 8 + [[1, 2, 3]] * 4)
    with pytest.raises(DataError, match="Row 9 has another length"):
        list(chunks(path, column_names(path), 4))


def test_numbers_with_decimal_commas_are_no_categories(tmp_path: Path) -> None:
    path = tmp_path / "comma.csv"
    path.write_text("a_x;b_x;a_x_next\n1,5;2,5;3,5\n2,5;1;3,5\n")
    with pytest.raises(DataError, match=r"write decimals with a point, as in 1\.5"):
        load(path, mapping=choose_mapping(path).mapping)
