"""A run: a folder with what was learned, or a training under way that can be cut off at any moment and resumed.

    model.safetensors       the fitted learner
    checkpoint.safetensors  the training under way; gone when it has finished
    history.jsonl           a line for every chunk of steps: stage, step, losses
    run.json                method, settings, data, versions, seconds, status
    events.out.tfevents.*   for TensorBoard, where that is installed

`train` refuses to overwrite a run unless it is told to. Resumed after a power cut, a training ends with the same
weights, to the last bit, as one that was never interrupted (on the same machine, with as many threads).

Of several processes that train as one (`training/distributed.py`) the first alone reads and writes the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..data import Transitions
from ..errors import quote
from . import checkpoint
from .errors import LearnError, RunError
from .learner import Learner
from .loading import MODEL, SUMMARY, load
from .run_recorder import CHECKPOINT, RunRecorder, collect_signals
from .run_recorder import EVENTS as EVENTS  # what a run's folder holds, for those who read one
from .run_recorder import HISTORY as HISTORY
from .run_recorder import Interrupted as Interrupted
from .run_recorder import summary as summary
from .seeds import SeedComparison, compare_seeds, with_seeds
from .training.distributed import training_processes
from .training.launch import check_shared, first
from .training.loop import TrainingProgress
from .training.session import fit_many

EVERY = 15.0  # seconds between two checkpoints
FREE = ("max_seconds", "device")  # settings that a resumed training may have otherwise


@dataclass(frozen=True)
class Trained:
    """A run after `train`: "finished", or "stopped" where the time ran out, with provisional answers."""

    learner: Learner
    folder: Path
    rows: int  # that it was trained on
    status: str
    seconds: float  # of all its sessions together
    notes: tuple[str, ...]
    seeds: SeedComparison | None = None  # where several were trained: how they differ


def train(
    learner: Learner,
    data: Transitions,
    out: str | PathLike[str],
    *,
    seeds: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    source: str | None = None,
    callback: Callable[[TrainingProgress], None] | None = None,
    every: float = EVERY,
    patience: int | None = None,
    tensorboard: bool | None = None,
) -> Trained:
    """Fit a learner, and keep its checkpoints, history and result in the folder `out`.

    With several `seeds`, from the learner's own on, all are trained side by side, and the best is kept: see
    `actcause.learn.seeds`. `source` is what the data are called. `patience` ends a stage whose loss has not become 1%
    smaller within so many steps. `tensorboard` writes event files; by default where TensorBoard is installed.

    >>> import tempfile
    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train(Never(), collect("1-in", 1000), f"{folder}/run")
    ...     sorted(path.name for path in run.folder.iterdir()), run.status
    (['history.jsonl', 'model.safetensors', 'run.json'], 'finished')
    """
    if patience is not None and (not isinstance(patience, int) or patience < 1):
        raise LearnError(f"The patience must be a positive number of steps. Got {quote(patience)} instead.")
    if not isinstance(data, Transitions):
        raise LearnError(f"The data must be Transitions. Got {quote(data)} instead.")
    learners = with_seeds(learner, seeds)
    folder = Path(out)
    header = {**checkpoint.describe(learner, data.layout, checkpoint.fingerprint(data)), "patience": patience}
    if seeds > 1:
        header["seeds"] = [one.seed for one in learners]
    processes = training_processes()
    if processes is not None and seeds > 1:
        raise LearnError("Several {parameter} are trained by one process, not by torchrun.", parameter="seeds")
    if processes is not None:
        check_shared(processes, learner, header["data"])
    found = first(processes, lambda: _find_start(folder, header, len(data), resume, overwrite))
    if isinstance(found, Trained):
        return found
    recorder = RunRecorder(folder, header, source, callback, every, patience, tensorboard, found, processes)
    with collect_signals() as recorder.asked:
        try:
            place = None if found is None else (found.tensors, found.header["course"])
            fit_many(learners, [data] * seeds, callback=recorder.record, restored=place, session=recorder.begin)
        finally:
            recorder.close()
        compared = compare_seeds(learners, data) if seeds > 1 else None
        best = learner if compared is None else compared.best
        if compared is not None:
            best.learned_["seeds"] = compared.to_json()
            best.notes_ = (*best.notes_, *compared.notes)
        recorder.end(best)
    notes = (*recorder.notes, *best.notes_)
    return Trained(best, folder, len(data), recorder.status, recorder.seconds, notes, compared)


def is_trained_on(out: str | PathLike[str], data: Transitions) -> bool:
    """Tell whether these are the rows that a run was trained on."""
    path = Path(out)
    header = checkpoint.read(path / MODEL if path.is_dir() else path).header
    return header.get("data") == checkpoint.fingerprint(data)


# -- what is there already -------------------------------------------------------------------------


def _find_start(
    folder: Path, header: Mapping[str, Any], rows: int, resume: bool, overwrite: bool
) -> checkpoint.Checkpoint | Trained | None:
    """Return the checkpoint to resume from, or the run if it has finished, or None if training begins anew."""
    check_free(folder, resume, overwrite)
    if not resume or not _is_run(folder):
        return None
    before = summary(folder)
    _check_same(before, header, folder)
    if before["status"] == "finished" and (folder / MODEL).exists():
        (folder / CHECKPOINT).unlink(missing_ok=True)
        return Trained(
            load(folder), folder, rows, "finished", float(before["seconds"]), ("This run had finished already.",)
        )
    if not (folder / CHECKPOINT).exists():
        return None
    restored = checkpoint.read(folder / CHECKPOINT)
    _check_same(restored.header, header, folder)
    return restored


def _is_run(folder: Path) -> bool:
    return (folder / SUMMARY).exists()


def check_free(folder: Path, resume: bool, overwrite: bool) -> None:
    """Refuse a folder that holds something else, or a run that is neither resumed nor overwritten."""
    if resume and overwrite:
        wrong = "A run is either resumed or overwritten: say {resume:True} or {overwrite:True}, not both."
        raise RunError(wrong, parameter="resume")
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is a file; a run is a folder: choose another name.")
    if folder.is_dir() and not _is_run(folder) and any(_others(folder)):
        raise RunError(f"{folder} is a folder that is neither empty nor a run: choose another name.")
    if _is_run(folder) and not resume and not overwrite:
        wrong = "{folder} holds a run already: {resume:True} goes on with it, {overwrite:True} replaces it."
        raise RunError(wrong, folder=folder)


def _others(folder: Path) -> Iterator[Path]:
    """List what is in a folder besides files that a power cut left half-written."""
    return (path for path in folder.iterdir() if not path.name.endswith(".partial"))


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with another method, other settings or other data."""
    if before.get("method") != now["method"]:
        raise RunError(
            f"{folder} was begun with the method {before.get('method')}, not {now['method']}: it cannot go on."
        )
    wanted = json.loads(json.dumps(now["settings"]))
    found = {**before["settings"], "patience": before.get("patience")}
    for name, value in {**wanted, "patience": now["patience"]}.items():
        if name not in FREE and (name not in found or found[name] != value):
            raise RunError(
                f"{folder} was begun with {name}={quote(found.get(name))} and cannot go on with {name}={quote(value)}: "
                "give the same options, or train into another folder."
            )
    if before.get("seeds") != now.get("seeds"):
        raise RunError(f"{folder} was begun with other seeds and cannot go on with these: give as many.")
    if before.get("data") != now["data"]:
        raise RunError(
            f"{folder} was begun with other data and cannot go on with these: give the same, or another folder."
        )
