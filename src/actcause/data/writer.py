"""Writing our files: row group by row group, whole or not at all."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..errors import DataError, import_extra
from ..io.atomic import reason, write_whole
from .header import KEY, Header
from .layout import Layout
from .parquet import ROWS, WHAT, open_parquet
from .reading import read_rows
from .row_arrays import RowArrays, concatenate
from .validate import Array, copy_metadata

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType


OTHERS = (
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".npz",
    ".npy",
    ".xlsx",
    ".xls",
    ".ods",
    ".feather",
    ".h5",
    ".hdf5",
)


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
        import_extra("pyarrow.parquet", WHAT, "data")
        check_suffix(self.path)
        with translate_refusals(self.path):
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
        arrow = import_extra("pyarrow", WHAT, "data")
        header = Header.of(batch, self.metadata)
        fields = [
            arrow.field(name, arrow.from_numpy_dtype(np.dtype(kind)), nullable=False)
            for name, kind in header.columns.items()
        ]
        self._first = batch.take(slice(0, 1))
        self._schema = arrow.schema(fields, metadata={KEY: header.to_json().encode()})
        with translate_refusals(self.path):
            self._sink = open_sink(self._file, self._schema)

    def _write(self) -> None:
        arrow = import_extra("pyarrow", WHAT, "data")
        data = self._waiting[0] if len(self._waiting) == 1 else concatenate(self._waiting)
        arrays = [arrow.array(np.ascontiguousarray(values)) for values in _columns(data)]
        with translate_refusals(self.path):
            self._sink.write_table(arrow.Table.from_arrays(arrays, schema=self._schema), row_group_size=self.held)
        self._waiting.clear()
        self.held = 0

    def _finish(self) -> None:
        if self._first is None:
            raise DataError(f"Nothing was written to {self.path}: there was not a single row.")
        if self.held:
            self._write()
        with translate_refusals(self.path):
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
        with translate_refusals(self.path):
            self._whole.__exit__(kind, error, trace)


def join_files(paths: Sequence[Path], out: BinaryIO) -> None:
    """Write the rows of files that have one schema as one file, row group by row group."""
    with open_parquet(paths[0]) as first:
        schema = first.schema_arrow
    with open_sink(out, schema) as sink:
        for path in paths:
            with open_parquet(path) as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group)
                    sink.write_table(rows, row_group_size=len(rows))


def convert(source: str | PathLike[str], mapping: Any, out: str | PathLike[str], *, rows: int = ROWS) -> int:
    """Write other people's file as one of ours, batch by batch; return the number of transitions."""
    batches = read_rows(source, mapping, rows=rows)
    first = next(batches)
    with Writer(out, first.layout, metadata=first.metadata) as writer:
        writer.append(first)
        for batch in batches:
            writer.append(batch)
        return writer.rows


def check_suffix(path: Path) -> None:
    """Refuse a name that promises another format than Parquet."""
    if path.suffix.lower() in OTHERS:
        wrong = "Cannot write {path}: recordings are Parquet files; call it {name}."
        raise DataError(wrong, path=path, name=path.with_suffix(".parquet").name)


def open_sink(file: BinaryIO, schema: Any) -> Any:
    """Open a Parquet file that is written row group by row group."""
    parquet = import_extra("pyarrow.parquet", WHAT, "data")
    return parquet.ParquetWriter(file, schema, compression="zstd", compression_level=1, write_page_checksum=True)


def _columns(data: RowArrays) -> Iterator[Array]:
    """Yield the columns in the order of `Header.columns`."""
    for position, factor in enumerate(data.layout.factors):
        yield from (data.state[:, position, feature] for feature in range(len(data.layout.features[factor])))
    yield from data.outcome.T
    for flags in (data.cause, data.mask):
        if flags is not None:
            yield from flags.T
    yield from data.extra.values()
    if data.episode is not None:
        yield data.episode


@contextmanager
def translate_refusals(path: Path) -> Iterator[None]:
    """Say in one sentence why the system does not let a file be written."""
    try:
        yield
    except OSError as refused:
        raise DataError(f"Cannot write {path}: {reason(refused)}.") from refused
