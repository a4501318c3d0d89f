"""`actcause explain`: answers and mistakes, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main, options

FIRE = "forest-fire-conjunctive"


def test_explain_prints_one_document(as_json: Any) -> None:
    code, document = as_json("explain", FIRE, "--where", "L == 1")
    assert code == 0
    assert document.keys() == {"definition", "effect", "contexts", "explanations", "status"}
    assert [found["event"] for found in document["explanations"]] == [{"MD": 1}]
    assert document["status"] == "complete"


@pytest.mark.parametrize(("event", "code", "failed"), [("L=1,MD=1", 0, None), ("L=1", 1, "EX1b")])
def test_explain_about_an_event_says_yes_or_no(as_json: Any, event: str, code: int, failed: str | None) -> None:
    ended, document = as_json("explain", FIRE, "--event", event)
    assert ended == code
    assert document["failed"] == failed
    assert document["conditions"].keys() == {"EX1a", "EX1b", "EX2", "EX3", "EX4"}


def test_explain_reads_contexts_and_probabilities(tmp_path: Path, as_json: Any) -> None:
    table = tmp_path / "contexts.csv"
    table.write_text("L, MD, probability\n1, 0, 1/4\n1, 1, 0.75\n")
    _, document = as_json("explain", FIRE, "--contexts", str(table))
    assert document["contexts"] == 2
    assert document["explanations"][0]["goodness"] == "1"
    _, document = as_json("explain", FIRE, "--prior", "L=1,MD=1/4")
    assert document["contexts"] == 2


def test_explain_finds_sufficient_causes(as_json: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = as_json("explain", "forest-fire-disjunctive", "--sufficient")
    assert code == 0
    found = [cause["event"] for cause in document["sufficient_causes"]]
    assert sorted(map(list, found)) == [["L"], ["MD"]]
    code, document = as_json("explain", FIRE, "--sufficient", "--event", "L=1", "--context", "L=1,MD=1")
    assert code == 1
    assert document["failed"] == "SC3"
    assert main(["explain", FIRE, "--sufficient", "--event", "L=1,MD=1"]) == 0
    assert "SC1 yes, SC2 yes, SC3 yes, SC4 yes" in capsys.readouterr().out
    assert main(["explain", "forest-fire-disjunctive", "--sufficient", "--max-explanations", "1"]) == 0
    assert "The search stopped at --max-explanations" in capsys.readouterr().out


def test_explain_finds_partial_explanations(as_json: Any) -> None:
    asked = ("explain", "rock-throwing", "--prior", "ST=1/4,BT=1/2")
    _, document = as_json(*asked, "--least-goodness", "0.5")
    found = {tuple(entry["event"]): entry["goodness"] for entry in document["explanations"]}
    assert found["BT",] == "3/4"
    code, document = as_json(*asked, "--event", "BT=1")
    assert (code, document["goodness"]) == (1, "3/4")


def test_explain_shows_people_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", FIRE, "--event", "L=1,MD=1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "EX1a yes, EX1b yes, EX2 yes, EX3 yes, EX4 no" in printed
    assert "In the context L=1, MD=1:" in printed
    assert main(["explain", FIRE, "--max-explanations", "1"]) == 0
    assert "Relative to 4 contexts: what explains FF == 1?" in capsys.readouterr().out


def test_people_wait_a_minute_at_most_unless_they_say_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: Any
) -> None:
    monkeypatch.setattr(options, "EXPLAINED_SECONDS", 1e-9)
    assert main(["explain", FIRE]) == 0
    assert "The search ran out of time; raise --max-seconds to go on." in capsys.readouterr().out
    assert main(["explain", FIRE, "--event", "L=1,MD=1"]) == 2
    assert "raise --max-seconds to go on" in capsys.readouterr().err
    assert main(["explain", FIRE, "--max-seconds", "60"]) == 0
    assert "ran out of time" not in capsys.readouterr().out
    assert as_json("explain", FIRE)[1]["status"] == "complete"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--where", "L == 1", "--prior", "L=1"), "--where and --prior both say which contexts are possible"),
        (("--prior", "L=1"), "--prior must give a probability to every root; missing: MD."),
        (("--prior", "L"), "--prior must be 'uniform', or written as"),
        (("--prior", "L=1,L=1"), "--prior must be 'uniform', or written as"),
        (("--event", ""), "--event is empty; write assignments such as --event 'L=1'."),
        (("--where", "L = 1"), "--where, line 1, column 3"),
        (("--contexts", "nowhere.csv"), "There is no file 'nowhere.csv' of contexts"),
        (("--least-goodness", "0.5"), "Partial explanations need probabilities"),
        (("--least-goodness", "2", "--prior", "L=1,MD=1"), "--least-goodness must be between 0 and 1"),
        (("--least-goodness", "1", "--event", "L=1"), "--least-goodness lists partial explanations"),
        (("--context", "L=1"), "--context goes with --sufficient"),
        (("--sufficient", "--context", "L=1"), "The context must set every root; missing: MD."),
        (("--definition", "all"), "Unknown definition 'all'"),
        (("--max-explanations", "0"), "'--max-explanations'"),
    ],
)
def test_a_mistake_is_one_clear_line(mistake: Any, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in mistake("explain", FIRE, *arguments)


def test_more_contexts_than_can_be_held_are_to_be_listed_in_a_file(tmp_path: Path, mistake: Any) -> None:
    model = tmp_path / "model.txt"
    model.write_text("\n".join(f"X{number}" for number in range(200)) + "\nY = X0")
    said = mistake("explain", str(model), "--effect", "Y == 1")
    assert "There are about 2**200 contexts" in said
    assert "List those that are possible; --contexts takes them." in said


@pytest.mark.parametrize("further", [(), ("--where", "drain@0 == 1"), ("--event", "stuck@3=1")])
def test_steps_past_those_of_an_example_are_named_where_contexts_are_too_many(
    mistake: Any, further: tuple[str, ...]
) -> None:
    said = mistake("explain", "overflowing-tank", "--effect", "alarm@99 == 1", *further)
    assert "'overflowing-tank' is an example of 5 steps, and step 99 was asked about" in said
    assert "ask about step 5 or earlier, or list with --contexts those that are possible." in said


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("L,MD\n", "holds no contexts"),
        ("L,MX\n1,1\n", "did you mean 'MD'?"),
        ("L,MD\n1\n", "line 2: expected 2 values; got 1."),
        ("L,MD\n1,yes\n", "line 2: MD must be a whole number; got 'yes'."),
    ],
)
def test_a_wrong_file_of_contexts_is_one_clear_line(tmp_path: Path, mistake: Any, content: str, expected: str) -> None:
    table = tmp_path / "contexts.csv"
    table.write_text(content)
    assert expected in mistake("explain", FIRE, "--contexts", str(table))


def test_all_contexts_may_be_equally_probable(as_json: Any) -> None:
    asked = ("explain", "forest-fire-disjunctive", "--least-goodness", "1")
    documents = [as_json(*asked, "--prior", prior) for prior in ("uniform", "L=1/2, MD=1/2")]
    assert documents[0] == documents[1]
    assert documents[0][0] == 0
