"""One learner with its rows; replicas that differ in their seeds alone are trained side by side as one computation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...data import Transitions
from ..errors import LearnError
from .batches import seed_of
from .encoding import Encoded, Encoder
from .memory import cut_to_memory

if TYPE_CHECKING:
    from ..learner import Learner

LEAST_ROWS = 100  # fewer rows than this teach nothing
FEW_EPISODES = 10  # fewer than this are cut into blocks of rows
BLOCKS = 20


@dataclass(frozen=True)
class Replica:
    """A learner, its training rows and those held out, as they came and as networks see them."""

    learner: Learner
    train: Transitions
    held: Transitions
    encoder: Encoder
    encoded: Encoded
    held_encoded: Encoded
    recorded: int  # rows that there were before some were left out


def prepare_replica(learner: Learner, data: Transitions) -> Replica:
    """Check the data, cut it to the memory given, split off the held-out episodes, fit the encoder on the rest."""
    if not isinstance(data, Transitions):
        raise LearnError(f"The data must be Transitions. Got {type(data).__name__} instead.")
    others = [name for name in data.factors if name != data.own]
    if not others:
        raise LearnError(
            f"There must be a factor besides the outcome's own '{data.own}', or there is nothing to choose between."
        )
    if len(data) < LEAST_ROWS:
        raise LearnError(f"There must be at least {LEAST_ROWS} rows to learn from. Got {len(data)}; record more.")
    if bool((data.change == data.change[0]).all()):
        raise LearnError(
            f"The outcome '{data.outcome_factor}' never changes, so there is nothing to explain. "
            "Give it one step later."
        )
    count = len(data)
    data = cut_to_memory(data, learner.max_memory, learner.classes, learner.categorical)
    train, held = split_of(data, learner.held_out, learner.seed)
    encoder = Encoder.fit(train, classes=learner.classes, categorical=learner.categorical)
    return Replica(learner, train, held, encoder, encoder.encode(train), encoder.encode(held), count)


def split_of(data: Transitions, held_out: float, seed: int) -> tuple[Transitions, Transitions]:
    """Split rows into those for training and those held out: by episode, or of fewer than ten, by blocks of rows."""
    if data.episode is None or len(np.unique(data.episode)) < FEW_EPISODES:
        data = data.replaced(episode=np.arange(len(data)) * BLOCKS // len(data))
    return data.split(1 - max(held_out, 1 / BLOCKS), seed=seed)


def seeds_of(replicas: Sequence[Replica]) -> list[int]:
    """Make a seed for each replica's draws, far from those of neighbouring seeds."""
    return [seed_of("run", replica.learner.seed) for replica in replicas]
