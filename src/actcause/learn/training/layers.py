"""Layers for many networks at once: every weight has a first axis for the network it belongs to.

Networks of one shape that are trained side by side (the folds of cross-fitting, several seeds) are one batched
matrix product instead of many small ones. A group never sees another's numbers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Linear(nn.Module):
    """`groups` affine maps: (groups, rows, inputs) to (groups, rows, outputs)."""

    def __init__(self, groups: int, inputs: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(groups, inputs, outputs) * gain * math.sqrt(2.0 / max(inputs, 1)))
        self.bias = nn.Parameter(torch.zeros(groups, 1, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, rows, self.weight)


class ClassLinear(nn.Module):
    """An affine map for each class of factors: (groups, factors, rows, inputs) to (…, outputs)."""

    def __init__(self, groups: int, classes: Sequence[int], inputs: int, outputs: int) -> None:
        super().__init__()
        kinds = max(classes) + 1
        self.weight = nn.Parameter(torch.randn(groups, kinds, inputs, outputs) * math.sqrt(2.0 / max(inputs, 1)))
        self.bias = nn.Parameter(torch.zeros(groups, kinds, 1, outputs))
        self.kind: Tensor
        self.register_buffer("kind", torch.tensor(classes), persistent=False)

    def forward(self, rows: Tensor) -> Tensor:
        groups, factors, count, inputs = rows.shape
        flat = rows.reshape(groups * factors, count, inputs)
        weight = self.weight[:, self.kind].reshape(groups * factors, inputs, -1)
        bias = self.bias[:, self.kind].reshape(groups * factors, 1, -1)
        return torch.baddbmm(bias, flat, weight).reshape(groups, factors, count, -1)


def perceptron(groups: int, inputs: int, width: int, outputs: int, layers: int) -> nn.Sequential:
    """Make `layers` hidden layers with SiLU, and an affine one with small weights, so that outputs begin near 0."""
    parts: list[nn.Module] = []
    for position in range(layers):
        parts += [Linear(groups, inputs if position == 0 else width, width), nn.SiLU()]
    return nn.Sequential(*parts, Linear(groups, width if layers else inputs, outputs, gain=0.5))


class Residual(nn.Module):
    """`blocks` residual blocks of one width, then an affine map with small weights.

    The blocks come before their activations (He et al., "Identity mappings in deep residual networks", 2016): what a
    row says reaches the end unchanged from the first step on, so that large learning rates do no harm.
    """

    def __init__(self, groups: int, width: int, outputs: int, blocks: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(perceptron(groups, width, width, width, 1) for _ in range(blocks))
        self.last = Linear(groups, width, outputs, gain=0.5)

    def forward(self, rows: Tensor) -> Tensor:
        for block in self.blocks:
            rows = rows + block(functional.silu(rows))
        result: Tensor = self.last(functional.silu(rows))
        return result


def select_groups(module: nn.Module, groups: slice) -> nn.Module:
    """Copy a module with some of its groups only."""
    one = copy.deepcopy(module)
    for name, weight in group_weights(module, groups).items():
        place, _, last = name.rpartition(".")
        getattr(one.get_submodule(place), last).data = weight
    return one


def group_weights(module: nn.Module, groups: slice) -> dict[str, Tensor]:
    """Take the weights of some of a module's groups, as a state that a smaller module of the same kind can load."""
    return {name: value[groups].clone() for name, value in module.state_dict().items()}


def beside_own(inputs: Tensor, own: int | None) -> Tensor:
    """Put the outcome's own columns beside each factor's: (…, factors, columns) to (…, factors, 2 columns)."""
    if own is None:
        return inputs
    return torch.cat([inputs, inputs[..., own : own + 1, :].expand_as(inputs)], dim=-1)
