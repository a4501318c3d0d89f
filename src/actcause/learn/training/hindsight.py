"""Which binary explains an observed outcome best: errors of many binaries, out of sample, and what follows.

Binaries are all listed where there are few. Where there are many, a search starts from what the binary network
says, from the outcome's own factor alone and from all factors, and flips one bit at a time while that helps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from . import masks
from .batches import FOLDS
from .layers import beside_own
from .networks import BinaryNetwork, MaskedModel

LISTED = 64  # up to so many binaries are all tried
ROUNDS = 12  # bits that a search flips at most
DOUBT = 12.0  # log-odds beyond which the network's word adds nothing
PRIOR = 3.0  # how much the network's word counts beside the error, in units of the temperature
NEARLY = 0.01  # how far below the best, as a share of it, still counts as steady
NEAREST = 1e-4  # distances below this are as good as none
NOISE = 1 / 3  # how much of two models' disagreement counts as noise of hindsight, which weighs both
GRID = tuple(2 ** (k / 4) for k in range(-4, 5))  # penalties looked at, as multiples of the one given


@dataclass(frozen=True)
class MaskErrors:
    """Binaries tried for each row, with the error of each: `masks` (tried, rows, factors), `each` (folds, tried, rows).

    `error` (tried, rows) is the mean over the models that judged.
    """

    masks: Tensor
    each: Tensor
    error: Tensor
    odds: Tensor  # (rows, factors): what the binary network says
    full: Tensor  # (rows,): the error seeing all factors
    apart: Tensor  # (rows,): how far the folds' models disagree, seeing all factors
    own: int | None

    def length(self) -> Tensor:
        """Count the factors besides the outcome's own: (tried, rows)."""
        return self.masks.sum(-1) - (0 if self.own is None else 1)

    def cost(self, penalty: float, temperature: float, prior: float = PRIOR) -> Tensor:
        """Add up error, a penalty for each factor, and the network's word as a prior: (tried, rows)."""
        odds = self.odds.clamp(-DOUBT, DOUBT)
        word = self.masks * functional.logsigmoid(odds) + (1 - self.masks) * functional.logsigmoid(-odds)
        if self.own is not None:
            word[..., self.own] = 0
        return self.error + penalty * self.length() - prior * temperature * word.sum(-1)

    def marginal(self, penalty: float, temperature: float, prior: float = PRIOR) -> Tensor:
        """Find how likely each factor is in the binary, given the outcome: (rows, factors)."""
        posterior = torch.softmax(-self.cost(penalty, temperature, prior) / temperature, dim=0)
        return torch.einsum("kb,kbn->bn", posterior, self.masks)

    def by_fold(self, penalty: float) -> Tensor:
        """Find the cheapest binary by each fold's model alone, without its own factor: (folds, rows, factors)."""
        best = (self.each + penalty * self.length()).argmin(dim=1)
        found = [self.masks.gather(0, at.view(1, -1, 1).expand(1, -1, self.masks.shape[-1]))[0] for at in best]
        scored = [k for k in range(self.masks.shape[-1]) if k != self.own]
        return torch.stack(found)[..., scored] > 0.5


