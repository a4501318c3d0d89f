"""Columns of a Parquet file that hold a list in every row, as arrays of states do: their parts are columns.

A column `obs` of lists of three numbers is read as `obs[0]`, `obs[1]` and `obs[2]`, as an array of an NPZ file is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError, import_extra
from .validate import Array

WHAT = "Reading and writing Parquet files"
MOST_PARTS = 10_000  # of a list


def name_columns(file: Any, path: Path) -> tuple[str, ...]:
    """Name the columns of an open Parquet file; lists of plain values part by part."""
    return tuple(name for field in file.schema_arrow for name in _name_parts(file, field, path))


def _name_parts(file: Any, field: Any, path: Path) -> Iterator[str]:
    width = _measure_width(file, field)
    if width > MOST_PARTS:
        raise DataError(
            f"Column '{field.name}' of {path} holds lists of {width:,} values; {MOST_PARTS:,} are the most."
        )
    yield from (f"{field.name}[{part}]" for part in range(width)) if width else [field.name]


def _measure_width(file: Any, field: Any) -> int:
    """Measure how long a column's lists are; 0 for what is no list of plain values, which is refused if it is read."""
    types = import_extra("pyarrow.types", WHAT, "data")
    kind = field.type
    if types.is_fixed_size_list(kind):
        return 0 if types.is_nested(kind.value_type) else int(kind.list_size)
    lists = types.is_list(kind) or types.is_large_list(kind)
    return _measure_first(file, field.name) if lists and not types.is_nested(kind.value_type) else 0


def _measure_first(file: Any, name: str) -> int:
    """Measure the first list of a column; all others must be as long."""
    batch = next(file.iter_batches(batch_size=1, columns=[name]), None)
    return 0 if batch is None or not batch.num_rows else len(batch.column(0)[0].as_py() or ())


def split_batch(batch: Any, columns: Sequence[str], first: int, widths: dict[str, int]) -> dict[str, Array]:
    """Read these columns of a batch, whose first row is the row `first` (counted from 0) of the file.

    How long the lists of a column are is kept in `widths`, so that those of the next batch are held to it.
    """
    there, tables = set(batch.schema.names), dict[str, Array]()
    read: dict[str, Array] = {}
    for name in columns:
        base, _, part = name[:-1].rpartition("[")
        if name in there:
            read[name] = _to_numpy(batch.column(batch.schema.get_field_index(name)))
            continue
        if base not in tables:
            tables[base] = _to_table(batch.column(batch.schema.get_field_index(base)), base, first, widths)
        read[name] = tables[base][:, int(part)]
    return read


def list_columns(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """List the columns of the file that hold these, each once; `names` are those of the file.

    >>> list_columns(["t", "obs[0]", "obs[2]", "a[1]"], ["t", "obs", "a[1]"])
    ['t', 'obs', 'a[1]']
    """
    known = set(names)
    return list(dict.fromkeys(name if name in known else name[:-1].rpartition("[")[0] for name in columns))


def _to_table(values: Any, name: str, first: int, widths: dict[str, int]) -> Array:
    """Read lists, all of one length, as an array of shape (rows, length)."""
    compute = import_extra("pyarrow.compute", WHAT, "data")
    lengths = compute.fill_null(compute.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    width = widths.setdefault(name, int(lengths[0]))
    odd = np.flatnonzero(lengths != width)
    if len(odd):
        raise _refuse(name, first + int(odd[0]))
    return _to_numpy(values.flatten()).reshape(len(lengths), width)


def _to_numpy(values: Any) -> Array:
    if import_extra("pyarrow.types", WHAT, "data").is_nested(values.type):  # text, so that it can be shown and refused
        return np.array([None if value is None else str(value) for value in values.to_pylist()], dtype=object)
    plain = values.dictionary_decode() if hasattr(values, "dictionary_decode") else values
    return np.asarray(plain.to_numpy(zero_copy_only=False))


def _refuse(name: str, row: int) -> DataError:
    wrong = f"Column '{name}' must hold lists of one length. Row {row + 1} has another length, or none"
    return DataError(f"{wrong}: leave the column out, or fill up its lists.")
