"""Past frames as further features: what a factor was one, two, … steps before, and how much it changed.

`x@-1` is the value of `x` one step before, `x.change` the difference of `x` from it: a velocity, where none was
recorded. The first rows of an episode, whose past is not known, are left out. Where an object was absent in an earlier
frame, its nearest later value stands for the missing one, so that it seems to stand still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError, quote
from .layout import Layout, check_name
from .row_arrays import RowArrays, concatenate
from .validate import Array

MOST = 100  # past frames


@dataclass(frozen=True)
class Past:
    """How many past `frames` become features, and the features whose `differences` do (True: of all numbers)."""

    frames: int = 0
    differences: bool | tuple[str, ...] = False

    @classmethod
    def read(cls, frames: Any = None, differences: Any = None) -> Past:
        """Check what was given; None stands for nothing."""
        frames = 0 if frames is None or frames is False else frames
        if not isinstance(frames, int) or isinstance(frames, bool) or not 0 <= frames <= MOST:
            raise DataError(f"'history' must be a number of past frames, 0 to {MOST}. Got {quote(frames)} instead.")
        differences = False if differences is None else differences
        if not isinstance(differences, bool):
            named = isinstance(differences, Sequence) and not isinstance(differences, str)
            if not named or not all(isinstance(name, str) for name in differences):
                raise DataError(
                    f"'differences' must be true, or a list of features such as ['x']. Got {quote(differences)}."
                )
            differences = tuple(differences)
        return cls(frames, differences)

    def __bool__(self) -> bool:
        return self.rows > 0

    @property
    def rows(self) -> int:
        """How many earlier rows are looked at."""
        return max(self.frames, 1 if self.differences else 0)

    def changing(self, layout: Layout, categorical: Iterable[str] = ()) -> dict[str, list[int]]:
        """Return for each factor the positions of the features whose differences are taken."""
        every = {name for named in layout.features.values() for name in named}
        chosen = every if self.differences is True else set(self.differences or ())
        for name in chosen - every:
            check_name(name, sorted(every), f"Unknown feature {quote(name)} (differences)", "the features are")
        kept = set(categorical)
        for name in () if self.differences is True else chosen:
            having = [factor for factor, named in layout.features.items() if name in named]
            if all(f"{factor}.{name}" in kept for factor in having):
                raise DataError(
                    f"'{name}' (differences) is categorical, and categories have no difference: leave it out."
                )
        return {
            factor: [k for k, name in enumerate(named) if name in chosen and f"{factor}.{name}" not in kept]
            for factor, named in layout.features.items()
        }

    def extend_layout(self, layout: Layout, categorical: Iterable[str] = ()) -> Layout:
        """Name the features that there will be."""
        changing = self.changing(layout, categorical)
        features = {
            factor: [
                *named,
                *(f"{name}@-{step}" for step in range(1, self.frames + 1) for name in named),
                *(f"{named[k]}.change" for k in changing[factor]),
            ]
            for factor, named in layout.features.items()
        }
        for factor, named in features.items():
            twice = next((name for position, name in enumerate(named) if name in named[:position]), None)
            if twice is not None:
                raise DataError(f"'{factor}' has a feature '{twice}' already: the past can be added only once.")
        return Layout.build(
            layout.factors,
            features,
            own=layout.own,
            outcome_factor=layout.outcome_factor,
            outcome_features=layout.outcome_features,
            edges=layout.edges,
        )

    def extend_state(
        self, layout: Layout, state: Array, mask: Array | None, episode: Array | None, categorical: Iterable[str] = ()
    ) -> tuple[Array, Array]:
        """Return the state with its past, and which rows have enough of it: rows of an episode follow each other."""
        rows = len(state)
        same = np.ones(rows, dtype=bool) if episode is None else np.concatenate([[False], episode[1:] == episode[:-1]])
        same[:1] = False
        run = np.arange(rows) - np.maximum.accumulate(np.where(same, 0, np.arange(rows)))  # rows before in the episode
        there = np.ones(state.shape[:2], dtype=bool) if mask is None else mask
        frames = [state]
        for step in range(1, self.rows + 1):
            at = np.maximum(np.arange(rows) - step, 0)
            known = there[at] & (run >= step)[:, None]
            frames.append(np.where(known[:, :, None], state[at], frames[-1]))
        changing = self.changing(layout, categorical)
        width = max(len(named) * (self.frames + 1) + len(changing[factor]) for factor, named in layout.features.items())
        extended = np.zeros((rows, len(layout.factors), width), dtype=state.dtype)
        for position, (factor, named) in enumerate(layout.features.items()):
            parts = [frame[:, position, : len(named)] for frame in frames[: self.frames + 1]]
            if changing[factor]:
                parts.append((state - frames[1])[:, position, changing[factor]])
            joined = np.concatenate(parts, axis=1)
            extended[:, position, : joined.shape[1]] = joined
        extended[~there] = 0
        return extended, run >= self.rows

    def extend_metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Name the categories that there will be: past values of a category are categories."""

        def earlier(name: str) -> list[str]:
            return [] if name.startswith("next.") else [f"{name}@-{step}" for step in range(1, self.frames + 1)]

        extended = dict(metadata)
        if "categorical" in metadata:
            extended["categorical"] = [name for one in metadata["categorical"] for name in (one, *earlier(one))]
        if "categories" in metadata:
            texts = metadata["categories"].items()
            extended["categories"] = {name: listed for one, listed in texts for name in (one, *earlier(one))}
        return extended


def add_past(batches: Iterable[RowArrays], past: Past) -> Iterator[RowArrays]:
    """Give the rows of one recording their past, across batches; rows without enough of it are left out."""
    held: RowArrays | None = None
    ended: set[int] = set()
    for batch in batches:
        if held is not None and held.columns_present != batch.columns_present:
            raise DataError("The rows have other columns than those before: all batches must have the same.")
        joined = batch if held is None else concatenate([held, batch])
        _check_together(joined.episode, ended)
        categorical = joined.metadata.get("categorical", ())
        state, enough = past.extend_state(joined.layout, joined.state, joined.mask, joined.episode, categorical)
        enough[: 0 if held is None else len(held)] = False
        held = joined.take(slice(-past.rows, None))
        if enough.any():
            chosen = joined.take(enough)
            yield type(batch).of(
                past.extend_layout(joined.layout, categorical),
                state=state[enough],
                outcome=chosen.outcome,
                cause=chosen.cause,
                mask=chosen.mask,
                episode=chosen.episode,
                extra=chosen.extra,
                metadata=past.extend_metadata(chosen.metadata),
            )


def _check_together(episode: Array | None, ended: set[int]) -> None:
    """Refuse an episode that goes on after another; `ended` are those that have been seen to end."""
    if episode is None:
        return
    for last in np.flatnonzero(episode[1:] != episode[:-1]):
        ended.add(int(episode[last]))
        if int(episode[last + 1]) in ended:
            raise DataError("The rows of an episode must be together to have a past: sort them by episode.")
