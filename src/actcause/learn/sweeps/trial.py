"""One combination of settings: trained or gone on with, judged, and written down, in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ...data import Transitions
from ...envs import RESAMPLED
from ...errors import ActCauseError
from ...io.atomic import write_whole_bytes
from .. import Learner, LearnError, RunError, evaluate, make, runs
from ..loading import MODEL
from ..training.replica import split_of
from .judge import judged
from .source import Source

VERDICTS = "verdicts"
FAILED = "failed"


@dataclass(frozen=True)
class Trial:
    """What a process has to know to train one combination."""

    name: str
    folder: str  # of the sweep
    settings: Mapping[str, Any]  # those that are swept over
    method: str
    options: Mapping[str, Any]  # all, with those that are the same for every trial
    source: Source
    patience: int | None = None
    tensorboard: bool | None = None

    @property
    def run(self) -> Path:
        return Path(self.folder) / self.name

    @property
    def verdict(self) -> Path:
        return Path(self.folder) / VERDICTS / f"{self.name}.json"

    def learner(self) -> Learner:
        return make(self.method, **self.options)

    def finished(self) -> dict[str, Any] | None:
        """What was said of it, where nothing is left to do."""
        try:
            found = json.loads(self.verdict.read_text(encoding="utf-8"))
            done = found["status"] == "finished" and found["name"] == self.name and (self.run / MODEL).exists()
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return dict(found) if done else None


def tried(trial: Trial) -> dict[str, Any]:
    """Train it, or go on from its checkpoint, and judge it; what it refuses is its verdict and the others go on."""
    torch.set_num_threads(1)  # sums depend on the number of threads, and the number of workers must not show
    try:
        learner = trial.learner()
        data = trial.source.rows(learner.seed)
        done = runs.train(
            learner, data, trial.run, resume=True, source=Path(trial.source.name).name,
            patience=trial.patience, tensorboard=trial.tensorboard,
        )  # fmt: skip
        found = judged(done.learner, data)
        verdict = {
            **_named(trial, done.status),
            "explained": found.explained,
            "named": found.named,
            "true_error": _true_error(done.learner, data),
            "notes": list(done.learner.notes_),
        }
        trial.verdict.parent.mkdir(exist_ok=True)
        write_whole_bytes(trial.verdict, (json.dumps(verdict, indent=1) + "\n").encode(), RunError)
    except ActCauseError as refused:
        return failed(trial, str(refused))
    except OSError as refused:
        return failed(trial, f"Cannot write to {trial.folder}: {refused.strerror or refused}.")
    return verdict


def failed(trial: Trial, sentence: str) -> dict[str, Any]:
    """The verdict of a trial that came to nothing."""
    return {**_named(trial, FAILED), "explained": None, "named": None, "true_error": None, "notes": [sentence]}


def _named(trial: Trial, status: str) -> dict[str, Any]:
    return {"name": trial.name, "settings": dict(trial.settings), "status": status}


def _true_error(learner: Learner, data: Transitions) -> float | None:
    """The share of wrong answers in held-out states, where the truth is known; nothing is chosen by it."""
    held = split_of(data, learner.held_out, learner.seed)[1]
    if held.cause is None:
        return None
    try:
        return evaluate(
            learner,
            held,
            resample=held.metadata.get("domain") in RESAMPLED,
            hindsight=False,
            threshold=learner.threshold_,
        ).edge_error
    except LearnError:  # nothing to score: no factor in question, or none ever a cause
        return None
