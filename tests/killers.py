"""What workers do that a question or a row group kills each time, or a trial once; a module that is light to import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

KILLING_EVENT = "BT=1"
KILLING_TRIAL, KILLED = "penalty=0.01,seed=1", "killed"
KILLING_FILE, KILLING_GROUP = "b.parquet", 1


def answer_batch(batch: tuple[Any, ...]) -> Any:
    from actcause.questions.file import answer_batch

    if any(line.fields["event"] == KILLING_EVENT for line in batch):
        os.kill(os.getpid(), signal.SIGKILL)
    return answer_batch(batch)


def predict_group(task: Any) -> Any:
    from actcause.learn.prediction.row_groups import predict_group

    if (task.source.name, task.group) == (KILLING_FILE, KILLING_GROUP):
        os.kill(os.getpid(), signal.SIGKILL)
    return predict_group(task)


def run_trial(trial: Any) -> Any:
    """The first attempt at one of the trials ends while it trains."""
    from actcause.learn import runs
    from actcause.learn.sweeps.trial import run_trial

    mark, train = Path(trial.folder).parent / KILLED, runs.train
    if trial.name == KILLING_TRIAL and not mark.exists():
        mark.touch()
        runs.train = lambda *given, **more: train(*given, callback=_kill, **more)
    return run_trial(trial)


def _kill(moment: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
