"""Score a run on transitions whose true causes are known."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..data import Transitions
from ..envs import RESAMPLED
from . import runs
from .evaluation import Evaluation, evaluate
from .loading import load
from .training.replica import split_of


@dataclass(frozen=True)
class RunEvaluation:
    """How right a run is: on the `held_out` part of the data that it was trained on, or on all of other data."""

    evaluation: Evaluation
    method: str
    hindsight: bool
    held_out: bool

    def to_json(self) -> dict[str, Any]:
        """Return all figures of the evaluation, and what was scored."""
        origin = "hindsight" if self.hindsight else "state"
        more = {"hindsight": self.hindsight, "method": self.method, "from": origin, "held_out": self.held_out}
        return self.evaluation.to_json() | more

    def __str__(self) -> str:
        part = "held-out states of the data it was trained on" if self.held_out else "states"
        balanced = "; half of them non-trivial" if self.evaluation.resampled else ""
        return f"{self.method} on {self.evaluation.states:,} {part}{balanced}:\n{self.evaluation}"


def evaluate_run(
    run: str | PathLike[str],
    data: Transitions,
    *,
    resample: bool | None = None,
    hindsight: bool = False,
    device: str = "auto",
) -> RunEvaluation:
    """Score a run: of the data that it was trained on only the held-out part, of other data all rows.

    `resample` scores as many states with a cause as without; by default as the paper does, for push and break.
    `hindsight` takes the observed outcome into account.

    >>> import tempfile
    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = runs.train(Never(), data, f"{folder}/run")
    ...     found = evaluate_run(f"{folder}/run", data)
    >>> found.held_out, found.evaluation.states
    (True, 100)
    """
    learner = load(run, device=device)
    held_out = runs.is_trained_on(run, data)
    if held_out:
        data = split_of(data, learner.held_out, learner.seed)[1]
    balanced = data.metadata.get("domain") in RESAMPLED if resample is None else resample
    answers: Any = learner.explain_proba(data) if hindsight else learner
    evaluation = evaluate(answers, data, resample=balanced, hindsight=False, threshold=learner.threshold_)
    return RunEvaluation(evaluation, learner.method, hindsight, held_out)
