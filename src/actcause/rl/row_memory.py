"""Rows that a learner goes on with: those of before, and those that came since."""

from __future__ import annotations

from ..data.recording import Recording, join_recordings


def append_rows(earlier: Recording, later: Recording, most: int) -> Recording:
    """Put the episodes of a later recording after those of an earlier one, and keep the last `most` rows.

    >>> first = Recording(factors=["block"], state=[[[0.0]], [[1.0]]], next_state=[[[1.0]], [[2.0]]])
    >>> append_rows(first, first, 3).episode.tolist()
    [0, 1, 1]
    """
    begin = int(earlier.episode.max()) + 1 - int(later.episode.min())
    known = (earlier.cause is None) == (later.cause is None)
    parts = [part.replaced(extra={}, **({} if known else {"cause": None})) for part in (earlier, later)]
    joined = join_recordings([parts[0], parts[1].replaced(episode=later.episode + begin)])
    return joined.subset(slice(max(0, len(joined) - most), None))
