"""From data to fitted learners: checks, the split by episode, the device, and one training of all replicas."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ...data import Transitions
from ..errors import LearnError
from .copies import find_copies
from .heap import keep_freed_memory
from .loop import Stage, Stopped, Trainer, TrainingProgress
from .memory import tell_cut
from .networks import find_device
from .replica import Replica, prepare_replica
from .sample_size import effective_rows

if TYPE_CHECKING:
    from ..learner import Learner

Callback = Callable[[TrainingProgress], None]
ROWS_PER_FACTOR = 500  # independent rows below which a warning is due


@dataclass(eq=False)
class Session:
    """What the replicas of one training share: device, seed, callback, time budget, and a snapshot to go on from."""

    device: torch.device
    seed: int
    callback: Callback | None = None
    max_seconds: float | None = None
    restored: tuple[Mapping[str, Tensor], Mapping[str, Any]] | None = None
    trainer: Trainer | None = None
    stopped: bool = False

    def __post_init__(self) -> None:
        self._deadline = None if self.max_seconds is None else time.monotonic() + self.max_seconds

    def train(self, nets: Mapping[str, nn.Module], stages: Sequence[Stage], clip: float | None = None) -> Trainer:
        """Run all stages, or as many as the time budget allows; `stopped` says which."""
        keep_freed_memory()
        for net in nets.values():
            net.to(self.device)
        self.trainer = Trainer(nets, self.seed, self.device, self._report, clip)
        if self.restored is not None:
            self.trainer.restore(*self.restored)
        try:
            self.trainer.run(stages)
        except Stopped:
            self.stopped = True
        return self.trainer

    def _report(self, moment: TrainingProgress) -> None:
        if self.callback is not None:
            self.callback(moment)
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise Stopped


def fit_many(
    learners: Sequence[Learner],
    data: Sequence[Transitions],
    *,
    callback: Callback | None = None,
    restored: tuple[Mapping[str, Tensor], Mapping[str, Any]] | None = None,
    session: Callable[[Session], None] | None = None,
) -> list[Learner]:
    """Fit learners that differ in nothing but their seeds, each on its own data, as one batched computation.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> a, b = fit_many([Never(seed=0), Never(seed=1)], [collect("1-in", 1000), collect("1-in", 1000, seed=1)])
    """
    if not learners or len(learners) != len(data):
        raise LearnError(
            f"Each learner needs data of its own. Got {len(learners)} learners and {len(data)} recordings."
        )
    first = learners[0]
    for learner in learners:
        learner.check_options()
        if type(learner) is not type(first) or _alike(learner) != _alike(first):
            raise LearnError("Learners that are fitted together must be of one kind and differ in their seeds only.")
    replicas = [prepare_replica(learner, each) for learner, each in zip(learners, data, strict=True)]
    shapes = {
        (replica.encoder.layout.factors, replica.encoder.columns, replica.encoder.outputs) for replica in replicas
    }
    if len(shapes) > 1:
        raise LearnError("Data that are learned from together must have the same factors and features.")
    current = Session(find_device(first.device), first.seed, callback, first.max_seconds, restored)
    if session is not None:
        session(current)
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers are not used up
        first.learn(replicas, current)
    for replica in replicas:
        replica.learner.notes_ = (*replica.learner.notes_, *_warnings(replica))
    return list(learners)


def _warnings(replica: Replica) -> list[str]:
    count = effective_rows(replica.train)
    wanted = ROWS_PER_FACTOR * len(replica.train.factors)
    replica.learner.learned_["effective_rows"] = round(count)
    rows = len(replica.train) + len(replica.held)
    found = tell_cut(replica.recorded, rows, replica.learner.max_memory)
    found += [
        f"'{one}' and '{two}' hold the same in every row, so that nobody could tell them apart: leave one out, or "
        "record rows in which they differ."
        for one, two in find_copies(replica.train)
    ]
    if count >= wanted:
        return found
    return [
        *found,
        f"The {len(replica.train)} rows are worth about {count:.0f} independent ones, fewer than the {wanted} that "
        f"{len(replica.train.factors)} factors want: record more or longer-spaced episodes, and trust the answers "
        "less.",
    ]


def _alike(learner: Learner) -> dict[str, Any]:
    return {name: value for name, value in learner.settings().items() if name != "seed"}
