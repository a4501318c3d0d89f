"""`actcause partition`: all states at once, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actcause import examples
from actcause.cli import main
from actcause.cli.options import WRITTEN_STATES


def test_partition_prints_one_document_with_the_keys_of_the_contract(as_json: Any) -> None:
    code, document = as_json("partition", "rock-throwing")
    assert code == 0
    assert document.keys() >= {"outcome", "variables", "cost", "count", "pairs", "status"}
    assert document["outcome"] == "BS"
    assert sorted(document["variables"]) == ["BH", "BT", "SH", "ST"]
    assert document["count"] == len(document["pairs"]) == 32
    for pair in document["pairs"]:
        assert sum(row["binary"].count("1") for row in pair) == document["cost"]
        assert all(row.keys() == {"state", "outcome", "binary"} and len(row["binary"]) == 4 for row in pair)


def test_partition_prints_at_most_as_many_pairs_as_asked_for(as_json: Any) -> None:
    _, document = as_json("partition", "rock-throwing", "--max-pairs", "3")
    assert len(document["pairs"]) == 3
    assert document["count"] == 32


def test_partition_reads_a_file(bottle: str, as_json: Any) -> None:
    Path(bottle).write_text(examples.load("rock-throwing").text, encoding="utf-8")
    _, example = as_json("partition", "rock-throwing")
    shares = ("--alpha-sufficiency", "1", "--alpha-necessity", "0.01")
    code, document = as_json("partition", bottle, "--outcome", "BS", *shares)
    assert code == 0
    assert document == example


def test_partition_shows_the_first_pair_and_its_preimages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "rock-throwing"]) == 0
    output = capsys.readouterr().out
    assert "pairs of minimal cost: 32" in output
    assert "what matters" in output
    assert any(sorted(line.split()) == ["BH", "BS", "BT", "SH", "ST", "binary"] for line in output.splitlines())


def test_partition_of_many_states_shows_a_few_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.txt"
    path.write_text("A in 0..99\nB in 0..9\nY = A == 3 and B == 4\n", encoding="utf-8")
    assert main(["partition", str(path), "--outcome", "Y", "--alpha-sufficiency", "0.2"]) == 0
    output = capsys.readouterr().out
    assert "more states are not shown" in output
    assert len(output.splitlines()) < 80


def test_a_partition_of_a_large_space_writes_some_of_its_states_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["partition", "pusher-1d", "--json"]) == 0
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert document["states"] == 1_002_001
    assert [len(pair) for pair in document["pairs"]] == [WRITTEN_STATES]
    assert output.err.count("\n") == 1
    assert "only the first 10,000 of 1,002,001 states are printed" in output.err


def test_how_many_states_are_written_can_be_asked_for(as_json: Any) -> None:
    _, document = as_json("partition", "pusher-1d", "--max-states", "10002")
    assert [len(pair) for pair in document["pairs"]] == [10_002]
    _, document = as_json("partition", "rock-throwing", "--max-states", "1", "--max-pairs", "2")
    assert [len(pair) for pair in document["pairs"]] == [1, 1]
    assert document["states"] == 4


def test_the_cost_and_the_count_can_be_had_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "pusher-1d", "--max-pairs", "0", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["cost"] == 2_003
    assert json.loads(output.out)["pairs"] == []
    assert output.err == ""


def test_where_narrows_the_contexts(as_json: Any) -> None:
    _, document = as_json("partition", "rock-throwing", "--where", "BT == 1")
    assert document["states"] == 2
    assert all(row["state"]["BT"] == 1 for pair in document["pairs"] for row in pair)


def test_the_oracle_finds_the_same_pairs(as_json: Any) -> None:
    def pairs(*options: str) -> list[str]:
        return sorted(map(str, as_json("partition", "rock-throwing", *options)[1]["pairs"]))

    assert pairs("--solver", "algorithm-0") == pairs()


def test_partition_of_a_file_asks_for_the_outcome(bottle: str, mistake: Any) -> None:
    assert "--outcome" in mistake("partition", bottle)


def test_too_many_contexts_are_a_status_for_a_question_and_a_mistake_for_a_partition(
    tmp_path: Path, as_json: Any, mistake: Any
) -> None:
    roots = [f"A{i}" for i in range(30)]
    path = tmp_path / "thirty.txt"
    path.write_text("\n".join(roots) + f"\nY = {' or '.join(roots)}\n", encoding="utf-8")
    context = ",".join(f"{name}=1" for name in roots)
    code, document = as_json("ask", str(path), "--context", context, "--effect", "Y", "--definition", "functional")
    assert code == 0
    assert document["status"] == "too-large"
    assert "Use smaller ranges or fewer roots" in mistake("partition", str(path), "--outcome", "Y")
