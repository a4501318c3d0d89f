"""The two networks as the paper's Appendix "JACI Network" describes them.

A perceptron shared by all factors (a 1D convolution) embeds each factor; the embeddings are added up; the sum is
appended to each embedding for a second shared perceptron. The state-to-binary network h reads a bit off each factor.
The forward model f masks the embeddings before they are added, and a last perceptron turns the sum of the second
embeddings into a prediction. Factors of one class share all weights; of different classes, all but the first layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..training.layers import ClassLinear, perceptron

COLUMNS = 4  # as in the paper's domains: one penalty then serves outcomes of any width
LARGEST = 3.0  # the largest standard deviation that is predicted, in spreads of the outcome


class FactorEmbedding(nn.Module):
    """The first convolution: (groups, rows, factors, inputs) to (groups, factors, rows, embedding)."""

    def __init__(
        self, groups: int, classes: Sequence[int], inputs: int, *, width: int, embedding: int, layers: int
    ) -> None:
        super().__init__()
        self.first = ClassLinear(groups, classes, inputs, width)
        self.rest = perceptron(groups, width, width, embedding, layers - 1)

    def forward(self, rows: Tensor) -> Tensor:
        first = functional.silu(self.first(rows.transpose(1, 2)))
        groups, factors, count, width = first.shape
        embedded: Tensor = self.rest(first.reshape(groups, factors * count, width))
        return embedded.reshape(groups, factors, count, -1)


class SecondConvolution(nn.Module):
    """Each embedding beside the sum of all: (groups, factors, rows, embedding) to (groups, factors, rows, outputs)."""

    def __init__(self, groups: int, *, width: int, embedding: int, outputs: int, layers: int) -> None:
        super().__init__()
        self.shared = perceptron(groups, 2 * embedding, width, outputs, layers)

    def forward(self, embedded: Tensor) -> Tensor:
        groups, factors, rows, width = embedded.shape
        context = embedded.sum(dim=1, keepdim=True).expand_as(embedded)
        both = torch.cat([embedded, context], dim=-1).reshape(groups, factors * rows, 2 * width)
        shared: Tensor = self.shared(both)
        return shared.reshape(groups, factors, rows, -1)


class GaussianModel(nn.Module):
    """f(s, b): mean and standard deviation of the outcome given the factors that a mask names, and no others.

    The mask multiplies embeddings, not values, so that a value of 0 is not taken for a factor left out.
    """

    def __init__(
        self,
        groups: int,
        classes: Sequence[int],
        inputs: int,
        outputs: int,
        *,
        width: int,
        embedding: int,
        layers: int,
        floor: float,
    ) -> None:
        super().__init__()
        self.floor = floor
        self.embedding = FactorEmbedding(groups, classes, inputs, width=width, embedding=embedding, layers=layers)
        self.second = SecondConvolution(groups, width=width, embedding=embedding, outputs=embedding, layers=layers)
        self.head = perceptron(groups, embedding, width, 2 * outputs, layers)

    def forward(self, embedded: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map embedded factors and a mask (groups, rows, factors) to mean and deviation, (groups, rows, outputs)."""
        kept = mask.transpose(1, 2).unsqueeze(-1)
        # Masked twice: a factor left out must not speak through the second convolution either.
        mean, spread = self.head((self.second(embedded * kept) * kept).sum(dim=1)).chunk(2, dim=-1)
        return mean, self.floor + functional.softplus(spread).clamp(max=LARGEST)


class BitNetwork(nn.Module):
    """h(s): for each factor the log-odds that it is a cause."""

    def __init__(
        self, groups: int, classes: Sequence[int], inputs: int, *, width: int, embedding: int, layers: int
    ) -> None:
        super().__init__()
        self.embedding = FactorEmbedding(groups, classes, inputs, width=width, embedding=embedding, layers=layers)
        self.second = SecondConvolution(groups, width=width, embedding=embedding, outputs=1, layers=layers)

    def forward(self, rows: Tensor, present: Tensor | None = None) -> Tensor:
        """Map (groups, rows, factors, inputs) to (groups, rows, factors)."""
        embedded = self.embedding(rows)
        if present is not None:
            embedded = embedded * present.transpose(1, 2).unsqueeze(-1)
        bits: Tensor = self.second(embedded)
        return bits[..., 0].transpose(1, 2)


def gaussian_misfit(target: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Measure, (…, rows), the outcome's negative log-likelihood without its constant, as if of `COLUMNS` columns."""
    return COLUMNS * (0.5 * ((target - mean) / deviation).square() + deviation.log()).mean(-1)
