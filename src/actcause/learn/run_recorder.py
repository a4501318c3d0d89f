"""Keeping a training's files up to date while it goes on: checkpoints, history, summary, TensorBoard's events."""

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
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from ..errors import MissingExtraError
from ..io.atomic import remove_partials, write_whole_bytes
from . import checkpoint
from .errors import RunError
from .learner import Learner
from .loading import MODEL, SUMMARY
from .training.distributed import TrainingProcesses
from .training.launch import first
from .training.loop import CHUNK, StageOver, TrainingProgress
from .training.session import Session

CHECKPOINT, HISTORY = "checkpoint.safetensors", "history.jsonl"
EVENTS = "events.out.tfevents.*"
BETTER = 0.99  # what counts as progress: a loss below this share of what it was
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """The user, or the machine, asked to stop; all was saved, and `signal` says who asked."""

    def __init__(self, number: int) -> None:
        self.signal = number
        super().__init__(f"stopped by signal {number}")


def summary(folder: Path) -> dict[str, Any]:
    """Read what `run.json` says."""
    try:
        document = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        float(document["seconds"]), document["status"], document["settings"]
    except (OSError, KeyError, TypeError, ValueError) as wrong:
        remedy = "{file} cannot be understood: train again with {overwrite:True}."
        raise RunError(remedy, file=folder / SUMMARY) from wrong
    return dict(document)


@dataclass
class RunRecorder:
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
def collect_signals() -> Iterator[list[int]]:
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
