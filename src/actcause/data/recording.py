"""Recordings of whole states: what every factor was, what every factor became, and (where it is known) why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, quote
from .layout import Layout, check_factor
from .recording_file import read_recording, write_recording
from .row_arrays import same_arrays
from .transitions import Transitions
from .validate import (
    Array,
    check_episodes,
    check_extra,
    check_numbers,
    check_values,
    copy_metadata,
    mark_absent,
    read_only,
)

if TYPE_CHECKING:
    from os import PathLike

ARRAYS = ("state", "next_state", "episode", "step", "cause", "mask")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Recording:
    """Rows of (whole state before, whole state after), validated when built and never changed.

    `state[n, f, d]` is feature `d` of factor `f` in row `n` and `next_state[n, f, d]` the same one step later, 0 beyond
    the factor's named features. `outcomes` are the factors whose next values are to be explained: by default all but
    one called `action`, which nothing in the recording decides. `cause[n, o, f]` says whether factor `f` actually
    caused the next value of outcome `o`, where the truth is known: the true local graph of the row. `episode[n]`
    numbers the episode and `step[n]` the row's step in it. `mask[n, f]` is false where the object is absent; its
    features then count as 0. `edges` are, for each outcome, the factors that are scored: by default all but itself.

    `view` gives one outcome's `Transitions`, which every learner takes.

    >>> state = np.array([[[0.0], [1.0]], [[1.0], [0.0]], [[1.0], [1.0]]])
    >>> after = np.array([[[1.0], [0.0]], [[1.0], [1.0]], [[2.0], [0.0]]])
    >>> recording = Recording(factors=["block", "action"], state=state, next_state=after)
    >>> recording
    <Recording: 3 rows in 1 episode of block, action; outcomes block>
    >>> recording.view("block").change.ravel().tolist()
    [1.0, 0.0, 1.0]
    """

    factors: tuple[str, ...]
    features: Mapping[str, tuple[str, ...]]
    outcomes: tuple[str, ...]
    edges: Mapping[str, tuple[str, ...]]
    state: Array
    next_state: Array
    episode: Array
    step: Array
    cause: Array | None
    mask: Array | None
    extra: Mapping[str, Array]
    metadata: Mapping[str, Any]

    def __init__(
        self,
        *,
        factors: Sequence[str],
        state: Any,
        next_state: Any,
        features: Mapping[str, Sequence[str]] | None = None,
        outcomes: Iterable[str] | None = None,
        edges: Mapping[str, Iterable[str]] | None = None,
        cause: Any = None,
        mask: Any = None,
        episode: Any = None,
        step: Any = None,
        extra: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        before = check_numbers(state, "state", 3, "(rows, factors, features)", "state[:, :, None]")
        after = check_numbers(next_state, "next state", 3, "(rows, factors, features)", "next_state[:, :, None]")
        layout = Layout.build(factors, features, outcome_features=("any",), width=before.shape[2])
        rows, count, _ = before.shape
        if rows == 0:
            raise DataError("There must be at least one row. Got none.")
        if count != len(layout.factors):
            raise DataError(f"{len(layout.factors)} factors are named, but the state holds {count} per row.")
        if after.shape != before.shape:
            raise DataError(f"The next state must be of the state's shape, {before.shape}. Got {after.shape} instead.")
        explained = _check_outcomes(layout, outcomes)
        present = mark_absent(before, check_truth(mask, "mask", (rows, count), "(rows, factors)"), layout)
        if present is not None:
            before, after = (np.where(present[:, :, None], values, 0) for values in (before, after))
        check_values(before, layout)
        check_values(after, layout, "next.")
        truth = check_truth(cause, "cause", (rows, len(explained), count), "(rows, outcomes, factors)")
        if truth is not None and present is not None:
            _refuse_absent_causes(truth, present, layout)
        numbers = np.zeros(rows, dtype=np.int64) if episode is None else check_episodes(episode, rows)
        dtype = np.result_type(before, after)
        values = {
            "factors": layout.factors,
            "features": layout.features,
            "outcomes": explained,
            "edges": _check_edges(layout, explained, edges),
            "state": read_only(before.astype(dtype, copy=False)),
            "next_state": read_only(after.astype(dtype, copy=False)),
            "episode": read_only(numbers),
            "step": read_only(count_steps(numbers) if step is None else check_steps(step, rows)),
            "cause": None if truth is None else read_only(truth),
            "mask": None if present is None else read_only(present),
            "extra": MappingProxyType(
                {name: read_only(check_extra(name, value, rows)) for name, value in (extra or {}).items()}
            ),
            "metadata": MappingProxyType(copy_metadata(metadata or {})),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # -- reading -----------------------------------------------------------------------------------

    @property
    def classes(self) -> Mapping[str, str]:
        """The class of each factor, as the metadata say it; a factor without one is a class of its own."""
        named = self.metadata.get("classes", {})
        return {factor: str(named.get(factor, factor)) for factor in self.factors}

    @property
    def categorical(self) -> tuple[str, ...]:
        """The features that are names rather than amounts, such as `door.state`."""
        return tuple(self.metadata.get("categorical", ()))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The factors that are no outcomes: actions, and whatever else comes from outside."""
        return tuple(factor for factor in self.factors if factor not in self.outcomes)

    @property
    def width(self) -> int:
        """The number of features that the arrays hold for every factor."""
        return int(self.state.shape[2])

    def index(self, factor: str) -> int:
        """Return the position of a factor; an unknown one is refused with the nearest name."""
        return self.factors.index(check_factor(factor, self.factors, "factor"))

    def outcome_index(self, outcome: str) -> int:
        """Return the position of an outcome; an unknown one is refused with the nearest name."""
        return self.outcomes.index(check_factor(outcome, self.outcomes, "outcome"))

    def rows_of(self, outcome: str) -> Array:
        """Return the positions of the rows in which an outcome is present: those of its view."""
        position = self.index(check_factor(outcome, self.outcomes, "outcome"))
        return np.arange(len(self)) if self.mask is None else np.flatnonzero(self.mask[:, position])

    def view(self, outcome: str) -> Transitions:
        """Return one outcome's transitions: the rows in which it is present, with its own cause where that is known.

        >>> from actcause.data import collect, collect_recording
        >>> recording = collect_recording("push", frames=40, seed=1)
        >>> recording.view("block") == collect("push", frames=40, seed=1)
        True
        """
        rows, place = self.rows_of(outcome), self.index(outcome)
        chosen: Any = slice(None) if len(rows) == len(self) else rows
        if not len(rows):
            raise DataError(f"'{outcome}' is absent in every row: there is nothing to view.")
        layout = Layout.build(self.factors, self.features, own=outcome, edges=self.edges[outcome])
        return Transitions.of(
            layout,
            state=self.state[chosen],
            outcome=self.next_state[chosen, place, : len(self.features[outcome])],
            cause=None if self.cause is None else self.cause[chosen, self.outcome_index(outcome)],
            mask=None if self.mask is None else self.mask[chosen],
            episode=self.episode[chosen],
            extra={name: values[chosen] for name, values in self.extra.items()},
            metadata=self.metadata,
        )

    def rates(self) -> dict[str, dict[str, float]]:
        """Return for every outcome how often each factor truly was a cause; empty without truth."""
        return {} if self.cause is None else {outcome: self.view(outcome).rates() for outcome in self.outcomes}

    def to_json(self) -> dict[str, Any]:
        """Say what it holds, in a few numbers."""
        return {
            "rows": len(self),
            "episodes": len(np.unique(self.episode)),
            "factors": {factor: list(self.features[factor]) for factor in self.factors},
            "outcomes": list(self.outcomes),
            "rates": self.rates(),
            "metadata": dict(self.metadata),
        }

    # -- parts -------------------------------------------------------------------------------------

    def subset(self, index: Any) -> Recording:
        """Select the rows that `index` (a slice, positions, or a boolean for each row) names, in its order."""
        if not isinstance(index, slice):
            index = np.asarray(index)
            if index.ndim != 1 or index.dtype.kind not in "biu":
                raise DataError(f"Rows are selected by a slice, positions or booleans. Got {quote(index)} instead.")
        try:
            chosen = np.arange(len(self))[index]
        except IndexError as outside:
            raise DataError(f"The selection does not fit {len(self)} rows: {outside}.") from outside
        if not len(chosen):
            raise DataError("The selection holds no row.")
        arrays = {name: None if (a := getattr(self, name)) is None else a[index] for name in ARRAYS}
        return self.replaced(**arrays, extra={name: values[index] for name, values in self.extra.items()})

    def replaced(self, **changes: Any) -> Recording:
        """Return a copy with other arrays or other metadata, checked again."""
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        unknown = next((name for name in changes if name not in kept), None)
        if unknown is not None:
            raise DataError(f"'{unknown}' cannot be replaced; one of {', '.join(kept)} can.")
        return Recording(**(kept | changes))

    def take_episode(self, number: int) -> Recording:
        """Return the rows of one episode, in the order of their steps."""
        rows = np.flatnonzero(self.episode == number)
        if not len(rows):
            last = int(self.episode.max())
            raise DataError(f"There is no episode {quote(number)}; they are {int(self.episode.min())} to {last}.")
        return self.subset(rows[np.argsort(self.step[rows], kind="stable")])

    def split(self, share: float = 0.8, *, seed: int = 0) -> tuple[Recording, Recording]:
        """Split into two parts, the first with this share of the episodes; no episode is in both."""
        if not isinstance(share, (int, float)) or not 0 < share < 1:
            raise DataError(f"The share of a split must be between 0 and 1. Got {quote(share)} instead.")
        codes = np.unique(self.episode, return_inverse=True)[1]
        count = int(codes.max()) + 1
        if count < 2:
            raise DataError(f"2 parts need at least 2 episodes, and there is {count}.")
        first = min(max(round(share * count), 1), count - 1)
        chosen = np.zeros(count, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(count)[:first]] = True
        return self.subset(chosen[codes]), self.subset(~chosen[codes])

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write one Parquet file (needs the extra `data`)."""
        write_recording(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recording:
        """Read a file of whole states; a file of one outcome's transitions is refused."""
        try:
            return cls(**read_recording(path))
        except DataError as wrong:
            raise DataError(str(wrong) if str(path) in str(wrong) else f"{path}: {wrong}") from wrong

    # -- as a value --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recording):
            return NotImplemented
        names = ("factors", "features", "outcomes", "edges", "metadata")
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and same_arrays(self, other, ARRAYS)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        named = {name: dict(plain[name]) for name in ("features", "edges", "extra", "metadata")}
        return (_rebuild, (plain | named,))

    def __repr__(self) -> str:
        count = len(np.unique(self.episode))
        counted = f"{count} episode{'s' if count != 1 else ''}"
        listed = ", ".join(self.factors[:8]) + (f" and {len(self.factors) - 8} more" if len(self.factors) > 8 else "")
        truth = "" if self.cause is None else ", true causes known"
        return f"<Recording: {len(self)} rows in {counted} of {listed}; outcomes {', '.join(self.outcomes)}{truth}>"


