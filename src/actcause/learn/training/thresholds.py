"""Where to cut a score into causes and others, without labels.

For a threshold, let a model see the factors named at it and no others: it is sufficient if that model predicts the
outcome, and minimal if it names few. So the threshold is chosen for which

    share of rows that a model of the named factors leaves unexplained  +  cost x number of factors named

is least on held-out rows. The cost is half of what naming gains where it gains most: the largest fall of that share
per factor named, among thresholds at which at least half of what can be explained is explained. If that is what a
true cause is worth, the last factors to be named are as likely causes as not. The cost is never less than the given
penalty, so that noise names nothing. An error e leaves e / (e + t) of a row unexplained, t being the mean error with
everything named.

One model learns all thresholds at once: each row is shown with what is named at a random threshold, beside that
threshold (as the share of all factors that it names). It differs from a model of random masks in that it may rely on
what is not named: in a row without named factors it expects what usually happens when none is named. That is the
invariance of the paper's preimages.

The paper tunes the thresholds of its baselines with the true causes instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from . import masks
from .batches import Sampler
from .encoding import Encoder
from .forward import BLOCK, Batch, Score, Training, error_loss
from .layers import perceptron
from .loop import LossValues, Settings, Stage, one_cycle
from .networks import Embedding, find_network

Array = np.ndarray[Any, Any]
WIDTH, STEPS, BATCH, RATE = 64, 1000, 512, 3e-3
LEARNED_ROWS, HELD_ROWS = 10_000, 10_000  # of each replica, at most
TOGETHER = 16  # thresholds judged together
SHOWN = 2  # thresholds shown with each row
# Shares of (row, factor) pairs that a threshold names: close together where they are small, for rare causes.
SHARES = np.concatenate([[0.0], np.geomspace(0.0005, 0.05, 20), np.arange(0.06, 1.0, 0.01), [1.0]])


class NamedModel(nn.Module):
    """Predicts the outcome from the factors named at a threshold, and from the threshold."""

    def __init__(self, groups: int, encoder: Encoder) -> None:
        super().__init__()
        self.embedding = Embedding(groups, encoder.class_index, encoder.width, WIDTH)
        self.head = perceptron(groups, WIDTH + 2, WIDTH, encoder.outputs, 2)

    def forward(self, embedded: Tensor, named: Tensor, share: Tensor) -> Tensor:
        """Map (groups, factors, rows, width), (groups, shown, rows, factors), (groups, shown, rows) to predictions."""
        groups, shown, rows, _ = named.shape
        summed = torch.einsum("gsbn,gnbw->gsbw", named, embedded)
        level = torch.stack([share, (share + 1e-3).log() / 3], dim=-1)
        predicted: Tensor = self.head(torch.cat([summed, level], dim=-1).reshape(groups, shown * rows, -1))
        return predicted.reshape(groups, shown, rows, -1)


class Threshold:
    """The choice of thresholds for each replica and each kind of score: `scores` are its functions by name.

    Call `prepare` when the scores' networks are trained, run `stage`, which trains the network `named`, then `cuts`.
    """

    def __init__(self, training: Training, names: Sequence[str], scores: Mapping[str, Score], penalty: float) -> None:
        self.training, self.names, self.scores, self.penalty = training, names, scores, penalty
        device = training.device
        self.shares = torch.as_tensor(SHARES, dtype=torch.float32, device=device)
        self.score = torch.zeros(len(scores), len(training.rows), training.rows.factors, device=device)
        self.pools: list[list[Tensor]] = []
        self.held: list[Tensor] = []  # held-out scores of each group (replica and kind), (rows, factors)
        self.table = torch.zeros(0, device=device)  # (groups, shares): the threshold that names this share
        self.kind = torch.arange(len(scores), device=device).repeat(len(training.replicas)).unsqueeze(-1)

    def prepare(self) -> None:
        """Score the rows that the choice is made with."""
        self.pools, self.held, table = [], [], []
        for replica in range(len(self.training.replicas)):
            nets = self.training.networks_of(replica, self.names)
            pools = self.training.spread_rows(replica, LEARNED_ROWS)
            held = self.training.take_held_out_rows(replica, HELD_ROWS)
            for kind, score in enumerate(self.scores.values()):
                for pool in pools:
                    for at in range(0, len(pool), BLOCK):
                        index = pool[at : at + BLOCK]
                        self.score[kind, index] = score(nets, self.training.training_rows(replica, index)).detach()
                found = torch.cat([score(nets, block).detach() for block in held.blocks()])
                self.held.append(found)
                self.pools.append(pools)
                table.append(self._levels(_pairs(found, held.present, held.own)))
        self.table = torch.stack(table)

    def stage(self, steps: int) -> Stage:
        """Plan the training of the network `named`, for `steps` or as many as are of use."""
        return Stage(
            "threshold",
            min(steps, STEPS),
            self._loss,
            self._sampler,
            {"named": 1.0},
            one_cycle(RATE),
            weight_decay={"named": 1e-3},
        )

    @torch.no_grad()
    def cuts(self, replica: int) -> dict[str, Any]:
        """Choose for each kind of score the threshold and the spread around it, as numbers to be kept."""
        ready = bool(self.held) and not self.training.session.stopped
        if not self.held:
            self.prepare()
        found: dict[str, Any] = {}
        for kind, name in enumerate(self.scores):
            group = replica * len(self.scores) + kind
            held = self.training.take_held_out_rows(replica, HELD_ROWS)
            pairs = _pairs(self.held[group], held.present, held.own)
            # Without the time to choose, half of the pairs are named; the learner's notes say it was stopped.
            best = self._best(replica, group) if ready else len(SHARES) // 2
            cut = _valley(pairs, self.table[group], best)
            spread = max(float((pairs - cut).abs().median()), 1e-12)
            found[name] = {"cut": cut, "spread": spread, "named": float((pairs > cut).float().mean())}
        return found

    # -- the stage ---------------------------------------------------------------------------------

    def _sampler(self) -> Sampler:
        seeds = [seed for seed in self.training.seeds for _ in self.scores]
        return Sampler(self.pools, BATCH, seeds, "threshold", self.training.device)

    def _loss(self, index: Tensor, settings: Settings, generator: torch.Generator) -> LossValues:
        model, training = find_network(self.training.nets, "named", NamedModel), self.training
        groups, rows = index.shape
        level = torch.randint(0, len(self.shares), (groups, SHOWN * rows), device=index.device, generator=generator)
        cut = self.table.gather(1, level).reshape(groups, SHOWN, rows, 1)
        shown = (self.score[self.kind, index].unsqueeze(1) > cut).float()
        if training.rows.own is not None:
            shown[..., training.rows.own] = 1
        shown = shown * training.there(index).unsqueeze(1)
        share = self.shares[level].reshape(groups, SHOWN, rows)
        predicted = model(model.embedding(training.rows.network_inputs(index)), shown, share)
        missed = predicted - training.surprises.target[index].unsqueeze(1)
        # The choice is made among rows as they come, so half of the weight goes to their natural frequency.
        weight = (1 + training.surprises.natural[index].unsqueeze(1)) / 2
        return (error_loss(missed) * weight).mean(dim=(1, 2)).sum(), {"error": missed.detach().abs().mean()}

    # -- the choice --------------------------------------------------------------------------------

    def _levels(self, pairs: Tensor) -> Tensor:
        """Find the thresholds that name each of the shares; at 0 and 1 beyond the extremes."""
        ordered = pairs.sort(descending=True).values
        at = (self.shares * len(ordered)).long().clamp(max=len(ordered) - 1)
        levels = ordered[at]
        margin = (ordered[0] - ordered[-1]).clamp(min=1e-6) * 1e-3
        levels[0], levels[-1] = ordered[0] + margin, ordered[-1] - margin
        return levels

    def _best(self, replica: int, group: int) -> int:
        """Choose the share to name."""
        held, model = self.training.take_held_out_rows(replica, HELD_ROWS), self.training.network_of(replica, "named")
        assert isinstance(model, NamedModel)
        scores = torch.split(self.held[group], BLOCK)
        parts = [self._error_by_share(model, group, *part) for part in zip(held.blocks(), scores, strict=True)]
        missed, length = (torch.cat(found, dim=1) for found in zip(*parts, strict=True))
        # Rows are counted as explained or not, however large the change: else the cost is set by the largest.
        unexplained = (missed / (missed + missed[-1].mean().clamp(min=1e-6))).mean(1)
        named = length.mean(1)
        explained = unexplained[0] - unexplained
        # A handful of factors named says little about the gain of naming: half of what can be explained must be.
        gain = (explained / named.clamp(min=1e-9))[explained >= explained.max() / 2]
        cost = max(self.penalty, float(gain.max()) / 2)
        return int((unexplained + cost * named).argmin())

    def _error_by_share(self, model: NamedModel, group: int, block: Batch, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Measure the error of the model of the named factors, and count these besides the own: (shares, rows)."""
        kinds, kind = len(self.scores), group % len(self.scores)
        embedded = model.embedding(block.network_inputs.expand(kinds, -1, -1, -1))
        own = masks.only(scores.shape[1], block.own, scores.device)
        errors, lengths = [], []
        for first in range(0, len(SHARES), TOGETHER):
            levels = slice(first, first + TOGETHER)
            named = (scores > self.table[group, levels][:, None, None]).float() * block.present * (1 - own)
            share = self.shares[levels].unsqueeze(-1).expand(-1, len(block))
            shown = (named + own * block.present).expand(kinds, *named.shape), share.expand(kinds, *share.shape)
            errors.append((model(embedded, *shown)[kind] - block.target).abs().mean(-1))
            lengths.append(named.sum(-1))
        return torch.cat(errors), torch.cat(lengths)


