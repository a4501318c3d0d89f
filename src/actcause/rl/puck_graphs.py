"""The true graphs of MuJoCo pucks, asked about any state: bodies are placed, driven and stepped, with and without each.

A recording of pucks shows places and speeds along the table. What it does not show (how a puck lies and spins, where
the solver starts from) is taken to be at rest, so that a step taken again differs a little from the one recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..envs.base import Array
from ..worlds.mujoco_pucks import SPREAD, MujocoPucks, reverse_action
from ..worlds.mujoco_steps import TakenStep
from ..worlds.puck_table import PuckTable
from .graph_sources import check_factors

if TYPE_CHECKING:
    from ..data import Recording


@dataclass(frozen=True)
class PuckGraphs:
    """What the simulator says of states of `mujoco-pucks`: who caused what, and what comes next."""

    world: MujocoPucks = field(default_factory=MujocoPucks)

    def predict(self, recording: Recording) -> Array:
        """Step the simulator from each row's state, and again without each body."""
        check_factors(recording, self.world.factors)
        graphs = np.zeros((len(recording), len(self.world.outcomes), len(self.world.factors)), dtype=bool)
        for row, taken in enumerate(self._take(np.asarray(recording.state, dtype=float))):
            following = self._table.read()
            found = self.world.find_graph(self._table, taken, following)
            for place, outcome in enumerate(self.world.outcomes):
                graphs[row, place, [self.world.index(name) for name in (outcome, *found[outcome])]] = True
        return graphs

    def step(self, state: Array) -> Array:
        """Return what the simulator makes of these states, `(rows, factors, width)`."""
        following = np.zeros_like(state, dtype=float)
        for row, _ in enumerate(self._take(np.asarray(state, dtype=float))):
            for body, motion in self._table.read().items():
                following[row, self.world.index(body)] = motion
        return following

    @cached_property
    def _table(self) -> PuckTable:
        return PuckTable(self.world.load("mujoco"), self.world.factors[1:], self.world.outcome, SPREAD)

    def _take(self, states: Array) -> Iterator[TakenStep]:
        """Take the step of each row."""
        table = self._table
        for state in states:
            table.clear()
            for body in table.bodies:
                table.put(body, state[self.world.index(body)])
            action = state[0, :2]
            others = [table.drive(other) for other in (np.zeros(2), reverse_action(action))]
            table.drive(action)
            yield table.steps.take(others)
