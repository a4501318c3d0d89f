"""Whole states on the command line: what is collected, trained and filmed, and mistakes that leave nothing behind."""

from __future__ import annotations

import json

import pytest

from actcause.cli import main


@pytest.fixture
def states(tmp_path, capsys):
    file = tmp_path / "states.parquet"
    assert main(["collect", "push", "--frames", "400", "--seed", "1", "--outcome", "all", "--out", str(file)]) == 0
    capsys.readouterr()
    return file


def test_whole_states_are_filmed_with_the_causes_that_were_found(states, tmp_path, capsys):
    pytest.importorskip("PIL")
    pytest.importorskip("torch")
    run, found = str(tmp_path / "graphs"), tmp_path / "found.parquet"
    assert main(["train", str(states), "--outcome", "all", "--method", "always", "--out", run]) == 0
    assert main(["predict", run, str(states), "--out", str(found)]) == 0
    capsys.readouterr()
    films = {}
    for file in (states, found):
        film = file.with_suffix(".gif")
        assert main(["replay", str(file), "--episode", "3", "--out", str(film), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["steps"] == 20
        films[file] = film.read_bytes()
    assert films[states][:3] == b"GIF"
    assert films[states] != films[found]  # arrows of what was found


def test_a_film_of_an_episode_that_is_not_there_is_refused(states, tmp_path, capsys):
    assert main(["replay", str(states), "--episode", "300", "--out", str(tmp_path / "a.gif")]) == 2
    assert "There is no episode 300" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [("--method", "nevr"), ("--method", "never", "--set", "stepps=3")])
def test_a_training_that_cannot_begin_leaves_no_folder_that_stands_in_the_way(states, tmp_path, capsys, wrong):
    pytest.importorskip("torch")
    run = tmp_path / "graphs"
    assert main(["train", str(states), "--outcome", "all", *wrong, "--out", str(run)]) == 2
    assert not run.exists()
    assert main(["train", str(states), "--outcome", "all", "--method", "never", "--out", str(run)]) == 0


def test_an_unknown_outcome_is_refused_before_anything_is_recorded(tmp_path, capsys):
    out = tmp_path / "states.parquet"
    for wrong, told in (("al", "did you mean 'all'"), ("action", "choose from all, pusher, block")):
        assert main(["collect", "push", "--frames", "100", "--outcome", wrong, "--out", str(out)]) == 2
        assert told in capsys.readouterr().err
    assert not out.exists()
