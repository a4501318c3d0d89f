"""`actcause examples`: the literature's models, listed and one by one."""

from __future__ import annotations

from typing import Any

import pytest

from actcause import examples
from actcause.cli import main


def test_examples_are_listed_with_all_that_is_known_of_them(as_json: Any) -> None:
    code, document = as_json("examples")
    assert code == 0
    keys = {"name", "title", "story", "text", "context", "effect", "outcome", "source", "notes", "verdicts"}
    assert all(example.keys() >= keys | {"alpha_sufficiency", "alpha_necessity"} for example in document)
    assert "rock-throwing" in [example["name"] for example in document]
    assert all(verdict.keys() == {"event", "definition", "holds", "source"} for verdict in document[0]["verdicts"])


def test_one_example_is_one_document(as_json: Any) -> None:
    code, document = as_json("examples", "rock-throwing")
    assert code == 0
    assert document["name"] == "rock-throwing"


def test_examples_are_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 0
    output = capsys.readouterr().out
    assert "rock-throwing" in output
    assert "BS == 1" in output


def test_one_example_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "rock-throwing"]) == 0
    output = capsys.readouterr().out
    assert all(line in output for line in examples.load("rock-throwing").text.splitlines())
    assert "context: ST=1, BT=1" in output
    assert "modified-hp" in output
