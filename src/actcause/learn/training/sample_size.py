"""How many independent states a recording is worth: rows of one episode resemble each other."""

from __future__ import annotations

import numpy as np

from ...data import Transitions

LONGEST = 200  # lags looked at
MOST_ROWS = 50_000  # rows looked at


def effective_rows(data: Transitions) -> float:
    """Divide rows by the time over which states stay alike (1 + twice the sum of autocorrelations).

    The autocorrelation is that of the slowest factor, averaged over its features; the sum ends where it falls to 0.
    Without episodes every row counts for itself.

    >>> import numpy as np
    >>> state = np.repeat(np.random.default_rng(0).normal(size=(100, 2, 1)), 50, axis=0)
    >>> data = Transitions(factors=["a", "b"], state=state, outcome=state[:, 0], own="a", episode=np.arange(5000) // 50)
    >>> round(effective_rows(data))
    100
    """
    if data.episode is None:
        return float(len(data))
    kept = data if len(data) <= MOST_ROWS else data.subset(slice(0, MOST_ROWS))
    episode = np.asarray(kept.episode)
    state = np.asarray(kept.state, dtype=np.float64).reshape(len(kept), -1)
    state = state - state.mean(axis=0)
    variance = (state**2).mean(axis=0)
    moving = variance > 1e-12 * np.maximum((np.asarray(kept.state).reshape(len(kept), -1) ** 2).mean(axis=0), 1e-30)
    if not moving.any():
        return 1.0
    factor = np.repeat(np.arange(len(kept.factors)), kept.state.shape[2])
    alive = np.ones(len(kept.factors), dtype=bool)
    times = np.ones(len(kept.factors))
    for lag in range(1, min(LONGEST, len(kept) - 1) + 1):
        same = episode[lag:] == episode[:-lag]
        if not same.any():
            break
        # Pairs that straddle two episodes count as 0: an episode has no more than its own rows in common.
        product = (state[lag:] * state[:-lag] * same[:, None]).sum(axis=0) / len(kept)
        correlation = np.divide(product, variance, out=np.zeros_like(product), where=moving)
        for position in np.flatnonzero(alive):
            columns = moving & (factor == position)
            mean = float(correlation[columns].mean()) if columns.any() else 0.0
            if mean <= 0.02:
                alive[position] = False
            else:
                times[position] += 2 * mean
        if not alive.any():
            break
    return len(data) / float(times.max())
