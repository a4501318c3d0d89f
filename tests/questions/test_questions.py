"""A file of questions: every line is answered as `ask --json` answers it, whoever does the work."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import actcause as ac
import killers
import run
from actcause.cli import main
from actcause.parallel import engine
from actcause.questions.file import BATCH, answer_batch, answer_lines
from actcause.questions.line import Line, Reply

TANK = "valve\nlevel in 0..9 = 3\nlevel' = min(9, level + 2 * valve)\nfull = level == 9\n"
BOTTLE = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH\n"
ASKED: list[dict[str, Any]] = [
    {"model": "rock-throwing", "event": "BT=1", "definition": "all"},
    {"model": "rock-throwing", "definition": "functional", "alpha_sufficiency": "1/5"},
    {"model": BOTTLE, "context": {"ST": 1, "BT": 1}, "effect": "BS == 1", "definition": "original-hp"},
    {"model": BOTTLE, "context": "ST=0,BT=1", "effect": "BS", "event": {"BT": 1, "ST": 0}, "responsibility": True},
    {"model": "voting-close", "max_causes": 2, "solver": "exhaustive", "max_seconds": 60},
    {"model": "trumping", "rather_than": "C == 0", "definition": "all"},
    {"model": "pens", "normally": "2: P == 0", "normality_order": "count"},
    {"model": TANK, "context": {"valve": 1, "valve@1": 0}, "effect": "level@3 == 7", "definition": "all"},
    {"model": TANK, "context": "valve=1", "effect": "full@3", "steps": 4, "event": {"valve@2": 1}},
]


def write_lines(path: Path, lines: list[Any]) -> str:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(f"{text}\n", encoding="utf-8")
    return str(path)


def ask_alone(capsys: pytest.CaptureFixture[str], question: dict[str, Any], tmp_path: Path) -> str:
    """What `ask --json` prints for the same question."""
    model = question["model"]
    if "\n" in model:
        (tmp_path / "model.txt").write_text(model, encoding="utf-8")
        model = str(tmp_path / "model.txt")
    arguments = ["ask", model, "--json"]
    for name, value in question.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(option)
        elif name != "model":
            given = ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            arguments += [option, given]
    main(arguments)
    return capsys.readouterr().out


def test_each_line_is_answered_with_what_ask_prints(capsys, tmp_path):
    assert main(["ask", "--questions", write_lines(tmp_path / "q.jsonl", ASKED)]) == 0
    lines = capsys.readouterr().out.splitlines(keepends=True)
    assert lines == [ask_alone(capsys, question, tmp_path) for question in ASKED]


def test_several_definitions_are_answered_in_a_list(capsys, tmp_path):
    question = {"model": "rock-throwing", "event": "ST=1", "definition": ["but-for", "modified-hp"]}
    assert main(["ask", "--questions", write_lines(tmp_path / "q.jsonl", [question])]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [(answer["definition"], answer["holds"]) for answer in answers] == [
        ("but-for", False),
        ("modified-hp", True),
    ]


def test_a_line_may_have_several_rules_of_what_is_normal(capsys, tmp_path):
    question = {"model": "pens", "normally": ["P == 0", "A == 1"]}
    assert main(["ask", "--questions", write_lines(tmp_path / "q.jsonl", [question])]) == 0
    [cause] = json.loads(capsys.readouterr().out)["causes"]
    assert (cause["event"], cause["rank"], cause["broken"]) == ({"P": 1}, 1, [])


def test_what_a_line_leaves_out_is_taken_from_the_command_line(capsys, tmp_path):
    (tmp_path / "bottle.txt").write_text(BOTTLE, encoding="utf-8")
    lines = [{"event": "ST=1"}, {"event": "BT=1"}, {"event": "BT=1", "context": "ST=0,BT=1"}]
    usual = ("--context", "ST=1,BT=1", "--effect", "BS", "--definition", "modified-hp")
    questions = write_lines(tmp_path / "q.jsonl", lines)
    assert main(["ask", str(tmp_path / "bottle.txt"), *usual, "--questions", questions]) == 0
    replies = map(json.loads, capsys.readouterr().out.splitlines())
    assert [reply["holds"] for reply in replies] == [True, False, True]


def test_questions_may_come_from_standard_input(capsys, monkeypatch, tmp_path):
    with open(write_lines(tmp_path / "q.jsonl", ASKED[:1]), encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(["ask", "--questions", "-"]) == 0
    assert "answers" in json.loads(capsys.readouterr().out)


# -- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("not json", "A question must be a JSON object; got 'not json'"),
        ([3], "A question must be a JSON object, such as"),
        ({"event": "ST=1"}, "The question has no model"),
        ({"model": "-"}, "A question's model cannot be '-'"),
        ({"model": "rock-throwin"}, "neither an example nor a file; did you mean 'rock-throwing'?"),
        ({"model": "A\nB ="}, "model, line 2, column"),
        ({"model": BOTTLE}, "so context must say what the roots were; for instance context 'ST=1,BT=1'."),
        ({"model": BOTTLE, "context": "ST=1,BT=1"}, "so effect must say what happened"),
        ({"model": "rock-throwing", "evnt": "ST=1"}, "Unknown field 'evnt'; did you mean 'event'?"),
        ({"model": "rock-throwing", "event": 3}, "The field 'event' must be text or an object; got 3."),
        ({"model": "rock-throwing", "max_causes": True}, "The field 'max_causes' must be a whole number; got True."),
        ({"model": "rock-throwing", "max_causes": 0}, "max_causes must be at least 1"),
        ({"model": "rock-throwing", "event": {"ST": "x"}}, "event, line 1, column"),
        ({"model": "rock-throwing", "definition": "halpern"}, "halpern"),
        ({"model": "rock-throwing", "definition": []}, "must be a name, a list of names, or 'all'"),
        ({"model": "rock-throwing", "alpha_sufficiency": 2}, "alpha_sufficiency must be between 0 and 1"),
    ],
)
def test_a_wrong_line_is_answered_with_its_number_and_error_and_the_others_go_on(capsys, tmp_path, line, error):
    lines = [ASKED[0], "", line, ASKED[1]]
    assert main(["ask", "--questions", write_lines(tmp_path / "q.jsonl", lines)]) == 2
    output = capsys.readouterr()
    first, wrong, last = map(json.loads, output.out.splitlines())
    assert wrong["line"] == 3
    assert error in wrong["error"]
    assert "answers" in first
    assert last["definition"] == "functional"
    assert output.err.startswith("actcause: 1 of 3 questions could not be asked; the first is on line 3: ")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--questions", "none.jsonl"), "The questions in 'none.jsonl' cannot be read: No such file or directory."),
        (("rock-throwing", "--out", "a.jsonl"), "--out takes the answers to --questions"),
        (("--questions", "q.jsonl", "--engine", "rai"), "An engine is one of local, ray. Got 'rai'"),
        (("--questions", "q.jsonl", "--address", "1.2.3.4:5"), "say --engine ray"),
    ],
)
def test_a_mistake_of_the_command_is_one_sentence(capsys, monkeypatch, tmp_path, arguments, error):
    monkeypatch.chdir(tmp_path)
    assert main(["ask", *arguments]) == 2
    output = capsys.readouterr()
    assert error in output.err
    assert output.out == ""


def test_a_file_that_is_not_text_is_refused(capsys, tmp_path):
    (tmp_path / "q.jsonl").write_bytes(b"\xff\xfe\x00")
    assert main(["ask", "--questions", str(tmp_path / "q.jsonl")]) == 2
    assert "are not UTF-8 text" in capsys.readouterr().err


def test_what_was_there_stays_if_the_answers_cannot_be_written(capsys, tmp_path):
    (tmp_path / "a.jsonl").write_text("earlier", encoding="utf-8")
    (tmp_path / "q.jsonl").write_bytes(b'{"model": "rock-throwing"}\n\xff\n')
    assert main(["ask", "--questions", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "a.jsonl")]) == 2
    assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "q.jsonl"]


# -- workers that are killed, and commands that are cut off ------------------------------------------

KILLER = {"model": "rock-throwing", "event": killers.KILLING_EVENT}
HARMLESS = [{"model": "rock-throwing", "event": "ST=1", "max_causes": number} for number in range(1, 2 * BATCH)]


def test_a_question_that_kills_its_workers_is_reported_and_the_same_command_asks_it_alone(
    capsys, monkeypatch, tmp_path
):
    lines = [*HARMLESS[:3], KILLER, *HARMLESS[3:]]
    out, whole = tmp_path / "answers.jsonl", tmp_path / "whole.jsonl"
    command = ["ask", "--questions", write_lines(tmp_path / "q.jsonl", lines), "--out"]
    assert main([*command, str(whole)]) == 0
    monkeypatch.setattr("actcause.questions.file.answer_batch", killers.answer_batch)
    assert main([*command, str(out), "--workers", "2"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"actcause: 1 of {len(lines)} questions were lost with their workers: give the command again"
    )
    assert "the first is on line 4: Its worker ended before it did, 3 times (at last by signal 9)" in said
    assert said.count("\n") == 1
    before, after = (path.read_text(encoding="utf-8").splitlines() for path in (whole, out))
    assert [number for number, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [3]
    assert json.loads(after[3])["line"] == 4
    asked = []

    def count_lines(batch: tuple[Line, ...]) -> tuple[Reply, ...]:
        asked.extend(line.number for line in batch)
        return answer_batch(batch)

    monkeypatch.setattr("actcause.questions.file.answer_batch", count_lines)
    assert main([*command, str(out)]) == 0
    assert asked == [4]
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "q.jsonl", "whole.jsonl"]


def test_a_command_that_was_cut_off_asks_what_is_left(monkeypatch, tmp_path):
    out = tmp_path / "answers.jsonl"
    command = ["ask", "--questions", write_lines(tmp_path / "q.jsonl", HARMLESS), "--out", str(out)]
    asked = []

    def cut_off(batch: tuple[Line, ...]) -> tuple[Reply, ...]:
        asked.append(len(batch))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return answer_batch(batch)

    monkeypatch.setattr("actcause.questions.file.answer_batch", cut_off)
    assert main(command) == 130
    assert not out.exists()
    [journal] = tmp_path.glob(".*")
    journal.write_bytes(journal.read_bytes()[:-5])  # as if it had been killed while it wrote
    assert main(command) == 0
    assert asked == [BATCH, BATCH - 1, 1, BATCH - 1]
    with engine() as alone:
        assert out.read_text().splitlines() == [
            reply.text for reply in answer_lines(map(json.dumps, HARMLESS), {}, alone)
        ]
    assert not list(tmp_path.glob(".*"))


# -- workers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """Questions of all kinds, a wrong one among them, and how one worker answers them."""
    folder = tmp_path_factory.mktemp("questions")
    questions = write_lines(folder / "q.jsonl", [*ASKED * 5, {"model": "none"}, *ASKED])
    assert main(["ask", "--questions", questions, "--out", str(folder / "one.jsonl")]) == 2
    return questions, (folder / "one.jsonl").read_bytes()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray warns of itself
@pytest.mark.parametrize(
    ("name", "workers"), [("local", 2), ("local", 3), pytest.param("ray", 2, marks=pytest.mark.ray)]
)
def test_the_answers_are_the_same_bytes_whoever_gives_them(many, request, tmp_path, name, workers):
    if name == "ray":
        request.getfixturevalue("cluster")
    questions, one = many
    out = tmp_path / "answers.jsonl"
    chosen = ("--engine", name, "--workers", str(workers))
    assert main(["ask", "--questions", questions, "--out", str(out), *chosen]) == 2
    assert out.read_bytes() == one


def test_one_question_takes_the_switch_too(capsys):
    assert main(["ask", "rock-throwing", "--event", "ST=1", "--workers", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True


def test_the_benchmark_finds_the_answers_of_the_oracle() -> None:
    figures = list(run.run("questions", importlib.import_module("questions").TINY))
    assert all(figure.right for figure in figures)


def test_the_oracle_agrees_on_the_published_verdicts_asked_as_a_file():
    lines, known = [], []
    for name in ("rock-throwing", "forest-fire", "voting-close"):
        for verdict in ac.examples.load(name).verdicts:
            lines.append(json.dumps({"model": name, "event": dict(verdict.event), "definition": verdict.definition}))
            known.append(verdict.holds)
    with engine() as alone:
        for usual in ({}, {"solver": "exhaustive"}):
            assert [json.loads(reply.text)["holds"] for reply in answer_lines(lines, usual, alone)] == known


def test_a_line_may_have_a_trace_of_its_own_or_in_a_file(tmp_path, capsys):
    (tmp_path / "trace.csv").write_text("valve,level\n1,3\n0,5\n1,5\n0,7\n")
    question = {"model": TANK, "effect": "level@3 == 7"}
    lines = [
        {**question, "trace": {"valve": [1, 0, 1, 0]}},
        {**question, "trace": str(tmp_path / "trace.csv")},
        {**question, "trace": {"valve": [1, 0, 1, 0], "level": [3, 5, 5, 5]}},
        {**question, "trace": {"valve": [1, 0]}},
    ]
    assert main(["ask", "--questions", write_lines(tmp_path / "q.jsonl", lines)]) == 2
    first, second, third, fourth = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == second
    assert {"valve@0": 1} in [cause["event"] for cause in first["causes"]]
    assert "trace has level=5 at step 3" in third["error"]
    assert "trace ends at step 1, but the question mentions step 3" in fourth["error"]
