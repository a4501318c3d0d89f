"""Pages are written from results alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from actcause.reproduction.plots import digest
from lab import Lab


def test_pages_are_written_from_results_alone(lab: Lab, tmp_path: Path) -> None:
    lab.ask("letters", "--only", "letter=a,b")
    first, second = tmp_path / "first", tmp_path / "second"
    for docs in (first, second):
        assert lab.ask("--pages", "--docs", str(docs)) == 0
    text = (first / "letters.md").read_text()
    assert "The letters: aa bb" in text
    assert "2 of 4 pieces; the rest is missing" in text
    assert "**State**: 2 current" in text
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()
    assert f"data {digest([2, 2])}" in (first / "letters.svg").read_text()


def test_old_pictures_are_removed_and_those_of_others_are_not(lab: Lab, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    lab.ask("letters")
    lab.ask("--pages", "--docs", str(docs))
    (docs / "theirs.svg").write_text("<svg/>")
    lab.lines.unlink()
    lab.ask("--pages", "--docs", str(docs))
    assert {path.name for path in docs.glob("*.svg")} == {"theirs.svg"}


def test_writing_pages_from_stale_results_is_said(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab.ask("letters")
    assert lab.ask("--pages", "--docs", str(tmp_path / "docs")) == 0
    assert capsys.readouterr().err == ""
    other = lab.change_code("text * factor", "factor * text")
    assert other.ask("--pages", "--docs", str(tmp_path / "docs")) == 0
    assert "letters shows 4 stale results of the full size" in capsys.readouterr().err


def test_an_experiment_without_results_has_a_page_that_says_so(lab: Lab, tmp_path: Path) -> None:
    lab.ask("--pages", "--docs", str(tmp_path / "docs"))
    assert "There are no results yet." in (tmp_path / "docs" / "letters.md").read_text()
    assert "missing" in (tmp_path / "docs" / "index.md").read_text()
