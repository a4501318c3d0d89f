"""Episodes of `mujoco-pucks` that can be played again with other actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..envs.base import Array
from .base import WorldRow
from .mujoco_pucks import SPREAD, MujocoPucks, reverse_action
from .puck_table import PuckTable


class PuckReplay:
    """A table on which episodes are recorded, and played again from the same beginning.

    The same actions give the same episode to the last bit, since all that a step depends on is kept.
    """

    def __init__(self, world: MujocoPucks) -> None:
        self.world = world
        self._table = PuckTable(world.load("mujoco"), world.factors[1:], world.outcome, SPREAD)

    def record(self, generator: np.random.Generator) -> tuple[Array, list[WorldRow]]:
        """Record an episode; return what it begins from, and its rows with every body's causes."""
        self._table.start(generator)
        start = self._table.steps.save()
        return start, list(self.world.take_episode(self._table, generator))

    def play(self, start: Array, actions: Sequence[Array] | Array) -> list[WorldRow]:
        """Play an episode from this beginning with these actions."""
        table = self._table
        table.steps.restore(start)
        rows = []
        for action in np.asarray(actions, dtype=float):
            before = table.read()
            others = [table.drive(other) for other in (np.zeros(2), reverse_action(action))]
            table.drive(action)
            taken = table.steps.take(others)
            following = table.read()
            graph = self.world.find_graph(table, taken, following)
            table.steps.restore(taken.end)
            state = {"action": action, **before}
            rows.append(WorldRow(state, taken.outcome, graph["target"], following=following, graph=graph))
        return rows
