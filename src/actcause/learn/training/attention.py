"""Networks in which factors see each other: attention between tokens, one token for each factor.

A token holds a factor's own columns, those of the outcome's own factor, and how far the factor is from it: for every
feature that both have, the difference and its signed logarithm at the scale of nearness. Differences are taken here,
from the columns, so that they stay right when a row's factors are exchanged for those of another row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .encoding import Encoder
from .layers import ClassLinear, Linear, Residual

HEADS = 4
DEPTH = 2  # residual blocks that a token passes before attention, and what was read after it
MOVING = 0.5  # a difference that spreads less than so much of the feature itself: factors move along with the outcome
NEAR = 0.1  # the quantile of distances that counts as near
NEAREST = 1e-3  # spreads: nearer than this is contact
FAR = -1e4  # what keeps a token that is not there from being attended to


class Norm(nn.Module):
    """Layer normalisation with weights for each group: (groups, …, width)."""

    def __init__(self, groups: int, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(groups, 1, width))
        self.bias = nn.Parameter(torch.zeros(groups, 1, width))

    def forward(self, rows: Tensor) -> Tensor:
        normal = functional.layer_norm(rows, rows.shape[-1:])
        return torch.addcmul(self.bias, normal, self.scale)


class AttentionBlock(nn.Module):
    """A block of attention and a perceptron, each added to what comes in: (groups, rows, factors, width)."""

    def __init__(self, groups: int, width: int) -> None:
        super().__init__()
        self.before, self.between = Norm(groups, width), Norm(groups, width)
        self.query, self.key_value = Linear(groups, width, width, gain=0.7), Linear(groups, width, 2 * width, gain=0.7)
        self.out = Linear(groups, width, width, gain=0.5)
        self.first, self.last = Linear(groups, width, 2 * width), Linear(groups, 2 * width, width, gain=0.5)

    def forward(self, tokens: Tensor, present: Tensor | None, reader: int | None = None) -> Tensor:
        """All tokens read all; with a `reader`, only this one reads, and (groups, rows, 1, width) comes out."""
        groups, rows, factors, width = tokens.shape
        normal = self.before(tokens.reshape(groups, rows * factors, width))
        key, value = self._heads(self.key_value(normal), rows, factors, 2)
        if reader is not None:
            tokens = tokens[:, :, reader : reader + 1]
            normal = normal.reshape(groups, rows, factors, width)[:, :, reader]
        readers = tokens.shape[2]
        (query,) = self._heads(self.query(normal), rows, readers, 1)
        weights = query @ key.transpose(-1, -2) / (width // HEADS) ** 0.5
        if present is not None:
            weights = weights + ((1 - present) * FAR).reshape(groups * rows, 1, 1, factors)
        read = (weights.softmax(dim=-1) @ value).transpose(1, 2).reshape(groups, rows * readers, width)
        flat: Tensor = tokens.reshape(groups, rows * readers, width) + self.out(read)
        flat = flat + self.last(functional.silu(self.first(self.between(flat))))
        return flat.reshape(groups, rows, readers, width)

    @staticmethod
    def _heads(flat: Tensor, rows: int, factors: int, parts: int) -> tuple[Tensor, ...]:
        groups, _, width = flat.shape
        each = flat.reshape(groups * rows, factors, parts, HEADS, width // parts // HEADS)
        return each.permute(2, 0, 3, 1, 4).unbind(0)


class Tokens(nn.Module):
    """Rows as tokens: (groups, rows, factors, columns) to (groups, rows, factors, width)."""

    def __init__(self, groups: int, encoder: Encoder, width: int, depth: int) -> None:
        super().__init__()
        shared = SharedFeatures(encoder)
        self.own, self.columns, self.count = encoder.own, shared.columns, shared.count
        inputs = self.columns * (1 if self.own is None else 2) + 2 * self.count
        self.first = ClassLinear(groups, encoder.class_index, inputs, width)
        self.last = Residual(groups, width, width, depth)
        self.theirs: Tensor
        self.ours: Tensor
        self.weight_of_theirs: Tensor
        self.weight_of_ours: Tensor
        self.offset: Tensor
        self.shared: Tensor
        for name in ("theirs", "ours", "weight_of_theirs", "weight_of_ours", "offset", "shared"):
            self.register_buffer(name, torch.as_tensor(getattr(shared, name)), persistent=False)
        # Fitted on the rows that a group learns from: how near is near, and in which features all move along.
        self.near: Tensor
        self.moving: Tensor
        self.register_buffer("near", torch.full((groups, 1, len(encoder.classes), max(self.count, 1)), 0.1))
        self.register_buffer("moving", torch.zeros(groups, max(self.count, 1)))

    def forward(self, rows: Tensor) -> Tensor:
        groups, count, factors, _ = rows.shape
        seen = rows[..., : self.columns]
        parts = [seen]
        if self.own is not None:
            parts.append(seen[..., self.own : self.own + 1, :].expand_as(seen))
            if self.count:
                apart = self.subtract_own(seen)
                parts += [apart, apart.sign() * torch.log1p(apart.abs() / self.near)]
        tokens: Tensor = functional.silu(self.first(torch.cat(parts, dim=-1).transpose(1, 2)))
        tokens = self.last(tokens.reshape(groups, factors * count, -1))
        return tokens.reshape(groups, factors, count, -1).transpose(1, 2)

    def subtract_own(self, seen: Tensor) -> Tensor:
        """(…, factors, features that both have), in spreads; 0 where a factor has no such feature."""
        theirs = seen.gather(-1, self.theirs.expand(*seen.shape[:-1], -1))
        ours = seen[..., self.own, :][..., self.ours].unsqueeze(-2)
        return (theirs * self.weight_of_theirs - ours * self.weight_of_ours + self.offset) * self.shared

    def carry(self, rows: Tensor, own: Tensor) -> Tensor:
        """Move factors of other rows (groups, …, factors, columns) to where `own` is, in features that move along.

        Cars drive along a road: those of another row belong as far ahead of this row's car as they were of their own.
        """
        moving = torch.nonzero(self.moving.amax(dim=0))[:, 0].tolist()
        if not moving:
            return rows
        origin, rows = rows[..., self.own, :], rows.clone()
        for feature in moving:
            at = self.ours[feature]
            shift = (own[..., at] - origin[..., at]) * self.weight_of_ours[self.shared[:, feature] > 0, feature][0]
            for factor in torch.nonzero(self.shared[:, feature])[:, 0].tolist():
                rows[..., factor, self.theirs[factor, feature]] += shift / self.weight_of_theirs[factor, feature]
        return rows

    @torch.no_grad()
    def fit(self, group: int, rows: Tensor, present: Tensor | None, kinds: Sequence[int]) -> None:
        """Measure distances in these rows, (rows, factors, columns), for each class and feature."""
        if not self.count or self.own is None:
            return
        apart = self.subtract_own(rows[..., : self.columns])
        for feature in range(self.count):
            having = [k for k in range(len(kinds)) if self.shared[k, feature]]
            spread = rows[:, self.own, self.ours[feature]].std() * self.weight_of_ours[having[0], feature]
            self.moving[group, feature] = float(apart[:, having, feature].std(dim=0).mean() < MOVING * spread)
            for kind in {kinds[k] for k in having}:
                members = [k for k in having if kinds[k] == kind]
                values = apart[:, members, feature].abs()
                values = values.flatten() if present is None else values[present[:, members] > 0]
                if len(values):
                    near = torch.quantile(values[:: max(1, len(values) // 100_000)], NEAR)
                    self.near[group, 0, members, feature] = near.clamp(min=NEAREST)


class SharedFeatures:
    """Which columns of a factor and of the outcome's own are one feature, and how their difference is scaled."""

    def __init__(self, encoder: Encoder) -> None:
        layout, own = encoder.layout, encoder.layout.own
        self.columns = encoder.own_columns
        at = {factor: encoder.list_measured_columns(factor) for factor in layout.factors}
        names = [] if own is None else [n for n in at[own] if any(n in at[f] for f in layout.factors if f != own)]
        self.count = len(names)
        shape = (len(layout.factors), max(self.count, 1))
        self.theirs = np.zeros(shape, np.int64)
        self.ours = np.zeros(max(self.count, 1), np.int64)
        self.weight_of_theirs, self.weight_of_ours = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self.offset, self.shared = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        for feature, name in enumerate(names):
            assert own is not None
            assert encoder.own is not None
            ours = self.ours[feature] = at[own][name]
            for position, factor in enumerate(layout.factors):
                if factor == own or name not in at[factor]:
                    continue
                theirs = self.theirs[position, feature] = at[factor][name]
                scale = encoder.scale[position, self.columns + feature]
                self.weight_of_theirs[position, feature] = encoder.scale[position, theirs] / scale
                self.weight_of_ours[position, feature] = encoder.scale[encoder.own, ours] / scale
                apart = encoder.mean[position, theirs] - encoder.mean[encoder.own, ours]
                self.offset[position, feature] = apart / scale
                self.shared[position, feature] = 1


