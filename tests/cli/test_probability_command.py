"""`actcause probability`: answers and mistakes, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actcause import DEFINITIONS
from actcause.cli import main

ASKED = ("probability", "rock-throwing", "--event", "ST=1")


def test_probability_prints_one_document(as_json: Any) -> None:
    code, document = as_json(*ASKED, "--prior", "ST=1/2,BT=1/4", "--evidence", "BS == 1", "--definition", "all")
    assert code == 0
    assert (document["pn"], document["ps"], document["pns"]) == ("3/4", None, "3/5")
    assert document["cause"].keys() == set(DEFINITIONS)
    assert document["cause"]["modified-hp"] == "4/5"
    assert document["exact"] is True


def test_probability_takes_a_table_of_contexts(tmp_path: Path, as_json: Any) -> None:
    table = tmp_path / "contexts.csv"
    table.write_text("ST,BT,probability\n1,0,3\n1,1,1\n")
    _, document = as_json(*ASKED, "--contexts", str(table))
    assert document["pn"] == "3/4"


def test_probability_shows_people_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--prior", "uniform"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "PN is 1/2: where ST=1 and 'BS == 1' happened" in printed
    assert "These are exact." in printed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "Say how probable contexts are with --prior"),
        (("--prior", "uniform", "--contexts", "c.csv"), "--prior and --contexts both say how probable contexts are"),
        (("--prior", "ST=1"), "--prior must give a probability to every root; missing: BT."),
        (("--prior", "ST=1,BT=2"), "The probability of BT must be between 0 and 1; got 2"),
        (("--prior", "uniform", "--instead", "BT=0"), "--instead must set the variables of the event, ST"),
        (("--prior", "uniform", "--evidence", "BS == 7"), "happens with probability 0"),
        (("--prior", "uniform", "--confidence", "1"), "--confidence must be between 0 and 1"),
        (("--prior", "uniform", "--definition", "mine"), "Unknown definition 'mine'"),
        (("--prior", "uniform", "--samples", "0"), "'--samples'"),
    ],
)
def test_a_mistake_is_one_clear_line(mistake: Any, arguments: tuple[str, ...], expected: str) -> None:
    assert expected in mistake(*ASKED, *arguments)
