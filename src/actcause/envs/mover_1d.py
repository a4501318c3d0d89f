"""The 1D mover of the paper's Table 1: a finite world, small enough to be solved exactly.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883, Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Array, Domain, Step

MOVER, OBSTACLE = 0, 1
INSIDE = 0.49  # how far from its middle the mover is still on a field


@dataclass(frozen=True)
class Mover1D(Domain):
    """A mover goes one field to the right, unless an obstacle is there.

    **Description.** The smallest world in which a factor is sometimes a cause and sometimes none: 12
    states, whose functional actual causes the exact core finds.

    **Factors.** `mover` (x in 0..3) and `obstacle` (x in 0..2). The outcome is the mover's next x.

    **Actions.** None; the array of actions has no columns (with `noise` one, the random number).

    **Dynamics.** m' = m + 1 unless o = m + 1, else m' = m. The obstacle stays. With `noise` the mover stands
    anywhere on its field, and m is x rounded: the world has the same 12 states, seen less sharply.

    **True cause** of the mover's next x. The mover: always. The obstacle: if it is in the way. This is
    the functional actual cause in all 12 states (`alpha_sufficiency` 0.4, `alpha_necessity` 0.01).

    **Parameters.** `fields` how many the mover can be on; `obstacle_fields` how many, from 0 on, the
    obstacle can be on; `noise` the standard deviation of the mover's distance from the middle of its next field,
    Gaussian, cut off at the field's edge.

    **Choices where the paper is silent.** An episode begins in a state drawn uniformly and ends when the
    mover has left the fields, or after 4 steps. A mover that is stopped stays so.

    >>> domain = Mover1D()
    >>> states = np.array([[[0.0], [1.0]], [[1.0], [1.0]]])
    >>> step = domain.step(states, domain.sample_actions(np.random.default_rng(0), states))
    >>> step.states[:, 0, 0].tolist(), step.cause.tolist()
    ([0.0, 2.0], [[True, True], [True, False]])
    """

    name: ClassVar[str] = "mover-1d"
    title: ClassVar[str] = "1D Mover"
    horizon: ClassVar[int] = 4
    factors: ClassVar[tuple[str, ...]] = ("mover", "obstacle")
    features: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(factors, ("x",))
    outcome: ClassVar[str] = "mover"
    edges: ClassVar[tuple[str, ...]] = ("obstacle",)
    choices: ClassVar[Array] = np.zeros((1, 0))  # one action, which says nothing
    noise_axes: ClassVar[int] = 1
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    fields: int = 4
    obstacle_fields: int = 3
    noise: float = 0.0

    def __post_init__(self) -> None:
        self._check("fields", "obstacle_fields", least=1, whole=True)
        self._check("noise")

    @property
    def bounds(self) -> tuple[Array, Array]:
        low, high = np.array([[[0], [0]], [[self.fields], [self.obstacle_fields - 1]]], dtype=float)
        if self.noise:
            low[MOVER] -= INSIDE
            high[MOVER] += INSIDE
        return low, high

    def reset(self, generator: np.random.Generator, worlds: int) -> Array:
        highest = (self.fields, self.obstacle_fields)
        return generator.integers(0, highest, (worlds, 2)).astype(float)[:, :, None]

    def step(self, states: Array, actions: Array) -> Step:
        actions = self._check_actions(states, actions)
        following = states.copy()
        cause = np.ones((len(states), 2), dtype=bool)
        field = np.floor(states[:, MOVER, 0] + 0.5)
        cause[:, OBSTACLE] = states[:, OBSTACLE, 0] == field + 1
        field += ~cause[:, OBSTACLE]
        following[:, MOVER, 0] = field
        if actions.shape[1]:
            following[:, MOVER] += np.clip(self.noise * actions, -INSIDE, INSIDE)
        return Step(states.copy(), following, cause, field >= self.fields)
