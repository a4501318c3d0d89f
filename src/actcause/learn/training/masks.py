"""Binaries to try: all of them where they are few, else proposals of the current network and their neighbours."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

LISTED = 16  # up to so many binaries are all tried


def every(factors: int, own: int | None, most: int = LISTED) -> Tensor | None:
    """List all binaries that hold the outcome's own factor, shortest first; None if there are more than `most`.

    >>> every(3, own=2).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    others = [position for position in range(factors) if position != own]
    if 2 ** len(others) > most:
        return None
    rows = []
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            rows.append([float(position == own or position in chosen) for position in range(factors)])
    return torch.tensor(rows)


def only(factors: int, own: int | None, device: torch.device) -> Tensor:
    """Return the binary of the outcome's own factor alone."""
    return torch.tensor([float(position == own) for position in range(factors)], device=device)


def random(shape: tuple[int, ...], own: int | None, generator: torch.Generator) -> Tensor:
    """Draw binaries whose length is uniform: of shape (…, factors), the outcome's own factor always in."""
    level = torch.rand(*shape[:-1], 1, device=generator.device, generator=generator)
    masks = (torch.rand(*shape, device=generator.device, generator=generator) < level).float()
    if own is not None:
        masks[..., own] = 1
    return masks


def propose(odds: Tensor, alone: Tensor, own: int | None, count: int, generator: torch.Generator) -> Tensor:
    """Propose `count` binaries for each row, (groups, count, rows, factors), from log-odds (groups, rows, factors).

    The first is the outcome's own factor alone, the second all factors, the third what the network says; then
    samples of the network and neighbours of what it says, one bit away, half of either.
    """
    groups, rows, factors = odds.shape
    likely = torch.sigmoid(odds)
    said = (odds > 0).float()
    left = count - 3
    sampled = left // 2
    noise = torch.rand(groups, left, rows, factors, device=odds.device, generator=generator)
    samples = (noise[:, :sampled] < likely.clamp(0.05, 0.95).unsqueeze(1)).float()
    if own is not None:
        noise[..., own] = -1  # its bit is never flipped
    flipped = torch.zeros_like(noise[:, sampled:]).scatter_(-1, noise[:, sampled:].argmax(-1, keepdim=True), 1.0)
    neighbours = (said.unsqueeze(1) - flipped).abs()
    first = alone.expand(groups, 1, rows, factors)
    masks = torch.cat([first, torch.ones_like(first), said.unsqueeze(1), samples, neighbours], dim=1)
    if own is not None:
        masks[..., own] = 1
    return masks
