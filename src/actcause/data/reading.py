"""The rows of any file, ours or other people's, a batch at a time, and of frames.

Of files that are not ours a mapping says which column is what; their episodes go on from one chunk to the next. Such a
file is read twice: texts of categories and objects that go missing may first appear in its last row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError, quote
from .array_columns import split_arrays
from .categories import as_codes, describe_categories
from .header import Header
from .history import Past, add_past
from .mapping import OF_ANY_FILE, ColumnMap, read_mapping
from .parquet import ROWS, is_parquet, open_parquet, parse_header, read_row_groups
from .row_arrays import RowArrays, concatenate
from .survey import Survey, find_absent
from .tables import Chunk, as_booleans, as_numbers, chunks, column_names
from .validate import Array

# State, outcome, cause, mask and episode of a chunk; the outcome is None where it comes from the following row.
# `usable` is false in a log where the outcome's own value is missing, `enough` where there is not enough past.
Values = dict[str, Any]


def read_rows(
    path: str | PathLike[str], mapping: Any = None, *, rows: int = ROWS, group: int | None = None
) -> Iterator[RowArrays]:
    """Read at most `rows` rows at a time, of all or, in one of our files, of one row group."""
    if not isinstance(rows, int) or rows < 1:
        raise DataError(f"The number of rows of a batch must be a positive integer. Got {quote(rows)} instead.")
    source = Path(path)
    try:
        given = {} if mapping is None else read_mapping(mapping)
        header = _find_header(source) if set(given) <= set(OF_ANY_FILE) else None
        if header is not None:
            yield from _read_ours(source, header, given, rows, group)
        elif group is not None:
            raise DataError(f"{source} is not one of our files: it is read whole, not by row groups.")
        else:
            yield from _read_table(source, given, rows)
    except DataError as wrong:
        if str(source) in str(wrong):
            raise
        raise DataError("{source}: {wrong}", source=source, wrong=wrong, parameter=wrong.parameter) from wrong


def _find_header(source: Path) -> Header | None:
    """Read the header of one of our files; None for any other."""
    if not is_parquet(source):
        return None
    with open_parquet(source) as file:
        return parse_header(file, source)


def _read_ours(
    source: Path, header: Header, given: Mapping[str, Any], rows: int, group: int | None
) -> Iterator[RowArrays]:
    past = Past.read(given.get("history"), given.get("differences")) if given else None
    with open_parquet(source) as file:
        if not file.metadata.num_rows:
            raise DataError(f"{source} holds no row.")
        batches = read_row_groups(file, header, source, rows, group=group)
        yield from add_past(batches, past) if past else batches


def _read_table(source: Path, given: Mapping[str, Any], rows: int) -> Iterator[RowArrays]:
    empty = True
    mapped = ColumnMap.resolve(column_names(source), given)
    text = frozenset(mapped.categorical_columns)
    survey = Survey.of(mapped, chunks(source, mapped.columns, rows, text=text))
    for batch in _read_chunks(mapped, survey, chunks(source, mapped.columns, rows, text=text)):
        empty = False
        yield batch
    if empty:
        past = f" with {mapped.past.rows} rows of its episode before it" if mapped.past else ""
        raise DataError(f"{source} holds not a single transition{past}.")


def read_frame(frame: Any, mapping: Any = None) -> RowArrays:
    """Read a mapping of columns, or a frame."""
    names = [str(name) for name in (frame.columns if hasattr(frame, "columns") else frame)]
    every = split_arrays({name: np.asarray(frame[name]) for name in names})
    mapped = ColumnMap.resolve(list(every), mapping)
    columns = {name: every[name] for name in mapped.columns}
    shapes = {name: values.shape for name, values in columns.items()}
    first = shapes[mapped.columns[0]]
    odd = next((name for name, shape in shapes.items() if len(shape) != 1 or shape != first), None)
    if odd is not None:
        raise DataError(f"Every column must hold one value per row. Got {shapes[odd]} values in column '{odd}'.")
    parts = list(_read_chunks(mapped, Survey.of(mapped, [columns]), [columns])) if first != (0,) else []
    if not parts and mapped.past and first != (0,):
        raise DataError(f"No row has {mapped.past.rows} rows of its episode before it: record longer episodes.")
    if not parts:
        raise DataError("There must be at least one transition. Got none.")
    return concatenate(parts)


def _read_chunks(mapped: ColumnMap, survey: Survey, parts: Iterable[Chunk]) -> Iterator[RowArrays]:
    """Turn chunks of columns into rows; a chunk in which every episode ends gives none."""
    numbering = _EpisodeNumbers()
    remembering = _Remembering(mapped) if mapped.past else None
    pairing = None if mapped.following is not None else _Pairing(mapped)
    first = 0
    for chunk in parts:
        values = _read(mapped, survey, chunk, first, numbering)
        first += len(values["state"])
        values = values if remembering is None else remembering.add(values)
        values = values if pairing is None else pairing.add(values)
        chosen = values["usable"] & values["enough"]
        if chosen.any():
            yield _build(mapped, survey, _take(values, chosen))


def _read(mapped: ColumnMap, survey: Survey, chunk: Chunk, first: int, numbering: _EpisodeNumbers) -> Values:
    count = len(next(iter(chunk.values())))
    layout, texts = mapped.layout, survey.categories
    absent = find_absent(mapped, chunk)
    usable = np.ones(count, dtype=bool)
    if layout.own is not None:
        own = layout.index(layout.own)
        if mapped.following is None:  # in a log there is no transition from or to a row without the outcome's own value
            usable = ~absent[:, own]
        absent[:, own] &= mapped.following is None
    flags = _read_flags(mapped, chunk, mapped.present, first, True)
    here = ~absent if flags is None else flags & ~absent
    coded = mapped.categorical_columns

    def read(column: str, needed: Array) -> Array:
        given = texts.get(coded.get(column, ""))
        numbers = as_numbers(chunk[column], column, first) if given is None else None
        found = as_codes(np.asarray(chunk[column]), column, first, given) if given is not None else numbers
        return _check_finite(np.asarray(found), column, first, needed)

    state_values = {c: read(c, here[:, position]) for position, columns in enumerate(mapped.state) for c in columns}
    following = {column: read(column, np.ones(count, dtype=bool)) for column in mapped.following or ()}
    measured = [v for c, v in (state_values | following).items() if coded.get(c) not in texts]
    single = bool(measured) and all(values.dtype == np.float32 for values in measured)
    dtype = np.float32 if single else np.float64
    state = np.zeros((count, len(layout.factors), layout.width), dtype=dtype)
    for position, columns in enumerate(mapped.state):
        for feature, column in enumerate(columns):
            state[:, position, feature] = state_values[column]
    state[~here] = 0
    episode = None if mapped.episode is None else np.asarray(chunk[mapped.episode])
    return {
        "state": state,
        "outcome": np.stack(list(following.values()), axis=1).astype(dtype) if following else None,
        "cause": _read_flags(mapped, chunk, mapped.cause, first, False),
        "mask": here if survey.absent else None,
        "episode": None if episode is None else numbering.add(episode, mapped.episode or "", first),
        "usable": usable,
        "enough": np.ones(count, dtype=bool),
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


def _build(mapped: ColumnMap, survey: Survey, values: Values) -> RowArrays:
    layout, metadata = mapped.layout, mapped.metadata
    metadata = {**metadata, **describe_categories(mapped.categorical, survey.categories)}
    if mapped.past:
        layout, metadata = mapped.past.extend_layout(layout, mapped.categorical), mapped.past.extend_metadata(metadata)
    return RowArrays.of(
        layout, **{name: array for name, array in values.items() if name not in ("usable", "enough")}, metadata=metadata
    )


def _take(values: Values, index: Any) -> Values:
    return {name: None if array is None else array[index] for name, array in values.items()}


def _join(before: Values | None, values: Values) -> Values:
    """Put the rows of two chunks one after the other."""
    if before is None:
        return values
    return {name: None if v is None else np.concatenate([before[name], v]) for name, v in values.items()}


class _Remembering:
    """Gives every row its past, across chunks; `enough` is false where there is too little of it."""

    def __init__(self, mapped: ColumnMap) -> None:
        self._mapped = mapped
        self._last: Values | None = None

    def add(self, values: Values) -> Values:
        mapped, held = self._mapped, 0 if self._last is None else len(self._last["state"])
        joined = _join(self._last, values)
        self._last = _take(joined, slice(-mapped.past.rows, None))
        # A row that cannot be a transition breaks the chain, as the end of an episode does.
        gone = ~joined["usable"]
        chain = np.cumsum(gone) + np.cumsum(np.concatenate([[False], gone[:-1]]))
        if joined["episode"] is not None:
            chain += np.cumsum(np.concatenate([[0], joined["episode"][1:] != joined["episode"][:-1]]))
        state, enough = mapped.past.extend_state(
            mapped.layout, joined["state"], joined["mask"], chain, mapped.categorical
        )
        return _take({**joined, "state": state, "enough": enough}, slice(held, None))


class _Pairing:
    """Pairs every row with the following one of its episode, across chunks."""

    def __init__(self, mapped: ColumnMap) -> None:
        self._mapped = mapped
        self._last: Values | None = None
        self._ended: set[int] = set()

    def add(self, values: Values) -> Values:
        values = _join(self._last, values)
        self._last = _take(values, slice(-1, None))
        state, episode = values["state"], values["episode"]
        follows = np.ones(len(state) - 1, dtype=bool)
        if episode is not None:
            follows = episode[1:] == episode[:-1]
            for end in np.flatnonzero(~follows):
                self._ended.add(int(episode[end]))
                if int(episode[end + 1]) in self._ended:
                    raise DataError(
                        f"The rows of an episode must be together to take the next value from the following row: "
                        f"sort them by '{self._mapped.episode}'."
                    )
        layout = self._mapped.layout
        own = layout.features[layout.outcome_factor]
        positions = [own.index(name) for name in layout.outcome_features]
        following = state[1:, layout.index(layout.outcome_factor)][:, positions]
        before = {**_take(values, slice(0, -1)), "outcome": following}
        return {**before, "usable": before["usable"] & follows & values["usable"][1:]}


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
