"""Small networks of pairs: who makes a body do something else than it would, and which two are ever seen so.

Both look at a pair alone: what lies between the two, what each is, and what each would do by itself. Factors of one
class share weights, so that what is learned of one obstacle holds for all.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional

from .factor_values import FactorValues
from .short_training import train_network

RATE = 5e-3
SELDOM = -2.0  # log-odds that a pair begins with
CERTAIN = -1e-6  # log-probability that nothing happens, at most: the other side has a logarithm too
HALF = 256  # rows of each sort in a step


def build_pair_network(inputs: int, width: int, start: float = 0.0) -> nn.Sequential:
    """Make a network from the numbers of a pair to log-odds."""
    last = nn.Linear(width, 1)
    nn.init.constant_(last.bias, start)
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), last)


def describe_pairs(reader: FactorValues, values: Tensor, course: Tensor, body: int, others: list[int]) -> Tensor:
    """Return the numbers of a body with each of the others, `(rows, others, numbers)`; `course`: what each would do."""
    rows, count = len(values), len(others)
    own = [body] * count
    apart = 1 - reader.shared[own] * reader.shared[others]
    return torch.cat(
        [
            reader.find_between(values, own, others), values[:, own], values[:, others] * apart,
            course[:, own], course[:, others], reader.kinds[others].expand(rows, -1, -1),
        ],
        dim=2,
    )  # fmt: skip


def fit_gate(
    pairs: Tensor, surprised: Tensor, rows: Tensor, *, steps: int, width: int, start: nn.Sequential | None = None
) -> nn.Sequential:
    """Learn which of its pairs made a body do something else: a row is quiet if all of its pairs are (noisy or).

    `pairs` are `(rows, others, numbers)`. Half of the rows shown are surprised ones, so that the network rather says
    yes too often. `start` is a network to go on from.
    """
    network = build_pair_network(pairs.shape[2], width, SELDOM) if start is None else deepcopy(start)
    seldom = rows[surprised[rows]]
    happened = surprised.float()

    def measure(picked: Tensor) -> Tensor:
        quiet = functional.logsigmoid(-network(pairs[picked]).squeeze(2)).sum(dim=1).clamp(max=CERTAIN)
        yes = happened[picked]
        return -(yes * torch.log(-torch.expm1(quiet)) + (1 - yes) * quiet).mean()

    def draw() -> Tensor:
        return torch.cat([pool[torch.randint(len(pool), (HALF,))] for pool in (rows, seldom)])

    train_network(network, measure, draw, steps=steps, rate=RATE)
    return network


class FamiliarPairs:
    """Tells pairs that are seen together from such as never are: an obstacle inside a block, a flag that is not so.

    A network learns to tell the pairs of real rows from pairs that two rows were put together for. `least` is the
    log-odds that all but a given share of the rows held out are above.
    """

    def __init__(self, reader: FactorValues, *, width: int, start: FamiliarPairs | None = None) -> None:
        self._reader = reader
        self.one = [i for place, i in enumerate(reader.bodies) for _ in reader.bodies[place + 1 :]]
        self.two = [j for place, _ in enumerate(reader.bodies) for j in reader.bodies[place + 1 :]]
        names, classes = reader.shared.shape[1], reader.kinds.shape[1]
        self._network: nn.Sequential = (
            build_pair_network(3 * names + 2 * classes, width) if start is None else deepcopy(start._network)
        )
        self.least = -float("inf")

    def fit(self, values: Tensor, rows: Tensor, held_out: Tensor, *, steps: int, share: float) -> FamiliarPairs:
        """Learn from `rows`, and set the limit by those held out."""

        def measure(picked: Tensor) -> Tensor:
            real = values[picked]
            made = real[torch.randperm(len(real))]
            return (
                functional.softplus(-self._judge(real, real)).mean()
                + functional.softplus(self._judge(real, made)).mean()
            )

        train_network(self._network, measure, lambda: rows[torch.randint(len(rows), (HALF,))], steps=steps, rate=RATE)
        every = torch.ones(len(held_out), int(self._reader.shared.shape[0]), 1, dtype=torch.bool)[:, :, 0]
        self.least = float(torch.quantile(self.measure(values[held_out], every.cumsum(dim=1)), share))
        return self

    @torch.no_grad()
    def measure(self, values: Tensor, group: Tensor) -> Tensor:
        """Return the log-odds of each row's oddest pair of two groups; `group`, `(rows, factors)`, numbers them."""
        found = self._judge(values, values)
        apart = group[:, self.one] != group[:, self.two]
        return torch.where(apart, found, torch.full_like(found, float("inf"))).amin(dim=1)

    def _judge(self, values: Tensor, others: Tensor) -> Tensor:
        reader, rows = self._reader, len(values)
        meeting = reader.shared[self.one] * reader.shared[self.two]
        first, second = values[:, self.one], others[:, self.two]
        kinds = [reader.kinds[each].expand(rows, -1, -1) for each in (self.one, self.two)]
        found: Tensor = self._network(torch.cat([(second - first) * meeting, first, second, *kinds], dim=2))
        return found.squeeze(2)
