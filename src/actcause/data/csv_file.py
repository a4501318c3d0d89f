"""One of our Parquet files as text, for tools that read nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from ..errors import DataError, import_extra
from ..io.atomic import write_whole
from .parquet import open_parquet

ROWS = 8192  # that are held at once


def write_csv(
    source: str | PathLike[str], out: str | PathLike[str], names: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Write the rows of a Parquet file as CSV, and return the columns; `names` gives some of them other names.

    Where two columns would share a name, all keep their own.
    """
    arrow, writer = (import_extra(name, "Writing CSV files", "data") for name in ("pyarrow", "pyarrow.csv"))
    with open_parquet(Path(source)) as file, write_whole(out, DataError) as text:
        columns = [(names or {}).get(name, name) for name in file.schema_arrow.names]
        if len(set(columns)) < len(columns):
            columns = file.schema_arrow.names
        with writer.CSVWriter(text, file.schema_arrow.empty_table().rename_columns(columns).schema) as sink:
            for batch in file.iter_batches(batch_size=ROWS):
                sink.write_table(arrow.Table.from_batches([batch]).rename_columns(columns))
    return tuple(columns)
