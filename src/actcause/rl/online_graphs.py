"""Local graphs learned while the data come in: refitted each time that there is half as much again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.recording import join_recordings
from ..envs.base import Array
from ..errors import ActCauseError, QueryError, quote
from .arguments import check_recording, refuse
from .graph_sources import ask_graphs, ask_in_hindsight

if TYPE_CHECKING:
    from ..data import Recording


@dataclass
class OnlineGraphs:
    """A learner of local graphs that is given more and more rows.

    `partial_fit` takes rows in. When there are `first` of them the learner is fitted, and again each time that their
    number has grown by `growth`. A learner with a `partial_fit` of its own goes on from where it is; any other is
    fitted anew, on the last `memory` rows. Until the first fit every outcome goes on by itself. Learners that are given
    to an agent may be wrong: a fit that fails (rows in which nothing happened yet) is tried again with more rows.

    Args:
        learner: What has `fit(recording)` and `predict(recording)`: `LocalGraphs`, `GraphsByOutcome`.
        first: How many rows the first fit waits for.
        growth: By what factor the rows must have grown before the next.
        memory: How many of the last rows are kept.
    """

    learner: Any
    first: int = 2000
    growth: float = 1.5
    memory: int = 50_000

    def __post_init__(self) -> None:
        if not all(callable(getattr(self.learner, verb, None)) for verb in ("fit", "predict")):
            refuse("learner", "what has fit(recording) and predict(recording), such as ContactGraphs()", self.learner)
        for name, least in (("first", 1), ("memory", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise QueryError("{parameter} must be an integer of at least {least}. Got {got} instead.",
                                 parameter=name, least=least, got=quote(value))  # fmt: skip
        if not isinstance(self.growth, (int, float)) or not self.growth > 1:
            raise QueryError(
                "{parameter} must be above 1. Got {got} instead.", parameter="growth", got=quote(self.growth)
            )
        self.fits_ = 0
        self._parts: list[Recording] = []
        self._rows = self._fresh = 0  # rows seen, and those since the last fit
        self._next = self.first

    def partial_fit(self, recording: Recording) -> OnlineGraphs:
        """Take rows in, and learn where there are enough of them."""
        check_recording(recording)
        self._parts.append(recording)
        self._rows += len(recording)
        self._fresh += len(recording)
        if self._rows >= self._next:
            self._next = int(self.growth * self._rows) + 1
            self._fit()
        return self

    def _fit(self) -> None:
        held = self._join()
        self._parts = [held]
        try:
            if self.fits_ and hasattr(self.learner, "partial_fit"):
                self.learner.partial_fit(held.subset(slice(max(0, len(held) - self._fresh), None)))
            else:
                self.learner.fit(held)
        except ActCauseError:  # nothing happened yet that could be explained
            return
        self.fits_ += 1
        self._fresh = 0

    def _join(self) -> Recording:
        """Put the last rows together, each part an episode of its own."""
        joined = join_recordings(self._parts)
        numbers = np.cumsum(np.concatenate([[0], (joined.step[1:] == 0).astype(np.int64)]))
        return joined.replaced(episode=numbers).subset(slice(max(0, len(joined) - self.memory), None))

    def predict(self, recording: Recording) -> Array:
        """Ask the learner, from the state alone; before its first fit every outcome goes on by itself."""
        return ask_graphs(self.learner, recording) if self.fits_ else _go_on(recording)

    def explain(self, recording: Recording) -> Array:
        """Ask the learner, in hindsight where it can; before its first fit every outcome goes on by itself."""
        return ask_in_hindsight(self.learner, recording) if self.fits_ else _go_on(recording)


def _go_on(recording: Recording) -> Array:
    places = [recording.index(outcome) for outcome in recording.outcomes]
    return np.repeat(np.eye(len(recording.factors), dtype=bool)[places][None], len(recording), axis=0)
