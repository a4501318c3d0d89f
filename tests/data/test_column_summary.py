"""What the columns of somebody's table hold."""

from __future__ import annotations

from pathlib import Path

from actcause.data import column_summary
from actcause.data.column_summary import summarise_columns


def test_columns_have_a_type_a_range_and_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("n,x,door\n1,0.5,open\n-3,,shut\n2,4,\n")
    table = summarise_columns(file)
    assert [(one.name, one.type, one.low, one.high, one.missing) for one in table.columns] == [
        ("n", "whole numbers", -3.0, 2.0, 0),
        ("x", "numbers", 0.5, 4.0, 1),
        ("door", "text", None, None, 1),
    ]
    assert table.rows == 3
    assert [row[0] for row in table.first] == ["1", "-3", "2"]
    assert set(table.columns[2].words) >= {"open", "shut"}


def test_a_column_that_turns_out_to_have_fractions_later_is_no_column_of_whole_numbers(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(column_summary, "CHUNK", 2)
    file = tmp_path / "table.csv"
    file.write_text("x\n1\n2\n3\n4.5\n")
    assert summarise_columns(file).columns[0].type == "numbers"
    early = summarise_columns(file, most_rows=2)
    assert (early.rows, early.columns[0].high) == (2, 2.0)
