"""The training loop of small networks: Adam, one cycle of rates."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def train_network(
    network: nn.Module,
    measure: Callable[[Tensor], Tensor],
    draw: Callable[[], Tensor],
    *,
    steps: int,
    rate: float,
) -> None:
    """Let `network` learn: `draw` picks rows, `measure` says what they cost."""
    optimiser = torch.optim.Adam(network.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    for _ in range(steps):
        loss = measure(draw())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
