"""Sweeps: every combination is trained once, whoever runs it and whatever is killed; the best is chosen unlabelled."""

from __future__ import annotations

import copy
import csv
import errno
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import killers
from actcause.cli import main
from actcause.data import Transitions, collect, load
from actcause.errors import QueryError
from actcause.learn import Always, Never, make, runs, sweep
from actcause.learn.sweeps.grid import MOST, Grid, name_of, values
from actcause.learn.sweeps.judge import judge_learner
from actcause.learn.sweeps.ranking import Ranking, rank_trials
from in_process import InProcess

QUICK = ["--method", "grad", "--set", "steps=20", "--set", "width=8", "--set", "batch=32", "--no-tensorboard"]
MEASURED = ("seconds",)  # what run.json holds of the clock


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("sweeps") / "data.parquet"
    collect("1-in", 1000, seed=1, out=path, metadata={"domain": "1-in"})
    return str(path)


@pytest.fixture(scope="module")
def whole_sweep(data: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over penalties and seeds by this process."""
    out = tmp_path_factory.mktemp("undisturbed") / "sweep"
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actcause.cli.sweep.engine", lambda *_: InProcess())
        assert main(["train", data, "--out", str(out), *QUICK, "--sweep", "penalty=0.01,0.1", "seed=0..1"]) == 0
    torch.set_num_threads(threads)
    return out


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges that learn for a few steps, where no score is looked at."""
    monkeypatch.setattr("actcause.learn.sweeps.judge.OFTEN", 1)
    monkeypatch.setattr("actcause.learn.sweeps.judge.LEAST", 2)


@pytest.fixture
def small(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that are this process: nothing here crashes."""
    monkeypatch.setattr("actcause.cli.sweep.engine", lambda *_: InProcess())


def contents(folder: Path) -> dict[str, Any]:
    """All that a sweep wrote, without what the clock said."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder))
            found[name] = path.read_bytes()
            if path.name == "run.json":
                found[name] = {k: v for k, v in json.loads(found[name]).items() if k not in MEASURED}
    return found


# -- what is combined ------------------------------------------------------------------------------


def test_values_are_lists_and_ranges_of_anything_an_option_takes() -> None:
    assert values("penalty", "0.01, 0.02") == (0.01, 0.02)
    assert values("seed", "8..10,3") == (8, 9, 10, 3)
    assert values("categorical", '["a.x"],["b.x"]') == (("a.x",), ("b.x",))
    assert values("method", "jaci-em,grad") == ("jaci-em", "grad")
    assert values("steps", "-2..0") == (-2, -1, 0)


def test_a_grid_is_the_product_of_its_values() -> None:
    grid = Grid.read(["penalty=0.01,0.02", "seed=0..2"], {})
    assert len(grid.settings()) == 6
    assert [name_of(each) for each in grid.settings()][:2] == ["penalty=0.01,seed=0", "penalty=0.01,seed=1"]


def test_names_of_folders_are_safe_and_told_apart() -> None:
    names = [name_of({"classes": value}) for value in ("../a", "../b", "x" * 500, "x" * 501)]
    assert len(set(names)) == 4
    assert all("/" not in name and len(name) <= 120 for name in names)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["penalty"], "such as --sweep"),
        (["=3"], "such as --sweep"),
        (["penalty="], "such as --sweep"),
        (["seed=3..1"], "is empty; give the smaller number first"),
        (["seed=1.."], "two integers"),
        (["penalty=0.1..0.5"], "two integers"),
        (["seed=1,,2"], "an empty one"),
        (["seed=1,1"], "twice"),
        (["seed=1", "seed=2"], "swept over twice"),
        (["width=3"], "the same for all trials, by --set width"),
        ([f"seed=0..{MOST}"], "at most 10,000 trials"),
        (["seed=0..999", "steps=1..999"], "at most 10,000 trials. Got 999,000"),
    ],
)
def test_what_cannot_be_combined_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        Grid.read(words, {"width": "--set width"})


# -- the folder ------------------------------------------------------------------------------------


