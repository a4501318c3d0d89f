"""Probabilities that mean what they say, measured against hindsight: no labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Array = np.ndarray[Any, Any]
BINS = 15
TEMPERATURES = tuple(2 ** (k / 4) for k in range(-12, 13))  # 1/8 to 8


def calibration_error(said: Tensor, found: Tensor) -> float:
    """Average the gap, in bins of the probability said, to how often it came true; `found` may be probabilities too."""
    flat, truth = said.flatten().double().cpu(), found.flatten().double().cpu()
    which = (flat * BINS).long().clamp(max=BINS - 1)
    rows = torch.bincount(which, minlength=BINS)
    means = [torch.bincount(which, weights=values, minlength=BINS) / rows.clamp(min=1) for values in (flat, truth)]
    return float(((means[0] - means[1]).abs() * rows).sum() / max(len(flat), 1))


def temperature_of(odds: Tensor, target: Tensor) -> float:
    """Find what to divide log-odds by so that they predict `target` best (Guo et al., 2017)."""
    losses = [
        float(functional.binary_cross_entropy_with_logits(odds / temperature, target)) for temperature in TEMPERATURES
    ]
    return TEMPERATURES[int(np.argmin(losses))]
