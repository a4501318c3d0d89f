"""What a worker does: look at a file, or annotate one of its row groups into a part of its own.

A part is a whole Parquet file, so it is there or not there; whoever finds it there does not make it again. Rows go
through the model in blocks that depend on the file alone, on one thread: their answers are the same to the last bit
wherever they are found.
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

from ...data import DataError, Transitions, Writer, read_batches
from ...data.errors import optional
from ...data.parquet import ROWS, WHAT, check_readable, header_of, opened
from ...data.tables import is_parquet
from ...errors import ActCauseError

if TYPE_CHECKING:
    from .. import Learner

BATCH = 1 << 14  # rows that are read and annotated together
LARGEST = 1 << 20  # rows of a row group that is written; one with more is written as several, to bound memory
MARK = "annotation"  # the key of a file's metadata that says what its answers come from
Mark = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Request:
    """How rows are annotated."""

    run: Path
    device: str
    hindsight: bool
    mapping: Path | None
    mark: Mark  # what its answers depend on, besides the rows

    @classmethod
    def of(
        cls, run: Path, learner: Learner, *, device: str = "auto", hindsight: bool = False, mapping: Path | None = None
    ) -> Request:
        """With the learner that was loaded from the run."""
        from .. import runs
        from ..training.session import device_of

        mark = (
            ("method", learner.method),
            ("from", "hindsight" if hindsight else "state"),
            ("run", fingerprint(run / runs.MODEL if run.is_dir() else run)),
            ("mapping", None if mapping is None else fingerprint(mapping)),
            ("device", device_of(device).type),
        )
        return cls(
            run.absolute(), str(device_of(device)), hindsight, None if mapping is None else mapping.absolute(), mark
        )


@dataclass(frozen=True)
class Contents:
    """What is in a file: a fingerprint of its bytes, and the rows of each row group.

    There are no row groups where the file is not one of ours: it is read as a whole, in its order.
    """

    fingerprint: str
    groups: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """A row group of a file (or all of it: `group` is None) and the part that it becomes."""

    request: Request
    source: Path
    group: int | None
    rows: int  # 0 where they have not been counted
    part: Path
    mark: Mark


@dataclass(frozen=True)
class Fault:
    """Why a piece was not annotated: a sentence, or with `output` the reason why it could not be written."""

    reason: str
    output: bool = False


class _InputError(ActCauseError):
    """Something is wrong with the rows that are read."""


def inspect(task: tuple[Path, Path | None]) -> Contents | Fault:
    """What is in a file that is read with this mapping."""
    source, mapping = task
    try:
        groups: tuple[int, ...] = ()
        if mapping is None and is_parquet(source):
            with opened(source) as file:
                if header_of(file, source) is not None:
                    if not file.metadata.num_rows:
                        raise DataError(f"{source} holds no row.")
                    groups = tuple(file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups))
        return Contents(fingerprint(source), groups)
    except ActCauseError as wrong:
        return Fault(str(wrong))


def fingerprint(path: Path) -> str:
    """The same for the same bytes."""
    check_readable(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def annotate(piece: Piece) -> int | Fault:
    """Write the part of a piece, unless it is there, and say how many rows were annotated."""
    if os.path.exists(piece.part):
        return 0
    try:
        with one_thread():
            return _write(piece)
    except _InputError as wrong:
        return Fault(str(wrong))
    except (DataError, OSError) as refused:
        return Fault(reason(refused), output=True)


def reason(refused: BaseException) -> str:
    """What the system said when it refused to write."""
    system = refused.__cause__ or refused
    return str(getattr(system, "strerror", None) or system).rstrip(".")


def _write(piece: Piece) -> int:
    batches = _annotated(piece)
    first = next(batches)
    metadata = {**first.metadata, MARK: dict(piece.mark)}
    size = ROWS if piece.group is None else LARGEST
    piece.part.parent.mkdir(parents=True, exist_ok=True)
    with Writer(piece.part, first.layout, metadata=metadata, rows_per_group=size) as writer:
        writer.append(first)
        for batch in batches:
            writer.append(batch)
        return writer.rows


def _annotated(piece: Piece) -> Iterator[Transitions]:
    from .rows import annotated

    request = piece.request
    learner = _learner(request.run, request.device, request.mark)
    try:
        for batch in read_batches(piece.source, request.mapping, rows=BATCH, group=piece.group):
            yield annotated(learner, batch, hindsight=request.hindsight)
    except ActCauseError as wrong:
        said = str(wrong)
        raise _InputError(said if str(piece.source) in said else f"{piece.source}: {said}") from wrong


@lru_cache(maxsize=1)
def _learner(run: Path, device: str, mark: Mark) -> Learner:
    """The learner of a run, loaded once by each worker; a run that was trained anew is another."""
    from .. import runs

    return runs.load(run, device=device)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let libraries use one thread: workers are as many as there are cores, and sums do not depend on their number."""
    import torch

    pyarrow = optional("pyarrow", WHAT)
    before = torch.get_num_threads(), pyarrow.cpu_count()
    torch.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        pyarrow.set_cpu_count(before[1])
