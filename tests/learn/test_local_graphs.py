"""Local graphs: every outcome in one go, weights shared within classes, files that give back what was learned."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actcause.cli import main
from actcause.data import DataError, Recording, collect, collect_recording
from actcause.learn import (
    LearnError,
    LocalGraphs,
    MaskJACI,
    RunError,
    edge_error,
    evaluate_graphs,
    find_graphs,
    load,
    measure_errors,
    predict_graphs,
    train_graphs,
)
from actcause.learn.outcome_views import OutcomeClass, find_classes, order_factors, view_group, view_outcome
from actcause.learn.training import surprises

SHORT: dict[str, Any] = {"steps": 10, "distil_steps": 5, "width": 16, "batch": 64}


@cache
def record(domain: str, frames: int = 600) -> Recording:
    return collect_recording(domain, frames=frames, seed=1)


@pytest.fixture(autouse=True)
def short_passive_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 20)


@cache
def learn(domain: str) -> LocalGraphs:
    return LocalGraphs(**SHORT).fit(record(domain))


def test_graphs_have_a_row_for_every_outcome_and_every_factor_causes_itself() -> None:
    recording, graphs = record("break"), learn("break")
    found = graphs.predict(recording)
    assert found.shape == (600, 5, 6)
    assert found.dtype == bool
    for place, outcome in enumerate(recording.outcomes):
        assert found[:, place, recording.index(outcome)].all()
    likely = graphs.explain_proba(recording)
    assert ((likely >= 0) & (likely <= 1)).all()
    assert graphs.explain(recording).shape == found.shape
    errors = measure_errors(recording, found)
    assert graphs.score(recording) == pytest.approx(1 - np.mean(list(errors.values())))


def test_outcomes_of_one_class_share_weights_and_others_are_trained_side_by_side() -> None:
    graphs = learn("break")
    assert [one.group.members for one in graphs.learned_] == [("paddle",), ("ball",), ("block1", "block2", "block3")]
    paddle, ball, blocks = (one.group for one in graphs.learned_)
    assert len(paddle.changing) * paddle.repeats == len(ball.changing) * ball.repeats == 4
    assert blocks.changing == ("alive",)


def test_a_class_is_seen_from_each_members_place() -> None:
    recording = record("break")
    group = OutcomeClass(("block1", "block2", "block3"), ("alive",))
    stacked = view_group(recording, group)
    assert len(stacked) == 3 * len(recording)
    second = view_outcome(recording, group, "block2")
    order = order_factors(recording, "block2")
    assert [recording.factors[k] for k in order] == ["block2", "action", "paddle", "ball", "block1", "block3"]
    np.testing.assert_array_equal(second.state, recording.state[:, order])
    change = recording.next_state[:, 4, 4] - recording.state[:, 4, 4]
    np.testing.assert_array_equal(second.outcome[:, 0], change)


def test_what_never_changes_has_no_cause_but_itself() -> None:
    recording = record("push", 1000)
    still = find_classes(recording)[1]
    assert still == ("obstacle1", "obstacle2", "obstacle3")
    found = LocalGraphs("always").fit(recording).predict(recording)
    for outcome in still:
        assert found[:, recording.outcome_index(outcome)].sum() == len(recording)


@pytest.mark.slow
def test_an_outcome_is_learned_beside_others_about_as_well_as_alone() -> None:
    options: dict[str, Any] = {"steps": 300, "distil_steps": 150, "width": 32}
    recording = collect_recording("3-chain", frames=8000, seed=1)
    errors = measure_errors(recording, LocalGraphs(**options).fit(recording).predict(recording))
    view = recording.view("y")
    alone = edge_error(view, MaskJACI(**options).fit(view).predict(view))
    assert errors["y"] < 1.25 * alone + 0.01


def test_the_same_seed_gives_the_same_graphs_and_files_give_them_back(tmp_path: Path) -> None:
    recording, graphs = record("3-chain"), learn("3-chain")
    again = LocalGraphs(**SHORT).fit(recording)
    np.testing.assert_array_equal(again.predict_proba(recording), graphs.predict_proba(recording))
    graphs.save(tmp_path / "graphs.safetensors")
    loaded = LocalGraphs.load(tmp_path / "graphs.safetensors")
    np.testing.assert_array_equal(loaded.explain_proba(recording), graphs.explain_proba(recording))
    assert repr(loaded) == repr(graphs)
    assert loaded.notes_ == graphs.notes_
    with pytest.raises(RunError, match="holds the local graphs of every outcome"):
        load(tmp_path / "graphs.safetensors")


def test_absent_outcomes_have_no_causes() -> None:
    recording = record("break")
    mask = np.ones((600, 6), dtype=bool)
    mask[::3, 5] = False
    partly = recording.replaced(mask=mask, cause=None)
    found = LocalGraphs("always").fit(partly).predict(partly)
    assert not found[::3, 4].any()
    assert not found[::3, :, 5].any()
    assert found[1::3, 4, 5].all()


def test_any_method_explains_every_outcome() -> None:
    recording = record("push")
    near = LocalGraphs("proximity", steps=50).fit(recording).predict(recording)
    assert near.shape == (600, 6, 7)
    assert LocalGraphs("never").fit(recording).score(recording) < 1


def test_a_run_is_written_scored_and_asked(tmp_path: Path) -> None:
    recording = record("break")
    run = train_graphs(LocalGraphs("always"), recording, tmp_path / "run")
    assert {path.name for path in run.folder.iterdir()} == {"model.safetensors", "run.json"}
    assert json.loads((run.folder / "run.json").read_text())["status"] == "finished"
    found = predict_graphs(run.folder, recording)
    np.testing.assert_array_equal(found.extra["found.ball.paddle"], run.graphs.predict(recording)[:, 1, 1])
    scored = evaluate_graphs(run.folder, recording)
    assert scored.held_out
    assert set(scored.outcomes) == set(recording.outcomes)
    assert scored.states < len(recording)
    np.testing.assert_array_equal(find_graphs("truth", recording), recording.cause)
    with pytest.raises(RunError, match="holds a run already"):
        train_graphs(LocalGraphs("never"), recording, tmp_path / "run")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(LearnError, match="not been fitted"):
        LocalGraphs().predict(record("push"))
    with pytest.raises(LearnError, match="Recording of whole states"):
        LocalGraphs().fit(collect("push", frames=200))  # type: ignore[arg-type]
    with pytest.raises(LearnError, match="factors, features and outcomes that were trained on"):
        learn("break").predict(record("push"))
    with pytest.raises(LearnError, match="does not take the option 'stepps'"):
        LocalGraphs(stepps=3).fit(record("push"))
    with pytest.raises(LearnError, match="classes of local graphs are those of the recording"):
        LocalGraphs(classes={"block": "box"}).fit(record("push"))
    with pytest.raises(LearnError, match=r"booleans of shape \(600, 6, 7\)"):
        measure_errors(record("push"), np.zeros((600, 6, 7)))


def test_the_commands_know_all_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, run, found = (str(tmp_path / name) for name in ("push.parquet", "run", "found.parquet"))
    assert main(["collect", "push", "--frames", "400", "--outcome", "all", "--out", file]) == 0
    assert Recording.load(file) == collect_recording("push", 400, metadata={"domain": "push"})
    assert main(["train", file, "--outcome", "all", "--method", "never", "--out", run]) == 0
    assert main(["predict", run, file, "--out", found]) == 0
    assert "found.block.pusher" in Recording.load(found).extra
    capsys.readouterr()
    assert main(["evaluate", run, file, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["outcomes"]) == set(Recording.load(file).outcomes)
    assert main(["describe", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rates"]["pusher"]["action"] == 1
    told = ["--episode", "3", "--step", "12", "--factor", "pusher", "--json"]
    assert main(["trace", "truth", file, *told]) == 0
    chain = json.loads(capsys.readouterr().out)
    assert [action["step"] for action in chain["actions"]] == [*range(13)]
    assert main(["trace", run, file, *told]) == 0
    assert json.loads(capsys.readouterr().out)["links"] == []
    assert main(["train", file, "--outcome", "block", "--method", "never", "--out", f"{run}2"]) == 0
    assert main(["train", file, "--outcome", "all", "--resume", "--out", run]) == 2
    assert main(["trace", f"{run}2", file, *told]) == 2
    assert "explains one outcome" in capsys.readouterr().err


def test_a_trace_of_ones_own_recording_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, table = tmp_path / "own.parquet", tmp_path / "own.csv"
    record("push").replaced(cause=None).save(own)
    table.write_text("block.x,next.block.x\n1,2\n", encoding="utf-8")
    for file, words in (
        (own, "own.parquet holds no true causes; in the place of 'truth' give a run: actcause train own.parquet"),
        (table, "build a data.Recording from your columns and save it"),
    ):
        assert main(["trace", "truth", str(file), "--episode", "0", "--step", "3", "--factor", "block"]) == 2
        said = capsys.readouterr().err
        assert words in " ".join(said.split())
        assert "Traceback" not in said


def test_a_recording_without_change_has_nothing_to_explain() -> None:
    recording = record("push")
    with pytest.raises(LearnError, match="No outcome of the recording ever changes"):
        LocalGraphs("never").fit(recording.replaced(next_state=recording.state, cause=None))
    with pytest.raises(DataError):
        Recording.load("nowhere.parquet")
