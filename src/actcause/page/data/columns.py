"""The columns of a user's own file: what they hold, and what they mean once that is checked against every row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...data import DataError, describe
from ...data.column_summary import LOOKED_AT, summarise_columns
from ...data.mapping import ColumnMap
from ...data.parquet import is_parquet, open_parquet, parse_header
from ...data.recording_file import is_recording
from ...data.roles import build_mapping, find_texts, guess_roles, read_roles
from ...data.tables import column_names
from ...io.atomic import write_whole_bytes
from . import library

MOST_COLUMNS = 1000


def inspect_file(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Inspect a file's columns: types, ranges, and the role of each as its name says it, or as a guess.

    Of a recording of whole states only that is said: it has no single outcome to be explained here.
    """
    path = _find_file(payload)
    with _name_file(path, payload):
        library.check_size(path)
        if is_parquet(path) and is_recording(path):
            with open_parquet(path) as file:
                return {"rows": int(file.metadata.num_rows), "whole": True}
        names = column_names(path)
        if len(names) > MOST_COLUMNS:
            raise DataError(f"{path} has {len(names)} columns; {MOST_COLUMNS} are the most that the page can show.")
        rows, ours = None, False
        if is_parquet(path):
            with open_parquet(path) as file:
                rows, ours = int(file.metadata.num_rows), parse_header(file, path) is not None
        table = summarise_columns(path, names, most_rows=LOOKED_AT)
        if table.rows == 0:
            raise DataError(f"{path} has the names of columns, but no rows; put a row below them for each step.")
        stored = library.find_mapping(path)
        try:
            layout, why = ColumnMap.resolve(names, stored).layout, None
        except DataError as wrong:
            layout, why = None, str(wrong)
    return {
        "rows": table.rows if rows is None and table.rows < LOOKED_AT else rows,
        "whole": False,
        "looked_at": table.rows,
        "columns": [asdict(column) for column in table.columns],
        "first": table.first,
        "ours": ours,
        "mapped": stored is not None,
        "recognised": layout is not None,
        "layout": None if layout is None else library.describe_layout(layout),
        "why": why,
        **(read_roles(library.read_json(stored), names) if stored else guess_roles(names)),
    }


def keep_mapping(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Check roles against every row and keep them beside the file; nothing is kept if they do not hold."""
    path = _find_file(payload)
    with _name_file(path, payload):
        library.check_size(path)
        texts = find_texts(path, column_names(path))
        mapping = build_mapping(payload["roles"], payload["outcome"], payload["own"], texts)
        summary = describe(path, mapping)
        others = [name for name in summary.factors if name != summary.own]
        if not others:
            raise DataError(f"There must be a factor besides the outcome's own '{summary.own}' to choose between.")
        if summary.rows > 1 and all(feature.constant for feature in summary.outcome.features.values()):
            raise DataError(f"The outcome '{summary.outcome_factor}' never changes, so there is nothing to explain.")
    write_whole_bytes(path.with_name(path.name + library.SIDECAR), (json.dumps(mapping, indent=1) + "\n").encode())
    return _summarise(summary)


def describe_file(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Describe what a file whose columns are known holds."""
    path = library.find_recording(Path(payload["data"]), str(payload["name"]))
    with _name_file(path, payload):
        library.check_size(path)
        return _summarise(describe(path, library.find_mapping(path)))


def _summarise(summary: Any) -> dict[str, Any]:
    """Summarise a description as the page shows it."""
    return {
        "rows": summary.rows,
        "episodes": summary.episodes,
        "own": summary.own,
        "outcome": summary.outcome_factor,
        "still": summary.still,
        "notes": list(summary.notes),
        "factors": [
            {
                "name": name,
                "features": [
                    {"name": feature, "low": one.low, "high": one.high, "constant": one.constant}
                    for feature, one in factor.features.items()
                ],
                "rate": factor.rate,
            }
            for name, factor in summary.factors.items()
        ],
    }


# -- files -----------------------------------------------------------------------------------------


def _find_file(payload: Mapping[str, Any]) -> Path:
    """Find the file under its name, or one that is on its way in under a name that the server made."""
    here = payload.get("path")
    return Path(here) if here else library.find_recording(Path(payload["data"]), payload["name"])


@contextmanager
def _name_file(path: Path, payload: Mapping[str, Any]) -> Iterator[None]:
    """Say the file's name, not where the server keeps it."""
    try:
        yield
    except DataError as wrong:
        raise DataError(str(wrong).replace(str(path), str(payload["name"]))) from wrong
