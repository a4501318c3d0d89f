"""The command line as a shell sees it: exit codes, one line for a mistake, help, light imports."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main
from actcause.cli.app import COMMANDS
from actcause.io import console as output
from in_process import InProcess


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=120, **options
    )


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
        (("ask", "loader", "--steps", "-1"), "-1"),
        (("ask", "loader", "--steps", "abc"), "'abc'"),
        (("partition", "rock-throwing", "--max-seconds", "nan"), "--max-seconds must be a positive number"),
        (("partition", "rock-throwing", "--solver", "fast"), "--solver must be 'auto' or 'algorithm-0'"),
        (("partition", "pusher-1d", "--solver", "algorithm-0"), "Use --solver auto."),
        (("partition", "rock-throwing", "--alpha-sufficiency", "2"), "--alpha-sufficiency must be between 0 and 1"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("--frobnicate",), "No such option"),
        (("aks",), "No such command 'aks'. Did you mean 'ask'? Try"),
    ],
)
def test_a_mistake_in_a_command_is_one_clear_line(mistake: Any, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in mistake(*arguments)


def test_an_output_that_was_closed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(["ask", "rock-throwing", "--event", "BT=1"]) == 1


def test_signatures_are_read_once_however_many_commands_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["--version"]) == 0
    monkeypatch.setattr("actcause.cli.app.application", None)
    assert main(["examples", "--json"]) == 0


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


def test_a_number_of_any_length_is_printed_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    limit = sys.get_int_max_str_digits()
    output.print_json({"count": 10**5000})
    assert capsys.readouterr().out.strip() == '{"count": 1' + "0" * 5000 + "}"
    assert sys.get_int_max_str_digits() == limit


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_the_help_of_a_command_ends_with_examples_that_can_be_pasted(
    command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command.__name__, "--help"]) == 0
    output = capsys.readouterr().out
    assert "--json" in output
    pasted = output.partition("\nExamples:\n")[2].replace("\\\n", "")  # as a shell joins lines
    assert [shlex.split(line) for line in pasted.splitlines()] == [shlex.split(line) for line in COMMANDS[command]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_the_help_fits_a_terminal_and_names_values_in_words(
    command: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command.__name__, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80
    assert not any(odd in line for line in lines for odd in ("<bool>", "<str>", "[[", "x>="))


SHORTER = {
    "serve": ("--help",),  # it would go on until someone ends it
    "train": ("--max-seconds", "0.01"),
    "demo": ("--quick",),
    "reproduce": ("--max-seconds", "0", "--results", "results", "--docs", "docs"),
}
SMALLER = {
    "; echo $?": "",
    "seed=0..9": "seed=0",
    "0.01,0.02,0.05": "0.01",
    "20000": "2000",
    "50000": "2000",
    "--workers 2": "--workers 1",  # two give the same: tests of the engines, of `predict`, of `ask` and of sweeps
}

CAR = """
from actcause import BlackBox, Interval


def stop(speed, brake):
    return {"metres": speed**2 / (16 if brake else 2)}


box = BlackBox(stop, {"speed": Interval(0, 40), "brake": (0, 1)})
"""


def test_every_example_of_the_help_runs(
    bottle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.rename(bottle, Path(bottle).with_name("model.txt"))
    monkeypatch.chdir(Path(bottle).parent)
    rows = "".join(f"{n % 3},{n % 7},{n % 3 + n % 7}\n" for n in range(200))
    Path("questions.jsonl").write_text('{"model": "rock-throwing", "event": "ST=1"}\n')
    Path("contexts.csv").write_text("ST,BT\n1,0\n1,1\n")
    Path("tank.txt").write_text("valve\nlevel in 0..9 = 3\nlevel' = min(9, level + valve)\nalarm = level > 7\n")
    Path("tank.csv").write_text("valve\n" + "1\n" * 8)
    Path("car.py").write_text(CAR)
    Path("mine.csv").write_text(f"hand,ball,ball_next\n{rows}")
    Path("mine.toml").write_text('outcome = {ball = ["ball_next"]}\n[factors]\nhand = ["hand"]\nball = ["ball"]\n')
    monkeypatch.setattr("actcause.cli.sweep.engine", lambda *_: InProcess())
    monkeypatch.setattr("actcause.learn.sweeps.judge.STEPS", 2)  # no score is looked at
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


def list_imports(statements: str) -> set[str]:
    listing = "import sys; print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))"
    ended = shell("-c", f"{statements}\n{listing}")
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.splitlines()[-1].split())


def test_importing_the_library_imports_no_extra() -> None:
    assert not list_imports("import actcause") & {"typer", "click", "rich", "pysat", "torch", "gymnasium", "fastapi"}


def test_the_help_imports_nothing_heavy() -> None:
    loaded = list_imports("from actcause.cli import main; main(['--help'])")
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
