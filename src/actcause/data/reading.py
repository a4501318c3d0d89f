"""The rows of any file, ours or other people's, a batch at a time, and of frames.

Of files that are not ours a mapping says which column is what; their episodes go on from one chunk to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError, quote
from .mapping import ColumnMap
from .parquet import ROWS, is_parquet, open_parquet, parse_header, read_row_groups
from .row_arrays import RowArrays, concatenate
from .tables import Chunk, as_booleans, as_numbers, chunks, column_names
from .validate import Array

# State, outcome, cause, mask and episode of a chunk; the outcome is None where it comes from the following row.
Values = dict[str, Any]


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
        for batch in _read_chunks(mapped, chunks(source, mapped.columns, rows)):
            empty = False
            yield batch
    except DataError as wrong:
        raise DataError(str(wrong) if str(source) in str(wrong) else f"{source}: {wrong}") from wrong
    if empty:
        raise DataError(f"{source} holds not a single transition.")


def read_frame(frame: Any, mapping: Any = None) -> RowArrays:
    """Read a mapping of columns, or a frame."""
    names = [str(name) for name in (frame.columns if hasattr(frame, "columns") else frame)]
    mapped = ColumnMap.resolve(names, mapping)
    columns = {name: np.asarray(frame[name]) for name in mapped.columns}
    shapes = {name: values.shape for name, values in columns.items()}
    first = shapes[mapped.columns[0]]
    odd = next((name for name, shape in shapes.items() if len(shape) != 1 or shape != first), None)
    if odd is not None:
        raise DataError(f"Every column must hold one value per row. Got {shapes[odd]} values in column '{odd}'.")
    parts = list(_read_chunks(mapped, [columns])) if first != (0,) else []
    if not parts:
        raise DataError("There must be at least one transition. Got none.")
    return concatenate(parts)


def _read_chunks(mapped: ColumnMap, parts: Iterable[Chunk]) -> Iterator[RowArrays]:
    """Turn chunks of columns into rows; a chunk in which every episode ends gives none."""
    numbering = _EpisodeNumbers()
    pairing = None if mapped.following is not None else _Pairing(mapped)
    first = 0
    for chunk in parts:
        values = _read(mapped, chunk, first, numbering)
        first += len(values["state"])
        rows = _build(mapped, values) if pairing is None else pairing.add(values)
        if rows is not None:
            yield rows


def _read(mapped: ColumnMap, chunk: Chunk, first: int, numbering: _EpisodeNumbers) -> Values:
    count = len(next(iter(chunk.values())))
    factors = mapped.layout.factors
    mask = _read_flags(mapped, chunk, mapped.present, first, True)
    here = np.ones((count, len(factors)), dtype=bool) if mask is None else mask
    read = {
        column: _check_finite(as_numbers(chunk[column], column, first), column, first, here[:, position])
        for position, columns in enumerate(mapped.state)
        for column in columns
    }
    everywhere = np.ones(count, dtype=bool)
    following = [_check_finite(as_numbers(chunk[c], c, first), c, first, everywhere) for c in mapped.following or ()]
    single = all(values.dtype == np.float32 for values in (*read.values(), *following))
    state = np.zeros((count, len(factors), mapped.layout.width), dtype=np.float32 if single else np.float64)
    for position, columns in enumerate(mapped.state):
        for feature, column in enumerate(columns):
            state[:, position, feature] = read[column]
    state[~here] = 0
    episode = None if mapped.episode is None else np.asarray(chunk[mapped.episode])
    return {
        "state": state,
        "outcome": np.stack(following, axis=1) if following else None,
        "cause": _read_flags(mapped, chunk, mapped.cause, first, False),
        "mask": mask,
        "episode": None if episode is None else numbering.add(episode, mapped.episode or "", first),
    }


def _read_flags(
    mapped: ColumnMap, chunk: Chunk, columns: Mapping[str, str], first: int, otherwise: bool
) -> Array | None:
    if not columns:
        return None
    flags = np.full((len(next(iter(chunk.values()))), len(mapped.layout.factors)), otherwise)
    for factor, column in columns.items():
        flags[:, mapped.layout.index(factor)] = as_booleans(chunk[column], column, first)
    return flags


def _check_finite(values: Array, column: str, first: int, needed: Array) -> Array:
    wrong = needed & ~np.isfinite(values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "has no value" if np.isnan(values[row]) else "is infinite"
        raise DataError(f"Column '{column}' {what} in row {first + row + 1}: fill it in or leave the row out.")
    return values


def _build(mapped: ColumnMap, values: Values) -> RowArrays:
    return RowArrays.of(mapped.layout, **values, metadata=mapped.metadata)


def _take(values: Values, index: Any) -> Values:
    return {name: None if array is None else array[index] for name, array in values.items()}


class _Pairing:
    """Pairs every row with the following one of its episode, across chunks."""

    def __init__(self, mapped: ColumnMap) -> None:
        self._mapped = mapped
        self._last: Values | None = None
        self._ended: set[int] = set()

    def add(self, values: Values) -> RowArrays | None:
        if (last := self._last) is not None:
            values = {name: None if v is None else np.concatenate([last[name], v]) for name, v in values.items()}
        self._last = _take(values, slice(-1, None))
        state, episode = values["state"], values["episode"]
        same = np.ones(len(state) - 1, dtype=bool)
        if episode is not None:
            same = episode[1:] == episode[:-1]
            for end in np.flatnonzero(~same):
                self._ended.add(int(episode[end]))
                if int(episode[end + 1]) in self._ended:
                    raise DataError(
                        f"The rows of an episode must be together to take the next value from the following row: "
                        f"sort them by '{self._mapped.episode}'."
                    )
        before = np.flatnonzero(same)
        if not len(before):
            return None
        layout = self._mapped.layout
        own = layout.features[layout.outcome_factor]
        positions = [own.index(name) for name in layout.outcome_features]
        following = state[before + 1, layout.index(layout.outcome_factor)][:, positions]
        return _build(self._mapped, {**_take(values, before), "outcome": following})


class _EpisodeNumbers:
    """Episodes as integers: kept if they are, else numbered as they first appear."""

    def __init__(self) -> None:
        self._kept: bool | None = None
        self._numbers: dict[str, int] = {}

    def add(self, values: Array, column: str, first: int) -> Array:
        missing = np.array([value is None or value == "" or value != value for value in values.tolist()])
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise DataError(f"Column '{column}' has no value in row {first + row + 1}: every row needs its episode.")
        whole = values.dtype.kind in "iu" or (values.dtype.kind == "f" and bool((values == np.floor(values)).all()))
        if self._kept is None:
            self._kept = whole
        if self._kept != whole:
            if self._kept:
                raise DataError(
                    f"Column '{column}' has whole numbers up to row {first} and then other values: use one kind."
                )
            values = values.astype(str)
        if self._kept:
            return values.astype(np.int64)
        names = map(str, values.tolist())
        return np.array([self._numbers.setdefault(name, len(self._numbers)) for name in names], dtype=np.int64)
