"""`actcause import` and `actcause export`, and models of other tools as MODEL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actcause import Model
from actcause.cli import main

TREE = """<opsa-mef><define-fault-tree name="two pumps">
<define-gate name="top"><and><event name="P-1"/><event name="P-2"/></and></define-gate>
<define-basic-event name="P-1"><float value="0.01"/></define-basic-event></define-fault-tree></opsa-mef>"""


@pytest.fixture
def pumps(tmp_path: Path) -> str:
    path = tmp_path / "pumps.xml"
    path.write_text(TREE)
    return str(path)


def test_a_fault_tree_is_printed_as_model_text(pumps: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", pumps]) == 0
    printed = capsys.readouterr().out
    assert "# P(P_1=1) = 1/100\n" in printed
    assert "top = P_1 and P_2" in printed
    assert Model.from_text(printed).roots == ("P_2", "P_1")


def test_an_import_is_one_document(pumps: str, as_json: Any) -> None:
    code, document = as_json("import", pumps)
    assert code == 0
    assert document["format"] == "open-psa"
    assert document["prior"] == {"P_1": {"0": "99/100", "1": "1/100"}}
    assert document.keys() == {"format", "title", "model", "variables", "roots", "prior", "notes"}


def test_a_model_goes_through_a_file_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "rocks.bnet")
    assert main(["export", "rock-throwing", "--out", out]) == 0
    text = str(tmp_path / "rocks.txt")
    assert main(["import", out, "--out", text]) == 0
    assert capsys.readouterr().out == ""
    assert main(["ask", text, "--context", "ST=1,BT=1", "--effect", "BS", "--event", "ST=1"]) == 0


def test_a_file_of_another_tool_can_be_asked_at_once(pumps: str, as_json: Any) -> None:
    code, document = as_json("ask", pumps, "--context", "P_1=1,P_2=1", "--effect", "top")
    assert code == 0
    assert {"P_1": 1} in [cause["event"] for cause in document["causes"]]


def test_a_network_with_cycles_needs_steps(tmp_path: Path, mistake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clock.bnet"
    path.write_text("A, !B\nB, A\n")
    assert "clock.bnet, line 1, column 1: the network has a cycle, A -> B -> A" in mistake("import", str(path))
    assert "'--steps'" in mistake("import", str(path), "--steps", "-1")
    assert "--steps must be a whole number from 0 to" in mistake("import", str(path), "--steps", "1000000")
    assert main(["import", str(path), "--steps", "3"]) == 0
    assert "B@3 = A@2" in capsys.readouterr().out


def test_probabilities_are_kept_from_format_to_format(pumps: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", pumps, "--format", "bif"]) == 0
    assert "probability ( P_1 ) {\n  table 0.99, 0.01;" in capsys.readouterr().out


def test_probabilities_of_a_file_are_the_prior(pumps: str, tmp_path: Path, as_json: Any, mistake: Any) -> None:
    asked = ("--event", "P_1=1", "--effect", "top")
    assert "Say how probable contexts are" in mistake("probability", pumps, *asked)  # P_2 has none
    path = tmp_path / "both.xml"
    second = '<define-basic-event name="P-2"><float value="0.5"/></define-basic-event>'
    path.write_text(TREE.replace("</define-fault-tree>", f"{second}</define-fault-tree>"))
    code, document = as_json("probability", str(path), *asked)
    assert (code, document["pns"]) == (0, "1/2")


def test_an_export_is_one_document(as_json: Any) -> None:
    code, document = as_json("export", "loader", "--format", "hp2sat")
    assert code == 0
    assert json.loads(document["text"])["name"] == "The loader"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import", "no.xml"), "There is no file 'no.xml'"),
        (("import", "no"), "does not say its format by its ending"),
        (("import", "x.dot"), "There is no file"),
        (("import", "x", "--format", "opn-psa"), "did you mean 'open-psa'"),
        (("export", "loader"), "--format must say what to write"),
        (("export", "loader", "--format", "svg"), "Unknown format 'svg'"),
        (("export", "pusher-1d", "--format", "bnet"), "BNET has variables that are 0 or 1"),
        (("export", "loader", "--format", "dot", "--out", "no/such/folder/x.dot"), "no/such/folder"),
    ],
)
def test_a_mistake_is_one_clear_line(mistake: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in mistake(*arguments)


@pytest.mark.parametrize("name", ["bad.xml", "bad.bnet", "bad.bif", "bad.causalmodel", "bad.txt", "bad.dot"])
def test_a_file_that_is_none_is_refused_with_its_name(name: str, tmp_path: Path, mistake: Any) -> None:
    path = tmp_path / name
    path.write_text("(((")
    assert name in mistake("import", str(path)) or name == "bad.dot"
    path.write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in mistake("import", str(path))
