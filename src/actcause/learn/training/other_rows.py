"""Rows kept with what was learned, from which factors are taken when others are exchanged."""

from __future__ import annotations

import torch
from torch import Tensor, nn

KEPT = 4096


class OtherRows(nn.Module):
    """`KEPT` rows of each replica: `inputs` (replicas, rows, factors, columns), `present` (replicas, rows, factors)."""

    def __init__(self, replicas: int, factors: int, columns: int) -> None:
        super().__init__()
        self.inputs: Tensor
        self.present: Tensor
        self.register_buffer("inputs", torch.zeros(replicas, KEPT, factors, columns))
        self.register_buffer("present", torch.ones(replicas, KEPT, factors))

    def keep(self, replica: int, inputs: Tensor, present: Tensor | None) -> None:
        """Keep rows, evenly spaced; several times where there are fewer."""
        picked = torch.linspace(0, len(inputs) - 1, KEPT, device=inputs.device).long()
        self.inputs[replica] = inputs[picked]
        if present is not None:
            self.present[replica] = present[picked]
