"""Factors as numbers for networks: a column for each name of a feature, whoever has it, scaled alike for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..envs.base import Array

if TYPE_CHECKING:
    from ..data import Recording

LEAST = 1e-6  # of a spread, so that one may divide by it


class FactorValues:
    """Reads states and changes as `(rows, factors, names)`, in spreads of each feature.

    `inputs` are the factors that nothing in the recording decides (actions), `bodies` all others; `shared`,
    `(factors, names)`, says who has which feature, `kinds`, `(factors, classes)`, of which class each factor is.
    """

    def __init__(self, recording: Recording) -> None:
        names = list(dict.fromkeys(name for factor in recording.factors for name in recording.features[factor]))
        self._columns = [
            [(names.index(name), k) for k, name in enumerate(recording.features[factor])]
            for factor in recording.factors
        ]
        self.inputs = [recording.index(factor) for factor in recording.inputs]
        self.bodies = [place for place in range(len(recording.factors)) if place not in self.inputs]
        self.shared = torch.zeros(len(recording.factors), len(names))
        self._middle, self._spread = np.zeros(len(names)), np.ones(len(names))
        for place, columns in enumerate(self._columns):
            for column, _ in columns:
                self.shared[place, column] = 1
        for column in range(len(names)):
            held = [recording.state[:, at, k] for at, each in enumerate(self._columns) for c, k in each if c == column]
            self._middle[column], self._spread[column] = np.mean(held), np.std(held) + LEAST
        classes = list(dict.fromkeys(recording.classes.values()))
        numbers = torch.tensor([classes.index(recording.classes[factor]) for factor in recording.factors])
        self.kinds = torch.nn.functional.one_hot(numbers, len(classes)).float()

    def resembles(self, other: FactorValues, times: float) -> bool:
        """Return whether features spread as they do in another recording, up to so many times."""
        ratio = self._spread / other._spread
        return bool(((ratio < times) & (ratio > 1 / times)).all())

    def read(self, state: Array) -> Tensor:
        """Return states scaled; a feature that a factor does not have is 0."""
        return self._fill(state, self._middle)

    def read_change(self, recording: Recording) -> Tensor:
        """Return how each factor changed, scaled."""
        return self._fill(recording.next_state - recording.state, np.zeros_like(self._middle))

    def find_between(self, values: Tensor, one: list[int], others: list[int]) -> Tensor:
        """Return how far the others are from each of `one`, on the features that both have; 0 elsewhere."""
        between: Tensor = (values[:, others] - values[:, one]) * (self.shared[one] * self.shared[others])
        return between

    def read_inputs(self, values: Tensor) -> Tensor:
        """Return the values of all inputs side by side, `(rows, numbers)`."""
        return values[:, self.inputs].flatten(1)

    def _fill(self, given: Array, middle: Array) -> Tensor:
        values = np.zeros((len(given), *self.shared.shape), dtype=np.float32)
        for place, columns in enumerate(self._columns):
            for column, k in columns:
                values[:, place, column] = (given[:, place, k] - middle[column]) / self._spread[column]
        return torch.as_tensor(values)
