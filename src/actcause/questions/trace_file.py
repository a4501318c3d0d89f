"""Traces from a table in a file: a column for each variable, a row for each step."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import Any

from ..core.parser import TRUTH_VALUES
from ..core.trace import COUNTER, Trace
from ..errors import QueryError, import_extra, quote
from ..io.text_file import read_text

MAGIC = b"PAR1"  # the first bytes of a Parquet file
OTHER_SEPARATORS = (";", "\t", "|")
WHAT = "a CSV or Parquet file with a column for each variable and a row for each step"


def read_trace(path: str | PathLike[str]) -> Trace:
    """Read a recorded trace from a CSV or Parquet file: a column for each variable, a row for each step.

    An empty cell says that nothing was recorded. A column 'step' may count the rows from 0.
    """
    name = str(path)
    columns = _read_parquet(name) if _is_parquet(name) else _read_csv(name)
    counted = columns.pop(COUNTER, None)
    if counted is not None and list(counted) != list(range(len(counted))):
        at = next(index for index, value in enumerate(counted) if value != index)
        raise QueryError(
            f"'{name}' must count steps from 0 in its column '{COUNTER}'; got {counted[at]} in row {at + 1}."
        )
    if not columns or not len(next(iter(columns.values()))):
        raise QueryError(f"'{name}' holds no steps; give it a line of names and a line for each step.")
    try:
        return Trace(columns)
    except QueryError as error:
        raise QueryError(f"'{name}': {error.describe(lambda parameter, value: 'the trace')}") from None


def _is_parquet(name: str) -> bool:
    """Return whether a file is Parquet by its first bytes, or says so by its name."""
    try:
        if Path(name).suffix == ".parquet" and Path(name).is_file():
            return True
        with Path(name).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False  # said when it is read as text


def _read_parquet(name: str) -> dict[str, Any]:
    parquet = import_extra("pyarrow.parquet", "Reading Parquet files", "data")
    try:
        return dict(parquet.read_table(name).to_pydict())
    except (OSError, ValueError) as error:
        raise QueryError(f"'{name}' cannot be read as Parquet: {' '.join(str(error).split())[:200]}") from None


def _read_csv(name: str) -> dict[str, Any]:
    rows = [row for row in csv.reader(read_text(name, what=WHAT).splitlines()) if row]
    if not rows:
        raise QueryError(f"'{name}' is empty; give {WHAT}.")
    names = [cell.strip() for cell in rows[0]]
    if len(names) == 1 and any(mark in names[0] for mark in OTHER_SEPARATORS):
        raise QueryError(f"'{name}', line 1: columns must be separated by commas; got {quote(rows[0][0])}.")
    twice = next((one for place, one in enumerate(names) if one in names[:place]), None)
    if twice is not None:
        raise QueryError(f"'{name}' has two columns called {quote(twice)}; rename one.")
    columns: dict[str, Any] = {column: [] for column in names}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise QueryError(f"'{name}', line {number}: expected {len(names)} values; got {len(row)}.")
        for column, cell in zip(names, row, strict=True):
            columns[column].append(_read_cell(name, number, column, cell.strip()))
    return columns


def _read_cell(name: str, number: int, column: str, cell: str) -> int | float | None:
    if not cell or cell in TRUTH_VALUES:
        return TRUTH_VALUES.get(cell)
    try:
        return int(cell) if cell.lstrip("+-").isdecimal() else float(cell)
    except ValueError:
        wrong = f"'{name}', line {number}: {column} must be a whole number, or empty; got {quote(cell)}."
        raise QueryError(wrong) from None
