"""Every valid pair of a small space: the paper's Algorithm 0, and how many pairs there are of each cost.

Both list all binaries that each state may have. They are the oracle of this part, and the histogram of Figure 7b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from ...errors import QueryError, TooLargeError
from ..expression import Array
from ..solvers.algorithm_0 import algorithm0
from ..solvers.dynamic_program import SAFE, DynamicProgram, Option
from .state_space import StateSpace

LARGEST_ORACLE = 4_000_000
MOST_STATES = 5_000


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Minima that were written out one by one."""

    cost: int | None
    pairs: list[Array]

    @property
    def count(self) -> int:
        return len(self.pairs)

    def base(self) -> Array:
        return self.pairs[0]

    def __iter__(self) -> Iterator[Array]:
        return iter(self.pairs)

    def masks_of(self, state: int) -> list[int]:
        return sorted({int(pair[state]) for pair in self.pairs})


def list_admissible(
    space: StateSpace, sufficiency: Fraction | None, necessity: Fraction | None
) -> tuple[list[list[int]], Callable[[int, int], int]]:
    """List every admissible mask of every state, and the group of a state under a mask."""
    admissible: list[list[int]] = [[] for _ in range(len(space))]
    groups: dict[int, list[int]] = {}
    for size in range(1, len(space.variables) + 1):
        for mask in space.masks(size):
            for state in np.flatnonzero(space.admissible(mask, sufficiency, necessity)).tolist():
                admissible[state].append(mask)
            groups[mask] = space.groups(mask)[0].tolist()
    return admissible, lambda state, mask: groups[mask][state] if mask else 0


def _weights(space: StateSpace) -> list[int]:
    return [1] * len(space) if space.weights is None else space.weights.tolist()


def run_algorithm_0(space: StateSpace, sufficiency: Fraction | None, necessity: Fraction | None) -> ListedPairs:
    """List the pairs of least cost by trying every valid pair."""
    admissible, group = list_admissible(space, sufficiency, necessity) if len(space) <= MOST_STATES else ([], None)
    if group is None or prod(max(1, len(masks)) for masks in admissible) > LARGEST_ORACLE:
        raise TooLargeError(
            "Algorithm 0 tries every pair, at most {most}; this space of {states} states has more. Use {solver:auto}.",
            parameter="solver",
            most=LARGEST_ORACLE,
            states=len(space),
        )
    cost, pairs, _ = algorithm0(admissible, space.outcomes.tolist(), group, _weights(space))
    return ListedPairs(cost, [np.asarray(pair, dtype=np.int64) for pair in pairs])


def count_pairs_by_cost(space: StateSpace, sufficiency: Fraction | None, necessity: Fraction | None) -> dict[int, int]:
    """Count the valid pairs of each cost, minimal or not."""
    if len(space) > MOST_STATES:
        raise QueryError(f"A histogram of all valid pairs takes spaces of up to {MOST_STATES} states.")
    admissible, group = list_admissible(space, sufficiency, necessity)
    numbers: dict[tuple[int, int], int] = {}
    options = [
        [Option(mask, mask.bit_count(), numbers.setdefault((mask, group(state, mask)), len(numbers))) for mask in masks]
        or [Option(0, 0, SAFE)]
        for state, masks in enumerate(admissible)
    ]
    counts = DynamicProgram(options, space.outcomes.tolist(), _weights(space)).histogram(lambda: None)
    if counts is None:
        raise QueryError("The valid pairs of this space are too entangled to be counted by cost.")
    return dict(sorted(counts.items()))
