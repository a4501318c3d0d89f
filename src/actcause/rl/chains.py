"""Chains from actions to an object, followed forwards through the local graphs of an episode.

For every factor the last step is kept whose action has had a part in what the factor is by now, -1 for none. At each
step t a factor takes the greatest of those of its causes; that of the action is t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..envs.base import Array
from ..errors import QueryError


def follow_actions(graphs: Array, outcomes: Sequence[str], factors: Sequence[str], action: str = "action") -> Array:
    """Return `(steps, factors)`: the last action with a chain to each factor's value after each step; -1 for none.

    `graphs` are those of one episode, `(steps, outcomes, factors)`, in order. A factor that is no outcome has no cause.

    >>> push = [[[1, 1, 0], [0, 0, 1]], [[1, 1, 0], [1, 1, 1]], [[1, 1, 0], [0, 0, 1]]]  # touched in the second step
    >>> follow_actions(np.array(push), ["pusher", "block"], ["action", "pusher", "block"])[:, 2].tolist()
    [-1, 1, 1]
    """
    missing = [name for name in outcomes if name not in factors]
    if missing:
        raise QueryError("Outcomes must be among the factors, {factors}. Got {got} instead.",
                         factors=", ".join(factors), got=missing[0])  # fmt: skip
    found = np.asarray(graphs, dtype=bool)
    if found.ndim != 3 or found.shape[1:] != (len(outcomes), len(factors)):
        raise QueryError(
            "{parameter} must be of shape (steps, {outcomes}, {factors}): (steps, outcomes, factors). Got {got} "
            "instead.", parameter="graphs", outcomes=len(outcomes), factors=len(factors), got=found.shape,
        )  # fmt: skip
    follower = ActionFollower(outcomes, factors, action)
    return np.array([follower.follow(graph) for graph in found]).reshape(-1, len(factors))


class ActionFollower:
    """Follows the chains of one episode step by step; `latest` is what is known so far, for each factor."""

    def __init__(self, outcomes: Sequence[str], factors: Sequence[str], action: str = "action") -> None:
        self._places = [factors.index(outcome) for outcome in outcomes]
        self._action = factors.index(action) if action in factors else None
        self._step = -1
        self.latest = np.full(len(factors), -1)

    def follow(self, graph: Array) -> Array:
        """Take the graph of the next step in, `(outcomes, factors)`; return the last action behind each factor."""
        self._step += 1
        before = self.latest.copy()
        if self._action is not None:
            before[self._action] = self._step
        self.latest = np.full_like(before, -1)
        self.latest[self._places] = np.where(graph, before, -1).max(axis=1)
        return self.latest
