"""The networks of joint inference: a forward model under a mask, a map from states to binaries, and the own state's.

The first two see a factor beside the outcome's own previous state, and factors of one class share all weights. The
paper's Appendix "JACI Network" adds up embeddings; so do these. What is learned about several factors together, such as
whether two bodies will meet, is learned after the sum: embeddings are shallow, and residual blocks follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import quote
from ..errors import LearnError
from .batches import FOLDS
from .encoding import Encoder
from .layers import ClassLinear, Linear, Residual, perceptron

OWN_STATE_WIDTH = 64
Nets = Mapping[str, nn.Module]
Network = TypeVar("Network", bound=nn.Module)


class Embedding(nn.Module):
    """Each factor on its own: (groups, rows, factors, inputs) to (groups, factors, rows, width)."""

    def __init__(self, groups: int, classes: Sequence[int], inputs: int, width: int) -> None:
        super().__init__()
        self.first = ClassLinear(groups, classes, inputs, width)
        self.last = Linear(groups, width, width, gain=0.5)

    def forward(self, rows: Tensor) -> Tensor:
        first = functional.silu(self.first(rows.transpose(1, 2)))
        groups, factors, count, width = first.shape
        embedded: Tensor = self.last(first.reshape(groups, factors * count, width))
        return embedded.reshape(groups, factors, count, width)


class MaskedModel(nn.Module):
    """f(s, b): predicts the outcome from the factors that a binary names, and from no others.

    The mask multiplies embeddings, not values, so that a value of 0 is not taken for a factor left out.
    """

    def __init__(
        self, groups: int, classes: Sequence[int], inputs: int, outputs: int, *, width: int, layers: int
    ) -> None:
        super().__init__()
        self.embedding = Embedding(groups, classes, inputs, width)
        self.head = Residual(groups, width, outputs, layers)

    def forward(self, embedded: Tensor, masks: Tensor) -> Tensor:
        """Map embedded factors (groups, factors, rows, width), masks (groups, binaries, rows, factors) to outcomes.

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
    """h(s): for each factor the log-odds that it is a cause, from its own embedding and that of the whole state."""

    def __init__(self, groups: int, classes: Sequence[int], inputs: int, *, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = Embedding(groups, classes, inputs, width)
        self.context = Residual(groups, width, width, layers)
        self.head = Residual(groups, width, 1, 1)

    def forward(self, rows: Tensor, present: Tensor | None = None) -> Tensor:
        """Map (groups, rows, factors, inputs) to (groups, rows, factors)."""
        embedded = self.embedding(rows)
        if present is not None:
            embedded = embedded * present.transpose(1, 2).unsqueeze(-1)
        groups, factors, count, width = embedded.shape
        together = embedded + self.context(embedded.sum(dim=1)).unsqueeze(1)
        odds: Tensor = self.head(together.reshape(groups, factors * count, width))
        return odds.reshape(groups, factors, count).transpose(1, 2)


def own_state_model(encoder: Encoder, replicas: int) -> nn.Module:
    """Make a model of the outcome by its own factor alone, for each replica and each half of its episodes."""
    return perceptron(FOLDS * replicas, encoder.columns, OWN_STATE_WIDTH, encoder.outputs, 2)


def find_network(nets: Nets, name: str, kind: type[Network]) -> Network:
    """Return the network of this name, which is of this kind."""
    network = nets[name]
    assert isinstance(network, kind)
    return network


def find_device(name: str) -> torch.device:
    """Return the device of this name for networks to be on, or refuse one that is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as wrong:
        raise LearnError(f"The device must be auto, cpu or cuda. Got {quote(name)} instead.") from wrong
    if device.type == "cuda" and not torch.cuda.is_available():
        raise LearnError("The device 'cuda' is not available here; say {device:cpu} or 'auto'.", parameter="device")
    if device.type not in ("cpu", "cuda"):
        raise LearnError(f"The device must be auto, cpu or cuda. Got {quote(name)} instead.")
    return device


def to_probabilities(odds: np.ndarray[Any, Any], temperature: float) -> np.ndarray[Any, Any]:
    """Turn log-odds into probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds / temperature, -60, 60))))
