"""The benchmark of the explorer at a tiny size: its questions are answered rightly, its attacks do no harm."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import explorer
import hostile


def test_the_benchmark_runs_and_nothing_hostile_gets_through() -> None:
    with ThreadPoolExecutor(1) as pool:  # a browser test may have left an event loop in this thread
        figures = pool.submit(lambda: list(explorer.run(explorer.TINY))).result()
    assert len(figures) == 5
    assert all(figure.right for figure in figures), figures


def test_hostile_requests_are_of_every_kind_and_the_same_every_time() -> None:
    def make_requests() -> list[bytes]:
        return [make("localhost:8000") for make, _ in hostile.requests(random.Random(3), 400)]

    first = make_requests()
    assert first == make_requests()
    assert any(not each.startswith((b"GET", b"POST")) for each in first)
    assert max(map(len, first)) > 1_000_000
    assert any(b"Y == 1" in each for each in first)
