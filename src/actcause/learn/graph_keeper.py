"""Checkpoints of a training of all outcomes, from which a training that was cut off comes to the same result.

Outcomes are trained in one computation, or in several, one after the other. `part-N.safetensors` holds the learners of
a computation that has ended, `place-N.safetensors` the state of one that is under way. Both are removed when the run is
finished.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import checkpoint
from .local_graph_file import unpack_learners, write_graphs

if TYPE_CHECKING:
    from torch import Tensor

    from .learner import Learner
    from .training.loop import TrainingProgress
    from .training.session import Session

PART, PLACE = "part-{}.safetensors", "place-{}.safetensors"


@dataclass
class GraphKeeper:
    """Writes checkpoints of a training of all outcomes into a folder, one `every` so many seconds."""

    folder: Path
    every: float = 20.0
    device: str = "auto"
    stopped: bool = False  # whether a computation ran out of time
    _session: Session | None = field(default=None, repr=False)
    _number: int = 0
    _saved: float = 0.0

    def load(self, number: int) -> list[Learner] | None:
        """Return the learners of a computation that has ended; None for any other."""
        path = self.folder / PART.format(number)
        return unpack_learners(checkpoint.read(path), path, self.device) if path.exists() else None

    def find_place(self, number: int) -> tuple[Mapping[str, Tensor], Mapping[str, Any]] | None:
        """Return the state of a computation that was cut off; None for one that begins."""
        path = self.folder / PLACE.format(number)
        if not path.exists():
            return None
        saved = checkpoint.read(path)
        return saved.tensors, saved.header["course"]

    def begin(self, number: int, session: Session) -> None:
        """Begin to write checkpoints of a computation."""
        self._number, self._session, self._saved = number, session, time.monotonic()

    def record(self, moment: TrainingProgress) -> None:
        """Write a checkpoint if the last one is old enough."""
        if time.monotonic() - self._saved >= self.every:
            self._save()

    def end(self, learners: Sequence[Learner]) -> None:
        """Write the learners of a computation; if it ran out of time, write a checkpoint instead."""
        assert self._session is not None
        if self._session.stopped:
            self.stopped = True
            self._save()
            return
        write_graphs(self.folder / PART.format(self._number), {}, learners)
        (self.folder / PLACE.format(self._number)).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all checkpoints."""
        for pattern in (PART, PLACE):
            for path in self.folder.glob(pattern.format("*")):
                path.unlink()

    def _save(self) -> None:
        assert self._session is not None
        trainer = self._session.trainer
        assert trainer is not None
        tensors, course = trainer.snapshot()
        header = {"format": checkpoint.FORMAT, "version": checkpoint.VERSION, "course": course}
        checkpoint.write(self.folder / PLACE.format(self._number), header, tensors)
        self._saved = time.monotonic()