@torch.no_grad()
def score_masks(
    forward: MaskedModel,
    binary: BinaryNetwork,
    inputs: Tensor,
    target: Tensor,
    present: Tensor | None,
    own: int | None,
    penalty: float,
    models: int = FOLDS,
) -> MaskErrors:
    """Try binaries for rows of one replica, judged by so many models together: those of both folds, or one."""
    seen = beside_own(inputs, own).unsqueeze(0)
    odds = binary(seen, None if present is None else present.unsqueeze(0))[0]
    embedded = forward.embedding(seen.expand(models, -1, -1, -1))
    rows, factors = odds.shape

    def judge(candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Judge the binaries without absent factors: the error of each by fold, and the folds' disagreement."""
        if present is not None:
            candidates = candidates * present
        predicted = forward(embedded, candidates.unsqueeze(0).expand(models, -1, -1, -1))
        apart = (predicted[0] - predicted[-1]).abs().mean(-1)
        return candidates, (predicted - target).abs().mean(-1), apart

    listed = masks.every(factors, own, LISTED)
    if listed is not None:
        candidates, each, apart = judge(listed.to(odds.device).unsqueeze(1).expand(-1, rows, factors))
        return MaskErrors(candidates, each, each.mean(0), odds, each.mean(0)[-1], apart[-1], own)

    alone = masks.only(factors, own, odds.device).expand(rows, factors)
    said = (odds > 0).float()
    if own is not None:
        said[:, own] = 1
    candidates, each, apart = judge(torch.stack([alone, said, torch.ones_like(said)]))
    collected, errors = [candidates], [each]
    bits = torch.tensor([position for position in range(factors) if position != own], device=odds.device)
    flips = functional.one_hot(bits, factors).float().unsqueeze(1)
    for origin in (0, 1):
        at, cost = candidates[origin], each.mean(0)[origin] + penalty * candidates[origin].sum(-1)
        going = torch.ones_like(cost, dtype=torch.bool)
        for _ in range(ROUNDS):
            near, found, _ = judge((at.unsqueeze(0) - flips).abs())
            best, which = (found.mean(0) + penalty * near.sum(-1)).min(dim=0)
            better = best < cost - 1e-6
            pick = near.gather(0, which.view(1, -1, 1).expand(1, -1, factors))
            at = torch.where(better.unsqueeze(-1), pick[0], at)
            cost = torch.where(better, best, cost)
            collected.append(pick)
            # The first step that does not help is kept as an alternative; then the row waits for others to end.
            errors.append(torch.where(going, found.gather(1, which.view(1, 1, -1).expand(models, 1, -1)), torch.inf))
            going = going & better
            if not bool(going.any()):
                break
    binaries = torch.cat(collected)
    every = _once(binaries, torch.cat(errors, dim=1))
    return MaskErrors(binaries, every, every.mean(0), odds, each.mean(0)[-1], apart[-1], own)


def _once(binaries: Tensor, error: Tensor) -> Tensor:
    """Make an error infinite where a row has tried a binary before, (folds, tried, rows): each counts once."""
    for position in range(1, len(binaries)):
        same = (binaries[:position] == binaries[position]).all(dim=-1) & error[0, :position].isfinite()
        error[:, position] = torch.where(same.any(dim=0), torch.inf, error[:, position])
    return error


def discoveries(found: Sequence[MaskErrors], start: float) -> list[float]:
    """Measure for each penalty of `GRID` the share of bits that both folds' models name, less half of one's alone.

    Too small a penalty lets a model's own noise name factors, and the other model does not share it; too large a one
    leaves out what both could have named.
    """
    both = torch.zeros(len(GRID), 4)
    for part in found:
        for position, factor in enumerate(GRID):
            chosen = part.by_fold(factor * start)
            code = (2 * chosen[0].long() + chosen[1].long()).flatten()
            both[position] += torch.bincount(code, minlength=4).cpu()
    _, second, first, shared = (both / both.sum(dim=1, keepdim=True)).unbind(1)
    return [float(net) for net in shared - (first + second) / 2]


def steadiest_penalty(net: Sequence[float], start: float) -> float:
    """Find the penalty nearest to `start` of those with nearly as many undisputed discoveries as any.

    Only half to twice the penalty that the models were trained with is looked at: far from it they are other models.
    Selection by what models of either half of the data agree on: Sun, Wang & Fang, "Consistent selection of tuning
    parameters via variable selection stability", JMLR 2013.
    """
    best = max(net)
    steady = [factor for factor, value in zip(GRID, net, strict=True) if value >= best - NEARLY * abs(best)]
    return start * min(steady, key=lambda factor: abs(math.log(factor)))


class Distance(NamedTuple):
    """How far a network is from hindsight: its share of wrong bits, and the mean of rows' with and without a cause."""

    share: float
    balanced: float

    @property
    def both(self) -> float:
        """Both in one number: twice as far in either respect is twice as far."""
        return (self.share + NEAREST) * (self.balanced + NEAREST)


def measure_distance(said: Tensor, found: Tensor) -> Distance:
    """Measure how far what a network says, (rows, factors), is from what hindsight found."""
    wrong = said != found
    caused = found.any(dim=1)
    kinds = [wrong[caused], wrong[~caused]]
    balanced = float(np.mean([float(kind.float().mean()) for kind in kinds if len(kind)]))
    return Distance(float(wrong.float().mean()), balanced)


def distance_from_hindsight(said: Tensor, found: Tensor) -> float:
    """Measure how far a network is from hindsight, in one number."""
    return sum(measure_distance(said, found))


def choose_network(misses: Mapping[str, float], noise: float) -> str:
    """Choose the first network that is as near to hindsight as any, but for noise.

    Hindsight is no truth: it cannot see a contact that moves nothing. A network with little decay that is trained for
    long comes ever nearer to it and leaves the truth; it is taken only where it gains more than hindsight's own noise.
    """
    least = min(misses.values())
    return next(name for name, missed in misses.items() if missed <= least + noise)


def choose_simplest(misses: Mapping[str, Distance], noise: Distance) -> str:
    """Choose the first network that is in both respects as near to hindsight as the nearest one, but for noise.

    Where causes are rare, one that names too much errs little among rows with a cause; so the many others count apart.

    >>> misses = {"sums": Distance(0.008, 0.011), "attention": Distance(0.003, 0.012)}
    >>> choose_simplest(misses, Distance(0.001, 0.002)), choose_simplest(misses, Distance(0.006, 0.002))
    ('attention', 'sums')
    >>> choose_simplest({"sums": Distance(0.008, 0.013), "attention": Distance(0.003, 0.019)}, Distance(0.001, 0.002))
    'attention'
    """
    least = min(misses.values(), key=lambda missed: missed.both)
    return next(
        name
        for name, missed in misses.items()
        if all(mine <= best + more for mine, best, more in zip(missed, least, noise, strict=True))
    )
