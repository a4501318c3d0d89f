"""Other people's files: columns of numbers and text from Parquet, CSV or NPZ, a chunk at a time."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError, escape, import_extra, quote
from .array_columns import split_arrays
from .nested_columns import list_columns, name_columns, split_batch
from .parquet import is_parquet, measure_row_groups, open_parquet
from .validate import Array

CSV = "Reading CSV files"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
TRUE, FALSE = frozenset({"true", "yes", "t", "y"}), frozenset({"false", "no", "f", "n"})
BLOCK = 1 << 20  # bytes of text that are read at a time
ZIPS = (b"PK\x03\x04", b"PK\x05\x06")  # the first bytes of an NPZ file, and of newer spreadsheets
OLD_SPREADSHEET = bytes.fromhex("d0cf11e0")
SPREADSHEETS = (".xls", ".xlsx", ".ods", ".numbers")
SHEETS = ("[Content_Types].xml", "mimetype", "META-INF/manifest.xml")  # in spreadsheets, and not in NPZ files

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
SAY_CATEGORICAL = "; kinds go into 'categorical'."

Chunk = Mapping[str, Array]


def column_names(path: Path) -> tuple[str, ...]:
    """Read the names of the columns, each of them once."""
    if is_parquet(path):
        with open_parquet(path) as file:
            names = name_columns(file, path)
    elif _is_npz(path):
        names = tuple(_npz_columns(path))
    else:
        names = _csv_header(path)[0]
    twice = next((name for position, name in enumerate(names) if name in names[:position]), None)
    if twice is not None:
        raise DataError(f"{path} has two columns called {quote(twice)}: rename one.")
    return names


def chunks(path: Path, columns: Sequence[str], rows: int, *, text: Collection[str] = ()) -> Iterator[Chunk]:
    """Read these columns as arrays (text as objects), at most `rows` rows at a time.

    What a CSV file holds in the columns `text` is left as it is written, whether numbers or not.
    """
    if is_parquet(path):
        yield from _parquet_chunks(path, columns, rows)
    elif _is_npz(path):
        yield from _npz_chunks(path, columns, rows)
    else:
        yield from _csv_chunks(path, columns, rows, text)


def measure_unpacked(path: Path) -> int:
    """Measure the bytes that have to be in memory at once to read a file, before anything of it is unpacked."""
    if is_parquet(path):
        return measure_row_groups(path)
    if not _is_npz(path):
        return BLOCK
    try:
        with zipfile.ZipFile(path) as file:
            return sum(entry.file_size for entry in file.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as wrong:
        raise DataError(f"{path} cannot be read as NPZ: {escape(str(wrong).strip()[:200])}.") from wrong


def _parquet_chunks(path: Path, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
    first, widths = 0, dict[str, int]()
    with open_parquet(path) as file:
        stored = list_columns(columns, file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=rows, columns=stored):
            if batch.num_rows:
                yield split_batch(batch, columns, first, widths)
            first += batch.num_rows


def _is_npz(path: Path) -> bool:
    """Judge by the first bytes; a spreadsheet, which begins as NPZ does, is refused."""
    with open(path, "rb") as raw:
        start = raw.read(4)
    names: list[str] = []
    if start in ZIPS:
        with suppress(zipfile.BadZipFile, OSError, ValueError), zipfile.ZipFile(path) as file:
            names = file.namelist()
    sheet = start == OLD_SPREADSHEET or path.suffix.lower() in SPREADSHEETS
    if sheet or any(name in SHEETS for name in names):
        raise DataError(f"{path} is a spreadsheet, not CSV or Parquet: save the sheet as CSV.")
    if start in ZIPS and not names and path.suffix.lower() != ".npz":
        raise DataError(f"{path} is a ZIP archive or a spreadsheet that was cut short, not CSV or Parquet.")
    return start in ZIPS


def _npz_columns(path: Path) -> dict[str, Array]:
    """Read all arrays of an NPZ file, those of shape (rows, k) as k columns; nothing in it is run as code."""
    try:
        with np.load(path) as file:  # which refuses pickled objects
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, zipfile.BadZipFile, KeyError) as wrong:
        raise DataError(f"{path} cannot be read as NPZ: {escape(str(wrong).strip()[:200])}.") from wrong
    named = {name: values for name, values in arrays.items() if isinstance(values, np.ndarray)}  # others are bytes
    return split_arrays({name: values for name, values in named.items() if values.ndim in (1, 2)})


def _npz_chunks(path: Path, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
    every = _npz_columns(path)
    read = {name: every[name] for name in columns}
    lengths = {name: len(values) for name, values in read.items()}
    odd = next((name for name, length in lengths.items() if length != lengths[columns[0]]), None)
    if odd is not None:
        raise DataError(
            f"{path} has {lengths[columns[0]]} rows in '{columns[0]}' and {lengths[odd]} in '{odd}': all need as many."
        )
    for start in range(0, lengths[columns[0]], rows):
        yield {name: values[start : start + rows] for name, values in read.items()}


def _csv_header(path: Path) -> tuple[tuple[str, ...], str]:
    """Read the names of the columns and what stands between them: a comma, a semicolon or a tab."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as text:
            line = text.readline(1 << 20)
            if not line.strip():
                raise DataError(f"{path} is empty." if not line else f"{path} must begin with the names of columns.")
            delimiter = max(",;\t", key=line.count)
            text.seek(0)
            names = next(csv.reader(text, delimiter=delimiter))
    except UnicodeDecodeError as wrong:
        raise DataError(f"{path} is neither Parquet, NPZ nor text in UTF-8: save it as one of them.") from wrong
    except csv.Error as wrong:
        raise DataError(f"{path} is not a CSV file: {wrong}.") from wrong
    if any("\0" in name for name in names):
        raise DataError(f"{path} is neither Parquet, NPZ nor text in UTF-8: save it as one of them.")
    return tuple(name.strip() for name in names), delimiter


