"""Results from elsewhere: they travel as one file and are taken as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab import Lab


def test_results_travel_as_one_file(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "letters.jsonl"
    lab.ask("letters", "--archive", str(archive))
    elsewhere = tmp_path / "elsewhere"
    with archive.open("a") as file:
        file.write('{"experiment": "lett')  # the last line of a machine that was taken away
    assert lab.ask("--take", str(archive), "--results", str(elsewhere)) == 0
    assert "4 results taken" in capsys.readouterr().out
    assert (elsewhere / "letters.jsonl").read_bytes() == lab.lines.read_bytes()
    assert lab.ask("--take", str(archive), "--results", str(elsewhere), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"taken": 0, "kept": 4}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"piece": {"letter": "../../a", "number": 1}}, "no size of it has"),
        ({"settings": {"factor": 7}}, "no size of it has"),
        ({"experiment": "other"}, "Unknown experiment"),
        ({"seconds": "long"}, "wrong type"),
        ({"more": 1}, "is an object with"),
    ],
)
def test_a_file_with_anything_else_is_refused_whole(
    lab: Lab, tmp_path: Path, change: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, elsewhere = tmp_path / "letters.jsonl", tmp_path / "elsewhere"
    lab.ask("letters", "--archive", str(archive))
    record = json.loads(archive.read_text().splitlines()[0])
    with archive.open("a") as file:
        file.write(json.dumps({**record, **change}) + "\n")
    assert lab.ask("--take", str(archive), "--results", str(elsewhere)) == 2
    assert said in capsys.readouterr().err
    assert not elsewhere.exists()


@pytest.mark.parametrize("made_at", [None, "0123456789ab+changes"])
def test_a_result_from_elsewhere_is_taken_as_it_is(lab: Lab, tmp_path: Path, made_at: str | None) -> None:
    archive = tmp_path / "letters.jsonl"
    lab.ask("letters", "--only", "letter=a", "--archive", str(archive), "--results", str(tmp_path / "other"))
    archive.write_text(json.dumps({**json.loads(archive.read_text()), "commit": made_at}) + "\n")
    lab.ask("--take", str(archive))
    assert lab.lines.read_bytes() == archive.read_bytes()


def test_a_stale_result_is_taken_once_and_never_counts_before_a_good_one(lab: Lab, tmp_path: Path, capsys: Any) -> None:
    archive = tmp_path / "letters.jsonl"
    lab.ask("letters", "--archive", str(archive))
    archive.write_text(archive.read_text().replace(lab.records()[0]["code"], "0" * 16))
    for expected in ({"taken": 4, "kept": 0}, {"taken": 0, "kept": 4}):
        capsys.readouterr()
        assert lab.ask("--take", str(archive), "--results", str(tmp_path / "other"), "--json") == 0
        assert json.loads(capsys.readouterr().out) == expected
    assert lab.ask("--take", str(archive), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"taken": 0, "kept": 4}
