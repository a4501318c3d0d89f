"""`actcause ask`: answers, degrees and mistakes, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actcause import DEFINITIONS
from actcause.cli import main

ASK_KEYS = {"definition", "context", "state", "effect", "conditions", "witness", "causes", "status"}
QUESTION = ("--context", "ST=1,BT=1", "--effect", "BS == 1")


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


def test_a_contrast_is_asked_for_with_rather_than(capsys: pytest.CaptureFixture[str], as_json: Any) -> None:
    code, document = as_json("ask", "trumping", "--rather-than", "C == -1", "--event", "M=1")
    assert code == 0
    assert document["contrast"] == "C == -1"
    assert document["witness"]["changed"] == {"M": -1}
    assert main(["ask", "trumping", "--rather-than", "C == 0"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "what caused C == 1 rather than C == 0?" in printed
    assert "a cause of C=1 rather than C=0: had M been 0 while SE stayed 0" in printed


def test_causes_are_ranked_by_what_is_normal(capsys: pytest.CaptureFixture[str], as_json: Any) -> None:
    _, document = as_json("ask", "pens", "--normally", "P == 0")
    assert [(cause["event"], cause["rank"]) for cause in document["causes"]] == [({"P": 1}, 1), ({"A": 1}, 2)]
    _, document = as_json("ask", "pens", "--normally", "P == 0", "--normally", "A == 1")
    assert [cause["event"] for cause in document["causes"]] == [{"P": 1}]
    assert main(["ask", "pens", "--normally", "P == 0"]) == 0
    printed = capsys.readouterr().out
    assert ["rank", "cause"] in [line.split() for line in printed.splitlines()]
    assert "against the rule P == 0" in " ".join(printed.split())


def test_side_by_side_a_lower_rank_is_shown_and_the_reason_is_that_of_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("ask", "pens", "--normally", "P == 0", "--definition", "all")
    assert main(list(asked)) == 0
    printed = capsys.readouterr().out
    assert ["modified-hp", "cause", "cause", "(2)"] in [line.split() for line in printed.splitlines()]
    assert "(2): a cause of rank 2" in printed
    assert "The professor's taking of a pen P=1 is a cause" in printed
    assert "against the rule" not in printed
    assert main([*asked, "--normally", "A == 1"]) == 0
    assert "(2)" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--normally", "M == 7"), "The rule 'M == 7' of --normally can never hold; say what normally does."),
        (("--rather-than", "C >= 0"), "must rule the effect out; 'C >= 0' and 'C == 1' both hold at C=1."),
        (("--rather-than", "C = 0"), "--rather-than, line 1, column 3"),
        (("--normally", "2: M == 0"), "Weights of rules are only counted with --normality-order count."),
        (("--normally", "N == 0"), "--normally: Unknown variable 'N'"),
        (("--normality-order", "count"), "say with --normally what is normal"),
        (("--normally", "M == 0", "--normality-order", "most"), "must be one of inclusion, count; got 'most'"),
    ],
)
def test_a_mistake_in_contrast_or_rules_is_one_line(
    arguments: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "trumping", *arguments]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1


def test_a_definition_without_degrees_is_refused_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "trumping", "--definition", "strong", "--responsibility"]) == 2
    assert "No source defines a degree of responsibility by strong" in capsys.readouterr().err


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


def test_an_exogenous_variable_is_no_event(tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / "exogenous.txt"
    path.write_text("exogenous U\nA = U\nY = A\n", encoding="utf-8")
    assert "U is exogenous" in mistake("ask", str(path), "--context", "U=1", "--effect", "Y", "--event", "U=1")


def test_an_interrupted_search_ends_quietly(
    bottle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("actcause.core.compare.causes", interrupt)
    assert main(["ask", bottle, *QUESTION]) == 130
    assert capsys.readouterr().err == ""


@pytest.fixture
def tank(tmp_path: Path) -> str:
    path = tmp_path / "tank.txt"
    path.write_text("valve\nlevel in 0..9 = 3\nlevel' = min(9, level + 2 * valve)\nfull = level == 9\n")
    (tmp_path / "tank.csv").write_text("valve,level\n1,3\n0,5\n1,5\n1,7\n0,9\n")
    return str(path)


def test_steps_follow_from_the_effect_the_trace_or_the_option(tank: str, as_json: Any) -> None:
    trace = ("--trace", tank.replace(".txt", ".csv"))
    for more, last in (((), 4), (("--steps", "4"), 4)):
        code, document = as_json("ask", tank, *trace, "--effect", "full@4 == 1", *more)
        assert code == 0
        assert {"valve@2": 1} in [cause["event"] for cause in document["causes"]]
        assert max(document["context"]) == f"valve@{last}"
    code, document = as_json("ask", tank, "--context", "valve=1,valve@1=0", "--effect", "level@2 == 5")
    assert document["context"] == {"valve@0": 1, "valve@1": 0, "valve@2": 1}


def test_an_example_in_time_is_asked_at_its_own_step_or_at_another(as_json: Any) -> None:
    _, document = as_json("ask", "rock-throwing-in-time", "--event", "ST@0=1")
    assert document["holds"] is True
    _, document = as_json("ask", "rock-throwing-in-time", "--effect", "BS@1 == 1", "--event", "ST@0=1")
    assert document["conditions"]["AC3"] is True
    _, document = as_json("ask", "rock-throwing-in-time", "--steps", "1", "--effect", "BS@1", "--event", "ST@0=1")
    assert document["context"] == {"ST@0": 1, "BT@0": 1, "ST@1": 0, "BT@1": 0}


def test_a_step_past_those_of_an_example_is_refused_with_both_remedies(mistake: Any, as_json: Any) -> None:
    said = mistake("ask", "overflowing-tank", "--effect", "alarm@99 == 1")
    assert "'overflowing-tank' is an example of 5 steps, and step 99 was asked about" in said
    assert said.endswith("ask about step 5 or earlier, or say what the roots were: --context 'stuck=1,drain=1'.")
    asked = ("--effect", "alarm@6 == 1", "--event", "stuck@5=1")
    code, _ = as_json("ask", "overflowing-tank", "--context", "stuck=1,drain=1", *asked)
    assert code == 0
    assert "is an example of a single step" in mistake("ask", "mover-1d", "--steps", "3", "--effect", "m@3 == 1")


def test_mistakes_about_time_are_one_line(tank: str, mistake: Any, tmp_path: Path) -> None:
    trace = ("--trace", tank.replace(".txt", ".csv"))
    assert "The effect of 'overflowing-tank' is alarm@5 == 1, which takes 5 steps, not 3; give --steps 5" in mistake(
        "ask", "overflowing-tank", "--steps", "3"
    )
    assert mistake("ask", tank, "--effect", "full@3").endswith("for instance --context 'valve=1'.")
    damaged = tmp_path / "trace.parquet"
    damaged.write_bytes(b"\x80\x81 no Parquet")
    assert "trace.parquet' cannot be read as Parquet" in mistake(
        "ask", tank, "--trace", str(damaged), "--effect", "full@1"
    )
    assert "--trace ends at step 4, but the question mentions step 9" in mistake(
        "ask", tank, *trace, "--effect", "full@9"
    )
    assert "--steps must be at least 3, the last step of the question; got 2" in mistake(
        "ask", tank, "--steps", "2", "--effect", "full@3"
    )
    assert "--context sets level, which follows from its equation" in mistake(
        "ask", tank, "--context", "valve=1,level=3", "--effect", "full@3"
    )
    assert "--context has no value of valve" in mistake("ask", tank, "--context", "valve@0=1", "--effect", "full@3")
    assert "--context sets valve@0, which the trace has" in mistake(
        "ask", tank, *trace, "--context", "valve@0=1", "--effect", "full@3"
    )
    assert "it has a value at each step: write 'full@2'" in mistake(
        "ask", tank, "--steps", "2", "--context", "valve=1", "--effect", "full"
    )
    assert "has no next values, so it has no time" in mistake("ask", "rock-throwing", "--steps", "2")
