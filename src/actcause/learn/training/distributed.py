"""Several processes that train as one: each takes its share of every step's rows, and torch averages the gradients.

torch's own launcher starts them, and `torch.distributed` connects them:

    torchrun --nproc-per-node 2 -m actcause train DATA --out RUN

Rows are drawn as by one process and dealt out, so that the same seed sees the same rows in every step, however many
processes there are. What is not a step (checks, encoding, posteriors, choices) is done by each of them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from ..errors import LearnError


@dataclass(frozen=True)
class TrainingProcesses:
    """Those processes that train together, and this one's place among them."""

    rank: int
    size: int

    def share(self, rows: Tensor) -> Tensor:
        """Take every `size`-th of (…, rows), from this process's on: as many rows of every stratum for each."""
        if rows.shape[-1] % self.size:
            raise LearnError(
                f"{self.size} processes cannot share {rows.shape[-1]} rows evenly; give a batch that they divide."
            )
        return rows[..., self.rank :: self.size].contiguous()

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their means over all processes, in one message."""
        if not tensors:
            return
        joined = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(joined)
        joined /= self.size
        for tensor, mean in zip(tensors, torch.split(joined, [tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def any(self, wish: int, device: torch.device) -> int:
        """Take the largest of all processes' wishes, so that all of them do the same next."""
        found = torch.tensor(wish, device=device)
        distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return int(found)


class _Loss(nn.Module):
    """A loss as the forward pass of its networks, which is what `DistributedDataParallel` watches."""

    def __init__(self, loss: Callable[..., Any], nets: Sequence[nn.Module]) -> None:
        super().__init__()
        self.loss, self.nets = loss, nn.ModuleList(nets)

    def forward(self, *given: Any) -> Any:
        return self.loss(*given)


def average_gradients(loss: Callable[..., Any], nets: Sequence[nn.Module]) -> Callable[..., Any]:
    """Return the loss whose backward pass leaves the mean gradients of all processes in these networks."""
    return DistributedDataParallel(_Loss(loss, nets), broadcast_buffers=False)


def training_processes() -> TrainingProcesses | None:
    """Return the processes that train as one with this; None where it trains alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return None
    size = distributed.get_world_size()
    return TrainingProcesses(distributed.get_rank(), size) if size > 1 else None
