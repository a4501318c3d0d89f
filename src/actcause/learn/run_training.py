"""Train a run from a file or a domain, alone or with processes that a launcher started."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from . import runs
from .learner import Learner
from .training import launch
from .training.loop import TrainingProgress
from .training.networks import find_device
from .training_source import TrainingSource


def train_run(
    learner: Learner,
    source: TrainingSource | str,
    out: str | PathLike[str],
    *,
    seeds: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    callback: Callable[[TrainingProgress], None] | None = None,
    patience: int | None = None,
    tensorboard: bool | None = None,
) -> runs.Trained:
    """Learn from the rows of `source`, a file or a domain, into the folder `out`.

    Several `seeds` are trained side by side on the same rows, and the best is kept without looking at labels. Under
    `torchrun` all its processes train one run together, and only the first one's `callback` is called. The
    other options are those of `runs.train`.

    >>> import tempfile
    >>> from actcause.learn import Never
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = train_run(Never(), TrainingSource("1-in", frames=1000), f"{folder}/run")
    >>> run.rows, run.status
    (1000, 'finished')
    """
    source = TrainingSource(source) if isinstance(source, str) else source
    with launch.join_processes(learner.device) as member:
        with launch.agree(member):
            learner.check_options()
            find_device(learner.device)
            data = source.read(learner.seed)
        return runs.train(
            learner,
            data,
            out,
            seeds=seeds,
            resume=resume,
            overwrite=overwrite,
            source=Path(source.name).name,
            callback=callback,
            patience=patience,
            tensorboard=tensorboard,
        )
