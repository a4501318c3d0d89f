"""Runs of all outcomes: cut off and resumed, with several seeds, by any method."""

from __future__ import annotations

import json

import numpy as np
import pytest

from actcause.data import collect_recording
from actcause.learn import LocalGraphs, train_graphs
from actcause.learn.errors import RunError

pytestmark = pytest.mark.usefixtures("brief_surprises")

TINY = {"steps": 40, "distil_steps": 20, "width": 8, "batch": 32}


@pytest.fixture(scope="module")
def recording():
    return collect_recording("break", 1200, seed=1, policy="scripted")


def stop_after(moments):
    """A callback that interrupts a training after so many reports."""
    seen = []

    def report(moment):
        seen.append(moment)
        if len(seen) >= moments:
            raise KeyboardInterrupt

    return report


def read_weights(folder):
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("moments", [1, 4, 7])  # in the first stage, the last of an outcome, and one of the next
def test_a_training_that_was_cut_off_goes_on_to_the_same_answers(tmp_path, recording, moments):
    whole = train_graphs(LocalGraphs(**TINY), recording, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train_graphs(LocalGraphs(**TINY), recording, tmp_path / "cut", callback=stop_after(moments), every=0)
    assert json.loads((tmp_path / "cut" / "run.json").read_text())["status"] == "interrupted"
    resumed = train_graphs(LocalGraphs(**TINY), recording, tmp_path / "cut", resume=True)
    assert resumed.status == "finished"
    found = [LocalGraphs.load(tmp_path / name).predict_proba(recording) for name in ("whole", "cut")]
    assert np.array_equal(*found)
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == ["model.safetensors", "run.json"]
    assert whole.to_json()["learned"] == resumed.to_json()["learned"]


def test_a_finished_run_is_not_trained_again(tmp_path, recording):
    train_graphs(LocalGraphs(**TINY), recording, tmp_path / "run")
    before = read_weights(tmp_path / "run")
    again = train_graphs(LocalGraphs(**TINY), recording, tmp_path / "run", resume=True, callback=stop_after(1))
    assert again.status == "finished"
    assert read_weights(tmp_path / "run") == before


def test_a_run_does_not_go_on_with_other_options_data_or_seeds(tmp_path, recording):
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train_graphs(LocalGraphs(**TINY), recording, folder, callback=stop_after(1), every=0)
    with pytest.raises(RunError, match="other options"):
        train_graphs(LocalGraphs(**{**TINY, "steps": 50}), recording, folder, resume=True)
    with pytest.raises(RunError, match="other data"):
        train_graphs(LocalGraphs(**TINY), recording.subset(slice(0, 1100)), folder, resume=True)
    with pytest.raises(RunError, match="other seeds"):
        train_graphs(LocalGraphs(**TINY), recording, folder, resume=True, seeds=2)
    with pytest.raises(RunError, match="holds a run already"):
        train_graphs(LocalGraphs(**TINY), recording, folder)


def test_of_several_seeds_each_class_of_outcomes_keeps_its_best(tmp_path, recording):
    run = train_graphs(LocalGraphs(**TINY), recording, tmp_path / "run", seeds=2)
    for one in run.graphs.learned_:
        told = one.learner.learned_["seeds"]
        assert set(told["scores"]) == {"0", "1"}
        assert told["kept"] == one.learner.seed
    loaded = LocalGraphs.load(tmp_path / "run")
    assert np.array_equal(loaded.predict(recording), run.graphs.predict(recording))


@pytest.mark.parametrize("method", ["jaci-auto", "grad", "ncii"])
def test_any_method_learns_all_outcomes(tmp_path, method):
    recording = collect_recording("3-chain", 800, seed=1)
    options = {**TINY, "steps": 20} if method == "jaci-auto" else {"steps": 20}
    run = train_graphs(LocalGraphs(method, **options), recording, tmp_path / "run")
    assert run.graphs.predict(recording).shape == (800, 3, 3)
    assert LocalGraphs.load(tmp_path / "run").method == method


def test_a_budget_that_runs_out_keeps_the_place(tmp_path, recording):
    run = train_graphs(LocalGraphs(**{**TINY, "steps": 400}, max_seconds=0.2), recording, tmp_path / "run")
    assert run.status == "stopped"
    longer = LocalGraphs(**{**TINY, "steps": 400}, max_seconds=600.0)
    assert train_graphs(longer, recording, tmp_path / "run", resume=True).status == "finished"
