"""`actcause blame`: responsibility, expected over contexts and over models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main

SQUAD, HARMLESS = "A\nB\nDead = A or B\n", "A\nB\nDead = B\n"


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    (tmp_path / "squad.txt").write_text(SQUAD)
    (tmp_path / "harmless.txt").write_text(HARMLESS)
    (tmp_path / "contexts.csv").write_text("A,B,probability\n1,0,3\n1,1,1\n")
    return tmp_path


def test_blame_is_expected_over_the_contexts_of_a_prior(squad: Path, as_json: Any) -> None:
    asked = ("blame", str(squad / "squad.txt"), "--event", "A=1", "--effect", "Dead == 1")
    code, document = as_json(*asked, "--prior", "A=1, B=1/4")
    assert code == 0
    assert document == {
        "event": {"A": 1}, "effect": "Dead == 1", "definition": "modified-hp", "blame": "7/8", "contexts": 2,
        "models": [{"model": str(squad / "squad.txt"), "probability": "1"}], "status": "complete",
    }  # fmt: skip
    assert as_json(*asked, "--contexts", str(squad / "contexts.csv"))[1]["blame"] == "7/8"


def test_blame_is_expected_over_models_too(squad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["blame", str(squad / "squad.txt"), "--event", "A=1", "--effect", "Dead == 1", "--prior", "A=1, B=1"]
    assert main([*asked, "--believed", f"{squad / 'harmless.txt'}=1/2"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed == ("A=1 is to blame for Dead == 1 to the degree 1/4, by modified-hp, over 2 contexts of 2 models.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "Say how probable contexts are: with --prior"),
        (("--prior", "A=1, B=1", "--believed", "other.txt"), "a model and its probability, 'other.txt=0.3'; got"),
        (("--prior", "A=1, B=1", "--believed", "rock-throwing=2"), "--believed must be between 0 and 1; got 2"),
        (("--prior", "A=1, B=1", "--definition", "strong"), "No source defines a degree of responsibility by strong"),
    ],
)
def test_mistakes_are_answered_in_one_line(
    arguments: tuple[str, ...], expected: str, squad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["blame", str(squad / "squad.txt"), "--event", "A=1", "--effect", "Dead == 1", *arguments]
    assert main(asked) == 2
    complaint = " ".join(capsys.readouterr().err.split())
    assert expected in complaint
    assert "Traceback" not in complaint


def test_the_help_offers_only_definitions_that_can_be_asked_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blame", "--help"]) == 0
    assert "side by side" not in capsys.readouterr().out
