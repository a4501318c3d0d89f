"""Reading Parquet files, ours above all; what goes wrong with one is one sentence."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, escape, import_extra
from ..io.atomic import reason
from .header import KEY, Header
from .row_arrays import RowArrays
from .validate import Array

if TYPE_CHECKING:
    from os import PathLike

ROWS = 1 << 16  # of a row group
MAGIC = b"PAR1"
WHAT = "Reading and writing Parquet files"


def is_parquet(path: Path) -> bool:
    """Judge by the first bytes; a file that only calls itself Parquet is refused."""
    check_readable(path)
    with open(path, "rb") as raw:
        start = raw.read(4)
    if start == MAGIC:
        return True
    if path.suffix.lower() in (".parquet", ".pq"):
        raise DataError(f"{path} is not a Parquet file." if start else f"{path} is empty.")
    return False


def is_ours(path: Path) -> bool:
    """Say whether a Parquet file is one of ours, of one outcome or of whole states; any other has no header."""
    with open_parquet(path) as file:
        return KEY in (file.schema_arrow.metadata or {})


def read_header(path: str | PathLike[str]) -> Header | None:
    """Read what one of our files says about itself; None for another Parquet file, an error for anything else."""
    with open_parquet(Path(path)) as file:
        return parse_header(file, Path(path))


def parse_header(file: Any, path: Path) -> Header | None:
    """Read the header of a Parquet file that is open already."""
    written = (file.schema_arrow.metadata or {}).get(KEY)
    if written is None:
        return None
    header = Header.from_json(written, path)
    there = Counter(file.schema_arrow.names)
    odd = next((name for name in header.columns if there[name] != 1), None)
    if odd is not None:
        has = f"has the column '{odd}' {there[odd]} times" if there[odd] else f"lacks the column '{odd}'"
        raise DataError(f"{path} {has}, which its own header names once: it may have been edited.")
    return header


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file for reading; whatever goes wrong with it is one sentence."""
    arrow, parquet = import_extra("pyarrow", WHAT, "data"), import_extra("pyarrow.parquet", WHAT, "data")
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
    except MemoryError as short:  # pyarrow's own is one of its exceptions as well
        raise DataError(
            f"{path} needs more memory to be read than there is: write it in smaller row groups."
        ) from short
    except (arrow.ArrowException, OSError) as damage:
        raise DataError(
            f"{path} is damaged and cannot be read{_explain(damage)}: copy or collect it again."
        ) from damage


def _explain(damage: Exception) -> str:
    """Say what is wrong with a file, in words that do not take its format for granted.

    >>> _explain(OSError("Couldn't deserialize thrift: don't know what type")), _explain(OSError("Bad page."))
    (' (its list of columns is broken)', ' (Bad page)')
    """
    line = next(iter(str(damage).strip().splitlines()), "")
    if "thrift" in line.lower():
        line = "its list of columns is broken"
    return f" ({escape(line[:200]).rstrip('.')})" if line else ""


def measure_row_groups(path: Path) -> int:
    """Measure the bytes of the largest row group once it is unpacked, as the file's own list of columns has them."""
    with open_parquet(path) as file:
        groups = (file.metadata.row_group(index) for index in range(file.metadata.num_row_groups))
        return max(
            (
                sum(max(group.column(k).total_uncompressed_size, 0) for k in range(group.num_columns))
                for group in groups
            ),
            default=0,
        )


def count_rows(path: str | PathLike[str]) -> int:
    """Count the rows of a Parquet file, as its footer says."""
    with open_parquet(Path(path)) as file:
        return int(file.metadata.num_rows)


def check_readable(path: Path) -> None:
    """Refuse what is no file or may not be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DataError(f"{path} is not a file.")
        path.open("rb").close()
    except OSError as refused:
        raise DataError(f"Cannot read {path}: {reason(refused)}.") from refused


def read_row_groups(
    file: Any, header: Header, path: Path, rows: int, *, group: int | None = None
) -> Iterator[RowArrays]:
    """Read the rows of one of our files, or of one of its row groups, at most `rows` at a time."""
    groups = range(file.metadata.num_row_groups)
    first = sum(file.metadata.row_group(before).num_rows for before in groups[: group or 0])
    chosen = list(groups) if group is None else [group]
    for batch in file.iter_batches(batch_size=rows, row_groups=chosen, columns=list(header.columns)):
        if batch.num_rows:
            yield _read(batch, header, path, first)
            first += batch.num_rows


def _read(batch: Any, header: Header, path: Path, first: int) -> RowArrays:
    layout, rows = header.layout, batch.num_rows

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
            raise DataError(f"{path}: the value in column '{name}', row {first + row + 1} is {array[row]}, no number.")
        return array

    def flags(prefix: str) -> Array:
        return np.stack([column(f"{prefix}.{factor}") for factor in layout.factors], axis=1)

    state = np.zeros((rows, len(layout.factors), header.width), dtype=header.dtype)
    for position, factor in enumerate(layout.factors):
        for feature, name in enumerate(layout.features[factor]):
            state[:, position, feature] = column(f"{factor}.{name}")
    outcome = np.empty((rows, len(layout.outcome_features)), dtype=header.dtype)
    for feature, name in enumerate(layout.outcome_features):
        outcome[:, feature] = column(f"next.{layout.outcome_factor}.{name}")
    try:
        return RowArrays.of(
            layout,
            state=state,
            outcome=outcome,
            cause=flags("cause") if header.cause else None,
            mask=flags("present") if header.mask else None,
            episode=column("episode") if header.episode else None,
            extra={name: column(f"extra.{name}").astype(kind) for name, kind in header.extra},
            metadata=header.metadata,
        )
    except DataError as wrong:
        raise DataError(f"{path}, in the {rows} rows from row {first + 1} on: {wrong}") from wrong
