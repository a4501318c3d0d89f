"""Which encoded columns are measured and which follow from others, so that a factor can be changed consistently.

Beside its own features a factor shows how far it is from the outcome's previous value. Whoever replaces a factor's
features, or asks for the gradient with respect to them, must let those columns follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .encoding import Encoder


@dataclass(frozen=True)
class Span:
    """The columns of one feature: one, of an angle three, or several of which one is on where it is categorical."""

    factor: int
    feature: str
    start: int
    stop: int
    categorical: bool


def spans(encoder: Encoder) -> list[Span]:
    """Where each factor's features are, in their order.

    >>> from actcause.data import collect
    >>> [span.start for span in spans(Encoder.fit(collect("1-in", 500))) if span.factor == 0]
    [0, 1, 2, 3]
    """
    found = []
    for position, factor in enumerate(encoder.layout.factors):
        at = 0
        for feature in encoder.layout.features[factor]:
            width = encoder.count_columns(factor, feature)
            found.append(Span(position, feature, at, at + width, (factor, feature) in encoder.categories))
            at += width
    return found


@dataclass(frozen=True)
class Relative:
    """How the relative columns of each replica follow from a factor's and the own factor's features.

    `column[k] = slope[k] * inputs[factor[k], feature[k]] - own_slope[k] * inputs[own, own_feature[k]] + offset[k]`
    """

    own: int
    factor: Tensor
    feature: Tensor
    own_feature: Tensor
    column: Tensor
    slope: Tensor  # (replicas, relative columns)
    own_slope: Tensor
    offset: Tensor

    @classmethod
    def of(cls, encoders: Sequence[Encoder], device: torch.device) -> Relative | None:
        """For replicas with these encoders; None where there are no relative columns."""
        first = encoders[0]
        own = first.own
        if own is None:
            return None
        places = spans(first)
        before = {span.feature: span for span in places if span.factor == own and not span.categorical}
        shared = [s for s in places if s.factor != own and s.feature in before and not s.categorical]
        if not shared:
            return None
        width = max(span.stop for span in places)
        used = [name for name in before if any(span.feature == name for span in shared)]
        factor = [span.factor for span in shared]
        feature = [span.start for span in shared]
        own_feature = [before[span.feature].start for span in shared]
        column = [width + used.index(span.feature) for span in shared]
        numbers = []
        for encoder in encoders:
            scale, mean = encoder.scale, encoder.mean
            unit = scale[factor, column]
            offset = (mean[factor, feature] - mean[own, own_feature] - mean[factor, column]) / unit
            numbers.append(np.stack([scale[factor, feature] / unit, scale[own, own_feature] / unit, offset]))
        slopes = torch.as_tensor(np.stack(numbers), dtype=torch.float32, device=device).unbind(1)
        return cls(
            own, *(torch.tensor(index, device=device) for index in (factor, feature, own_feature, column)), *slopes
        )

    def update(self, inputs: Tensor) -> Tensor:
        """(replicas, rows, factors, columns) with the relative columns that the others imply."""
        values, own = inputs[..., self.factor, self.feature], inputs[..., self.own, self.own_feature]
        implied = self.slope.unsqueeze(1) * values - self.own_slope.unsqueeze(1) * own + self.offset.unsqueeze(1)
        result = inputs.clone()
        result[..., self.factor, self.column] = implied
        return result
