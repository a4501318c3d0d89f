"""`actcause probe`: functions by name, answers and mistakes, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actcause.cli import main

SIMULATOR = """
import actcause as ac


def crash(speed, brake, sky="clear"):
    return {"crash": int(speed > 50 and (not brake or sky == "rain"))}


def chatter(brake):
    print("braking")
    return brake


box = ac.BlackBox(crash, {"speed": range(0, 121, 10), "brake": (0, 1), "sky": ("clear", "rain")})
number = 3
"""


@pytest.fixture
def simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "simulator.py").write_text(SIMULATOR)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "script.py").write_text("import sys; sys.exit(1)")
    return tmp_path


ASKED = ("--context", "speed=90,brake=0", "--effect", "crash == 1")
INPUTS = ("--input", "speed=0.0..120.0", "--input", "brake in 0,1")


@pytest.mark.usefixtures("simulator")
def test_probe_prints_one_document(as_json: Any) -> None:
    code, document = as_json("probe", "simulator.py:crash", *INPUTS, *ASKED)
    assert code == 0
    assert [cause["event"] for cause in document["causes"]] == [{"speed": 90.0}, {"brake": 0}]
    assert document["status"] == "complete"
    assert document["proved_size"] == 2
    assert document["statistics"]["calls"] == 3


@pytest.mark.usefixtures("simulator")
def test_probe_takes_a_box_and_answers_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("probe", "simulator.py:box", "--context", "speed=90,brake=0,sky=clear", "--effect", "crash")
    assert main([*asked, "--event", "brake=0"]) == 0
    assert main([*asked, "--event", "sky=clear"]) == 1
    printed = capsys.readouterr().out
    assert "brake=0 is a cause of (crash): had brake been 1, (crash) would not have held." in printed
    assert "sky=clear is not a cause of (crash)" in printed
    assert main([*asked, "--event", "sky=clear", "--max-calls", "1"]) == 2
    assert "raise --max-calls to go on" in capsys.readouterr().err


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("event", [(), ("--event", "brake=1")])
def test_what_the_function_prints_is_no_part_of_the_document(event: tuple[str, ...], as_json: Any) -> None:
    asked = ("--input", "brake=0,1", "--context", "brake=1", "--effect", "output")
    code, document = as_json("probe", "simulator.py:chatter", *asked, *event)
    assert code == 0
    assert document["statistics"]["calls"] == 2


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("definition", ["modified-hp", "original-hp", "updated-hp", "direct", "strong"])
def test_probe_asks_why_this_rather_than_that(
    definition: str, as_json: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("probe", "simulator.py:box", "--context", "speed=90,brake=0,sky=clear", "--effect", "crash == 1")
    asked = (*asked, "--rather-than", "crash == 0", "--definition", definition)
    code, document = as_json(*asked)
    assert code == 0
    assert document["contrast"] == "crash == 0"
    assert {"speed": 90} in [cause["event"] for cause in document["causes"]]
    assert main([*asked[:-4], "--rather-than", "crash >= 1", "--definition", definition]) == 2
    assert "--rather-than must rule the effect out" in capsys.readouterr().err


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("simulator.py:crush", *INPUTS), "'simulator.py' has no 'crush'; did you mean 'crash'?"),
        (("simulator.py", *INPUTS), "Name a function with its module"),
        (("nowhere.py:crash", *INPUTS), "There is no file 'nowhere.py'"),
        (("nowhere.at.all:crash", *INPUTS), "There is no module 'nowhere'"),
        (("broken.py:crash", *INPUTS), "'broken.py' cannot be imported (ZeroDivisionError: division by zero)."),
        (("script.py:crash", *INPUTS), "'script.py' cannot be imported (SystemExit: 1)."),
        (("simulator.py:number", *INPUTS), "A black box needs a function; got 3."),
        (("simulator.py:crash",), "Say what the inputs of simulator.py:crash can be with --input"),
        (("simulator.py:box", *INPUTS), "--input is known already: simulator.py:box is a BlackBox."),
        (("simulator.py:crash", "--input", "speed"), "--input must name an input and its range"),
        (("simulator.py:crash", "--input", "speed=9..1"), "The range of speed is empty"),
        (("simulator.py:crash", *INPUTS, "--input", "brake=0,1"), "--input has brake twice."),
        (("simulator.py:crash", *INPUTS, "--confidence", "2"), "--confidence must be between 0 and 1; got 2"),
        (("simulator.py:crash", *INPUTS, "--least-share", "0"), "--least-share must be between 0 and 1; got 0"),
        (("simulator.py:crash", *INPUTS, "--definition", "functional"), "--alpha-sufficiency must be given"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", *arguments, *ASKED]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
