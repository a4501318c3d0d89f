"""Columns to rows, as a mapping says which column is what; chunk by chunk, across which episodes go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import DataError
from .mapping import ColumnMap
from .row_arrays import RowArrays, concatenate
from .tables import Chunk, as_booleans, as_numbers
from .validate import Array


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
    parts = list(read_chunks(mapped, [columns])) if first != (0,) else []
    if not parts:
        raise DataError("There must be at least one transition. Got none.")
    return concatenate(parts)


def read_chunks(mapped: ColumnMap, chunks: Iterable[Chunk]) -> Iterator[RowArrays]:
    """Turn chunks of columns into rows; a chunk in which every episode ends gives none."""
    numbering = _EpisodeNumbers()
    pairing = None if mapped.following is not None else _Pairing(mapped)
    first = 0
    for chunk in chunks:
        values = _read(mapped, chunk, first, numbering)
        first += len(values.state)
        rows = values.build(mapped) if pairing is None else pairing.add(values)
        if rows is not None:
            yield rows


def _read(mapped: ColumnMap, chunk: Chunk, first: int, numbering: _EpisodeNumbers) -> _Values:
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
    return _Values(
        state,
        np.stack(following, axis=1) if following else None,
        _read_flags(mapped, chunk, mapped.cause, first, False),
        mask,
        None if mapped.episode is None else numbering.add(np.asarray(chunk[mapped.episode]), mapped.episode, first),
    )


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


@dataclass(frozen=True)
class _Values:
    """The values of a chunk; `outcome` is None where it has to come from the following row."""

    state: Array
    outcome: Array | None
    cause: Array | None
    mask: Array | None
    episode: Array | None

    def build(self, mapped: ColumnMap) -> RowArrays:
        return RowArrays.of(mapped.layout, **vars(self), metadata=mapped.metadata)

    def take(self, index: Any, outcome: Array | None = None) -> _Values:
        rest = (None if values is None else values[index] for values in (self.cause, self.mask, self.episode))
        return _Values(self.state[index], outcome, *rest)

    def append_to(self, before: _Values) -> _Values:
        def join(name: str) -> Array | None:
            mine = getattr(self, name)
            return None if mine is None else np.concatenate([getattr(before, name), mine])

        state = np.concatenate([before.state, self.state])
        return _Values(state, None, join("cause"), join("mask"), join("episode"))


class _Pairing:
    """Pairs every row with the following one of its episode, across chunks."""

    def __init__(self, mapped: ColumnMap) -> None:
        self._mapped = mapped
        self._last: _Values | None = None
        self._ended: set[int] = set()

    def add(self, values: _Values) -> RowArrays | None:
        if self._last is not None:
            values = values.append_to(self._last)
        self._last = values.take(slice(-1, None))
        same = np.ones(len(values.state) - 1, dtype=bool)
        if values.episode is not None:
            same = values.episode[1:] == values.episode[:-1]
            for end in np.flatnonzero(~same):
                self._ended.add(int(values.episode[end]))
                if int(values.episode[end + 1]) in self._ended:
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
        following = values.state[before + 1, layout.index(layout.outcome_factor)][:, positions]
        return values.take(before, following).build(self._mapped)


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
