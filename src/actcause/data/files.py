"""Transitions from files, whole or in batches, and other people's files to ours."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from .parquet import ROWS, open_parquet
from .reading import read_rows
from .transitions import Transitions
from .writer import Writer


def load(path: str | PathLike[str], mapping: Any = None) -> Transitions:
    r"""Read all rows of a file.

    `path` is one of our files, or any Parquet, CSV or NPZ file: then `mapping` (a dictionary, or a JSON or TOML
    file) says which column is what, unless the columns are named as ours are (see `actcause.data.mapping`). Of our
    own files a mapping may ask for past frames: `{"history": 2}`.

    >>> import tempfile
    >>> table = "bx,px,hit,next_bx\n0,1,1,1\n1,5,0,1\n1,1,1,2\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mine.csv").write_text(table)
    ...     mapping = {"factors": {"block": ["bx"], "push": ["px"]}, "outcome": {"block": ["next_bx"]}}
    ...     load(f"{folder}/mine.csv", mapping | {"cause": {"push": "hit"}})
    <Transitions: 3 rows of block, push; outcome block, true causes known>
    """
    return Transitions.load(path, mapping)


def read_batches(
    path: str | PathLike[str], mapping: Any = None, *, rows: int = ROWS, group: int | None = None
) -> Iterator[Transitions]:
    """Read a file, at most `rows` rows at a time; never more than one row group is in memory.

    `group` reads only that row group, of a file that `actcause` wrote.
    """
    yield from map(Transitions.take_over, read_rows(path, mapping, rows=rows, group=group))


def count_rows(path: str | PathLike[str]) -> int:
    """Count the rows of a Parquet file, as its footer says."""
    with open_parquet(Path(path)) as file:
        return int(file.metadata.num_rows)


def convert(source: str | PathLike[str], mapping: Any, out: str | PathLike[str], *, rows: int = ROWS) -> int:
    """Write other people's file as one of ours, batch by batch; return the number of transitions."""
    batches = read_rows(source, mapping, rows=rows)
    first = next(batches)
    with Writer(out, first.layout, metadata=first.metadata) as writer:
        writer.append(first)
        for batch in batches:
            writer.append(batch)
        return writer.rows