def _csv_chunks(path: Path, columns: Sequence[str], rows: int, text: Collection[str]) -> Iterator[Chunk]:
    """Read every value as text first, so that a wrong one can be shown with its row."""
    arrow, reader = import_extra("pyarrow", CSV, "data"), import_extra("pyarrow.csv", CSV, "data")
    names, delimiter = _csv_header(path)
    try:
        stream = reader.open_csv(
            path,
            # The names are given, not read: the reader would keep blanks around them.
            read_options=reader.ReadOptions(column_names=list(names), skip_rows=1, block_size=BLOCK, use_threads=False),
            parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=reader.ConvertOptions(
                include_columns=list(columns),
                column_types={name: arrow.string() for name in columns},
                strings_can_be_null=False,
                check_utf8=True,
            ),
        )
        with stream:
            for block in stream:
                for start in range(0, block.num_rows, rows):
                    part = block.slice(start, rows)
                    yield {name: _parse(part.column(position), name in text) for position, name in enumerate(columns)}
    except arrow.ArrowException as wrong:
        if "Empty CSV file" in str(wrong) or "skip initial" in str(wrong):
            raise DataError(f"{path} holds no row below the names of its columns.") from wrong
        reason = escape(str(wrong).strip().splitlines()[0][:200])
        raise DataError(f"{path} cannot be read as CSV: {reason}") from wrong


def _parse(text: Any, as_text: bool) -> Array:
    """Parse numbers where all are numbers, with NaN where some are missing; else return the text itself."""
    arrow, compute = import_extra("pyarrow", CSV, "data"), import_extra("pyarrow.compute", CSV, "data")
    trimmed = compute.utf8_trim_whitespace(text)
    if not as_text:
        found = _parse_numbers(trimmed, arrow.int64(), arrow.float64())
        if found is None:
            missing = compute.is_in(compute.utf8_lower(trimmed), arrow.array(sorted(MISSING)))
            known = compute.if_else(missing, arrow.scalar(None, arrow.string()), trimmed)
            found = _parse_numbers(known, arrow.float64()) if known.null_count < len(known) else None
        if found is not None:
            return found
    return np.asarray(trimmed.to_numpy(zero_copy_only=False), dtype=object)


def _parse_numbers(text: Any, *kinds: Any) -> Array | None:
    arrow = import_extra("pyarrow", CSV, "data")
    for kind in kinds:
        try:
            return np.asarray(text.cast(kind).to_numpy(zero_copy_only=False))
        except arrow.ArrowInvalid:
            continue
    return None


# -- values ----------------------------------------------------------------------------------------


def as_numbers(values: Array, column: str, first: int) -> Array:
    """Return floats, with NaN where a value is missing; what is no number is refused with its row.

    >>> as_numbers(np.array(["1", "", "2.5"], dtype=object), "x", 0)
    array([1. , nan, 2.5])
    >>> as_numbers(np.array(["1", "two"], dtype=object), "x", 0)
    Traceback (most recent call last):
    ...
    actcause.errors.DataError: Column 'x' must hold numbers. Got 'two' in row 2 instead; kinds go into 'categorical'.
    """
    values = np.asarray(values)
    if values.dtype.kind in "iub":
        return values.astype(np.float64)
    if values.dtype.kind == "f":
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    if values.dtype.kind not in "OUT":
        raise DataError(f"Column '{column}' must hold numbers. Got values of type {values.dtype} instead.")
    converted = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            converted[row] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError) as wrong:
            plain = str(value) if isinstance(value, str) else value
            came = f"Got {quote(plain)} in row {first + row + 1} instead{_advise(value)}"
            raise DataError(f"Column '{column}' must hold numbers. {came}") from wrong
    return converted


def _advise(value: object) -> str:
    """Say what to do with text among numbers: kinds are declared, decimals take a point."""
    if not isinstance(value, str):
        return "."
    if has_decimal_comma(value):
        return "; write decimals with a point, as in 1.5."
    return "." if any(letter.isdigit() for letter in value) else SAY_CATEGORICAL


def has_decimal_comma(text: str) -> bool:
    """Tell whether this is a number as much of the world writes it.

    >>> has_decimal_comma("-1,5"), has_decimal_comma("a,5")
    (True, False)
    """
    return DECIMAL_COMMA.fullmatch(text.strip()) is not None


def as_booleans(values: Array, column: str, first: int) -> Array:
    """Return truth values: true and false, yes and no, 1 and 0.

    >>> as_booleans(np.array(["yes", "0"], dtype=object), "hit", 0)
    array([ True, False])
    """
    values = np.asarray(values)
    if values.dtype == np.bool_:
        return values
    spoken = np.array([_truth(value) for value in values], dtype=object) if values.dtype.kind in "OUT" else values
    numbers = as_numbers(spoken, column, first)
    wrong = np.flatnonzero(~np.isin(numbers, (0, 1)))
    if len(wrong):
        [came] = values[wrong[:1]].tolist()
        raise DataError(
            f"Column '{column}' must hold true or false (or 1 and 0). Got {quote(came)} in row {first + wrong[0] + 1}."
        )
    return numbers.astype(np.bool_)


def _truth(value: object) -> object:
    word = value.strip().lower() if isinstance(value, str) else None
    if word is None or word in TRUE or word in FALSE:
        return value if word is None else word in TRUE
    try:
        return float(word)
    except ValueError:
        return np.nan


def is_missing(value: object) -> bool:
    """Tell whether a table has no value there: nothing, NaN, or a word for it."""
    return value is None or (isinstance(value, str) and value.strip().lower() in MISSING) or value != value
