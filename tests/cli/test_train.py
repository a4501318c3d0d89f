"""The commands about learning: `train`, `predict` and `evaluate`."""

import json
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest

from actcause.cli import main
from actcause.data import Transitions, Writer, collect, load
from actcause.learn.training import surprises
from waiting import wait_until

TINY = ("steps=60", "distil_steps=50", "width=8", "batch=32")
SIZES = [*(word for each in TINY for word in ("--set", each)), "--patience", "50"]
KEYS = {
    "edge_error", "exact_error", "auc", "average_precision", "false_positive_rate", "false_negative_rate",
    "per_factor", "trivial", "states", "resampled",
}  # fmt: skip


def document(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module", autouse=True)
def _few_passive_steps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 50)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a recording and a run that was trained on it."""
    folder = tmp_path_factory.mktemp("learning")
    data, run = folder / "data.parquet", folder / "run"
    collect("1-in", 2000, seed=1, out=data, metadata={"domain": "1-in"})
    assert main(["train", str(data), *SIZES, "--seed", "1", "--out", str(run)]) == 0
    return folder


def test_a_run_is_trained_from_a_file_and_says_what_it_did(folder, capsys, tmp_path):
    said = document(capsys, "train", folder / "data.parquet", *SIZES, "--out", tmp_path / "run")
    assert (said["method"], said["rows"], said["status"]) == ("jaci-auto", 2000, "finished")
    assert said["settings"]["width"] == 8
    assert 0 <= said["learned"]["shares"]["a1"] <= 1
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_several_seeds_are_trained_and_the_best_is_kept(folder, capsys, tmp_path):
    words = ["train", str(folder / "data.parquet"), "--method", "jaci-em", *SIZES, "--seeds", "2"]
    words += ["--out", str(tmp_path / "run")]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "is kept, by disagreement without labels (0: " in said
    assert "their answers differ in" in said
    again = document(capsys, *words, "--overwrite")
    assert set(again["seeds"]["scores"]) == {"0", "1"}
    assert again["settings"]["seed"] == again["seeds"]["kept"]
    assert main([*words, "--sweep", "penalty=0.01,0.02"]) == 2
    assert "a sweep has its seeds in seed=0..9" in capsys.readouterr().err


def test_a_domain_is_recorded_as_collect_records_it(folder, capsys, tmp_path):
    source = ("1-in", "--frames", "2000", "--seed", "1", "--draw", "0")
    document(capsys, "train", *source, "--method", "never", "--out", tmp_path / "run")
    document(capsys, "collect", *source, "--out", tmp_path / "same.parquet")
    assert document(capsys, "evaluate", tmp_path / "run", tmp_path / "same.parquet")["held_out"] is True


def test_of_the_training_data_only_the_held_out_part_is_scored(folder, capsys, tmp_path):
    found = document(capsys, "evaluate", folder / "run", folder / "data.parquet")
    assert found.keys() >= KEYS
    assert found["trivial"].keys() == {"never", "always", "rate"}
    assert found["held_out"] is True
    assert 0 < found["states"] < 500
    collect("1-in", 1500, seed=2, out=tmp_path / "other.parquet")
    found = document(capsys, "evaluate", folder / "run", tmp_path / "other.parquet")
    assert (found["held_out"], found["states"], found["from"]) == (False, 1500, "state")
    assert document(capsys, "evaluate", folder / "run", tmp_path / "other.parquet", "--hindsight")["hindsight"] is True
    assert main(["evaluate", str(folder / "run"), str(folder / "data.parquet")]) == 0
    assert "held-out states of the data it was trained on" in capsys.readouterr().out


def test_rare_causes_are_scored_on_balanced_states_as_in_the_paper(capsys, tmp_path):
    run, data = tmp_path / "run", tmp_path / "push.parquet"
    document(capsys, "collect", "push", "--frames", "3000", "--out", data)
    document(capsys, "train", "push", "--frames", "1000", "--method", "never", "--out", run)
    assert document(capsys, "evaluate", run, data)["resampled"] is True
    whole = document(capsys, "evaluate", run, data, "--no-resample")
    assert (whole["resampled"], whole["states"]) == (False, 3000)


def test_predictions_stand_beside_the_rows(folder, capsys, tmp_path):
    out = tmp_path / "found.parquet"
    said = document(capsys, "predict", folder / "run", folder / "data.parquet", "--out", out)
    before, after = load(folder / "data.parquet"), load(out)
    assert np.array_equal(before.state, after.state)
    assert list(after.extra) == [*before.extra, "found.a1", "probability.a1", "unsure"]
    assert said["rows"] == 2000
    assert said["rates"]["a1"] == pytest.approx(after.extra["found.a1"].mean())
    assert np.array_equal(after.extra["found.a1"], after.extra["probability.a1"] > 0.5)
    known = document(capsys, "predict", folder / "run", out, "--hindsight", "--out", tmp_path / "again.parquet")
    assert known["from"] == "hindsight"
    assert load(tmp_path / "again.parquet").extra.keys() == after.extra.keys()


def test_predictions_do_not_depend_on_the_row_groups_that_a_file_is_read_by(folder, capsys, tmp_path):
    data = load(folder / "data.parquet")
    probabilities = []
    for rows in (len(data), 300):
        file, out = tmp_path / f"{rows}.parquet", tmp_path / f"found{rows}.parquet"
        with Writer(file, data.layout, metadata=data.metadata, rows_per_group=rows) as writer:
            writer.append(data)
        document(capsys, "predict", folder / "run", file, "--out", out)
        probabilities.append(load(out).extra["probability.a1"])
    assert np.ptp(probabilities[0]) > 0
    assert np.allclose(*probabilities, atol=1e-5)


def test_found_causes_are_drawn_into_a_film(capsys, tmp_path):
    document(capsys, "collect", "block-1d", "--frames", "500", "--out", tmp_path / "data.parquet")
    document(capsys, "train", tmp_path / "data.parquet", "--method", "always", "--out", tmp_path / "run")
    files = [tmp_path / "data.parquet", tmp_path / "found.parquet"]
    document(capsys, "predict", tmp_path / "run", files[0], "--out", files[1])
    for file in files:
        document(capsys, "replay", file, "--episode", "0", "--out", file.with_suffix(".gif"))
    films = [file.with_suffix(".gif").read_bytes() for file in files]
    assert films[0] != films[1]


def test_a_run_is_not_overwritten_unasked_and_a_finished_one_has_nothing_to_resume(folder, capsys, tmp_path):
    command = ["train", str(folder / "data.parquet"), "--method", "never", "--out", str(tmp_path / "run")]
    assert main(command) == 0
    assert main(command) == 2
    assert "--resume goes on with it, --overwrite replaces it" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    assert "finished already" in capsys.readouterr().err
    assert main([*command, "--resume", "--seed", "3"]) == 2
    assert "was begun with seed=0" in capsys.readouterr().err
    assert main([*command, "--overwrite", "--seed", "3"]) == 0


def test_out_of_time_the_command_to_go_on_is_printed(folder, capsys, tmp_path):
    run = tmp_path / "run"
    command = ["train", str(folder / "data.parquet"), *SIZES, "--seed", "1", "--out", str(run)]
    assert main([*command, "--max-seconds", "0.001"]) == 0
    said = capsys.readouterr()
    assert "stopped" in said.out
    assert "provisional" in said.err
    _, _, again = said.err.strip().splitlines()[-1].partition("go on with: ")
    words = shlex.split(again)[1:]
    at = words.index("--max-seconds")
    assert main([*words[:at], *words[at + 2 :]]) == 0
    capsys.readouterr()
    assert document(capsys, "evaluate", run, folder / "data.parquet") == document(
        capsys, "evaluate", folder / "run", folder / "data.parquet"
    )


def test_ctrl_c_saves_and_says_how_to_go_on(folder, tmp_path):
    run = tmp_path / "run"
    command = [
        "train",
        str(folder / "data.parquet"),
        "--set",
        "steps=1000000",
        "--set",
        "width=8",
        "--out",
        str(run),
    ]
    process = subprocess.Popen([sys.executable, "-m", "actcause", *command], stderr=subprocess.PIPE, text=True)
    history = run / "history.jsonl"
    wait_until(lambda: process.poll() is not None or (history.exists() and history.stat().st_size))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.count("\n") == 1
    assert "go on with: actcause train" in said
    assert said.rstrip().endswith("--resume")
    assert (run / "checkpoint.safetensors").exists()


def write(path, **changes):
    """A recording of which one thing is wrong."""
    data = collect("1-in", 200, seed=1)
    if changes.get("rows"):
        data = data.subset(slice(0, changes["rows"]))
    if changes.get("still"):
        data = data.replaced(outcome=data.state[:, 1, : data.outcome.shape[1]])
    if changes.get("alone"):
        data = Transitions(factors=["y"], state=data.state[:, 1:], outcome=data.outcome, own="y")
    data.save(path)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 10}, "at least 100 rows to learn from. Got 10"),
        ({"still": True}, "never changes"),
        ({"alone": True}, "a factor besides the outcome's own"),
    ],
)
def test_data_that_teach_nothing_are_refused_in_one_line(capsys, tmp_path, change, message):
    data = write(tmp_path / "data.parquet", **change)
    assert main(["train", str(data), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_numbers_that_are_none_are_refused_in_one_line(folder, capsys, tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("a.x,b.x,next.b.x\n" + "1,2,3\n" * 200 + "1,nan,3\n")
    for command in (["train", str(table)], ["predict", str(folder / "run"), str(table)]):
        assert main([*command, "--out", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "b.x" in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1-im",), "neither a file nor a domain; did you mean '1-in'"),
        (("DATA", "--method", "jaci-me"), "did you mean 'jaci-em'"),
        (("DATA", "--set", "stepz=3"), "did you mean 'steps'"),
        (("DATA", "--set", "steps"), "such as steps=6000"),
        (("DATA", "--set", "seed=3"), "seed has --seed"),
        (("DATA", "--set", "steps=-1"), "The '--set steps' parameter of JACI must be"),
        (("DATA", "--max-seconds", "0"), "parameter of JACI must be positive"),
        (("DATA", "--device", "tpu"), "device"),
        (("DATA", "--frames", "100"), "--frames is for a domain"),
        (("1-in", "--mapping", "DATA"), "--mapping is for a file"),
        (("DATA", "--resume", "--overwrite"), "not both"),
    ],
)
def test_a_mistake_in_training_is_one_clear_line(folder, capsys, tmp_path, arguments, message):
    words = [str(folder / "data.parquet") if word == "DATA" else word for word in arguments]
    assert main(["train", *words, "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_cuda_where_there_is_none_is_refused(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["train", str(folder / "data.parquet"), "--device", "cuda", "--out", str(tmp_path / "run")]) == 2
    assert "not available here; say --device cpu" in capsys.readouterr().err
    assert main(["evaluate", str(folder / "run"), str(folder / "data.parquet"), "--device", "cuda"]) == 2
    assert "not available here" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_runs_that_do_not_fit_are_refused_and_nothing_is_overwritten(folder, capsys, tmp_path):
    out, push = tmp_path / "out.parquet", tmp_path / "push.parquet"
    out.write_text("mine")
    collect("push", 200, out=push)
    half = tmp_path / "half.safetensors"
    content = (folder / "run" / "model.safetensors").read_bytes()
    half.write_bytes(content[: len(content) // 2])
    unlabelled = tmp_path / "unlabelled.parquet"
    load(folder / "data.parquet").replaced(cause=None).save(unlabelled)
    for run, data, message in (
        (folder / "run", push, "must have the factors, features and outcome that were trained on"),
        (half, folder / "data.parquet", "cut short"),
        (tmp_path, folder / "data.parquet", "holds no model.safetensors"),
        (tmp_path / "nowhere", folder / "data.parquet", "There is no run"),
        (folder / "run", tmp_path / "nowhere.parquet", "nowhere.parquet"),
        (folder / "run", unlabelled, "no true causes"),
    ):
        commands = [["evaluate", str(run), str(data)], ["predict", str(run), str(data), "--out", str(out)]]
        for command in commands[: 1 if data == unlabelled else 2]:
            assert main(command) == 2
            said = capsys.readouterr().err
            assert message in said
            assert said.count("\n") == 1
    assert out.read_text() == "mine"


def test_without_the_extra_a_command_says_what_to_install(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    assert main(["train", str(folder / "data.parquet"), "--out", str(tmp_path / "run")]) == 2
    assert "pip install 'actcause[learn]'" in capsys.readouterr().err


def test_a_table_of_ones_own_is_learned_from_and_judged_by_what_its_columns_suggest(tmp_path, capsys):
    rows = "".join(f"{n % 3},{n % 7},{n % 3 + n % 7}\n" for n in range(120))
    mine, run = tmp_path / "mine.csv", str(tmp_path / "run")
    mine.write_text(f"ball_x,hand_x,ball_x_next\n{rows}")
    assert main(["train", str(mine), "--method", "never", "--out", run]) == 0
    assert main(["predict", run, str(mine), "--out", str(tmp_path / "found.parquet")]) == 0
    told = capsys.readouterr().err
    assert told.count("mine.csv were guessed: factors ball (x), hand (x)") == 2


def test_a_run_that_is_not_there_is_called_a_run(folder, mistake):
    data = str(folder / "data.parquet")
    for command in (("evaluate", "nosuchrun", data), ("predict", "nosuchrun", data, "--out", "x.parquet")):
        assert mistake(*command).startswith("actcause: There is no run nosuchrun: give the folder")