def test_every_combination_is_a_run_and_the_table_has_them_best_first(
    whole_sweep: Path, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {f"penalty={penalty},seed={seed}" for penalty in (0.01, 0.1) for seed in (0, 1)}
    assert {path.name for path in whole_sweep.iterdir()} == {
        *names, "sweep.json", "table.csv", "table.json", "table.svg",
    }  # fmt: skip
    table = json.loads((whole_sweep / "table.json").read_text())
    assert table["winner"] == table["trials"][0]["name"]
    scores = [trial["score"] for trial in table["trials"]]
    assert scores == sorted(scores)
    assert all(0 <= trial["true_error"] <= 1 for trial in table["trials"])
    assert "never used for choosing" in table["criterion"]
    lines = list(csv.DictReader((whole_sweep / "table.csv").read_text().splitlines()))
    assert [line["run"] for line in lines] == [trial["name"] for trial in table["trials"]]
    assert [float(line["score"]) for line in lines] == scores
    assert (whole_sweep / "table.svg").read_text().startswith("<?xml")
    for name in names:
        assert main(["evaluate", str(whole_sweep / name), data, "--json"]) == 0
        scored = json.loads(capsys.readouterr().out)
        [trial] = [trial for trial in table["trials"] if trial["name"] == name]
        assert scored["held_out"] is True
        assert scored["edge_error"] == pytest.approx(trial["true_error"])


def test_a_trial_is_the_run_that_train_writes(whole_sweep: Path, data: str, tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    assert main(["train", data, *QUICK, "--set", "penalty=0.1", "--seed", "1", "--out", str(tmp_path / "run")]) == 0
    torch.set_num_threads(threads)
    assert contents(tmp_path / "run") == contents(whole_sweep / "penalty=0.1,seed=1")


def test_the_same_command_redoes_nothing(
    whole_sweep: Path, data: str, small: None, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {
        path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in whole_sweep.rglob("*/*") if path.is_file()
    }
    assert main(["train", data, "--out", str(whole_sweep), *QUICK, "--sweep", "penalty=0.01,0.1 ", "seed=0..1"]) == 0
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in before} == before
    printed = capsys.readouterr().out
    assert "The winner of 4, chosen without labels" in printed
    assert "never used for choosing" in printed


def test_a_sweep_that_was_cut_off_goes_on(data: str, brief: None, tmp_path: Path) -> None:
    asked = data, tmp_path / "sweep", ["method=never,always", "seed=0..1"]

    class Cut(InProcess):
        def run(self, function: Any, tasks: Sequence[Any], **more: Any) -> Iterator[Any]:
            yield from super().run(function, tasks[:3], **more)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _sweep(*asked, Cut())
    assert not (tmp_path / "sweep" / "table.csv").exists()
    rest = InProcess()
    ranking = _sweep(*asked, rest)
    assert rest.begun == ["method=always,seed=1"]
    assert len(ranking.trials) == 4
    assert ranking.notes == ()
    assert not list((tmp_path / "sweep").glob(".*"))


def test_values_may_be_added_and_only_these_are_trained(data: str, brief: None, tmp_path: Path) -> None:
    _sweep(data, tmp_path / "sweep", ["method=never,always", "seed=0"], InProcess())
    more = InProcess()
    ranking = _sweep(data, tmp_path / "sweep", ["method=never,always", "seed=0..1"], more)
    assert more.begun == ["method=never,seed=1", "method=always,seed=1"]
    assert len(ranking.trials) == 4


def test_several_seeds_are_a_sweep(data: str, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", data, "--out", str(tmp_path / "seeds"), "--method", "never", "--seed", "0..2", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(trial["settings"]["seed"] for trial in found["trials"]) == [0, 1, 2]
    assert (tmp_path / "seeds" / "seed=2" / "model.safetensors").exists()


def test_a_domain_is_recorded_anew_for_each_seed(small: None, tmp_path: Path) -> None:
    command = ["train", "--sweep", "seed=0,1", "method=never", "1-in", "--frames", "500", "--out", str(tmp_path / "s")]
    assert main(command) == 0
    summaries = [json.loads((tmp_path / "s" / f"seed={k},method=never" / "run.json").read_text()) for k in (0, 1)]
    assert summaries[0]["data"] != summaries[1]["data"]


# -- workers, engines and faults -------------------------------------------------------------------


@pytest.mark.slow  # tests/parallel holds that Ray gives what processes give
@pytest.mark.usefixtures("cluster")
def test_ray_gives_the_same_bytes(whole_sweep: Path, data: str, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    command = ["train", data, "--out", str(out), *QUICK, "--sweep", "penalty=0.01,0.1", "seed=0..1"]
    assert main([*command, "--engine", "ray", "--workers", "2"]) == 0
    assert contents(out) == contents(whole_sweep)


def test_two_workers_one_of_which_is_killed_give_the_same_bytes(
    whole_sweep: Path, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actcause.learn.sweeps.sweep.run_trial", killers.run_trial)
    out = tmp_path / "sweep"
    command = ["train", data, "--out", str(out), *QUICK, "--sweep", "penalty=0.01,0.1", "--sweep", "seed=0..1"]
    assert main([*command, "--workers", "2"]) == 0
    assert (tmp_path / killers.KILLED).exists()
    assert contents(out) == contents(whole_sweep)


def _sweep(data: str, out: Path, words: list[str], workers: InProcess) -> Ranking:
    options = {"device": "cpu", "max_seconds": None, "seed": 0}
    grid = Grid.read(words, {}).values
    return sweep(data, out, grid, method="never", options=options, tensorboard=False, workers=workers)


def test_a_trial_that_fails_is_tried_again_when_the_others_are_done_and_then_reported(
    data: str, brief: None, tmp_path: Path
) -> None:
    once = InProcess(lambda task: "MemoryError" if task.name == "seed=1" and once.begun.count("seed=1") == 1 else None)
    ranking = _sweep(data, tmp_path / "once", ["seed=0..2"], once)
    assert once.begun == ["seed=0", "seed=1", "seed=2", "seed=1"]
    assert ranking.notes == ()
    always = InProcess(lambda task: "MemoryError" if task.name == "seed=1" else None)
    ranking = _sweep(data, tmp_path / "always", ["seed=0..2"], always)
    assert [trial["status"] for trial in ranking.trials] == ["finished", "finished", "failed"]
    assert list(ranking.notes) == ["1 of 3 trials failed; seed=1: MemoryError"]


def test_what_one_trial_refuses_is_reported_and_the_others_go_on(
    data: str, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sweep"
    command = ["train", data, "--out", str(out), "--method", "never", "--sweep"]
    assert main([*command, "seed=0"]) == 0
    (out / "seed=1").mkdir()
    (out / "seed=1" / "mine.txt").write_text("mine")
    capsys.readouterr()
    assert main([*command, "seed=0..2"]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "1 of 3 trials failed; seed=1: " in said.err
    assert "neither empty nor a run" in said.err
    assert "failed: " in said.out
    assert (out / "seed=1" / "mine.txt").read_text() == "mine"
    assert (out / "seed=2" / "model.safetensors").exists()


def test_ctrl_c_says_how_to_go_on(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("actcause.learn.sweeps.sweep.sweep", interrupt)
    assert main(["train", data, "--out", str(tmp_path / "s"), "--sweep", "seed=0..2"]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_worker_that_ignores_ctrl_c_goes_on_to_ignore_it_while_it_trains(data: str, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        learner = make("grad", steps=20, width=8, device="cpu")
        done = runs.train(
            learner, load(data), tmp_path / "run", callback=lambda moment: signal.raise_signal(signal.SIGINT)
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.status == "finished"


def test_where_all_trials_fail_there_is_one_sentence_and_no_picture(
    small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect("1-in", 50, seed=1, out=tmp_path / "short.parquet")
    command = ["train", str(tmp_path / "short.parquet"), "--out", str(tmp_path / "s"), "--sweep", "seed=0..1"]
    assert main(command) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "2 of 2 trials failed; seed=0: There must be at least 100 rows" in said.err
    assert not (tmp_path / "s" / "table.svg").exists()


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sweep", "penaltie=0.1"], "did you mean 'penalty'"),
        (["--sweep", "penalty=0.1,many"], "The 'penalty' parameter of JACI must be"),
        (["--sweep", "penalty=2"], "The 'penalty' parameter of JACI must be between 0 and 1"),
        (["--sweep", "method=jaci-me"], "did you mean 'jaci-em'"),
        (["--sweep", "seed=5..1"], "is empty"),
        (["--sweep", "device=cpu"], "the same for all trials, by --device"),
        (["--sweep", "steps=10", "--set", "steps=5"], "the same for all trials, by --set steps"),
        (["--sweep", "seed=0..1", "--seed", "3,4"], "seed is swept over twice"),
        (["--sweep", "seed=0..1", "--overwrite"], "--overwrite is for one run"),
        (["--sweep", "seed=0..1", "another.parquet"], "One file of transitions or one domain"),
        (["--sweep", "seed=0..1", "--engine", "rey"], "did you mean 'ray'"),
        (["--seed", "-1"], "--seed takes an integer of at least 0"),
        (["--seed", "many"], "--seed takes an integer of at least 0"),
        (["--seed", "2..1"], "is empty"),
        (["--workers", "2"], "are for several trainings"),
        (["seed=0..9"], "One file of transitions or one domain"),
    ],
)
def test_a_mistake_in_a_sweep_is_one_clear_line(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["train", data, *words, "--out", str(tmp_path / "sweep")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_sweep_is_not_for_torchrun(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")
    assert main(["train", data, "--seed", "0..1", "--out", str(tmp_path / "s")]) == 2
    assert "not started by torchrun" in capsys.readouterr().err


def test_a_folder_with_something_else_is_left_alone(
    data: str, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", data, "--method", "never", "--sweep", "seed=0..1", "--out"]
    file, folder, sweep = tmp_path / "file", tmp_path / "folder", tmp_path / "sweep"
    file.write_text("mine")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    assert main([*command, str(sweep)]) == 0
    other = tmp_path / "other.parquet"
    collect("1-in", 500, seed=2, out=other)
    before = contents(sweep)
    capsys.readouterr()
    for words, message in (
        ([*command, str(file)], "is a file; a sweep is a folder"),
        ([*command, str(folder)], "neither empty nor a sweep"),
        ([*command, str(file / "below")], "Cannot write to"),
        ([*command, str(sweep), "--set", "held_out=0.2"], "a sweep with other options"),
        ([*command, str(sweep), "--method", "always"], "a sweep with other method"),
        (["train", str(other), *command[2:], str(sweep)], "a sweep with other source"),
        (["train", data, "--method", "never", "--sweep", "held_out=0.1", "--out", str(sweep)], "other options"),
    ):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1
    assert contents(sweep) == before
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_takes_nothing_more_leaves_the_earlier_table(
    data: str, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, number: int
) -> None:
    command = ["train", data, "--method", "never", "--out", str(tmp_path / "sweep"), "--sweep"]
    assert main([*command, "seed=0"]) == 0
    before = contents(tmp_path / "sweep")
    capsys.readouterr()

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("actcause.io.atomic.os.replace", refuse)
        assert main([*command, "seed=0..1"]) == 2
    said = capsys.readouterr().err
    assert os.strerror(number) in said
    assert said.count("\n") == 1
    after = contents(tmp_path / "sweep")
    assert {name: after[name] for name in before} == before
    assert main([*command, "seed=0..1"]) == 0


def test_without_matplotlib_the_table_is_there_and_a_sentence_says_what_to_install(
    data: str, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["train", data, "--method", "never", "--sweep", "seed=0", "--out", str(tmp_path / "s")]) == 0
    assert "pip install 'actcause[plots]'" in capsys.readouterr().err
    assert (tmp_path / "s" / "table.csv").exists()
    assert not (tmp_path / "s" / "table.svg").exists()


# -- the choice ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recording() -> Transitions:
    return collect("1-in", 2000, seed=3)


def test_true_causes_win_over_naming_nothing_everything_or_some(recording: Transitions) -> None:
    never, always = Never(device="cpu").fit(recording), Always(device="cpu").fit(recording)
    right, late = copy.copy(always), copy.copy(always)
    right.predict = lambda data: data.cause  # type: ignore[method-assign]
    late.predict = lambda data: data.cause & (data.state[:, :1, 0] > 0) | never.predict(data)  # type: ignore[method-assign]
    each = {"settings": {}, "status": "finished", "true_error": None, "notes": []}
    verdicts = []
    for name, learner in {"never": never, "always": always, "late": late, "right": right}.items():
        found = judge_learner(learner, recording)
        verdicts.append({**each, "name": name, "explained": found.explained, "named": found.named})
    ranking = rank_trials([], verdicts)
    assert ranking.winner == "right"
    assert [trial["name"] for trial in ranking.trials][1] == "late"


def test_the_choice_does_not_look_at_true_causes(recording: Transitions) -> None:
    learner = Always(device="cpu").fit(recording)
    assert judge_learner(learner, recording) == judge_learner(learner, recording.replaced(cause=None))
