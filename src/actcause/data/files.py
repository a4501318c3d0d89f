"""Reading files, ours and other people's, whole or in batches."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import shown
from .errors import DataError
from .mapping import ColumnMap
from .parquet import ROWS, Writer, batches_of, header_of, opened
from .tables import chunks, column_names, is_parquet
from .transitions import Transitions, concatenate


def load(path: str | PathLike[str], mapping: Any = None) -> Transitions:
    r"""All rows of a file.

    `path` is one of our files, or any Parquet or CSV file: then `mapping` (a dictionary, or a JSON or TOML
    file) says which column is what, unless the columns are named as ours are (see `actcause.data.mapping`).

    >>> import tempfile
    >>> table = "bx,px,hit,next_bx\n0,1,1,1\n1,5,0,1\n1,1,1,2\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mine.csv").write_text(table)
    ...     mapping = {"factors": {"block": ["bx"], "push": ["px"]}, "outcome": {"block": ["next_bx"]}}
    ...     load(f"{folder}/mine.csv", mapping | {"cause": {"push": "hit"}})
    <Transitions: 3 rows of block, push; outcome block, true causes known>
    """
    return concatenate(read_batches(path, mapping))


def read_batches(path: str | PathLike[str], mapping: Any = None, *, rows: int = ROWS) -> Iterator[Transitions]:
    """The rows of a file, at most `rows` at a time; never more than one row group is in memory."""
    if not isinstance(rows, int) or rows < 1:
        raise DataError(f"The number of rows of a batch must be a positive integer. Got {shown(rows)} instead.")
    source = Path(path)
    if mapping is None and is_parquet(source):
        with opened(source) as file:
            found = header_of(file, source)
            if found is not None:
                if not file.metadata.num_rows:
                    raise DataError(f"{source} holds no row.")
                yield from batches_of(file, found, source, rows)
                return
    try:
        resolved = ColumnMap.resolve(column_names(source), mapping)
    except DataError as wrong:
        raise DataError(_told(source, wrong)) from wrong
    empty = True
    stream = resolved.transitions(chunks(source, resolved.columns, rows))
    while True:
        try:
            batch = next(stream, None)
        except DataError as wrong:
            raise DataError(_told(source, wrong)) from wrong
        if batch is None:
            break
        empty = False
        yield batch
    if empty:
        raise DataError(f"{source} holds not a single transition.")


def count_rows(path: str | PathLike[str]) -> int:
    """The number of rows of a Parquet file, read from its footer."""
    with opened(Path(path)) as file:
        return int(file.metadata.num_rows)


def convert(source: str | PathLike[str], mapping: Any, out: str | PathLike[str], *, rows: int = ROWS) -> int:
    """Other people's file to one of ours, batch by batch; returns the number of transitions."""
    batches = read_batches(source, mapping, rows=rows)
    first = next(batches)
    with Writer(out, first.layout, metadata=first.metadata) as writer:
        writer.append(first)
        for batch in batches:
            writer.append(batch)
        return writer.rows


def _told(source: Path, wrong: DataError) -> str:
    """The message, with the file's name if it is not there already."""
    return str(wrong) if str(source) in str(wrong) else f"{source}: {wrong}"
