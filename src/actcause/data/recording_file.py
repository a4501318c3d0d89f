"""Files of whole states: Parquet with readable columns, as those of transitions are (`data/header.py`).

The columns are `ball.x` and `next.ball.x` for every feature of every factor, and where there are such values
`cause.ball.paddle` (the outcome, then the factor that caused it), `present.block1` and `extra.pinned`; then `episode`
and `step`. The JSON document in the file's metadata says `"kind": "recording"`, which tells it from one outcome's file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import DataError, import_extra
from ..io.atomic import write_whole
from .header import KEY, VERSION
from .parquet import ROWS, WHAT, open_parquet
from .validate import Array
from .writer import check_suffix, open_sink, translate_refusals

KIND = "recording"


def is_recording(path: str | PathLike[str]) -> bool:
    """Say whether a file is one of ours that holds whole states."""
    try:
        with open_parquet(Path(path)) as file:
            document = _read_document(file)
    except DataError:
        return False
    return document is not None and document.get("kind") == KIND


def read_names(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what a file of whole states says about itself, and none of its rows."""
    with open_parquet(Path(path)) as file:
        document = _read_document(file)
    if document is None or document.get("kind") != KIND:
        raise DataError(f"{path} is no recording of whole states.")
    return document


class WholeStates(Protocol):
    """What of a recording is written."""

    @property
    def factors(self) -> tuple[str, ...]: ...
    @property
    def features(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def outcomes(self) -> tuple[str, ...]: ...
    @property
    def edges(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def state(self) -> Array: ...
    @property
    def next_state(self) -> Array: ...
    @property
    def episode(self) -> Array: ...
    @property
    def step(self) -> Array: ...
    @property
    def cause(self) -> Array | None: ...
    @property
    def mask(self) -> Array | None: ...
    @property
    def extra(self) -> Mapping[str, Array]: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


def write_recording(recording: WholeStates, path: str | PathLike[str]) -> None:
    """Write a recording, whole or not at all."""
    arrow = import_extra("pyarrow", WHAT, "data")
    columns = _list_columns(recording)
    fields = [
        arrow.field(name, arrow.from_numpy_dtype(values.dtype), nullable=False) for name, values in columns.items()
    ]
    schema = arrow.schema(fields, metadata={KEY: json.dumps(_describe(recording), ensure_ascii=False).encode()})
    target = Path(path)
    check_suffix(target)
    with translate_refusals(target):
        if target.exists() and not target.is_file():
            raise DataError(f"Cannot write {target}: it exists and is not a file.")
        with write_whole(target) as out, open_sink(out, schema) as sink:
            table = arrow.Table.from_arrays(
                [arrow.array(np.ascontiguousarray(values)) for values in columns.values()], schema=schema
            )
            sink.write_table(table, row_group_size=ROWS)


def read_recording(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file of whole states: what a `Recording` is built from."""
    source = Path(path)
    if source.suffix in (".csv", ".npz") and source.exists():
        raise DataError(
            f"{source} is no recording of whole states, which is a Parquet file: build a data.Recording from your "
            "columns and save it."
        )
    with open_parquet(source) as file:
        document = _read_document(file)
        if document is None or document.get("kind") != KIND:
            raise DataError(
                f"{source} is no recording of whole states: collect one with --outcome all, "
                "or read the transitions of one outcome with actcause.data.load."
            )
        if not file.metadata.num_rows:
            raise DataError(f"{source} holds no row.")
        table = file.read()
    try:
        return _read_table(table, document, source)
    except (KeyError, TypeError, ValueError) as wrong:
        raise DataError(f"{source} has an actcause header that cannot be understood: it may be damaged.") from wrong


def _read_document(file: Any) -> dict[str, Any] | None:
    """Read the JSON document of one of our files; None for any other."""
    written = (file.schema_arrow.metadata or {}).get(KEY)
    try:
        document = None if written is None else json.loads(written)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _describe(recording: WholeStates) -> dict[str, Any]:
    return {
        "version": VERSION,
        "kind": KIND,
        "factors": recording.factors,
        "features": dict(recording.features),
        "outcomes": recording.outcomes,
        "edges": dict(recording.edges),
        "width": int(recording.state.shape[2]),
        "type": recording.state.dtype.name,
        "cause": recording.cause is not None,
        "mask": recording.mask is not None,
        "extra": [(name, values.dtype.name) for name, values in recording.extra.items()],
        "metadata": dict(recording.metadata),
    }


def _list_columns(recording: WholeStates) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for prefix, values in (("", recording.state), ("next.", recording.next_state)):
        for position, factor in enumerate(recording.factors):
            for feature, name in enumerate(recording.features[factor]):
                columns[f"{prefix}{factor}.{name}"] = values[:, position, feature]
    if recording.cause is not None:
        for place, outcome in enumerate(recording.outcomes):
            for position, factor in enumerate(recording.factors):
                columns[f"cause.{outcome}.{factor}"] = recording.cause[:, place, position]
    if recording.mask is not None:
        columns |= {f"present.{factor}": recording.mask[:, k] for k, factor in enumerate(recording.factors)}
    columns |= {f"extra.{name}": values for name, values in recording.extra.items()}
    return columns | {"episode": recording.episode, "step": recording.step}


def _read_table(table: Any, document: dict[str, Any], source: Path) -> dict[str, Any]:
    if document["version"] > VERSION:
        raise DataError(f"{source} was written by a newer actcause: update.")
    factors, features, outcomes = document["factors"], document["features"], document["outcomes"]
    rows, width = table.num_rows, int(document["width"])

    def column(name: str) -> Array:
        if table.column_names.count(name) != 1:
            raise DataError(f"{source} lacks the column '{name}', which its own header names: it may have been edited.")
        values = table.column(name)
        if values.null_count:
            raise DataError(f"{source} has no value in column '{name}', row {_find_null(values) + 1}.")
        array: Array = values.to_numpy()
        if array.dtype.kind not in "fiub":
            raise DataError(f"{source} has values of type {values.type} in column '{name}', not numbers.")
        return array

    def whole(prefix: str) -> Array:
        values = np.zeros((rows, len(factors), width), dtype=document["type"])
        for position, factor in enumerate(factors):
            for feature, name in enumerate(features[factor]):
                values[:, position, feature] = column(f"{prefix}{factor}.{name}")
        return values

    cause: Array | None = None
    mask: Array | None = None
    if document["cause"]:
        causes = [[column(f"cause.{outcome}.{factor}") for factor in factors] for outcome in outcomes]
        cause = np.moveaxis(np.array(causes), 2, 0)
    if document["mask"]:
        mask = np.stack([column(f"present.{factor}") for factor in factors], axis=1)
    return {
        "factors": factors,
        "features": features,
        "outcomes": outcomes,
        "edges": document["edges"],
        "state": whole(""),
        "next_state": whole("next."),
        "cause": cause,
        "mask": mask,
        "episode": column("episode"),
        "step": column("step"),
        "extra": {name: column(f"extra.{name}").astype(kind) for name, kind in document["extra"]},
        "metadata": document["metadata"],
    }


def _find_null(values: Any) -> int:
    return int(np.flatnonzero(np.asarray(values.is_null()))[0])
