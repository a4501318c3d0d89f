"""The distribution of an outcome: a mixture of Gaussians for what is measured, probabilities for what is categorical.

A network gives numbers for each row, `OutcomeColumns` reads them as a `Density`. All are in the units of the target.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional

from .encoding import Encoder

COMPONENTS = 4
FLOOR = 0.01  # no outcome is predicted more sharply than this, in spreads
PASSING = 0.05  # a component that lets an outcome pass less often does not predict it
FAR = -1e4  # the score of components that do not count
Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class OutcomeValues:
    """What came of each row, or might come: measured values (…, features), and categories by their numbers."""

    values: Tensor | None
    categories: tuple[Tensor, ...]

    def map(self, change: Change) -> OutcomeValues:
        return OutcomeValues(None if self.values is None else change(self.values), tuple(map(change, self.categories)))

    def where(self, holds: Tensor, other: OutcomeValues) -> OutcomeValues:
        """Take this one where a condition holds, elsewhere the other."""
        values = self.values
        if values is not None and other.values is not None:
            values = torch.where(holds.unsqueeze(-1), values, other.values)
        pairs = zip(self.categories, other.categories, strict=True)
        return OutcomeValues(values, tuple(torch.where(holds, one, two) for one, two in pairs))


@dataclass(frozen=True)
class OutcomeColumns:
    """Which columns of the target are measured, and which are the values of one categorical feature."""

    measured: tuple[int, ...]
    categorical: tuple[slice, ...]

    @classmethod
    def of(cls, encoder: Encoder) -> OutcomeColumns:
        """Read off which columns an encoder gives the target.

        >>> from actcause.data import collect
        >>> OutcomeColumns.of(Encoder.fit(collect("push", 100))).measured
        (0, 1)
        """
        measured, categorical, at = [], [], 0
        for name in encoder.layout.outcome_features:
            seen = encoder.categories.get(("next", name))
            if seen is None:
                measured.append(at)
                at += 1
            else:
                categorical.append(slice(at, at + len(seen)))
                at += len(seen)
        return cls(tuple(measured), tuple(categorical))

    @property
    def outputs(self) -> int:
        """How many numbers a network has to give."""
        return sum(self._sizes())

    def read(self, outputs: Tensor) -> Density:
        """Read (…, outputs) as a distribution for each row."""
        parts = torch.split(outputs, self._sizes(), dim=-1)
        if not self.measured:
            return Density(None, None, None, tuple(part.log_softmax(dim=-1) for part in parts))
        mean, spread = (part.reshape(*part.shape[:-1], COMPONENTS, -1) for part in parts[:2])
        chances = tuple(part.log_softmax(dim=-1) for part in parts[3:])
        return Density(mean, functional.softplus(spread) + FLOOR, parts[2].log_softmax(dim=-1), chances)

    def _sizes(self) -> list[int]:
        """How many outputs are means, spreads and weights, and how many belong to each categorical feature."""
        mixture = [COMPONENTS * len(self.measured)] * 2 + [COMPONENTS] if self.measured else []
        return mixture + [int(part.stop - part.start) for part in self.categorical]

    def outcome(self, target: Tensor) -> OutcomeValues:
        """Read (…, columns of the target) as outcomes."""
        values = torch.stack([target[..., k] for k in self.measured], dim=-1) if self.measured else None
        return OutcomeValues(values, tuple(target[..., part].argmax(dim=-1) for part in self.categorical))


@dataclass(frozen=True)
class OutcomePart:
    """A part of what several models predict: whether it holds (models, …), its middle and spread (…, features)."""

    holds: Tensor | None
    middle: Tensor | None
    spread: Tensor | None
    chance: Tensor | None  # (models, …): log-probability of the categories

    def log_likelihood(self, outcome: OutcomeValues, noise: float, least: float) -> Tensor:
        """(models, …): how likely an outcome is by this part, taken for certain but for `noise` of its spread.

        How far the models' middles lie apart is their own error, and does not speak against an outcome.
        """
        parts = [] if self.chance is None else [self.chance]
        if self.holds is not None and self.middle is not None and self.spread is not None:
            assert outcome.values is not None
            certain = (noise * self.spread).clamp(min=least)
            differing = self.middle.amax(dim=0) - self.middle.amin(dim=0)
            differing = differing * self.holds.all(dim=0).unsqueeze(-1)
            apart = (outcome.values - self.middle).square() / (certain.square() + differing.square())
            parts.append(torch.where(self.holds, -(0.5 * apart + certain.log()).sum(-1), -math.inf))
        return reduce(torch.add, parts)


@dataclass(frozen=True)
class Density:
    """Means and spreads (…, components, features), log-weights (…, components), log-probabilities (…, categories)."""

    mean: Tensor | None
    spread: Tensor | None
    weight: Tensor | None
    chances: tuple[Tensor, ...]

    def map(self, change: Change) -> Density:
        """Change all tensors alike, along axes that they share."""
        mean, spread, weight = (None if p is None else change(p) for p in (self.mean, self.spread, self.weight))
        return Density(mean, spread, weight, tuple(map(change, self.chances)))

    @property
    def variants(self) -> int:
        """The size of the third axis."""
        return (self.chances[0] if self.mean is None else self.mean).shape[2]

    def widen(self, least: float) -> Density:
        """Blur measured values by so many spreads."""
        if self.spread is None:
            return self
        return Density(self.mean, (self.spread.square() + least**2).sqrt(), self.weight, self.chances)

    def log_likelihood(self, outcome: OutcomeValues) -> Tensor:
        parts = [] if self.mean is None else [torch.logsumexp(self._by_component(outcome), dim=-1)]
        parts += [_chance_of(*pair) for pair in zip(self.chances, outcome.categories, strict=True)]
        return reduce(torch.add, parts)

    def likeliest(self, came: OutcomeValues | None = None) -> tuple[OutcomeValues, Tensor | None]:
        """Give the middle of the weightiest component, or of the one that an outcome came from; and its spread."""
        values = spread = None
        if self.mean is not None and self.spread is not None and self.weight is not None:
            score = self.weight if came is None else self._by_component(came)
            at = score.argmax(dim=-1)[..., None, None].expand(*self.mean.shape[:-2], 1, self.mean.shape[-1])
            values, spread = self.mean.gather(-2, at).squeeze(-2), self.spread.gather(-2, at).squeeze(-2)
        categories = tuple(c.argmax(dim=-1) for c in self.chances) if came is None else came.categories
        return OutcomeValues(values, categories), spread

    def diverge(self, other: Density, least: float) -> Tensor:
        """Measure how much likelier, in nats, what this one predicts is by it than by another, both blurred."""
        parts = []
        if self.mean is not None and self.weight is not None:
            one, two = self.widen(least), other.widen(least)
            middles = OutcomeValues(self.mean, ())
            apart = one._score_measured(middles) - two._score_measured(middles)
            parts.append((self.weight.exp() * apart).sum(-1))
        for mine, theirs in zip(self.chances, other.chances, strict=True):
            parts.append((mine.exp() * (mine - theirs)).sum(-1))
        return reduce(torch.add, parts)

    def _score_measured(self, places: OutcomeValues) -> Tensor:
        """Give the log-likelihood of each of several measured outcomes of a row, (…, places)."""
        assert self.mean is not None
        assert self.spread is not None
        assert self.weight is not None
        assert places.values is not None
        apart = (places.values.unsqueeze(-2) - self.mean.unsqueeze(-3)) / self.spread.unsqueeze(-3)
        each = self.weight.unsqueeze(-2) + (-0.5 * apart.square() - self.spread.log().unsqueeze(-3)).sum(-1)
        return torch.logsumexp(each, dim=-1)

    def expect(self) -> Tensor:
        """(…, features): the mean of the mixture."""
        assert self.mean is not None
        assert self.weight is not None
        return (self.mean * self.weight.exp().unsqueeze(-1)).sum(-2)

    def miss(self, came: OutcomeValues) -> Tensor:
        """Measure the mean error of what is expected: of measured values in spreads, of categories as a chance."""
        parts = [] if came.values is None else [(self.expect() - came.values).abs().mean()]
        parts += [(1 - _chance_of(*pair).exp()).mean() for pair in zip(self.chances, came.categories, strict=True)]
        return reduce(torch.add, parts)

    def agreement(self, outcome: OutcomeValues, tolerance: Tensor | None, noise: float) -> Tensor:
        """How far this distribution agrees that such an outcome comes: 1 wholly, 0 not at all.

        Measured values agree as far as a chi-squared test lets them pass. What may lie between two predictions of one
        value is the outcome's own `tolerance` (…, features) and this share (`noise`) of the spread.
        """
        parts = []
        if self.mean is not None and self.spread is not None and self.weight is not None and outcome.values is not None:
            variance = (noise * self.spread).square()
            if tolerance is not None:
                variance = variance + tolerance.square().unsqueeze(-2)
            apart = ((outcome.values.unsqueeze(-2) - self.mean).square() / variance).sum(-1)
            parts.append((self.weight.exp() * pass_chance(apart, self.mean.shape[-1])).sum(-1))
        parts += [_chance_of(*pair).exp() for pair in zip(self.chances, outcome.categories, strict=True)]
        return reduce(torch.mul, parts)

    def sharpen(self, limit: Tensor | None, noise: float, least: float) -> Density:
        """Take components as sharp as `limit` (…, features) for certain but for `noise`; blur all by `least`."""
        if self.spread is None or limit is None:
            return self
        sharp = self.spread <= limit.unsqueeze(-2)
        certain = (noise * self.spread).clamp(min=least)
        blurred = (self.spread.square() + least**2).sqrt()
        return Density(self.mean, torch.where(sharp, certain, blurred), self.weight, self.chances)

    def find_part(self, outcome: OutcomeValues, limit: Tensor | None, rare: float, least: float) -> OutcomePart:
        """Find the part of this prediction that an outcome belongs to, if it is what mostly comes.

        The part is made of all components that let the outcome pass, of those as sharp as `limit` (…, features) and no
        rarer than `rare`. If one sharp component elsewhere is weightier, the outcome is not what mostly comes: of a
        switch that is on now and then, both outcomes are sharp, and the rarer one needs the switch.
        A category counts as certain if it is the likeliest.
        """
        middle = spread = None
        chance = reduce(torch.add, self._find_chances(outcome)) if self.chances else None
        if self.mean is None or self.spread is None or self.weight is None or limit is None or outcome.values is None:
            return OutcomePart(None, None, None, chance)
        weight, wide = self.weight.exp(), self.spread.clamp(min=least)
        sharp = (self.spread <= limit.unsqueeze(-2)).all(-1) & (weight > rare)
        apart = ((outcome.values.unsqueeze(-2) - self.mean) / wide).square().sum(-1)
        mine = sharp & (pass_chance(apart, self.mean.shape[-1]) > PASSING)
        rival = (weight * (sharp & ~mine)).max(dim=-1).values
        holds = mine.any(dim=-1) & ((weight * mine).sum(dim=-1) >= rival)
        score = (self.weight - 0.5 * apart - wide.log().sum(-1)).masked_fill(~mine, FAR)
        share = score.softmax(dim=-1).unsqueeze(-1)
        middle, spread = (share * self.mean).sum(-2), (share * self.spread).sum(-2)
        return OutcomePart(holds, middle, spread, chance)

    def _find_chances(self, outcome: OutcomeValues) -> list[Tensor]:
        """Give the log-probability of each category, 0 for the likeliest."""
        return [
            torch.where(category == chance.argmax(dim=-1), 0.0, _chance_of(chance, category))
            for chance, category in zip(self.chances, outcome.categories, strict=True)
        ]

    def _by_component(self, outcome: OutcomeValues) -> Tensor:
        assert self.mean is not None
        assert self.spread is not None
        assert self.weight is not None
        assert outcome.values is not None
        apart = (outcome.values.unsqueeze(-2) - self.mean) / self.spread
        return self.weight + (-0.5 * apart.square() - self.spread.log()).sum(-1)


def pass_chance(apart: Tensor, features: int) -> Tensor:
    """Give the chance of so large a sum of squares, or a larger one, for so many normal variables.

    >>> [round(float(pass_chance(torch.tensor(x), 2)), 3) for x in (0.0, 1.386, 5.991)]
    [1.0, 0.5, 0.05]
    """
    if features % 2:  # the cube root is nearly normal (Wilson & Hilferty, 1931)
        ratio = 2 / (9 * features)
        return 0.5 * torch.erfc(((apart / features).clamp(min=1e-12) ** (1 / 3) - (1 - ratio)) / (2 * ratio) ** 0.5)
    term = total = torch.ones_like(apart)
    for k in range(1, features // 2):
        term = term * apart / (2 * k)
        total = total + term
    return torch.exp(-0.5 * apart) * total


def _chance_of(chance: Tensor, category: Tensor) -> Tensor:
    return chance.gather(-1, category.expand(chance.shape[:-1]).unsqueeze(-1)).squeeze(-1)
