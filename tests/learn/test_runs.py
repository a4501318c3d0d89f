"""A run can be cut off at any moment, and goes on to the same weights; nothing is overwritten unasked."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch

from actcause import learn
from actcause.data import Transitions, collect
from actcause.learn import METHODS, LearnError, MaskJACI, Never, RunError, make, runs
from actcause.learn.training import surprises
from actcause.learn.training.loop import TrainingProgress

# A program that is killed (SIGKILL) at the given moments, each in a process of its own, and then resumes.
PROGRAM = """
import os, signal, sys
from pathlib import Path
import torch
import torch._dynamo  # what the first optimiser imports: here once, not in every process
from actcause.data import collect
from actcause.learn import MaskJACI, runs
from actcause.learn.training import surprises

surprises.STEPS = 60

def dies(after):
    left = [after]
    def tick(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return tick

def begin(out, **more):
    if os.fork() == 0:
        learner = MaskJACI(steps=72, distil_steps=52, width=8, batch=32, device="cpu")
        runs.train(learner, collect("1-in", 1500, seed=1), out, tensorboard=False, every=0, **more)
        os._exit(0)
    return os.WTERMSIG(os.wait()[1])

folder = Path(sys.argv[1])
assert begin(folder / "whole") == 0
for number, after in enumerate(map(int, sys.argv[2].split(","))):
    assert begin(folder / f"chunk{number}", callback=dies(after)) == signal.SIGKILL
    assert begin(folder / f"chunk{number}", resume=True) == 0
replace = os.replace
for number, after in enumerate(map(int, sys.argv[3].split(","))):
    tick = dies(after)
    os.replace = lambda *paths: (tick(), replace(*paths))
    assert begin(folder / f"write{number}") == signal.SIGKILL
    os.replace = replace
    assert begin(folder / f"write{number}", resume=True) == 0
"""


class Cut(BaseException):
    """The end of a process, as far as a test can have it."""


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprises, "STEPS", 60)
        yield


@pytest.fixture(scope="module")
def data() -> Transitions:
    return collect("1-in", 1500, seed=1)


def learner(**options: Any) -> MaskJACI:
    """A learner whose stages, but for the short warm-up, have two chunks of steps each."""
    return MaskJACI(**{"steps": 72, "distil_steps": 52, "width": 8, "batch": 32, "device": "cpu", **options})


@pytest.fixture(scope="module")
def whole(data: Transitions, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[TrainingProgress]]:
    """An uninterrupted run, and its moments."""
    out, moments = tmp_path_factory.mktemp("runs") / "whole", []
    runs.train(learner(), data, out, callback=moments.append, source="one.parquet")
    return out, moments


def cut_after(count: int) -> Callable[[TrainingProgress], None]:
    left = [count]

    def tick(moment: TrainingProgress) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Cut

    return tick


def weights(folder: Path) -> bytes:
    return (folder / runs.MODEL).read_bytes()


def test_a_finished_run_holds_model_history_and_summary(
    whole: tuple[Path, list[TrainingProgress]], data: Transitions
) -> None:
    out, moments = whole
    names = {path.name for path in out.iterdir() if not path.match(runs.EVENTS)}
    assert names == {runs.MODEL, runs.HISTORY, runs.SUMMARY}
    lines = [json.loads(line) for line in (out / runs.HISTORY).read_text().splitlines()]
    assert [line["step"] for line in lines] == [moment.step for moment in moments]
    told = runs.summary(out)
    assert (told["status"], told["method"], told["source"]) == ("finished", "jaci-em", "one.parquet")
    assert told["seconds"] > 0
    assert told["versions"]["torch"] == torch.__version__
    assert runs.is_trained_on(out, data)
    assert not runs.is_trained_on(out, data.subset(slice(0, 900)))
    assert learn.load(out).predict(data).shape == (1500, 2)


def test_tensorboard_is_written_where_it_is_installed(whole: tuple[Path, list[TrainingProgress]]) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(whole[0]))
    events.Reload()
    assert {"em/chosen", "passive/error"} <= set(events.Tags()["scalars"])


def test_a_training_cut_in_any_stage_goes_on_to_the_same_bytes(
    whole: tuple[Path, list[TrainingProgress]], data: Transitions, tmp_path: Path
) -> None:
    reference, moments = whole
    last = {moment.stage: number for number, moment in enumerate(moments, start=1)}
    first = {moment.stage: number for number, moment in reversed(list(enumerate(moments, start=1)))}
    assert list(first) == ["distil", "em", "warm-up", "passive"]
    # The callback is told before a checkpoint is written: what is cut at n goes on from n - 1.
    for count in sorted({*first.values(), *last.values(), last["em"] + 1, last["distil"] - 1}):
        out = tmp_path / str(count)
        with pytest.raises(Cut):
            runs.train(learner(), data, out, callback=cut_after(count), every=0, tensorboard=False)
        assert (out / runs.CHECKPOINT).exists() == (count > 1)
        assert runs.train(learner(), data, out, resume=True, tensorboard=False).status == "finished"
        assert weights(out) == weights(reference), f"cut after {count} chunks"
        assert (out / runs.HISTORY).read_bytes() == (reference / runs.HISTORY).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(set(METHODS) - {"never", "always"}))
def test_every_method_goes_on_to_the_same_bytes(method: str, data: Transitions, tmp_path: Path) -> None:
    known = {field.name for field in fields(METHODS[method])}
    options = {name: value for name, value in {"steps": 110, "width": 8, "batch": 32}.items() if name in known}
    moments: list[TrainingProgress] = []
    runs.train(make(method, device="cpu", **options), data, tmp_path / "whole", callback=moments.append)
    for count in sorted({2, len(moments) // 2, len(moments)}):
        out = tmp_path / str(count)
        with pytest.raises(Cut):
            runs.train(make(method, device="cpu", **options), data, out, callback=cut_after(count), every=0)
        runs.train(make(method, device="cpu", **options), data, out, resume=True)
        assert weights(out) == weights(tmp_path / "whole")


def test_killed_processes_leave_runs_that_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed in the stages "em" and "distil", while a checkpoint is written, and between model and summary."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), "5,7", "10,17"], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    folders = sorted(tmp_path.iterdir())
    assert [folder.name for folder in folders] == ["chunk0", "chunk1", "whole", "write0", "write1"]
    assert len({weights(folder) for folder in folders}) == 1
    assert all(runs.summary(folder)["status"] == "finished" for folder in folders)
    assert not [path for folder in folders for path in folder.iterdir() if path.name.endswith(".partial")]


def test_a_request_to_stop_saves_at_the_next_chunk(
    whole: tuple[Path, list[TrainingProgress]], data: Transitions, tmp_path: Path
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has it ignored
    for number in (signal.SIGINT, signal.SIGTERM):
        out = tmp_path / str(int(number))
        with pytest.raises(runs.Interrupted) as stopped:
            runs.train(learner(), data, out, callback=lambda moment, n=number: signal.raise_signal(n))
        assert stopped.value.signal == number
        assert runs.summary(out)["status"] == "interrupted"
        assert (out / runs.CHECKPOINT).exists()
        assert not (out / runs.MODEL).exists()
    assert runs.train(learner(), data, out, resume=True).status == "finished"
    assert weights(out) == weights(whole[0])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_training_works_outside_the_main_thread(data: Transitions, tmp_path: Path) -> None:
    done: list[runs.Trained] = []
    thread = threading.Thread(target=lambda: done.append(runs.train(Never(), data, tmp_path / "run")))
    thread.start()
    thread.join()
    assert done[0].status == "finished"


def test_out_of_time_there_is_a_provisional_model_and_a_place_to_go_on_from(
    whole: tuple[Path, list[TrainingProgress]], data: Transitions, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = runs.train(learner(max_seconds=1e-6), data, out)
    assert done.status == runs.summary(out)["status"] == "stopped"
    assert any("provisional" in note for note in done.notes)
    assert learn.load(out).predict(data).shape == (1500, 2)
    assert runs.train(learner(), data, out, resume=True).status == "finished"
    assert weights(out) == weights(whole[0])


def test_resuming_a_finished_run_changes_nothing(whole: tuple[Path, list[TrainingProgress]], data: Transitions) -> None:
    before = weights(whole[0])
    done = runs.train(learner(), data, whole[0], resume=True)
    assert done.status == "finished"
    assert "finished already" in done.notes[0]
    assert weights(whole[0]) == before


def test_an_existing_run_is_not_overwritten_unasked(data: Transitions, tmp_path: Path) -> None:
    out = tmp_path / "run"
    runs.train(Never(), data, out)
    before = weights(out)
    with pytest.raises(RunError, match="holds a run already"):
        runs.train(Never(seed=1), data, out)
    with pytest.raises(RunError, match="not both"):
        runs.train(Never(seed=1), data, out, resume=True, overwrite=True)
    with pytest.raises(LearnError, match="at least 100 rows"):
        runs.train(Never(seed=1), data.subset(slice(0, 10)), out, overwrite=True)
    assert weights(out) == before
    runs.train(Never(seed=1), data, out, overwrite=True)
    assert learn.load(out).seed == 1


def test_a_folder_of_something_else_is_left_alone(data: Transitions, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(RunError, match="neither empty nor a run"):
            runs.train(Never(), data, tmp_path, overwrite=overwrite)
        with pytest.raises(RunError, match="is a file"):
            runs.train(Never(), data, tmp_path / "thesis.txt", overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_run_does_not_go_on_with_other_data_settings_or_methods(
    whole: tuple[Path, list[TrainingProgress]], data: Transitions
) -> None:
    out = whole[0]
    with pytest.raises(RunError, match="was begun with other data"):
        runs.train(learner(), data.subset(slice(0, 1400)), out, resume=True)
    with pytest.raises(RunError, match="was begun with width=8 and cannot go on with width=9"):
        runs.train(learner(width=9), data, out, resume=True)
    with pytest.raises(RunError, match="was begun with patience=None"):
        runs.train(learner(), data, out, resume=True, patience=50)
    with pytest.raises(RunError, match="was begun with the method jaci-em, not never"):
        runs.train(Never(), data, out, resume=True)


def test_a_damaged_checkpoint_is_refused_and_kept(data: Transitions, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(Cut):
        runs.train(learner(), data, out, callback=cut_after(3), every=0)
    content = (out / runs.CHECKPOINT).read_bytes()
    (out / runs.CHECKPOINT).write_bytes(content[: len(content) // 2])
    with pytest.raises(RunError, match="cut short"):
        runs.train(learner(), data, out, resume=True)
    (out / runs.CHECKPOINT).write_bytes(content)
    (out / runs.SUMMARY).write_text("{")
    with pytest.raises(RunError, match="cannot be understood"):
        runs.train(learner(), data, out, resume=True)
    assert (out / runs.CHECKPOINT).read_bytes() == content


def test_patience_ends_a_stage_and_the_next_begins(data: Transitions, tmp_path: Path) -> None:
    moments: list[TrainingProgress] = []
    done = runs.train(learner(steps=1600), data, tmp_path / "run", callback=moments.append, patience=50)
    assert done.status == "finished"
    assert list(dict.fromkeys(moment.stage for moment in moments)) == ["passive", "warm-up", "em", "distil"]
    assert 50 * len(moments) < 0.8 * moments[0].steps
    cut = next(n for n, moment in enumerate(moments, start=1) if moment.stage == "warm-up")
    for count in (cut, cut + 1):
        out = tmp_path / str(count)
        with pytest.raises(Cut):
            runs.train(learner(steps=1600), data, out, callback=cut_after(count), patience=50, every=0)
        runs.train(learner(steps=1600), data, out, resume=True, patience=50)
        assert weights(out) == weights(tmp_path / "run")
    with pytest.raises(LearnError, match="patience must be"):
        runs.train(learner(), data, tmp_path / "other", patience=0)


def test_a_run_without_a_model_says_so(data: Transitions, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="actcause train"):
        learn.load(tmp_path)
    with pytest.raises(Cut):
        runs.train(learner(), data, tmp_path / "run", callback=cut_after(1))
    with pytest.raises(RunError, match="has not finished; resume it"):
        learn.load(tmp_path / "run")


def test_without_tensorboard_a_note_says_what_to_install(
    data: Transitions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    asked = runs.train(learner(max_seconds=1e-6), data, tmp_path / "asked", tensorboard=True)
    assert any("actcause[tensorboard]" in note for note in asked.notes)
    unasked = runs.train(learner(max_seconds=1e-6), data, tmp_path / "unasked")
    assert not any("tensorboard" in note for note in unasked.notes)
