"""The command line, as a shell and a script see it."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actcause import DEFINITIONS, examples
from actcause.cli import main
from actcause.cli.app import COMMANDS
from actcause.cli.options import WRITTEN_STATES
from actcause.io import console as output
from actcause.questions import source

BOTTLE = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH\n"
ASK_KEYS = {"definition", "context", "state", "effect", "conditions", "witness", "causes", "status"}
QUESTION = ("--context", "ST=1,BT=1", "--effect", "BS == 1")


@pytest.fixture
def bottle(tmp_path: Path) -> str:
    path = tmp_path / "bottle.txt"
    path.write_text(BOTTLE, encoding="utf-8")
    return str(path)


@pytest.fixture
def as_json(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with --json; give its exit code and its document."""

    def run(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def mistake(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command that must end in exit code 2, nothing on stdout and one line on stderr; give the line."""

    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.count("\n") == 1
        assert output.err.startswith("actcause: ")
        assert "Traceback" not in output.err
        return output.err.strip()

    return run


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=120, **options
    )


# -- ask -------------------------------------------------------------------------------------------


def test_ask_prints_one_document_with_the_keys_of_the_contract(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION)
    assert code == 0
    assert document.keys() >= ASK_KEYS
    assert document["definition"] == "modified-hp"
    assert document["context"] == {"ST": 1, "BT": 1}
    assert document["state"] == {"ST": 1, "BT": 1, "SH": 1, "BH": 0, "BS": 1}
    assert [cause["event"] for cause in document["causes"]] == [{"ST": 1}, {"SH": 1}]
    assert all("changed" in cause["witness"] for cause in document["causes"])
    assert document["status"] == "complete"


def test_ask_about_an_event_that_is_a_cause_exits_with_0(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION, "--event", "ST=1")
    assert code == 0
    assert document.keys() >= ASK_KEYS | {"holds"}
    assert document["holds"] is True
    assert document["conditions"] == {"AC1": True, "AC2a": True, "AC2b": True, "AC3": True}
    assert document["witness"] == {"changed": {"ST": 0}, "frozen": {"BH": 0}}


def test_ask_about_an_event_that_is_no_cause_exits_with_1(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION, "--event", "BT=1")
    assert code == 1
    assert document["holds"] is False
    assert document["causes"] == []


def test_ask_about_an_effect_without_causes_is_no_mistake(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, "--context", "ST=0,BT=0", "--effect", "BS == 1")
    assert code == 0
    assert document["causes"] == []


def test_a_question_left_open_by_the_budget_exits_with_2_and_the_remedy(
    bottle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["ask", bottle, *QUESTION, "--event", "ST=1", "--max-seconds", "1e-9", "--json"])
    output = capsys.readouterr()
    assert code == 2
    assert json.loads(output.out)["holds"] is None
    assert json.loads(output.out)["status"] == "out-of-time"
    assert output.err.count("\n") == 1
    assert "raise --max-seconds" in output.err


def test_a_search_that_runs_out_of_time_is_an_answer_with_its_status(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION, "--max-seconds", "1e-9")
    assert code == 0
    assert document["status"] == "out-of-time"


def test_max_causes_stops_the_search(bottle: str, as_json: Any) -> None:
    _, document = as_json("ask", bottle, *QUESTION, "--max-causes", "1")
    assert len(document["causes"]) == 1
    assert document["status"] == "max-causes"


def test_all_definitions_answer_in_one_document(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION, "--definition", "all")
    assert code == 0
    assert [answer["definition"] for answer in document["answers"]] == list(DEFINITIONS)
    assert all(answer.keys() >= ASK_KEYS for answer in document["answers"])


def test_all_definitions_judge_one_event_and_that_is_no_yes_or_no(bottle: str, as_json: Any) -> None:
    code, document = as_json("ask", bottle, *QUESTION, "--definition", "all", "--event", "BT=1")
    verdicts = {answer["definition"]: answer["holds"] for answer in document["answers"]}
    assert code == 0
    assert verdicts["modified-hp"] is False


def test_all_definitions_stand_side_by_side_for_people(bottle: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", bottle, *QUESTION, "--definition", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    header = next(line for line in lines if line.split()[:1] == ["definition"])
    assert header.split()[1:] == ["ST=1", "BT=1", "SH=1", "BH=0"]
    rows = {line.split()[0]: line.split()[1:5] for line in lines if line.strip() and line.split()[0] in DEFINITIONS}
    assert rows.keys() == DEFINITIONS.keys()
    row = next(line.split() for line in lines if line.split()[:1] == ["modified-hp"])
    assert row == ["modified-hp", "cause", "no", "cause", "no"]


def test_a_definition_that_runs_out_of_time_shows_its_status(bottle: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", bottle, *QUESTION, "--definition", "all", "--max-seconds", "1e-9"]) == 0
    output = capsys.readouterr().out
    assert "out-of-time" in output
    assert "raise --max-seconds" in output


def test_the_answer_for_people_is_a_sentence_with_its_replay(bottle: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", bottle, *QUESTION, "--event", "ST=1"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0." in output
    assert "Replayed: with BH=0, ST=0 the model gives BT=1, SH=0, BS=0." in output


def test_wide_models_show_only_the_variables_that_are_blamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roots = [f"A{i}" for i in range(30)]
    path = tmp_path / "wide.txt"
    path.write_text("\n".join(roots) + f"\nY = A7 and ({' or '.join(roots)})\n", encoding="utf-8")
    context = ",".join(f"{name}={int(name == 'A7')}" for name in roots)
    code = main(
        ["ask", str(path), "--context", context, "--effect", "Y", "--definition", "all", "--max-seconds", "0.05"]
    )
    output = capsys.readouterr().out
    assert code == 0
    assert "A7=1" in output
    assert "more variables are not shown" in output


def test_text_that_looks_like_markup_is_printed_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "labels.txt"
    path.write_text('A "the [bold]switch[/bold]"\nY = A\n', encoding="utf-8")
    assert main(["ask", str(path), "--context", "A=1", "--effect", "Y == 1"]) == 0
    assert "[bold]switch[/bold]" in capsys.readouterr().out


def test_a_model_without_roots_needs_no_context(tmp_path: Path, as_json: Any) -> None:
    path = tmp_path / "constant.txt"
    path.write_text("A in {0, 1} = 1\nY = A\n", encoding="utf-8")
    code, document = as_json("ask", str(path), "--effect", "Y == 1")
    assert code == 0
    assert [cause["event"] for cause in document["causes"]] == [{"A": 1}]


def test_shares_are_read_as_fractions(bottle: str, as_json: Any) -> None:
    arguments = ("ask", bottle, *QUESTION, "--definition", "functional", "--event", "ST=1")
    assert as_json(*arguments, "--alpha-sufficiency", "1/4")[1] == as_json(*arguments, "--alpha-sufficiency", "0.25")[1]


# -- responsibility ---------------------------------------------------------------------------------


def test_responsibility_is_asked_for_by_name_only(bottle: str, as_json: Any) -> None:
    _, document = as_json("ask", bottle, *QUESTION)
    assert not any("responsibility" in cause for cause in document["causes"])
    _, document = as_json("ask", bottle, *QUESTION, "--responsibility")
    assert [cause["responsibility"] for cause in document["causes"]] == ["1/2", "1/2"]


def test_an_event_that_is_only_part_of_a_cause_has_a_degree_too(as_json: Any) -> None:
    code, document = as_json("ask", "voting-unanimous", "--event", "V1=1", "--responsibility")
    assert code == 1
    assert document["causes"] == []
    assert document["responsibility"] == "1/6"


def test_a_degree_that_there_was_no_time_for_is_left_open(capsys: pytest.CaptureFixture[str]) -> None:
    question = ["ask", "rock-throwing", "--event", "ST=1", "--responsibility", "--max-seconds", "1e-9"]
    assert main([*question, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["responsibility"] is None
    assert main(question) == 2
    assert "responsibility ?" in capsys.readouterr().out


def test_every_definition_gives_its_own_degree(as_json: Any) -> None:
    question = ("ask", "forest-fire-disjunctive", "--event", "L=1", "--definition", "all", "--responsibility")
    _, document = as_json(*question)
    degrees = {answer["definition"]: answer["responsibility"] for answer in document["answers"]}
    assert degrees.keys() == DEFINITIONS.keys()
    assert degrees["original-hp"] == degrees["modified-hp"] == "1/2"


def test_degrees_are_a_column_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "voting-close", "--responsibility"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["cause", "responsibility"] in [line.split() for line in lines]
    assert [line.split()[-1] for line in lines if "is a cause of W=1" in line] == ["1"] * 6
    assert main(["ask", "rock-throwing", "--responsibility", "--definition", "all"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["modified-hp", "cause", "1/2", "cause", "1/2", "no", "no"] in rows
    assert main(["ask", "voting-unanimous", "--event", "V1=1", "--responsibility"]) == 1
    assert "responsibility 1/6" in capsys.readouterr().out


# -- where the model comes from --------------------------------------------------------------------


def test_an_example_brings_its_own_question(as_json: Any) -> None:
    code, document = as_json("ask", "rock-throwing")
    assert code == 0
    assert document["effect"] == "BS == 1"
    assert [cause["event"] for cause in document["causes"]] == [{"ST": 1}, {"SH": 1}]


def test_the_question_of_an_example_can_be_replaced(as_json: Any) -> None:
    _, document = as_json("ask", "rock-throwing", "--context", "ST=0,BT=1")
    assert {"BT": 1} in [cause["event"] for cause in document["causes"]]


def test_a_model_can_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, as_json: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BOTTLE.encode())))
    code, document = as_json("ask", "-", *QUESTION)
    assert code == 0
    assert len(document["causes"]) == 2


def test_a_byte_order_mark_is_no_part_of_the_model(tmp_path: Path, as_json: Any) -> None:
    path = tmp_path / "bottle.txt"
    path.write_text(BOTTLE, encoding="utf-8-sig")
    assert as_json("ask", str(path), *QUESTION)[0] == 0


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "--context"),
        (("--context", "ST=1,BT=1"), "--effect"),
        (("--context", "ST=1", "--effect", "BS == 1"), "missing: BT"),
        (("--context", "ST=1,BT=7", "--effect", "BS == 1"), "BT must be in {0, 1}; got 7"),
        (("--context", "ST=1,BU=1", "--effect", "BS == 1"), "--context, line 1, column 6: unknown variable 'BU'"),
        (("--context", "ST:1", "--effect", "BS == 1"), "--context, line 1, column 3: expected '=' after ST"),
        (("--context", "ST=1,BT=1", "--effect", "BZ == 1"), "--effect, line 1, column 1: unknown variable 'BZ'"),
        (("--context", "ST=1,BT=1", "--effect", "BS = 1"), "write '=='"),
        (("--context", "ST=1,BT=1", "--effect", ""), "--effect, line 1, column 1: the formula is empty"),
        ((*QUESTION, "--event", "ST"), "--event, line 1, column 3"),
        (("--context", "", "--effect", "BS == 1"), "--context is empty"),
        (("--context", "ST=1,BT=1,BS=1", "--effect", "BS == 1"), "--context sets BS, which follows from its equation"),
        ((*QUESTION, "--event", ""), "--event is empty; write assignments such as --event 'ST=1'"),
        ((*QUESTION, "--event", "ST=9"), "ST must be in {0, 1}; got 9"),
        ((*QUESTION, "--definition", "modified-ph"), "did you mean 'modified-hp'"),
        ((*QUESTION, "--alpha-sufficiency", "most"), "--alpha-sufficiency must be"),
        ((*QUESTION, "--alpha-necessity", "1.5"), "--alpha-necessity must be between 0 and 1"),
        ((*QUESTION, "--max-seconds", "0"), "--max-seconds must be a positive number"),
        ((*QUESTION, "--max-seconds", "soon"), "'--max-seconds'"),
        ((*QUESTION, "--max-causes", "0"), "'--max-causes'"),
        ((*QUESTION, "--solver", "oracle"), "--solver must be one of auto, exhaustive"),
        ((*QUESTION, "--colour", "red"), "No such option"),
    ],
)
def test_a_mistake_in_a_question_is_one_clear_line(
    bottle: str, mistake: Any, arguments: tuple[str, ...], expected: str
) -> None:
    assert expected in mistake("ask", bottle, *arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("ask",), "Missing argument 'MODEL'"),
        (("ask", "rock-trowing"), "did you mean 'rock-throwing'"),
        (("ask", "no/such/file.txt"), "neither an example nor a file"),
        (("ask", ""), "is a directory"),
        (("ask", "a\0b"), "cannot be read"),
        (("ask", "x" * 5000), "cannot be read"),
        (("examples", "rock-trowing"), "did you mean 'rock-throwing'"),
        (("examples", "zzz"), "see 'actcause examples'"),
        (("partition", "rock-throwing", "--outcome", "BZ"), "--outcome, line 1, column 1: unknown variable 'BZ'"),
        (("partition", "rock-throwing", "--where", "BT=1"), "--where, line 1, column 3: '=' is not a comparison"),
        (("partition", "rock-throwing", "--where", "BT == 7"), "No context satisfies 'BT == 7'"),
        (("partition", "rock-throwing", "--max-pairs", "-1"), "'--max-pairs'"),
        (("partition", "rock-throwing", "--max-states", "-1"), "'--max-states'"),
        (("partition", "rock-throwing", "--max-seconds", "nan"), "--max-seconds must be a positive number"),
        (("partition", "rock-throwing", "--solver", "fast"), "--solver must be 'auto' or 'algorithm-0'"),
        (("partition", "pusher-1d", "--solver", "algorithm-0"), "Use --solver auto."),
        (("partition", "rock-throwing", "--alpha-sufficiency", "2"), "--alpha-sufficiency must be between 0 and 1"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("--frobnicate",), "No such option"),
    ],
)
def test_a_mistake_in_a_command_is_one_clear_line(mistake: Any, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in mistake(*arguments)


def test_partition_of_a_file_asks_for_the_outcome(bottle: str, mistake: Any) -> None:
    assert "--outcome" in mistake("partition", bottle)


def test_a_directory_is_not_a_model(tmp_path: Path, mistake: Any) -> None:
    assert "is a directory" in mistake("ask", str(tmp_path))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("A # é\n".encode("latin-1"))
    assert "latin.txt is not UTF-8 text: byte 5" in mistake("ask", str(path))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(source.MAX_BYTES + 1)
    assert "too large" in mistake("ask", str(path))


def test_a_file_that_may_not_be_read_is_refused(bottle: str, monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source, "open", refuse, raising=False)  # root would be let in
    assert "cannot be read: Permission denied" in mistake("ask", bottle)


def test_a_mistake_in_a_model_names_the_file_the_line_and_the_column(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text("ST\nBS = ST or BX\n", encoding="utf-8")
    assert "wrong.txt, line 2, column 12: unknown variable 'BX'" in mistake("ask", str(path))


def test_a_cycle_in_a_model_is_one_clear_line(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "cycle.txt"
    path.write_text("A = B\nB = A\n", encoding="utf-8")
    assert "cycle" in mistake("ask", str(path))


def test_a_file_without_a_variable_is_named(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("# nothing\n", encoding="utf-8")
    assert "empty.txt: A model needs at least one variable" in mistake("ask", str(path))


def test_an_exogenous_variable_is_no_event(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "exogenous.txt"
    path.write_text("exogenous U\nA = U\nY = A\n", encoding="utf-8")
    assert "U is exogenous" in mistake("ask", str(path), "--context", "U=1", "--effect", "Y", "--event", "U=1")


def test_an_input_that_was_closed_is_a_mistake_like_any_other(monkeypatch: pytest.MonkeyPatch, mistake: Any) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in mistake("ask", "-")


def test_an_output_that_was_closed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(["ask", "rock-throwing", "--event", "BT=1"]) == 1


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


def test_an_interrupted_search_ends_quietly(
    bottle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("actcause.core.compare.causes", interrupted)
    assert main(["ask", bottle, *QUESTION]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name == "nt", reason="pipes differ")
def test_a_reader_that_leaves_early_is_no_error() -> None:
    for arguments in (["examples"], ["examples", "--json"], ["ask", "rock-throwing", "--json"]):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "actcause", *arguments]
        ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
        os.close(writing)
        assert ended.stderr == ""
        assert ended.returncode == 141


# -- examples --------------------------------------------------------------------------------------


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


# -- partition -------------------------------------------------------------------------------------


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


def test_a_number_of_any_length_is_printed_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    limit = sys.get_int_max_str_digits()
    output.print_json({"count": 10**5000})
    assert capsys.readouterr().out.strip() == '{"count": 1' + "0" * 5000 + "}"
    assert sys.get_int_max_str_digits() == limit


# -- the help ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_the_help_of_a_command_ends_with_examples(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command.__name__, "--help"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "--json" in output
    assert all(line in output for line in COMMANDS[command])


SHORTER = {
    "serve": ("--help",),  # it would go on until someone ends it
    "train": ("--max-seconds", "0.01"),
    "demo": ("--quick",),
    "reproduce": ("--max-seconds", "0", "--results", "results", "--docs", "docs"),
}
SMALLER = {"; echo $?": "", "seed=0..9": "seed=0", "0.01,0.02,0.05": "0.01,0.02", "20000": "2000", "50000": "2000"}


def test_every_example_of_the_help_runs(
    bottle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.rename(bottle, Path(bottle).with_name("model.txt"))
    monkeypatch.chdir(Path(bottle).parent)
    rows = "".join(f"{n % 3},{n % 7},{n % 3 + n % 7}\n" for n in range(200))
    Path("questions.jsonl").write_text('{"model": "rock-throwing", "event": "ST=1"}\n')
    Path("mine.csv").write_text(f"hand,ball,ball_next\n{rows}")
    Path("mine.toml").write_text('outcome = {ball = ["ball_next"]}\n[factors]\nhand = ["hand"]\nball = ["ball"]\n')
    for tries in COMMANDS.values():
        for line in tries:
            for long, short in SMALLER.items():
                line = line.replace(long, short)
            program, *arguments = shlex.split(line)
            assert program == "actcause"
            assert main([*arguments, *SHORTER.get(arguments[0], ())]) in (0, 1), line
            notes = capsys.readouterr().err
            assert notes == "" or arguments[0] == "train"  # which says that it had no time


def test_the_main_help_lists_every_command_also_when_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["-h"], []):
        assert main(arguments) == 0
        output = capsys.readouterr().out
        assert all(command.__name__ in output for command in COMMANDS)
        assert "--install-completion" in output


def test_names_of_models_and_definitions_are_completed() -> None:
    for words, expected in (
        ("actcause pa", "partition"),
        ("actcause ask rock-", "rock-throwing"),
        ("actcause ask rock-throwing --definition mod", "modified-hp"),
        ("actcause ask rock-throwing --solver ex", "exhaustive"),
        ("actcause partition rock-throwing --solver al", "algorithm-0"),
    ):
        environment = {**os.environ, "_ACTCAUSE_COMPLETE": "complete_bash", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split()) - 1)
        assert expected in shell("-m", "actcause", env=environment).stdout.split()


# -- what is imported ------------------------------------------------------------------------------


def imported_by(statements: str) -> set[str]:
    listing = "import sys; print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))"
    ended = shell("-c", f"{statements}\n{listing}")
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.splitlines()[-1].split())


def test_importing_the_library_imports_no_extra() -> None:
    assert not imported_by("import actcause") & {"typer", "click", "rich", "pysat", "torch", "gymnasium", "fastapi"}


def test_the_help_imports_nothing_heavy() -> None:
    loaded = imported_by("from actcause.cli import main; main(['--help'])")
    assert not loaded & {"torch", "gymnasium", "pygame", "ray", "fastapi", "uvicorn", "pysat", "plotly"}
    assert "typer" in loaded


def test_without_typer_the_command_says_what_to_install() -> None:
    for missing in ("typer", "rich"):
        ended = shell(
            "-c",
            f"import sys; sys.modules[{missing!r}] = None; from actcause.cli import main; sys.exit(main(['demo']))",
        )
        assert ended.returncode == 2
        assert ended.stderr.count("\n") == 1
        assert "pip install 'actcause[cli]'" in ended.stderr


def test_the_module_is_the_command_and_any_encoding_will_do() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = shell("-m", "actcause", "ask", "rock-throwing", "--definition", "all", env=environment)
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert "modified-hp" in ended.stdout
