"""The rows of any file, ours or other people's, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import quote
from .errors import DataError
from .mapped_rows import read_chunks
from .mapping import ColumnMap
from .parquet import ROWS, is_parquet, open_parquet, parse_header, read_row_groups
from .row_arrays import RowArrays
from .tables import chunks, column_names


def read_rows(
    path: str | PathLike[str], mapping: Any = None, *, rows: int = ROWS, group: int | None = None
) -> Iterator[RowArrays]:
    """Read at most `rows` rows at a time, of all or, in one of our files, of one row group."""
    if not isinstance(rows, int) or rows < 1:
        raise DataError(f"The number of rows of a batch must be a positive integer. Got {quote(rows)} instead.")
    source = Path(path)
    if mapping is None and is_parquet(source):
        with open_parquet(source) as file:
            header = parse_header(file, source)
            if header is not None:
                if not file.metadata.num_rows:
                    raise DataError(f"{source} holds no row.")
                yield from read_row_groups(file, header, source, rows, group=group)
                return
    if group is not None:
        raise DataError(f"{source} is not one of our files: it is read whole, not by row groups.")
    try:
        empty = True
        mapped = ColumnMap.resolve(column_names(source), mapping)
        for batch in read_chunks(mapped, chunks(source, mapped.columns, rows)):
            empty = False
            yield batch
    except DataError as wrong:
        raise DataError(str(wrong) if str(source) in str(wrong) else f"{source}: {wrong}") from wrong
    if empty:
        raise DataError(f"{source} holds not a single transition.")
