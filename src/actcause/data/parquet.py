"""Our files: Parquet with readable columns, its names and metadata inside.

The columns are `ball.x` for every feature of every factor, `next.ball.x` for the outcome, and where there are
such values `cause.paddle`, `present.block1`, `extra.pinned` and `episode`. One key of the file's metadata,
`actcause`, holds a JSON document with what the columns do not say: version, factors, features, own, outcome,
edges, and the metadata of the recording (domain, draw, seed). Files are written by row groups under another
name and renamed when they are whole, so that a file under its own name is never half a file.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..io.atomic import reason, write_whole
from .errors import DataError, optional
from .layout import Layout
from .row_arrays import RowArrays, concatenate
from .validate import Array, copy_metadata

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType

VERSION = 1
KEY = b"actcause"
ROWS = 1 << 16  # of a row group
MAGIC = b"PAR1"
WHAT = "Reading and writing Parquet files"


@dataclass(frozen=True)
class Header:
    """What a file says about itself: its names, and which of the optional columns it has."""

    layout: Layout
    metadata: Mapping[str, Any]
    dtype: str
    width: int
    cause: bool
    mask: bool
    episode: bool
    extra: tuple[tuple[str, str], ...]  # names and types

    @classmethod
    def of(cls, data: RowArrays, metadata: Mapping[str, Any]) -> Header:
        extra = tuple((name, value.dtype.name) for name, value in data.extra.items())
        return cls(
            data.layout,
            metadata,
            data.state.dtype.name,
            data.state.shape[2],
            data.cause is not None,
            data.mask is not None,
            data.episode is not None,
            extra,
        )

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns, in order, with their types."""
        layout = self.layout
        named = {f"{factor}.{name}": self.dtype for factor in layout.factors for name in layout.features[factor]}
        named |= {f"next.{layout.outcome_factor}.{name}": self.dtype for name in layout.outcome_features}
        named |= {f"cause.{factor}": "bool" for factor in layout.factors if self.cause}
        named |= {f"present.{factor}": "bool" for factor in layout.factors if self.mask}
        named |= {f"extra.{name}": dtype for name, dtype in self.extra}
        return named | ({"episode": "int64"} if self.episode else {})

    def to_json(self) -> str:
        layout = self.layout
        document = {
            "version": VERSION,
            "factors": layout.factors,
            "features": dict(layout.features),
            "own": layout.own,
            "outcome": {"factor": layout.outcome_factor, "features": layout.outcome_features},
            "edges": layout.edges,
            "width": self.width,
            "type": self.dtype,
            "cause": self.cause,
            "mask": self.mask,
            "episode": self.episode,
            "extra": self.extra,
            "metadata": dict(self.metadata),
        }
        return json.dumps(document, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: bytes, path: Path) -> Header:
        try:
            document = json.loads(text)
            version = document["version"]
            if isinstance(version, int) and version > VERSION:
                raise DataError(f"{path} was written by a newer actcause (version {version} of the format): update.")
            outcome = document["outcome"]
            layout = Layout.build(
                document["factors"],
                document["features"],
                own=document["own"],
                outcome_factor=outcome["factor"],
                outcome_features=outcome["features"],
                edges=document["edges"],
            )
            dtype, width = document["type"], document["width"]
            cause, mask, episode = (document[name] for name in ("cause", "mask", "episode"))
            extra = tuple((str(name), str(kind)) for name, kind in document["extra"])
            sound = (
                all(isinstance(flag, bool) for flag in (cause, mask, episode))
                and dtype in ("float32", "float64")
                and isinstance(width, int)
                and layout.width <= width <= 1_000_000
                and all(np.dtype(kind).kind in "fiub" for _, kind in extra)
            )
            if not sound:
                raise ValueError
            return cls(layout, copy_metadata(document["metadata"]), dtype, width, cause, mask, episode, extra)
        except DataError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as wrong:
            raise DataError(f"{path} has an actcause header that cannot be understood: it may be damaged.") from wrong


