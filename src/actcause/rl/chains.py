"""Chains from actions to an object, followed forwards through the local graphs of an episode.

For every factor the last step is kept whose action has had a part in what the factor is by now, -1 for none. At each
step t a factor takes the greatest of those of its causes; that of the action is t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..envs.base import Array


def follow_actions(graphs: Array, outcomes: Sequence[str], factors: Sequence[str], action: str = "action") -> Array:
    """Return `(steps, factors)`: the last action with a chain to each factor's value after each step; -1 for none.

    `graphs` are those of one episode, `(steps, outcomes, factors)`, in order. A factor that is no outcome has no cause.

    >>> push = [[[1, 1, 0], [0, 0, 1]], [[1, 1, 0], [1, 1, 1]], [[1, 1, 0], [0, 0, 1]]]  # touched in the second step
    >>> follow_actions(np.array(push), ["pusher", "block"], ["action", "pusher", "block"])[:, 2].tolist()
    [-1, 1, 1]
    """
    follower = ActionFollower(outcomes, factors, action)
    return np.array([follower.follow(graph) for graph in np.asarray(graphs, dtype=bool)]).reshape(-1, len(factors))


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
