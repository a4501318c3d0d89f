"""Rows that the outcome's own state does not explain, and how to show a method as many of these as of others.

A model of the own state alone is trained on each half of the episodes and judges the other half. Where it rarely
errs, as for a ball that mostly just flies, surprising rows are rare: half of the rows shown are then such, and the
outcome is measured by its spread among the rows as shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .batches import FOLDS, DeviceRows, Sampler
from .encoding import Encoded
from .layers import group_weights
from .loop import LossValues, Settings, Stage, one_cycle

SURPRISING = 0.15  # a row: the own-state model misses its outcome by more than this many spreads
RARE = 0.25  # a smaller share of surprising rows is rare
STEPS, BATCH, RATE = 1000, 1024, 3e-3
BLOCK = 8192  # rows judged together


class Surprises:
    """What the own-state model leaves unexplained. Before its stage has run, all rows count alike.

    `surprise` is its error out of sample, `natural` the weight that undoes the balancing, `target` the outcome in
    the spreads of the rows shown, `scale` those spreads in the encoder's, `share` that of a replica's surprising
    rows, `rare` 1 for replicas that are balanced.
    """

    def __init__(self, rows: DeviceRows, model: nn.Module, seeds: Sequence[int]) -> None:
        self.rows, self.model, self.seeds = rows, model, seeds
        device = rows.inputs.device
        self.groups = rows.groups()
        self.strata = [[group] for group in self.groups]
        self.surprise = torch.zeros(len(rows), device=device)
        self.natural = torch.ones(len(rows), device=device)
        self.target = rows.target
        self.scale = torch.ones(rows.replicas, rows.target.shape[1], device=device)
        self.share = [1.0] * rows.replicas
        self.rare = torch.zeros(rows.replicas, device=device)

    def stages(self, most: int | None = None) -> list[Stage]:
        """Plan the training of the own-state model, the network `passive`; none where the outcome has no own factor."""
        if self.rows.own is None:
            return []
        steps = STEPS if most is None else min(most, STEPS)
        return [Stage("passive", steps, self._loss, self._sampler, {"passive": 1.0}, one_cycle(RATE), end=self._find)]

    def pools(self, replica: int) -> list[Tensor]:
        """List the rows of one replica: surprising ones and others apart where these are rare, else all together."""
        mine = self.strata[FOLDS * replica : FOLDS * (replica + 1)]
        hit = [pools[0] for pools in mine if len(pools) > 1]
        rest = torch.cat([pools[-1] for pools in mine])
        return [torch.cat(hit), rest] if hit else [rest]

    def find_surprising(self, replica: int, encoded: Encoded) -> Tensor:
        """Mark the surprising rows among those held out from a replica, (rows,): all where there is no own factor."""
        if self.rows.own is None:
            return torch.ones(len(encoded), dtype=torch.bool, device=self.scale.device)
        return self.miss_alone(replica, encoded) > SURPRISING

    @torch.no_grad()
    def miss_alone(self, replica: int, encoded: Encoded) -> Tensor:
        """Measure by how much the own state's model misses held-out rows, (rows,); without one, a constant."""
        target = torch.as_tensor(encoded.target, device=self.scale.device)
        if self.rows.own is None:
            return (target - target.median(dim=0).values).abs().mean(-1)
        state = group_weights(self.model, slice(FOLDS * replica, FOLDS * (replica + 1)))
        own = torch.as_tensor(encoded.inputs[:, self.rows.own], device=self.scale.device).expand(FOLDS, -1, -1)
        return (_apply(self.model, state, own).mean(dim=0) - target).abs().mean(-1)

    def _sampler(self) -> Sampler:
        seeds = [seed for seed in self.seeds for _ in range(FOLDS)]
        return Sampler([[group] for group in self.groups], BATCH, seeds, "passive", self.rows.inputs.device)

    def _own(self, index: Tensor | slice) -> Tensor:
        return self.rows.inputs[index][..., self.rows.own, :]

    def _loss(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        error = (self.model(self._own(index)) - self.rows.target[index]).abs().mean(-1)
        return error.mean(1).sum(), {"error": error.mean()}

    @torch.no_grad()
    def _find(self) -> None:
        self.strata = []
        self.target = self.rows.target.clone()
        for replica in range(self.rows.replicas):
            rows = self.rows.replica(replica)
            self.surprise[rows] = self._surprise(replica)
            surprising = self.surprise[rows] > SURPRISING
            self.share[replica] = share = float(surprising.float().mean())
            rare = 0 < share < RARE
            for group in self.groups[FOLDS * replica : FOLDS * (replica + 1)]:
                hit = surprising[group - rows.start]
                self.strata.append([group[hit], group[~hit]] if rare and bool(hit.any()) else [group])
            self.rare[replica] = float(rare)
            if rare:
                self.natural[rows] = torch.where(surprising, 2 * share, 2 * (1 - share))
                shown = (1 / self.natural[rows]).unsqueeze(-1)
                mean = (self.rows.target[rows] * shown).sum(0) / shown.sum()
                spread = (((self.rows.target[rows] - mean).square() * shown).sum(0) / shown.sum()).sqrt()
                self.scale[replica] = torch.where(spread > 1e-6, spread, torch.ones_like(spread))
                self.target[rows] /= self.scale[replica]

    def _surprise(self, replica: int) -> Tensor:
        state = group_weights(self.model, slice(FOLDS * replica, FOLDS * (replica + 1)))
        rows = self.rows.replica(replica)
        errors = []
        for at in range(rows.start, rows.stop, BLOCK):
            block = slice(at, min(at + BLOCK, rows.stop))
            own = self._own(block).expand(FOLDS, -1, -1)
            both = (_apply(self.model, state, own) - self.rows.target[block]).abs().mean(-1)
            errors.append(torch.where(self.rows.fold[block] == 0, both[1], both[0]))
        return torch.cat(errors)


def _apply(model: nn.Module, state: dict[str, Tensor], rows: Tensor) -> Tensor:
    result: Tensor = torch.func.functional_call(model, state, (rows,))
    return result
