"""How seldom something happens, and how much of an agent's time and learning a bonus for it takes.

How often it happened lately is a mean of all there is at first, of the recent ones later on.
"""

from __future__ import annotations

RECENT = 80  # episodes, about
EPISODES = 0.5  # of those of an agent are for a bonus apart, as long as its weight is 1
ROWS = 0.25  # of those that it learns from, as long as there is a weight


def measure_news(new: int, seen: int) -> float:
    """Return how much the newest episodes count in the share of recent ones; `seen` are all, the new ones with them.

    >>> measure_news(1, 1), measure_news(1, 4), measure_news(1, 1000)
    (1.0, 0.25, 0.0125)
    """
    return min(1.0, max(new / seen, new / RECENT))