class Writer:
    """Writes transitions as they come; the file appears under its name when the `with` block ends well.

    Batches are put together to row groups, so that not more than a row group is held. An exception inside
    the block, whatever it is, leaves nothing behind.

    >>> import tempfile
    >>> from actcause.data import Transitions
    >>> data = Transitions(factors=["a"], state=[[[1.0]], [[3.0]]], outcome=[[2.0], [6.0]], own="a")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Writer(f"{folder}/a.parquet", data.layout) as writer:
    ...         writer.append(data)
    ...         writer.append(data)
    ...     len(Transitions.load(f"{folder}/a.parquet"))
    4
    """

    def __init__(
        self,
        path: str | PathLike[str],
        layout: Layout,
        *,
        metadata: Mapping[str, Any] | None = None,
        rows_per_group: int = ROWS,
    ) -> None:
        self.path = Path(path)
        self.layout = layout
        self.metadata = copy_metadata(metadata or {})
        self.rows_per_group = rows_per_group
        self.rows = 0  # appended so far
        self.held = 0  # of these, not written yet
        self._waiting: list[RowArrays] = []
        self._first: RowArrays | None = None
        self._file: Any = None
        self._sink: Any = None
        self._schema: Any = None

    def __enter__(self) -> Writer:
        optional("pyarrow.parquet", WHAT)
        with _writing(self.path):
            if self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode):
                raise DataError(f"Cannot write {self.path}: it exists and is not a file.")
            self._whole = write_whole(self.path)
            self._file = self._whole.__enter__()
        return self

    def append(self, batch: RowArrays) -> None:
        """Take in rows; they must have the names of the layout and the columns of the first batch."""
        if self._file is None:
            raise DataError("A Writer takes rows inside its with block only.")
        if batch.layout != self.layout:
            raise DataError("The rows have other factors or features than the file they are written to.")
        if self._first is None:
            self._begin(batch)
        elif batch.columns_present != self._first.columns_present:
            raise DataError("The rows have other columns than those written before: all batches must have the same.")
        self.rows += len(batch)
        start = 0
        while start < len(batch):
            taken = min(self.rows_per_group - self.held, len(batch) - start)
            self._waiting.append(batch.take(slice(start, start + taken)))
            self.held += taken
            start += taken
            if self.held == self.rows_per_group:
                self._write()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except BaseException:
            self._close(*sys.exc_info())
            raise
        self._close(kind, error, trace)

    def _begin(self, batch: RowArrays) -> None:
        arrow = optional("pyarrow", WHAT)
        header = Header.of(batch, self.metadata)
        fields = [
            arrow.field(name, arrow.from_numpy_dtype(np.dtype(kind)), nullable=False)
            for name, kind in header.columns.items()
        ]
        self._first = batch.take(slice(0, 1))
        self._schema = arrow.schema(fields, metadata={KEY: header.to_json().encode()})
        with _writing(self.path):
            self._sink = _sink(self._file, self._schema)

    def _write(self) -> None:
        arrow = optional("pyarrow", WHAT)
        data = self._waiting[0] if len(self._waiting) == 1 else concatenate(self._waiting)
        arrays = [arrow.array(np.ascontiguousarray(values)) for values in _values(data)]
        with _writing(self.path):
            self._sink.write_table(arrow.Table.from_arrays(arrays, schema=self._schema), row_group_size=self.held)
        self._waiting.clear()
        self.held = 0

    def _finish(self) -> None:
        if self._first is None:
            raise DataError(f"Nothing was written to {self.path}: there was not a single row.")
        if self.held:
            self._write()
        with _writing(self.path):
            self._sink.close()

    def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the file its name, or remove it after a failure."""
        if self._sink is not None:
            with suppress(Exception):
                self._sink.close()
        self._file = self._sink = None
        self._waiting.clear()
        with _writing(self.path):
            self._whole.__exit__(kind, error, trace)


def join_files(paths: Sequence[Path], out: BinaryIO) -> None:
    """Write the rows of files that have one schema as one file, row group by row group."""
    with opened(paths[0]) as first:
        schema = first.schema_arrow
    with _sink(out, schema) as sink:
        for path in paths:
            with opened(path) as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group)
                    sink.write_table(rows, row_group_size=len(rows))


def _sink(file: BinaryIO, schema: Any) -> Any:
    parquet = optional("pyarrow.parquet", WHAT)
    return parquet.ParquetWriter(file, schema, compression="zstd", compression_level=1, write_page_checksum=True)


def header(path: str | PathLike[str]) -> Header | None:
    """What one of our files says about itself; None for another Parquet file, an error for anything else."""
    with opened(Path(path)) as file:
        return header_of(file, Path(path))


def header_of(file: Any, path: Path) -> Header | None:
    """The header of a Parquet file that is open already."""
    written = (file.schema_arrow.metadata or {}).get(KEY)
    if written is None:
        return None
    found = Header.from_json(written, path)
    there = Counter(file.schema_arrow.names)
    odd = next((name for name in found.columns if there[name] != 1), None)
    if odd is not None:
        has = f"has the column '{odd}' {there[odd]} times" if there[odd] else f"lacks the column '{odd}'"
        raise DataError(f"{path} {has}, which its own header names once: it may have been edited.")
    return found


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A Parquet file to read from; whatever goes wrong with it is said in one sentence."""
    arrow, parquet = optional("pyarrow", WHAT), optional("pyarrow.parquet", WHAT)
    check_readable(path)
    with open(path, "rb") as raw:
        start = raw.read(4)
        size = raw.seek(0, os.SEEK_END)
        raw.seek(max(size - 4, 0))
        end = raw.read(4)
    if start != MAGIC:
        raise DataError(f"{path} is not a Parquet file." if size else f"{path} is empty.")
    if end != MAGIC or size < 12:
        raise DataError(f"{path} ends too early: it was cut short or is still being written. Copy or collect it again.")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (arrow.ArrowException, OSError) as damage:
        reason = str(damage).strip().splitlines() or ["no reason given"]
        raise DataError(f"{path} is damaged and cannot be read: {reason[0][:200]}") from damage


