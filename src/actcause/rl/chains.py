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
    linked = np.asarray(graphs, dtype=bool)
    places = [factors.index(outcome) for outcome in outcomes]
    latest = np.full(len(factors), -1)
    after = np.full((len(linked), len(factors)), -1)
    for step, graph in enumerate(linked):
        if action in factors:
            latest[factors.index(action)] = step
        now = np.where(graph, latest, -1).max(axis=1)
        latest[places] = now
        after[step, places] = now
    return after