class OutcomeModel(nn.Module):
    """From rows to what describes the outcome's distribution: (groups, rows, factors, columns) to (…, outputs)."""

    def __init__(self, groups: int, encoder: Encoder, outputs: int, *, width: int, layers: int) -> None:
        super().__init__()
        self.tokens = Tokens(groups, encoder, width, DEPTH)
        self.blocks = nn.ModuleList(AttentionBlock(groups, width) for _ in range(layers))
        self.norm = Norm(groups, width)
        self.last = Residual(groups, width, outputs, DEPTH)
        self.reader = encoder.own or 0

    def forward(self, rows: Tensor, present: Tensor | None) -> Tensor:
        tokens = self.tokens(rows)
        for block in self.blocks[:-1]:
            tokens = block(tokens, present)
        read = self.blocks[-1](tokens, present, self.reader)[:, :, 0]
        result: Tensor = self.last(self.norm(read))
        return result


class CauseModel(nn.Module):
    """For each factor the log-odds that it is a cause: (groups, rows, factors, columns) to (groups, rows, factors)."""

    def __init__(self, groups: int, encoder: Encoder, *, width: int, layers: int) -> None:
        super().__init__()
        self.tokens = Tokens(groups, encoder, width, DEPTH)
        self.blocks = nn.ModuleList(AttentionBlock(groups, width) for _ in range(layers))
        self.norm = Norm(groups, width)
        self.last = Residual(groups, width, 1, DEPTH)

    def forward(self, rows: Tensor, present: Tensor | None = None) -> Tensor:
        tokens = self.tokens(rows)
        for block in self.blocks:
            tokens = block(tokens, present)
        groups, count, factors, width = tokens.shape
        odds: Tensor = self.last(self.norm(tokens.reshape(groups, count * factors, width)))
        return odds.reshape(groups, count, factors)
