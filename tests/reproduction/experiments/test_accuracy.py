"""The accuracy table at a tiny size: it runs, writes what it prints, and says what it misses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "experiments"))
import accuracy

from actcause.learn.training import surprises

TINY = ["--domains", "1-in", "--seeds", "0", "1", "--frames", "3000", "--device", "cpu"]
SHORT = ["--set", "steps=40", "distil_steps=20", "width=16", "batch=64"]


def test_a_row_is_printed_and_written_for_every_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rows.jsonl"
    assert accuracy.main([*TINY, "--methods", "never", "always", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["method"] for row in rows] == ["never", "always"]
    assert all(abs(sum(pair) - 100) < 1e-9 for pair in zip(rows[0]["error"], rows[1]["error"], strict=True))
    assert capsys.readouterr().out.count("1-in") == 2


def test_a_bar_that_is_missed_is_said_and_sets_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surprises, "STEPS", 10)
    assert accuracy.main([*TINY, *SHORT, "--together"]) == 1
    assert "missed: 1-in" in capsys.readouterr().out


def test_what_is_scored_was_recorded_apart_from_what_is_learned_from() -> None:
    train, test = accuracy.record_domain("1-in", 3, 500)
    assert len(train) == 500
    assert len(test) == 100
    assert not (train.state[:50] == test.state[:50]).all()
    assert train.metadata["draw"] == test.metadata["draw"] == 3


def test_the_tables_name_every_domain() -> None:
    assert set(accuracy.BARS) == set(accuracy.DOMAINS)
    assert all(set(figures) == set(accuracy.DOMAINS) for figures in accuracy.PAPER.values())
