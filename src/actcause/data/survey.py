"""What only a pass over all rows of a table can tell: the texts of categories, and whether objects go missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .categories import TextCollector
from .mapping import ColumnMap
from .tables import Chunk, is_missing
from .validate import Array


@dataclass(frozen=True)
class Survey:
    """The texts of categorical features, by the feature's name, and whether some object is absent somewhere."""

    categories: Mapping[str, tuple[str, ...]]
    absent: bool

    @classmethod
    def of(cls, mapped: ColumnMap, parts: Iterable[Chunk]) -> Survey:
        """Look at all rows, a chunk at a time."""
        columns = {c: feature for c, feature in mapped.categorical_columns.items() if feature not in mapped.categories}
        collector = TextCollector()
        absent = bool(mapped.present)
        for chunk in parts:
            for column, feature in columns.items():
                collector.add(feature, np.asarray(chunk[column]))
            others = [name != mapped.layout.own for name in mapped.layout.factors]
            absent = absent or bool(find_absent(mapped, chunk)[:, others].any())
        return cls({**collector.categories(), **mapped.categories}, absent)


def find_absent(mapped: ColumnMap, chunk: Chunk) -> Array:
    """(rows, factors): where all values of a factor are missing; factors with a column for it are left to that."""
    count = len(next(iter(chunk.values())))
    found = np.zeros((count, len(mapped.layout.factors)), dtype=bool)
    for position, (factor, columns) in enumerate(zip(mapped.layout.factors, mapped.state, strict=True)):
        if factor not in mapped.present:
            missing = [find_missing(np.asarray(chunk[column])) for column in columns]
            found[:, position] = np.logical_and.reduce(missing)
    return found


def find_missing(values: Array) -> Array:
    """Tell where a column has no value.

    >>> find_missing(np.array([1.0, np.nan])).tolist(), find_missing(np.array(["", "shut"], dtype=object)).tolist()
    ([False, True], [True, False])
    """
    if values.dtype.kind in "iub":
        return np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
