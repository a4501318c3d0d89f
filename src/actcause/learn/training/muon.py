"""Muon: an optimiser for matrices whose steps turn all directions alike, however small their gradients.

A matrix moves along its momentum with all singular values set to about 1, which some steps of a polynomial reach
without a decomposition (Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024). What is no
matrix, or a very thin one, moves as with Adam. Rare causes among common ones are small directions of the gradient.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
FIRST, SECOND, TINY = 0.9, 0.99, 1e-8  # Adam's, for what is no matrix
RATIO = 4.0  # how much larger a matrix's learning rate is than that of other weights
THIN = 16  # a matrix with fewer rows or columns is none
POLYNOMIAL = (3.4445, -4.7750, 2.0315)
ROUNDS = 5


class Muon(torch.optim.Optimizer):
    """Moves weights (…, rows, columns); leading axes are many matrices side by side."""

    def __init__(self, parameters: Iterable[dict[str, Any]], lr: float | Tensor) -> None:
        super().__init__(parameters, {"lr": lr, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            rate = group["lr"]
            matrices: dict[tuple[int, ...], list[Tensor]] = {}
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if group["weight_decay"]:
                    parameter.mul_(1 - rate * group["weight_decay"])
                if parameter.dim() > 2 and min(parameter.shape[-2:]) >= THIN:
                    matrices.setdefault(tuple(parameter.shape[-2:]), []).append(parameter)
                else:
                    self._move_plain(parameter, rate)
            for shape, members in matrices.items():  # those of one shape together: few large products
                self._move_matrices(members, shape, rate)

    def _move_matrices(self, members: list[Tensor], shape: tuple[int, ...], rate: float | Tensor) -> None:
        wanted = []
        for parameter in members:
            state = self.state[parameter]
            assert parameter.grad is not None
            if not state:
                state["momentum"] = torch.zeros_like(parameter)
            state["momentum"].lerp_(parameter.grad, 1 - MOMENTUM)
            wanted.append(parameter.grad.lerp(state["momentum"], MOMENTUM).reshape(-1, *shape))
        turned = orthogonalise(torch.cat(wanted)) * (-RATIO * max(1.0, shape[1] / shape[0]) ** 0.5)
        for parameter, step in zip(members, turned.split([len(part) for part in wanted]), strict=True):
            parameter.add_(step.reshape(parameter.shape) * rate)

    def _move_plain(self, parameter: Tensor, rate: float | Tensor) -> None:
        state = self.state[parameter]
        assert parameter.grad is not None
        if not state:
            state["first"], state["second"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
            state["steps"] = torch.zeros((), device=parameter.device)
        state["steps"] += 1
        state["first"].lerp_(parameter.grad, 1 - FIRST)
        state["second"].lerp_(parameter.grad.square(), 1 - SECOND)
        spread = (state["second"] / (1 - SECOND ** state["steps"])).sqrt() + TINY
        parameter.sub_(rate * state["first"] / (1 - FIRST ** state["steps"]) / spread)


def orthogonalise(matrices: Tensor) -> Tensor:
    """Set the singular values of (…, rows, columns) to about 1.

    >>> values = torch.linalg.svdvals(orthogonalise(torch.diag(torch.tensor([3.0, 0.5]))))
    >>> bool(((values > 0.6) & (values < 1.3)).all())
    True
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    turned: Tensor = matrices.transpose(-1, -2) if tall else matrices
    turned = turned / (turned.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    a, b, c = POLYNOMIAL
    for _ in range(ROUNDS):
        square = turned @ turned.transpose(-1, -2)
        turned = a * turned + (b * square + c * square @ square) @ turned
    return turned.transpose(-1, -2) if tall else turned
