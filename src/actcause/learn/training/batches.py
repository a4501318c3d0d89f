"""Training data of one or several replicas on the device, cut into folds by episode, and the rows of each step.

Rows are drawn from generators of their own, seeded by the replica's seed, the stage and the chunk of steps: training
that was cut off and resumed at the start of a chunk draws what it would have drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .encoding import Encoded
from .layers import beside_own

Array = np.ndarray[Any, Any]
FOLDS = 2  # a mask is judged by the model that has not seen the mask's episode


def seed_of(*parts: int | str) -> int:
    """Make a 63-bit seed of several numbers and names, the same everywhere."""
    words = [part if isinstance(part, int) else int.from_bytes(part.encode(), "little") for part in parts]
    return int(
        np.random.SeedSequence([word & (2**128 - 1) for word in words]).generate_state(2, np.uint32).view("u8")[0] >> 1
    )


def folds_of(episode: Array | None, rows: int, seed: int) -> Array:
    """Give each row 0 or 1: one half of the episodes (or of the rows, where there are none) and the other."""
    codes = np.arange(rows) if episode is None else np.unique(episode, return_inverse=True)[1]
    count = int(codes.max()) + 1
    fold = np.random.default_rng(seed_of("folds", seed)).permutation(count) % FOLDS
    return np.asarray(fold[codes])


@dataclass(frozen=True)
class DeviceRows:
    """The rows of `len(starts)` replicas, one after the other, on the device."""

    inputs: Tensor  # (rows, factors, columns)
    target: Tensor  # (rows, outputs)
    present: Tensor | None  # (rows, factors)
    fold: Tensor  # (rows,)
    starts: tuple[int, ...]  # the first row of each replica
    own: int | None

    @classmethod
    def load(
        cls, parts: Sequence[Encoded], folds: Sequence[Array], own: int | None, device: torch.device
    ) -> DeviceRows:
        def join(arrays: Sequence[Array]) -> Tensor:
            return torch.as_tensor(np.concatenate(arrays)).to(device)

        present = None
        if any(part.present is not None for part in parts):
            shape = parts[0].inputs.shape[1:2]
            present = join([np.ones((len(p), *shape), bool) if p.present is None else p.present for p in parts]).float()
        starts = np.cumsum([0, *map(len, parts)])[:-1]
        return cls(
            join([part.inputs for part in parts]),
            join([part.target for part in parts]),
            present,
            join(list(folds)),
            tuple(map(int, starts)),
            own,
        )

    @property
    def replicas(self) -> int:
        return len(self.starts)

    @property
    def factors(self) -> int:
        return self.inputs.shape[1]

    def __len__(self) -> int:
        return len(self.inputs)

    def replica(self, position: int) -> slice:
        """Return the rows of one replica."""
        ends = (*self.starts[1:], len(self))
        return slice(self.starts[position], ends[position])

    def network_inputs(self, index: Tensor | slice) -> Tensor:
        """Return inputs as networks see them: each factor beside the outcome's own."""
        return beside_own(self.inputs[index], self.own)

    def there(self, index: Tensor | slice) -> Tensor | None:
        return None if self.present is None else self.present[index]

    def groups(self) -> list[Tensor]:
        """List the rows of each replica's folds: replica 0 fold 0, replica 0 fold 1, replica 1 fold 0, ..."""
        found = []
        for replica in range(self.replicas):
            part = self.replica(replica)
            fold = self.fold[part]
            found += [torch.nonzero(fold == k)[:, 0] + part.start for k in range(FOLDS)]
        return found


@dataclass(frozen=True)
class Sampler:
    """Which rows a step sees: for every group `size` rows, drawn from its strata in equal parts.

    One stratum is the natural distribution. Two, surprising rows and others, show as many of either.
    """

    strata: Sequence[Sequence[Tensor]]  # of each group
    size: int
    seeds: Sequence[int]  # of each group
    stage: str
    device: torch.device = field(default=torch.device("cpu"))

    def draw(self, chunk: int, steps: int) -> Tensor:
        """Draw row numbers: (steps, groups, size)."""
        drawn = []
        for group, (pools, seed) in enumerate(zip(self.strata, self.seeds, strict=True)):
            within = list(self.seeds[:group]).count(seed)  # which of its replica's groups this is
            generator = torch.Generator().manual_seed(seed_of(seed, self.stage, within, chunk))
            filled = [pool for pool in pools if len(pool)]
            shares = [self.size // len(filled)] * len(filled)
            shares[0] += self.size - sum(shares)
            picked = [
                pool[
                    (torch.rand(steps, share, generator=generator) * len(pool))
                    .long()
                    .clamp(max=len(pool) - 1)
                    .to(pool.device)
                ]
                for pool, share in zip(filled, shares, strict=True)
            ]
            drawn.append(torch.cat(picked, dim=1))
        return torch.stack(drawn, dim=1).to(self.device)
