"""What the columns of a table hold: types, ranges, missing values, and the first rows as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path

import numpy as np

from .tables import chunks, column_names
from .validate import Array

LOOKED_AT = 200_000  # rows
SHOWN = 5  # of the first rows
CHUNK = 1 << 14
WORDS, LONGEST = 4, 40  # of a column of text, and letters of each
FIRST_TEXTS = 64  # of each chunk, among which words are looked for


@dataclass(frozen=True)
class ColumnSummary:
    """A column: truth values, whole numbers, numbers or text; its range if it has one, or a few of its words."""

    name: str
    type: str
    low: float | None
    high: float | None
    missing: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class TableSummary:
    """The columns of a table, as far as its first `rows` tell, and a few of these as text."""

    rows: int
    columns: tuple[ColumnSummary, ...]
    first: tuple[tuple[str, ...], ...]


def summarise_columns(
    path: str | PathLike[str], columns: Sequence[str] | None = None, *, most_rows: int = LOOKED_AT
) -> TableSummary:
    r"""Summarise the columns of somebody's Parquet, CSV or npz file; `most_rows` are looked at, in whole chunks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "table.csv"
    ...     _ = file.write_text("x,door\n1,open\n2.5,\n")
    ...     summary = summarise_columns(file)
    >>> [(one.name, one.type, one.low, one.high, one.missing) for one in summary.columns]
    [('x', 'numbers', 1.0, 2.5, 0), ('door', 'text', None, None, 1)]
    """
    path = Path(path)
    names = tuple(columns or column_names(path))
    rows, seen = 0, {name: _Column() for name in names}
    first: tuple[tuple[str, ...], ...] = ()
    for chunk in islice(chunks(path, names, CHUNK), -(-most_rows // CHUNK)):
        if not first:
            shown = zip(*(chunk[name][:SHOWN].tolist() for name in names), strict=True)
            first = tuple(tuple("" if value is None else str(value)[:LONGEST] for value in row) for row in shown)
        rows += len(next(iter(chunk.values())))
        for name, values in chunk.items():
            seen[name].add(values)
    return TableSummary(rows, tuple(column.summarise(name) for name, column in seen.items()), first)


class _Column:
    """What is known of a column so far."""

    def __init__(self) -> None:
        self.kind = "truth values"
        self.missing = 0
        self.low, self.high = np.inf, -np.inf
        self.words: set[str] = set()

    def add(self, values: Array) -> None:
        if values.dtype.kind in "iufb":
            if values.dtype.kind != "b" and self.kind == "truth values":
                self.kind = "whole numbers"
            if values.dtype.kind == "f":
                self.missing += int(np.isnan(values).sum())
                values = values[np.isfinite(values)]
                whole = bool((values == np.floor(values)).all())
                if self.kind == "whole numbers" and not whole:
                    self.kind = "numbers"
            if len(values) and self.kind != "text":
                self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
            return
        self.kind = "text"
        self.missing += sum(value is None or value == "" for value in values.tolist())
        for value in values[:FIRST_TEXTS].tolist():
            if len(self.words) < WORDS:
                self.words.add(str(value)[:LONGEST])

    def summarise(self, name: str) -> ColumnSummary:
        ranged = self.kind != "text" and self.low <= self.high
        low, high = (self.low, self.high) if ranged else (None, None)
        return ColumnSummary(name, self.kind, low, high, self.missing, tuple(sorted(self.words)))
