"""One combination of settings, trained (or resumed) and judged in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ...data import Transitions
from ...envs import RESAMPLED
from ...errors import ActCauseError
from .. import runs
from ..errors import LearnError
from ..evaluation import evaluate
from ..learner import Learner
from ..loading import MODEL
from ..registry import make
from ..training.replica import split_of
from ..training_source import TrainingSource
from .judge import judge_learner

FAILED = "failed"


@dataclass(frozen=True)
class Trial:
    """What a process has to know to train one combination."""

    name: str
    folder: str  # of the sweep
    settings: Mapping[str, Any]  # those that are swept over
    method: str
    options: Mapping[str, Any]  # all, with those that are the same for every trial
    source: TrainingSource
    patience: int | None = None
    tensorboard: bool | None = None

    @property
    def run(self) -> Path:
        return Path(self.folder) / self.name

    def learner(self) -> Learner:
        return make(self.method, **self.options)

    def is_finished(self, verdict: Mapping[str, Any] | None) -> bool:
        """Tell whether nothing is left to do, given the verdict so far."""
        return verdict is not None and verdict.get("status") == "finished" and (self.run / MODEL).exists()


def run_trial(trial: Trial) -> dict[str, Any]:
    """Train a trial, or resume it, and judge it; a refusal becomes its verdict, so that the other trials go on."""
    torch.set_num_threads(1)  # sums depend on the number of threads, and the number of workers must not show
    try:
        learner = trial.learner()
        data = trial.source.read(learner.seed)
        done = runs.train(
            learner, data, trial.run, resume=True, source=Path(trial.source.name).name,
            patience=trial.patience, tensorboard=trial.tensorboard,
        )  # fmt: skip
        judgement = judge_learner(done.learner, data)
        return {
            **_identify(trial, done.status),
            "explained": judgement.explained,
            "named": judgement.named,
            "true_error": _true_error(done.learner, data),
            "notes": list(done.learner.notes_),
        }
    except ActCauseError as refused:
        return fail_trial(trial, str(refused))
    except OSError as refused:
        return fail_trial(trial, f"Cannot write to {trial.folder}: {refused.strerror or refused}.")


def fail_trial(trial: Trial, sentence: str) -> dict[str, Any]:
    """Make the verdict of a trial that came to nothing."""
    return {**_identify(trial, FAILED), "explained": None, "named": None, "true_error": None, "notes": [sentence]}


def _identify(trial: Trial, status: str) -> dict[str, Any]:
    return {"name": trial.name, "settings": dict(trial.settings), "status": status}


def _true_error(learner: Learner, data: Transitions) -> float | None:
    """Measure the share of wrong answers in held-out states, where the truth is known; nothing is chosen by it."""
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
