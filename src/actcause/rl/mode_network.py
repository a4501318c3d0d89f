"""A network of what happens most often, where a usual one learns what happens on average.

A pusher goes where its action says, unless something stops it. The average of both is right nowhere. Here an error
counts less the larger it already is, and the width within which errors count falls while the network learns: it settles
on the one course that many rows share, to a thousandth of its size, and rows that took another stand far off.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn

from .short_training import train_network

WIDEST, NARROWEST = 0.5, 0.01  # spreads of the change within which an error counts, first and last
FALLING = 0.7  # share of the steps in which it falls
RATE = 1e-2


class ModeNetwork(nn.Module):
    """An affine map with a small network on top of it that begins as nothing: straight courses are exact at once."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self.straight = nn.Linear(inputs, outputs)
        self.bent = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
        )
        nn.init.zeros_(self.bent[-1].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.bent[-1].bias)  # type: ignore[arg-type]

    def forward(self, rows: Tensor) -> Tensor:
        predicted: Tensor = self.straight(rows) + self.bent(rows)
        return predicted


def fit_mode(
    inputs: Tensor,
    wanted: Tensor,
    rows: Tensor,
    *,
    steps: int,
    width: int,
    batch: int = 512,
    start: ModeNetwork | None = None,
) -> ModeNetwork:
    """Learn from `rows` what `wanted`, in units of its own size, most often is; go on from `start` if it fits."""
    shape = (wanted.shape[1], inputs.shape[1])
    again = start is not None and start.straight.weight.shape == shape
    network = deepcopy(start) if again and start is not None else ModeNetwork(shape[1], width, shape[0])
    taken = 0

    def measure(picked: Tensor) -> Tensor:
        nonlocal taken
        taken += 1
        near = WIDEST * (NARROWEST / WIDEST) ** min(1.0, taken / (FALLING * steps))
        return torch.log1p(((network(inputs[picked]) - wanted[picked]) / near) ** 2).mean()

    train_network(network, measure, lambda: rows[torch.randint(len(rows), (batch,))], steps=steps, rate=RATE)
    return network
