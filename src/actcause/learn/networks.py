"""The two networks of joint inference: a forward model under a mask, and a map from states to binaries.

Both see a factor beside the outcome's own previous state, and factors of one class share all weights. The paper's
Appendix "JACI Network" adds up embeddings and appends the sum; so do these.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .layers import ClassLinear, perceptron


class Embedding(nn.Module):
    """Each factor on its own: (groups, rows, factors, inputs) to (groups, factors, rows, width)."""

    def __init__(self, groups: int, classes: Sequence[int], inputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.first = ClassLinear(groups, classes, inputs, width)
        self.rest = perceptron(groups, width, width, width, layers - 1)

    def forward(self, rows: Tensor) -> Tensor:
        first = torch.nn.functional.silu(self.first(rows.transpose(1, 2)))
        groups, factors, count, width = first.shape
        embedded: Tensor = self.rest(first.reshape(groups, factors * count, width))
        return embedded.reshape(groups, factors, count, width)


class MaskedModel(nn.Module):
    """f(s, b): predicts the outcome from the factors that a binary names, and from no others.

    The mask multiplies embeddings, not values, so that a value of 0 is not taken for a factor left out.
    """

    def __init__(
        self, groups: int, classes: Sequence[int], inputs: int, outputs: int, *, width: int, layers: int
    ) -> None:
        super().__init__()
        self.embedding = Embedding(groups, classes, inputs, width, layers)
        self.head = perceptron(groups, width, width, outputs, layers)

    def forward(self, embedded: Tensor, masks: Tensor) -> Tensor:
        """Embedded factors (groups, factors, rows, width), masks (groups, binaries, rows, factors) to predictions.

        Returns (groups, binaries, rows, outputs).
        """
        groups, factors, rows, width = embedded.shape
        binaries = masks.shape[1]
        summed = torch.bmm(
            masks.permute(0, 2, 1, 3).reshape(groups * rows, binaries, factors),
            embedded.permute(0, 2, 1, 3).reshape(groups * rows, factors, width),
        )
        predicted: Tensor = self.head(summed.reshape(groups, rows * binaries, width))
        return predicted.reshape(groups, rows, binaries, -1).transpose(1, 2)


class BinaryNetwork(nn.Module):
    """h(s): for each factor the log-odds that it is a cause."""

    def __init__(self, groups: int, classes: Sequence[int], inputs: int, *, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = Embedding(groups, classes, inputs, width, layers)
        self.head = perceptron(groups, 2 * width, width, 1, 1)

    def forward(self, rows: Tensor, present: Tensor | None = None) -> Tensor:
        """(groups, rows, factors, inputs) to (groups, rows, factors)."""
        embedded = self.embedding(rows)
        if present is not None:
            embedded = embedded * present.transpose(1, 2).unsqueeze(-1)
        groups, factors, count, width = embedded.shape
        context = embedded.sum(dim=1, keepdim=True).expand_as(embedded)
        both = torch.cat([embedded, context], dim=-1).reshape(groups, factors * count, 2 * width)
        odds: Tensor = self.head(both)
        return odds.reshape(groups, factors, count).transpose(1, 2)