def check_readable(path: Path) -> None:
    """Refuse what is no file or may not be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError(f"{path} is not a file.")
        path.open("rb").close()
    except OSError as refused:
        raise DataError(f"Cannot read {path}: {reason(refused)}.") from refused


def batches_of(file: Any, found: Header, path: Path, rows: int, *, group: int | None = None) -> Iterator[RowArrays]:
    """The rows of one of our files, or of one of its row groups, at most `rows` at a time."""
    groups = range(file.metadata.num_row_groups)
    first = sum(file.metadata.row_group(before).num_rows for before in groups[: group or 0])
    chosen = list(groups) if group is None else [group]
    for batch in file.iter_batches(batch_size=rows, row_groups=chosen, columns=list(found.columns)):
        if batch.num_rows:
            yield _read(batch, found, path, first)
            first += batch.num_rows


def _values(data: RowArrays) -> Iterator[Array]:
    """The columns, in the order of `Header.columns`."""
    for position, factor in enumerate(data.layout.factors):
        yield from (data.state[:, position, feature] for feature in range(len(data.layout.features[factor])))
    yield from data.outcome.T
    for flags in (data.cause, data.mask):
        if flags is not None:
            yield from flags.T
    yield from data.extra.values()
    if data.episode is not None:
        yield data.episode


def _read(batch: Any, found: Header, path: Path, first: int) -> RowArrays:
    layout, rows = found.layout, batch.num_rows

    def column(name: str) -> Array:
        values = batch.column(batch.schema.get_field_index(name))
        if values.null_count:
            row = first + int(np.flatnonzero(np.asarray(values.is_null()))[0]) + 1
            raise DataError(f"{path} has no value in column '{name}', row {row}.")
        array: Array = values.to_numpy(zero_copy_only=False)
        if array.dtype.kind not in "fiub":
            raise DataError(f"{path} has values of type {values.type} in column '{name}', not numbers.")
        if array.dtype.kind == "f" and not bool(np.isfinite(array).all()):
            row = int(np.flatnonzero(~np.isfinite(array))[0])
            raise DataError(
                f"{path}: the value in column '{name}', row {first + row + 1} is {array[row]}, not a number."
            )
        return array

    def flags(prefix: str) -> Array:
        return np.stack([column(f"{prefix}.{factor}") for factor in layout.factors], axis=1)

    state = np.zeros((rows, len(layout.factors), found.width), dtype=found.dtype)
    for position, factor in enumerate(layout.factors):
        for feature, name in enumerate(layout.features[factor]):
            state[:, position, feature] = column(f"{factor}.{name}")
    outcome = np.empty((rows, len(layout.outcome_features)), dtype=found.dtype)
    for feature, name in enumerate(layout.outcome_features):
        outcome[:, feature] = column(f"next.{layout.outcome_factor}.{name}")
    try:
        return RowArrays.of(
            layout,
            state=state,
            outcome=outcome,
            cause=flags("cause") if found.cause else None,
            mask=flags("present") if found.mask else None,
            episode=column("episode") if found.episode else None,
            extra={name: column(f"extra.{name}").astype(kind) for name, kind in found.extra},
            metadata=found.metadata,
        )
    except DataError as wrong:
        raise DataError(f"{path}, in the {rows} rows from row {first + 1} on: {wrong}") from wrong


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as refused:
        raise DataError(f"Cannot write {path}: {reason(refused)}.") from refused
