"""What a worker does: inspect a file, or predict one of its row groups into a part of its own.

A part is a whole Parquet file, so it is there or not there; whoever finds it there does not make it again. Rows go
through the model in blocks that depend on the file alone, on one thread: their answers are the same to the last bit
wherever they are computed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import DataError, Transitions, Writer, choose_mapping, read_batches
from ...data.parquet import ROWS, WHAT, check_readable, is_parquet, open_parquet, parse_header
from ...errors import ActCauseError, import_extra

if TYPE_CHECKING:
    from .. import Learner

BATCH = 1 << 14  # rows that are read and predicted together
BLOCK = 512  # rows whose numbers between two layers stay in a core's cache
LARGEST = 1 << 20  # rows of a row group that is written; one with more is written as several, to bound memory
ORIGIN = "annotation"  # the key of a file's metadata that says what its answers come from
Origin = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class PredictionSettings:
    """How rows are predicted."""

    run: Path
    device: str
    hindsight: bool
    mapping: Path | None
    origin: Origin  # what the answers depend on, besides the rows

    @classmethod
    def of(cls, run: Path, learner: Learner, device: str, hindsight: bool, mapping: Path | None) -> PredictionSettings:
        """Take the learner that was loaded from the run."""
        from ..loading import MODEL
        from ..training.networks import find_device

        origin = (
            ("method", learner.method),
            ("from", "hindsight" if hindsight else "state"),
            ("run", fingerprint(run / MODEL if run.is_dir() else run)),
            ("mapping", None if mapping is None else fingerprint(mapping)),
            ("device", find_device(device).type),
        )
        where = None if mapping is None else mapping.absolute()
        return cls(run.absolute(), str(find_device(device)), hindsight, where, origin)


@dataclass(frozen=True)
class FileContents:
    """What is in a file: a fingerprint of its bytes, and the rows of each row group.

    There are no row groups where the file is not one of ours: it is read as a whole, in its order.
    """

    fingerprint: str
    groups: tuple[int, ...]


@dataclass(frozen=True)
class GroupTask:
    """A row group of a file (or all of it: `group` is None) and the part that it becomes."""

    settings: PredictionSettings
    source: Path
    group: int | None
    rows: int  # 0 where they have not been counted
    part: Path
    origin: Origin


@dataclass(frozen=True)
class Fault:
    """Why a task was not done: a sentence, or with `output` the reason why a part could not be written."""

    reason: str
    output: bool = False


class _InputError(ActCauseError):
    """Something is wrong with the rows that are read."""


def inspect_file(task: tuple[Path, Path | None]) -> FileContents | Fault:
    """Look into a file that is read with this mapping."""
    source, mapping = task
    try:
        groups: tuple[int, ...] = ()
        chosen = choose_mapping(source, mapping).mapping
        if chosen is None and is_parquet(source):
            with open_parquet(source) as file:
                if parse_header(file, source) is not None:
                    if not file.metadata.num_rows:
                        raise DataError(f"{source} holds no row.")
                    groups = tuple(file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups))
        beside = fingerprint(chosen) if mapping is None and isinstance(chosen, Path) else ""
        return FileContents(fingerprint(source) + beside, groups)
    except ActCauseError as wrong:
        return Fault(str(wrong))


def fingerprint(path: Path) -> str:
    """Digest a file's bytes."""
    check_readable(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def predict_group(task: GroupTask) -> int | Fault:
    """Write the part of a task, unless it is there, and count the rows that were predicted."""
    if os.path.exists(task.part):
        return 0
    try:
        with _one_thread():
            return _write_part(task)
    except _InputError as wrong:
        return Fault(str(wrong))
    except (DataError, OSError) as refused:
        system = refused.__cause__ or refused
        return Fault(str(getattr(system, "strerror", None) or system).rstrip("."), output=True)


def _write_part(task: GroupTask) -> int:
    batches = _predict_batches(task)
    first = next(batches)
    metadata = {**first.metadata, ORIGIN: dict(task.origin)}
    size = ROWS if task.group is None else LARGEST
    task.part.parent.mkdir(parents=True, exist_ok=True)
    with Writer(task.part, first.layout, metadata=metadata, rows_per_group=size) as writer:
        writer.append(first)
        for batch in batches:
            writer.append(batch)
        return writer.rows


def _predict_batches(task: GroupTask) -> Iterator[Transitions]:
    settings = task.settings
    learner = _load_learner(settings.run, settings.device, settings.origin)
    try:
        mapping = choose_mapping(task.source, settings.mapping).mapping
        for batch in read_batches(task.source, mapping, rows=BATCH, group=task.group):
            yield add_predictions(learner, batch, hindsight=settings.hindsight)
    except ActCauseError as wrong:
        sentence = str(wrong)
        raise _InputError(sentence if str(task.source) in sentence else f"{task.source}: {sentence}") from wrong


@lru_cache(maxsize=1)
def _load_learner(run: Path, device: str, origin: Origin) -> Learner:
    """Load the learner of a run once in each worker; a run that was trained anew is another."""
    from ..loading import load

    return load(run, device=device)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let libraries use one thread: workers are as many as there are cores, and sums do not depend on their number."""
    import torch

    pyarrow = import_extra("pyarrow", WHAT, "data")
    before = torch.get_num_threads(), pyarrow.cpu_count()
    torch.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        pyarrow.set_cpu_count(before[1])


def add_predictions(learner: Learner, data: Transitions, *, hindsight: bool = False) -> Transitions:
    """Add extra values `found.FACTOR`, `probability.FACTOR` and `unsure` to the rows.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> list(add_predictions(Never().fit(data), data).extra)
    ['found.a1', 'probability.a1', 'unsure']
    """
    import torch

    size = len(data) if _on_gpu(learner) else BLOCK
    blocks = [data.subset(slice(at, at + size)) for at in range(0, len(data), size)]
    with torch.no_grad():
        answers = [learner.explain_proba(block) if hindsight else learner.predict_proba(block) for block in blocks]
        doubts = [learner.unsure(block, hindsight=hindsight) for block in blocks]
    probability = np.concatenate(answers).astype(np.float32, copy=False)
    causes = learner._decide(data, probability)
    extra = {name: values for name, values in data.extra.items() if name.split(".")[0] not in ("found", "probability")}
    for position, factor in enumerate(data.factors):
        if factor != data.own:
            extra[f"found.{factor}"] = causes[:, position]
            extra[f"probability.{factor}"] = probability[:, position]
    return data.replaced(extra=extra | {"unsure": np.concatenate(doubts)})


def _on_gpu(learner: Learner) -> bool:
    return any(weight.is_cuda for net in learner.nets_.values() for weight in net.parameters())
