"""Parquet files as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from actcause.data import DataError, Transitions, load
from actcause.data.csv_file import write_csv
from actcause.data.mapping import ColumnMap

DATA = Transitions(factors=["a", "b"], state=[[[1.0], [0.5]], [[3.0], [0.25]]], outcome=[[2.0], [6.0]], own="a")


def test_a_file_is_written_as_text_and_read_back_as_it_was(tmp_path: Path) -> None:
    DATA.save(tmp_path / "rows.parquet")
    write_csv(tmp_path / "rows.parquet", tmp_path / "rows.csv")
    again = load(tmp_path / "rows.csv")
    assert (again.state == DATA.state).all()
    assert (again.outcome == DATA.outcome).all()
    assert again.layout == DATA.layout


def test_columns_get_the_names_of_the_file_that_they_came_from(tmp_path: Path) -> None:
    DATA.save(tmp_path / "rows.parquet")
    columns = write_csv(tmp_path / "rows.parquet", tmp_path / "rows.csv")
    state = [name for name in columns if name.startswith(("a.", "b."))]
    mapping = {"factors": {"a": ["mine"], "b": ["yours"]}, "outcome": {"a": ["later"]}}
    names = ColumnMap.resolve(["mine", "yours", "later"], mapping).names
    assert names.keys() >= {"a.mine", "b.yours", "next.a.mine"}
    given = dict(zip(state, ("mine", "yours"), strict=True))
    assert write_csv(tmp_path / "rows.parquet", tmp_path / "rows.csv", given)[:2] == ("mine", "yours")
    same = dict.fromkeys(state, "mine")
    assert write_csv(tmp_path / "rows.parquet", tmp_path / "rows.csv", same) == columns


def test_a_place_that_cannot_be_written_to_is_refused_in_a_sentence(tmp_path: Path) -> None:
    DATA.save(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="Cannot write"):
        write_csv(tmp_path / "rows.parquet", tmp_path / "no" / "such" / "rows.csv")
