"""The arrays of some rows, checked and read-only: what files hold and what `Transitions` are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np

from ..errors import DataError
from . import validate
from .layout import Layout
from .validate import (
    Array,
    check_flags,
    check_numbers,
    check_outcome,
    check_values,
    copy_metadata,
    mark_absent,
    read_only,
    zero_absent,
)

ARRAYS = ("state", "outcome", "cause", "mask", "episode")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class RowArrays:
    """Rows of (state before, outcome after), as `Transitions` describes them, without its verbs."""

    layout: Layout
    state: Array
    outcome: Array
    cause: Array | None
    mask: Array | None
    episode: Array | None
    extra: Mapping[str, Array]
    metadata: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        layout: Layout,
        *,
        state: Any,
        outcome: Any,
        cause: Any = None,
        mask: Any = None,
        episode: Any = None,
        extra: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """Check rows whose names are known already: a batch or a part, in which the outcome may well stand still."""
        rows = object.__new__(cls)
        rows._fill(layout, state, outcome, cause, mask, episode, extra, metadata)
        return rows

    @classmethod
    def take_over(cls, rows: RowArrays) -> Self:
        """Make the same rows, which were checked already, an instance of this class."""
        return cls._build({field.name: getattr(rows, field.name) for field in fields(rows)})

    def take(self, index: Any) -> Self:
        """Select rows by a slice, positions or booleans; nothing is checked again."""
        arrays = {name: None if (a := getattr(self, name)) is None else read_only(a[index]) for name in ARRAYS}
        extra = MappingProxyType({name: read_only(values[index]) for name, values in self.extra.items()})
        return self._build({"layout": self.layout, **arrays, "extra": extra, "metadata": self.metadata})

    @property
    def columns_present(self) -> tuple[object, ...]:
        """Which of the optional columns there are, and how wide the state is."""
        flags = tuple(getattr(self, name) is not None for name in ("cause", "mask", "episode"))
        return (self.state.shape[2], *flags, *self.extra)

    def _fill(
        self, layout: Layout, state: Any, outcome: Any, cause: Any, mask: Any, episode: Any, extra: Any, metadata: Any
    ) -> None:
        state = check_numbers(state, "state", 3, "(rows, factors, features)", "state[:, :, None]")
        outcome = check_numbers(outcome, "outcome", 2, "(rows, features)", "outcome[:, None]")
        rows, factors, _ = state.shape
        if rows == 0:
            raise DataError("There must be at least one row. Got none.")
        if factors != len(layout.factors):
            raise DataError(f"{len(layout.factors)} factors are named, but the state holds {factors} per row.")
        if outcome.shape != (rows, len(layout.outcome_features)):
            raise DataError(
                f"The outcome must be of shape {(rows, len(layout.outcome_features))}: one row for each of the "
                f"state's, one column for each of its features. Got {outcome.shape} instead."
            )
        present = mark_absent(state, check_flags(mask, "mask", (rows, factors)), layout)
        truth = check_flags(cause, "cause", (rows, factors))
        state = zero_absent(state, present, truth, layout)
        check_values(state, layout)
        check_outcome(outcome, layout)
        dtype = np.result_type(state, outcome)
        self._assign(
            {
                "layout": layout,
                "state": read_only(state.astype(dtype, copy=False)),
                "outcome": read_only(outcome.astype(dtype, copy=False)),
                "cause": None if truth is None else read_only(truth),
                "mask": None if present is None else read_only(present),
                "episode": None if episode is None else read_only(validate.check_episodes(episode, rows)),
                "extra": MappingProxyType(
                    {name: read_only(validate.check_extra(name, value, rows)) for name, value in (extra or {}).items()}
                ),
                "metadata": MappingProxyType(copy_metadata(metadata or {})),
            }
        )

    @classmethod
    def _build(cls, values: Mapping[str, Any]) -> Self:
        rows = object.__new__(cls)
        rows._assign(values)
        return rows

    def _assign(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # -- as a value --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowArrays):
            return NotImplemented
        return (self.layout, self.metadata) == (other.layout, other.metadata) and same_arrays(self, other, ARRAYS)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __getstate__(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"extra": dict(self.extra), "metadata": dict(self.metadata)}

    def __setstate__(self, plain: dict[str, Any]) -> None:
        kept = {name: read_only(value) if isinstance(value, np.ndarray) else value for name, value in plain.items()}
        extra = {name: read_only(value) for name, value in plain["extra"].items()}
        self._assign(kept | {"extra": MappingProxyType(extra), "metadata": MappingProxyType(plain["metadata"])})


AnyRowArrays = TypeVar("AnyRowArrays", bound=RowArrays)


def concatenate(parts: Iterable[AnyRowArrays]) -> AnyRowArrays:
    """Put parts of one recording, with the same names and the same columns, one after the other."""
    held = list(parts)
    if not held:
        raise DataError("There must be at least one part to put together. Got none.")
    first = held[0]
    for part in held[1:]:
        if part.layout != first.layout or part.columns_present != first.columns_present:
            raise DataError("Only parts with the same factors, features and columns can be put together.")

    def join(name: str) -> Array | None:
        return None if getattr(first, name) is None else np.concatenate([getattr(part, name) for part in held])

    extra = {name: np.concatenate([part.extra[name] for part in held]) for name in first.extra}
    return type(first).of(first.layout, **{name: join(name) for name in ARRAYS}, extra=extra, metadata=first.metadata)


def same_arrays(one: Any, other: Any, names: Iterable[str]) -> bool:
    """Return whether two recordings hold the same arrays of these names and the same extra values, types included."""
    if {*one.extra} != {*other.extra}:
        return False
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    pairs += [(values, other.extra[name]) for name, values in one.extra.items()]
    return all(
        (a is None) == (b is None) and (a is None or (a.dtype == b.dtype and np.array_equal(a, b))) for a, b in pairs
    )