def likelihood(scores: Array, chosen: Mapping[str, float]) -> Array:
    """Map scores into 0 to 1, in their order, 0.5 at the threshold. They rank; no probability is calibrated.

    >>> likelihood(np.array([-1.0, 1.0, 3.0]), {"cut": 1.0, "spread": 2.0}).tolist()
    [0.25, 0.5, 0.75]
    """
    away = (scores - chosen["cut"]) / chosen["spread"]
    return np.asarray(0.5 + 0.5 * away / (1 + np.abs(away)))


def _pairs(scores: Tensor, present: Tensor, own: int | None) -> Tensor:
    """Put the scores of factors that are there, without the outcome's own, in one row."""
    wanted = present > 0
    if own is not None:
        wanted[:, own] = False
    return scores[wanted] if bool(wanted.any()) else scores.new_zeros(1)


def _valley(pairs: Tensor, table: Tensor, best: int) -> float:
    """Find the middle of the widest gap between scores around the chosen share: a valley is cut at its bottom."""
    low, high = table[min(best + 1, len(table) - 1)], table[max(best - 1, 0)]
    if best in (0, len(table) - 1):
        return float(table[best])
    near = pairs[(pairs >= low) & (pairs <= high)].sort().values
    if len(near) < 2:
        return float(table[best])
    gap = int((near[1:] - near[:-1]).argmax())
    return float((near[gap] + near[gap + 1]) / 2)
