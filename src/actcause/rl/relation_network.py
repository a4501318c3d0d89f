"""A network of factors that look at each other: how each will change, given all of them and what lies between.

Factors of one class share weights, and two factors meet through the differences of the features that they share, so
that what is learned of one obstacle holds for all, wherever it stands. Two rounds: a pusher feels the block, and what
stands behind it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..learn.training.layers import Linear, perceptron


class RelationNetwork(nn.Module):
    """`groups` networks side by side: values of factors, `(groups, rows, factors, names)`, to their changes.

    `shared`, `(factors, names)`, says which factor has which feature, `kinds`, `(factors,)`, of which class it is.
    """

    shared: Tensor
    kind: Tensor

    def __init__(self, groups: int, shared: Tensor, kinds: Tensor, width: int) -> None:
        super().__init__()
        names, classes = shared.shape[1], int(kinds.max()) + 1
        node = names + classes
        self.register_buffer("shared", shared, persistent=False)
        self.register_buffer("kind", functional.one_hot(kinds, classes).float(), persistent=False)
        self.rounds = nn.ModuleList(_Round(groups, size, names, width) for size in (node, width))
        self.last = perceptron(groups, width, width, names, 1)

    def forward(self, values: Tensor) -> Tensor:
        groups, rows, factors, names = values.shape
        meeting = self.shared.unsqueeze(0) * self.shared.unsqueeze(1)  # (factors, factors, names)
        between = (values.unsqueeze(3) - values.unsqueeze(2)) * meeting
        nodes = torch.cat([values, self.kind.expand(groups, rows, -1, -1)], dim=-1)
        for one in self.rounds:
            nodes = one(nodes, between)
        changed: Tensor = self.last(nodes.reshape(groups, rows * factors, -1))
        return changed.reshape(groups, rows, factors, names)


class _Round(nn.Module):
    """Every factor hears of every other, and keeps the strongest of what it hears."""

    def __init__(self, groups: int, size: int, names: int, width: int) -> None:
        super().__init__()
        self.hearer, self.speaker = Linear(groups, size, width), Linear(groups, size, width)
        self.between = Linear(groups, names, width)
        self.heard = Linear(groups, width, width)
        self.own = Linear(groups, size + width, width)

    def forward(self, nodes: Tensor, between: Tensor) -> Tensor:
        groups = len(nodes)

        def apply(layer: nn.Module, part: Tensor) -> Tensor:
            result: Tensor = layer(part.reshape(groups, -1, part.shape[-1]))
            return result.reshape(*part.shape[:-1], -1)

        met = apply(self.hearer, nodes).unsqueeze(3) + apply(self.speaker, nodes).unsqueeze(2)
        met = functional.silu(met + apply(self.between, between))
        strongest = apply(self.heard, met).amax(dim=3)
        return functional.silu(apply(self.own, torch.cat([nodes, strongest], dim=-1)))
