"""Standardisation that is fitted on training data only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, quote
from .layout import Layout
from .running_statistics import RunningStatistics
from .validate import Array, read_only

if TYPE_CHECKING:
    from .transitions import Transitions

NUMBERS = ("mean", "scale", "outcome_mean", "outcome_scale")


@dataclass(frozen=True, eq=False)
class Standardiser:
    """Shifts and scales every feature to mean 0 and standard deviation 1 on the data it was fitted on.

    Features that never change (padding too) are left alone. An outcome feature whose own previous value is
    a feature shares that feature's shift and scale, so that the outcome's change is scaled and not shifted.

    >>> from actcause.data import Transitions
    >>> train = Transitions(factors=["a"], state=[[[1.0]], [[3.0]]], outcome=[[2.0], [6.0]], own="a")
    >>> standardiser = train.standardiser()
    >>> scaled = standardiser.transform(train)
    >>> scaled.state.ravel(), scaled.outcome.ravel(), scaled.change.ravel()
    (array([-1.,  1.]), array([0., 4.]), array([1., 3.]))
    """

    layout: Layout
    mean: Array  # (factors, width)
    scale: Array
    outcome_mean: Array  # (outcome features,)
    outcome_scale: Array

    @classmethod
    def fit(cls, batches: Iterable[Transitions]) -> Standardiser:
        """Fit on batches of one recording, as `read_batches` gives them; never more than one is held."""
        layout: Layout | None = None
        for batch in batches:
            if layout is None:
                layout = batch.layout
                state = RunningStatistics(batch.state.shape[1:])
                outcome = RunningStatistics(batch.outcome.shape[1:])
            state.add(batch.state, None if batch.mask is None else batch.mask[:, :, None])
            outcome.add(batch.outcome)
        if layout is None:
            raise DataError("A standardiser must be fitted on at least one row. Got none.")
        mean, scale = _shift_and_scale(state)
        outcome_mean, outcome_scale = _shift_and_scale(outcome)
        for k, feature in layout.shared:
            own = layout.index(layout.own or ""), feature
            if state.constant[own] and not outcome.constant[k]:
                mean[own], scale[own] = state.mean[own], outcome_scale[k]
            outcome_mean[k], outcome_scale[k] = mean[own], scale[own]
        return cls(layout, *map(read_only, (mean, scale, outcome_mean, outcome_scale)))

    def transform(self, data: Transitions) -> Transitions:
        """Shift and scale rows; absent objects stay 0."""
        if data.layout != self.layout or data.state.shape[2] != self.mean.shape[1]:
            raise DataError("The data must have the factors and features that the standardiser was fitted on.")
        dtype = data.state.dtype
        state = ((data.state - self.mean) / self.scale).astype(dtype)
        outcome = ((data.outcome - self.outcome_mean) / self.outcome_scale).astype(dtype)
        return data.replaced(state=state, outcome=outcome)

    def restore_outcome(self, outcome: Array) -> Array:
        """Give outcomes (or predictions of them) in the units of the recording."""
        return np.asarray(outcome * self.outcome_scale + self.outcome_mean)

    def to_json(self) -> dict[str, Any]:
        """Give what `from_json` needs besides the layout."""
        return {name: getattr(self, name).tolist() for name in NUMBERS}

    @classmethod
    def from_json(cls, layout: Layout, document: dict[str, Any]) -> Standardiser:
        """Build the standardiser that `to_json` described."""
        try:
            numbers = [np.asarray(document[name], dtype=np.float64) for name in NUMBERS]
        except (KeyError, TypeError, ValueError) as wrong:
            raise DataError(f"Not a description of a standardiser: {quote(wrong)}.") from wrong
        width = numbers[0].shape[-1] if numbers[0].ndim == 2 else 0
        wanted = [(len(layout.factors), width)] * 2 + [(len(layout.outcome_features),)] * 2
        if [array.shape for array in numbers] != wanted:
            raise DataError("The description of the standardiser does not fit the layout: it has other shapes.")
        return cls(layout, *map(read_only, numbers))


def _shift_and_scale(statistics: RunningStatistics) -> tuple[Array, Array]:
    still = statistics.constant | (statistics.std <= 1e-9 * np.abs(statistics.mean))
    return np.where(still, 0.0, statistics.mean), np.where(still, 1.0, statistics.std)
