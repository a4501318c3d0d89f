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
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from ..data import Transitions
from ..errors import MissingExtraError, quote
from ..io.atomic import remove_partials, write_whole_bytes
from . import checkpoint
from .errors import LearnError, RunError
from .learner import Learner
from .loading import MODEL, SUMMARY, load
from .seeds import SeedComparison, compare_seeds, with_seeds
from .training.distributed import TrainingProcesses, training_processes
from .training.launch import check_shared, first
from .training.loop import CHUNK, StageOver, TrainingProgress
from .training.session import Session, fit_many

CHECKPOINT, HISTORY = "checkpoint.safetensors", "history.jsonl"
EVENTS = "events.out.tfevents.*"
EVERY = 15.0  # seconds between two checkpoints
BETTER = 0.99  # what counts as progress: a loss below this share of what it was
FREE = ("max_seconds", "device")  # settings that a resumed training may have otherwise
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """The user, or the machine, asked to stop; all was saved, and `signal` says who asked."""

    def __init__(self, number: int) -> None:
        self.signal = number
        super().__init__(f"stopped by signal {number}")


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
    recorder = _Recorder(folder, header, source, callback, every, patience, tensorboard, found, processes)
    with _signals() as recorder.asked:
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


def summary(folder: Path) -> dict[str, Any]:
    """Read what `run.json` says."""
    try:
        document = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        float(document["seconds"]), document["status"], document["settings"]
    except (OSError, KeyError, TypeError, ValueError) as wrong:
        remedy = "{file} cannot be understood: train again with {overwrite:True}."
        raise RunError(remedy, file=folder / SUMMARY) from wrong
    return dict(document)


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


# -- recording ------------------------------------------------------------------------------------


@dataclass
class _Recorder:
    """Keeps a training's files up to date while it goes on."""

    folder: Path
    header: Mapping[str, Any]
    source: str | None
    callback: Callable[[TrainingProgress], None] | None
    every: float
    patience: int | None
    tensorboard: bool | None
    restored: checkpoint.Checkpoint | None
    processes: TrainingProcesses | None = None  # of several processes; only the first has files
    asked: list[int] = field(default_factory=list)  # signals that came
    status: str = "training"
    notes: list[str] = field(default_factory=list)

    def begin(self, session: Session) -> None:
        """Begin to write; all checks have passed and training is about to start."""
        self.session, self.began, self.before = session, time.monotonic(), 0.0
        self.writer: Any = None
        self.keeps = self.processes is None or self.processes.rank == 0
        first(self.processes, self._open)
        self.saved = time.monotonic()

    def _open(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_partials(self.folder)
            if self.restored is None:
                for name in (MODEL, CHECKPOINT, HISTORY, EVENTS):
                    for old in self.folder.glob(name):
                        old.unlink()
            else:
                self.before = float(summary(self.folder)["seconds"])
            self._summarise()
            lines = [] if self.restored is None else self.restored.header["course"]["history"]
            self.history = open(self.folder / HISTORY, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
            self.history.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as refused:
            raise RunError(f"Cannot write to {self.folder}: {refused.strerror or refused}.") from refused
        self.first = lines[-1]["step"] + 1 if lines else None

    def record(self, moment: TrainingProgress) -> None:
        trainer = self.session.trainer
        assert trainer is not None
        # Asked of all before anything that may fail in one process alone.
        others = 0 if self.processes is None else self.processes.any(self._stop_signal, self.session.device)
        if self.keeps:
            self._log(moment, trainer.history[-1])
        asked = self._stop_signal if self.processes is None else others
        if self.patience is not None and _has_settled(trainer.history, self.patience):
            raise StageOver  # and no checkpoint here: a resumed training would miss this end
        if asked or time.monotonic() - self.saved >= self.every:
            self._save()
        if asked:
            self.status = "interrupted"
            self._summarise()
            raise Interrupted(asked)

    @property
    def _stop_signal(self) -> int:
        """The signal to stop that came to this process; 0 where none did."""
        return self.asked[0] if self.asked else 0

    def _log(self, moment: TrainingProgress, line: Mapping[str, Any]) -> None:
        try:
            self.history.write(json.dumps(line) + "\n")
            if self.writer is None and self.tensorboard is not False:
                self._begin_tensorboard()
            if self.writer is not None:
                for name, value in moment.values.items():
                    self.writer.add_scalar(f"{moment.stage}/{name}", value, moment.step)
        except OSError as refused:
            raise RunError(f"Cannot write to {self.folder}: {refused.strerror or refused}.") from refused
        if self.callback is not None:
            self.callback(moment)

    def end(self, learner: Learner) -> None:
        """Keep what was learned; a training that ran out of time keeps its place too."""
        if self.session.stopped:
            self._save()
        self.status = "stopped" if self.session.stopped else "finished"
        if not self.keeps:
            return
        checkpoint.save(learner, self.folder / MODEL, data_fingerprint=self.header["data"])
        self._summarise({"notes": list(learner.notes_), "learned": learner.learned_})
        if not self.session.stopped:
            (self.folder / CHECKPOINT).unlink(missing_ok=True)

    def close(self) -> None:
        for name in ("history", "writer"):
            handle = getattr(self, name, None)
            if handle is not None:
                with suppress(OSError):  # a disk that is full has been reported, and all else is written by now
                    handle.close()

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.began

    def _save(self) -> None:
        if not self.keeps:
            return
        trainer = self.session.trainer
        assert trainer is not None
        tensors, course = trainer.snapshot()
        checkpoint.write(self.folder / CHECKPOINT, {**self.header, "course": course}, tensors)
        self._summarise()
        self.saved = time.monotonic()

    def _summarise(self, more: Mapping[str, Any] | None = None) -> None:
        if not self.keeps:
            return
        versions = {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
        document = {
            **self.header,
            "source": self.source,
            "versions": versions,
            "device": str(self.session.device),
            "threads": torch.get_num_threads(),
            "processes": 1 if self.processes is None else self.processes.size,
            "status": self.status,
            "seconds": round(self.seconds, 2),
            **(more or {}),
        }
        write_whole_bytes(self.folder / SUMMARY, (json.dumps(document, indent=1) + "\n").encode(), RunError)

    def _begin_tensorboard(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            if self.tensorboard:
                self.notes.append(str(MissingExtraError("Logging for TensorBoard", "tensorboard")))
            self.tensorboard = False
        else:
            # Steps that are repeated after a power cut are shown once.
            self.writer = SummaryWriter(str(self.folder), purge_step=self.first)


def _has_settled(history: Sequence[Mapping[str, Any]], patience: int) -> bool:
    """Tell whether a stage's first loss, over the last `patience` steps, is hardly less than over as many before."""
    stage = history[-1]["stage"]
    losses = [
        next(v for k, v in line.items() if k not in ("stage", "step")) for line in history if line["stage"] == stage
    ]
    count = ceil(patience / CHUNK)
    return len(losses) >= 2 * count and fmean(losses[-count:]) > BETTER * fmean(losses[-2 * count : -count])


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect requests to stop, so that training stops between two chunks; a second request stops at once."""
    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield asked
        return
    # What this process was told to ignore it goes on to ignore: whoever started it decides when it ends.
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, ask) for number in heard}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