def join_recordings(parts: Iterable[Recording]) -> Recording:
    """Put parts of one recording, with the same names and the same columns, one after the other."""
    held = list(parts)
    if not held:
        raise DataError("There must be at least one part to put together. Got none.")
    first = held[0]
    for part in held[1:]:
        names = ("factors", "features", "outcomes", "edges")
        alike = all(getattr(part, name) == getattr(first, name) for name in names) and [*part.extra] == [*first.extra]
        if not alike or any((getattr(part, name) is None) != (getattr(first, name) is None) for name in ARRAYS):
            raise DataError("Only parts with the same factors, features and columns can be put together.")
    arrays = {
        name: None if getattr(first, name) is None else np.concatenate([getattr(part, name) for part in held])
        for name in ARRAYS
    }
    extra = {name: np.concatenate([part.extra[name] for part in held]) for name in first.extra}
    return first.replaced(**arrays, extra=extra)


def count_steps(episode: Array) -> Array:
    """Give the rows of every episode their numbers, in the order in which they stand.

    >>> count_steps(np.array([3, 3, 5, 3])).tolist()
    [0, 1, 0, 2]
    """
    order = np.argsort(episode, kind="stable")
    ordered = episode[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    steps = np.empty(len(episode), dtype=np.int64)
    steps[order] = np.arange(len(episode)) - np.repeat(begins, np.diff([*begins, len(episode)]))
    return steps


def check_steps(given: Any, rows: int) -> Array:
    """Return one integer of at least 0 for each row."""
    array = np.asarray(given)
    if array.shape != (rows,) or array.dtype.kind not in "iu" or bool((array < 0).any()):
        raise DataError(f"The step must be an integer of at least 0 for each of the {rows} rows. Got {quote(given)}.")
    return array.astype(np.int64, copy=False)


def check_truth(given: Any, what: str, shape: tuple[int, ...], meaning: str) -> Array | None:
    """Return truth values of a shape; 0 and 1 are taken for them."""
    if given is None:
        return None
    array = np.asarray(given)
    if array.shape != shape:
        raise DataError(f"The {what} must be of shape {shape} {meaning}. Got {array.shape} instead.")
    if array.dtype != np.bool_ and (array.dtype.kind not in "fiu" or not bool(np.isin(array, (0, 1)).all())):
        raise DataError(f"The {what} must be true or false everywhere. Got other values; use 0 and 1.")
    return array.astype(np.bool_, copy=False)


def _check_outcomes(layout: Layout, given: Iterable[str] | None) -> tuple[str, ...]:
    if given is None:
        chosen = tuple(factor for factor in layout.factors if factor != "action")
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"The outcomes must be a list of factors. Got {quote(given)} instead.")
    else:
        chosen = tuple(check_factor(name, layout.factors, "outcomes") for name in given)
    if not chosen or len(set(chosen)) < len(chosen):
        raise DataError(f"The outcomes must be one factor or more, none of them twice. Got {quote(chosen)} instead.")
    return chosen


def _check_edges(
    layout: Layout, outcomes: Sequence[str], given: Mapping[str, Iterable[str]] | None
) -> Mapping[str, tuple[str, ...]]:
    """Return the factors that are scored for each outcome; by default all but itself."""
    for outcome in given or {}:
        check_factor(outcome, outcomes, "edges")
    every = {outcome: [name for name in layout.factors if name != outcome] for outcome in outcomes}
    chosen = {outcome: (given or {}).get(outcome, every[outcome]) for outcome in outcomes}
    return MappingProxyType(
        {
            outcome: tuple(check_factor(name, layout.factors, f"edges of {outcome}") for name in names)
            for outcome, names in chosen.items()
        }
    )


def _refuse_absent_causes(cause: Array, present: Array, layout: Layout) -> None:
    odd = cause & ~present[:, None]
    if bool(odd.any()):
        row, _, factor = np.argwhere(odd)[0]
        raise DataError(f"'{layout.factors[factor]}' is absent in row {row} and named as a cause there.")


def _rebuild(values: dict[str, Any]) -> Recording:
    return Recording(**values)
