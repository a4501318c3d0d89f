"""Parts of arrays as columns: `obs[0:3]` are three columns, `obs[4]` is one, `obs` all of them.

An array of shape (rows, k) is k columns, `obs[0]` to `obs[k-1]`. In a table whose columns are numbered by themselves
(`obs_0`, `obs_1`, …) the same is written `obs_[0:3]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..errors import DataError, quote, suggest
from .validate import Array

Part = TypeVar("Part")
SLICE = re.compile(r"(?P<name>.+)\[(?P<start>-?\d*)(?P<colon>:?)(?P<stop>-?\d*)\]")


def expand_slice(written: str, columns: Sequence[str]) -> list[str]:
    """List the columns that a name or a slice stands for; empty where there are none.

    >>> columns = ["t", "obs[0]", "obs[1]", "obs[2]", "a_0", "a_1"]
    >>> expand_slice("obs[1:]", columns), expand_slice("obs", columns), expand_slice("a_[0:2]", columns)
    (['obs[1]', 'obs[2]'], ['obs[0]', 'obs[1]', 'obs[2]'], ['a_0', 'a_1'])
    """
    if written in columns:
        return [written]
    sliced = SLICE.fullmatch(written)
    name = written if sliced is None else sliced["name"]
    known = set(columns)
    numbered = _count_up(name, "[{}]", known) or _count_up(name, "{}", known)
    if sliced is None:
        return numbered if f"{name}[0]" in known else []
    return read_slice(written, numbered)


def read_slice(written: str, parts: Sequence[Part]) -> list[Part]:
    """Select from the parts of an array what a slice such as `obs[0:3]` names; a wrong one is refused.

    >>> read_slice("obs[3]", ["a", "b"])
    Traceback (most recent call last):
    ...
    actcause.errors.DataError: 'obs[3]' is outside 'obs', which has 2 values: 0 to 1.
    """
    sliced = SLICE.fullmatch(written)
    if sliced is None or not parts:
        return []
    start, stop = (int(sliced[end]) if sliced[end] not in ("", "-") else None for end in ("start", "stop"))
    if not sliced["colon"]:
        start = 0 if start is None else start
        stop = start + 1 if start != -1 else None
    chosen = list(parts[start:stop])
    if not chosen or (start is not None and start >= len(parts)) or (stop is not None and stop > len(parts)):
        raise DataError(
            f"{quote(written)} is outside '{sliced['name']}', which has {len(parts)} values: 0 to {len(parts) - 1}."
        )
    return chosen


def find_columns(written: Any, columns: Sequence[str]) -> list[str]:
    """List the columns that a name or a slice stands for; an unknown one is refused with the nearest."""
    found = expand_slice(written, columns) if isinstance(written, str) else []
    if not found:
        near = suggest(written, columns) if isinstance(written, str) else ""
        listed = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
        raise DataError(f"There is no column {quote(written)}{near or f'; the columns are {listed}.'}")
    return found


def split_arrays(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Take arrays of shape (rows, k) apart into columns.

    >>> import numpy as np
    >>> list(split_arrays({"t": np.zeros(5), "obs": np.zeros((5, 2))}))
    ['t', 'obs[0]', 'obs[1]']
    """
    columns: dict[str, Array] = {}
    for name, values in arrays.items():
        if values.ndim == 2:
            columns |= {f"{name}[{position}]": values[:, position] for position in range(values.shape[1])}
        else:
            columns[name] = values
    return columns


def _count_up(name: str, form: str, known: set[str]) -> list[str]:
    found: list[str] = []
    while (column := name + form.format(len(found))) in known:
        found.append(column)
    return found
