"""The factors of an observation: entries of a Dict, slices of a flat Box, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DataError, quote, suggest
from .array_columns import SLICE, read_slice
from .validate import Array

FLAT = "observation"  # the name of an observation that is one array
EXAMPLE = "factors={'hand': 'observation[0:3]', 'block': 'observation[3:6]'}"

Factors = Mapping[str, Any] | Sequence[str] | None


def split_observation(entries: Mapping[str, Array], factors: Factors) -> dict[str, Array]:
    """Return the values of each factor, the last axis being its features.

    `entries` are the named arrays of an observation, or the array `observation` alone. `factors` chooses entries, or
    maps each factor to what it is made of: an entry, a slice of one (`"achieved_goal[0:2]"`), positions of a flat
    observation (`slice(0, 3)`, `7`), or a list of these. By default every entry is a factor.

    >>> entries = {"observation": np.arange(6)}
    >>> split_observation(entries, {"hand": "observation[0:2]", "block": slice(2, 4), "grip": [4, 5]})
    {'hand': array([0, 1]), 'block': array([2, 3]), 'grip': array([4, 5])}
    """
    if factors is None:
        if list(entries) == [FLAT]:
            raise DataError(f"The observation must be a Dict of factors, or factors must say what is what: {EXAMPLE}.")
        return dict(entries)
    if isinstance(factors, Mapping):
        return {str(name): _select(written, entries, str(name)) for name, written in factors.items()}
    if isinstance(factors, str) or not isinstance(factors, Sequence):
        raise DataError(f"The factors must be a list of entries or a table such as {EXAMPLE}. Got {quote(factors)}.")
    return {name: _select(name, entries, name) for name in factors}


def list_entries(entries: Mapping[str, Any], factors: Factors) -> list[str]:
    """List the entries that the factors are made of; all where that cannot be told.

    >>> list_entries({"a": 0, "b": 0, "camera": 0}, {"hand": "a[0:3]", "block": "b"})
    ['a', 'b']
    """
    written = list(factors.values()) if isinstance(factors, Mapping) else factors
    if written is None or isinstance(written, str) or not isinstance(written, Sequence):
        return list(entries)
    parts = [part for each in written for part in (each if isinstance(each, (list, tuple)) else [each])]
    named = {part if part in entries else part.partition("[")[0] for part in parts if isinstance(part, str)}
    positions = any(not isinstance(part, str) for part in parts)
    return [name for name in entries if name in named or (positions and name == FLAT)] or list(entries)


def _select(written: Any, entries: Mapping[str, Array], factor: str) -> Array:
    if isinstance(written, str):
        sliced = SLICE.fullmatch(written)
        name = written if sliced is None or written in entries else sliced["name"]
        if name not in entries:
            hint = suggest(name, entries) or f"; the entries are {', '.join(entries)}."
            raise DataError(f"The observation has no entry {quote(name)} ('{factor}'){hint}")
        values = entries[name]
        return values if name == written else values[..., read_slice(written, range(values.shape[-1]))]
    if isinstance(written, (slice, int, np.integer)) and not isinstance(written, bool):
        if FLAT not in entries:
            raise DataError(f"Positions ('{factor}') are those of a flat observation: name an entry, as 'name[0:3]'.")
        values = entries[FLAT]
        count = values.shape[-1]
        positions = range(count)[written] if isinstance(written, slice) else [int(written)]
        if not len(positions) or max(positions) >= count:
            raise DataError(f"'{factor}' is outside the observation, which has {count} values. Got {written}.")
        return values[..., list(positions)]
    if isinstance(written, Sequence) and written:
        return np.concatenate([_select(part, entries, factor) for part in written], axis=-1)
    raise DataError(f"'{factor}' must be an entry of the observation or a part of one. Got {quote(written)} instead.")
