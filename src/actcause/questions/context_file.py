"""Contexts from a table in a file: a column for each root, and one for the probability if there is one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from ..core.model import Model
from ..errors import QueryError, quote, suggest
from .source import read_text

PROBABILITY = "probability"


def read_context_file(name: str, model: Model) -> list[Any]:
    """Read the contexts of a CSV file, as a list of contexts or of (context, probability) pairs.

    A column 'probability' may hold probabilities, or counts.
    """
    if not Path(name).is_file():
        raise QueryError(f"There is no file '{name}' of contexts; write one with a column for each root.")
    rows = list(csv.reader(read_text(name).splitlines()))
    if len(rows) < 2:
        raise QueryError(f"'{name}' holds no contexts; give it a line of names and a line for each context.")
    names = [cell.strip() for cell in rows[0]]
    known = [*model.roots, PROBABILITY]
    for column in names:
        if column not in known:
            hint = suggest(column, known) or f"; the roots are {', '.join(model.roots[:8])}."
            raise QueryError(f"'{name}' has a column {quote(column)}, which is no root of the model{hint}")
    listed: list[Any] = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise QueryError(f"'{name}', line {number}: expected {len(names)} values; got {len(row)}.")
        cells = dict(zip(names, (cell.strip() for cell in row), strict=True))
        share = cells.pop(PROBABILITY, None)
        context = {column: _read_integer(name, number, column, cell) for column, cell in cells.items()}
        listed.append(context if share is None else (context, int(share) if share.isdigit() else share))
    return listed


def _read_integer(name: str, number: int, column: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        wrong = f"'{name}', line {number}: {column} must be a whole number; got {quote(cell)}."
        raise QueryError(wrong) from None
