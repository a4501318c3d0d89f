"""How processes that torch's launcher started find each other, and do as one what only one of them may do.

    torchrun --nproc-per-node 2 -m actcause train DATA --out RUN

The launcher says in the environment who is who. One process, the first, reads and writes the run and prints; the others
are told what it found. See `distributed.py` for what they do together in every step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import distributed

from ...errors import ActCauseError
from ..errors import LearnError, RunError
from .batches import FOLDS
from .distributed import TrainingProcesses, training_processes
from .networks import find_device

if TYPE_CHECKING:
    from ..learner import Learner

T = TypeVar("T")
SAID = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
BATCH = 512  # rows of a step, where a learner leaves it to the recording; stages of all methods have as many or twice


def rank() -> int:
    """Return this process's number among those that the launcher started; 0 where it was started alone."""
    return int(os.environ["RANK"]) if _has_launcher() else 0


def size() -> int:
    """Count the processes that the launcher started; 1 where this one was started alone."""
    return int(os.environ["WORLD_SIZE"]) if _has_launcher() else 1


def prefix() -> str:
    """Write how the command begins that starts as many again on this machine."""
    return f"torchrun --nproc-per-node {os.environ['LOCAL_WORLD_SIZE']} -m " if size() > 1 else ""


def _has_launcher() -> bool:
    return all(name in os.environ for name in SAID)


@contextmanager
def join_processes(device: str) -> Iterator[TrainingProcesses | None]:
    """Join the processes that the launcher started beside this one; None where there are none."""
    if size() == 1:
        yield None
        return
    kind = find_device(device).type
    if kind == "cuda":
        here, cards = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
        if here > cards:
            raise LearnError(
                "{here} processes were started for {cards} GPUs; start one for each, or say {device:cpu}.",
                parameter="device",
                here=here,
                cards=cards,
            )
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    try:
        distributed.init_process_group("nccl" if kind == "cuda" else "gloo")
    except (RuntimeError, ValueError) as refused:
        raise LearnError(f"The processes could not find each other: {str(refused).splitlines()[0]}.") from refused
    try:
        yield training_processes()
    finally:
        distributed.destroy_process_group()


@contextmanager
def agree(processes: TrainingProcesses | None) -> Iterator[None]:
    """Have all refuse, with one sentence, what one process refuses in this block; alone, change nothing."""
    refused: ActCauseError | None = None
    try:
        yield
    except ActCauseError as error:
        if processes is None:
            raise
        refused = error
    if processes is None:
        return
    said: list[Any] = [None] * processes.size
    distributed.all_gather_object(said, None if refused is None else str(refused))
    sentence = next((text for text in said if text is not None), None)
    if sentence is not None:
        raise refused or LearnError(sentence)


def first(processes: TrainingProcesses | None, function: Callable[[], T]) -> T:
    """Call a function in the first process only; give all its value, or raise in all what it refused."""
    if processes is None:
        return function()
    refused: ActCauseError | None = None
    said: list[Any] = [None, None]
    if processes.rank == 0:
        try:
            said[0] = function()
        except ActCauseError as error:
            refused, said[1] = error, str(error)
    distributed.broadcast_object_list(said, src=0)
    if said[1] is not None:
        raise refused or RunError(said[1])
    value: T = said[0]
    return value


def check_shared(processes: TrainingProcesses, learner: Learner, data: str) -> None:
    """Refuse rows that the processes cannot share evenly, and data (by fingerprint) that are not the same for all."""
    if BATCH % (FOLDS * processes.size):
        raise LearnError(
            f"{processes.size} processes cannot share the rows of a step evenly; start 2, 4, 8 or another power of two."
        )
    batch = learner.settings().get("batch") or BATCH
    if batch % (FOLDS * processes.size):
        raise LearnError(
            f"{processes.size} processes cannot share a batch of {batch} rows, half of them for each fold; "
            f"give a batch that is a multiple of {FOLDS * processes.size}."
        )
    found: list[Any] = [None] * processes.size
    distributed.all_gather_object(found, data)
    if len(set(found)) > 1:
        raise LearnError("The processes read data that are not the same; give all of them the same file.")


@contextmanager
def one_voice() -> Iterator[None]:
    """Let the first process say what all refuse alike; the others end without a word.

    They end as if nothing had happened: the launcher ends all when one fails, also one that is about to speak.
    """
    try:
        yield
    except ActCauseError:
        if rank() == 0:
            raise
        raise SystemExit(0) from None
