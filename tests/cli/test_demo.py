"""The demonstration: three stories and a training, every verdict and number of which is computed."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from actcause import DEFINITIONS
from actcause.cli import main, stories
from actcause.reproduction.published import read_published_errors


@pytest.fixture(scope="module")
def demonstration() -> str:
    """What the demonstration prints, on one line."""
    printed, said = StringIO(), StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        assert main(["demo", "--quick"]) == 0
    assert said.getvalue() == ""
    return " ".join(printed.getvalue().split())


def test_the_bottle_has_a_witness_that_is_replayed(demonstration: str) -> None:
    assert "ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0." in demonstration
    assert "Replayed: with BH=0, ST=0 the model gives SH=0, BT=1, BS=0." in demonstration
    assert "No single event passes: undo any one of them, and BS=1 still happens." in demonstration


def test_the_fire_divides_the_definitions(demonstration: str) -> None:
    split = re.search(r"L=1 is a cause by itself for: (.*?)\. Only together with others for: (.*?)\.", demonstration)
    assert split is not None
    alone, together = (names.split(", ") for names in split.groups())
    assert sorted(alone + together) == sorted(DEFINITIONS)
    assert "modified-hp" in together


def test_the_words_of_the_table_are_explained(demonstration: str) -> None:
    assert "part: no cause by itself, but together with others it makes up one." in demonstration


def test_the_pusher_is_solved_in_every_state(demonstration: str) -> None:
    assert "What Y depends on in all 1,002,001 states" in demonstration
    assert "Of the 1,001 values of X, 1 would have undone it" in demonstration
    assert "a share of 1/100 here, that is, 11 of them" in demonstration


def test_the_demonstration_ends_with_commands_that_run(demonstration: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, next_steps = demonstration.partition("Try next")
    commands = re.findall(r"actcause ([^#]+?) +#", next_steps)
    assert len(commands) == 5
    for command in commands:
        assert main(command.split()) in (0, 1)
        assert capsys.readouterr().err == ""


def test_the_demonstration_as_a_document_has_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--quick", "--json"]) == 0
    bottle, fire, pusher = json.loads(capsys.readouterr().out).values()
    assert len(bottle["answers"]) == len(fire["answers"]) == len(DEFINITIONS)
    assert [verdict["holds"] for verdict in pusher["verdicts"]] == [True, False]
    assert sum(pusher["preimages"].values()) == pusher["states"] == 1_002_001
    assert sum(binary.count("1") * count for binary, count in pusher["preimages"].items()) == pusher["cost"]


@pytest.mark.usefixtures("brief_surprises")
def test_causes_are_learned_and_an_episode_is_filmed(capsys, tmp_path, monkeypatch) -> None:
    tiny = {"steps": 40, "distil_steps": 30, "width": 8, "batch": 32}
    monkeypatch.setattr(stories, "LEARNED", {"1-in": (1500, tiny), "block-1d": (1500, tiny)})
    film = tmp_path / "episode.gif"
    assert main(["demo", "--film", str(film)]) == 0
    demonstration = " ".join(capsys.readouterr().out.split())
    assert re.search(r"learned here +[\d.]+%", demonstration)
    assert f"the paper's JACI {read_published_errors()['jaci']['1-in']:.2f}%" in demonstration
    assert "saying never" in demonstration
    assert str(film) in demonstration.replace(" ", "")
    assert film.read_bytes()[:3] == b"GIF"


def test_without_the_extra_the_demonstration_says_how_to_get_the_second_part(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(stories, "find_spec", lambda name: None)
    [story] = stories.learn_stories(tmp_path / "episode.gif")
    assert "pip install 'actcause[learn,pictures]'" in story.document["missing"]
    assert not list(tmp_path.iterdir())
