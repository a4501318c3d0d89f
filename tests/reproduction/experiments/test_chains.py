"""The page of chains says in a sentence whether events stayed as they were."""

from __future__ import annotations

import sys

from actcause.reproduction.catalogue import catalogue, find_folder


def tell(**counts: int) -> list[str]:
    module = sys.modules[catalogue(find_folder())["chains"].experiment.page.__module__]
    total = {"off": 10, "kept_resting": 10, "kept_random": 6, "unexplained": 0, "rest_unexplained": 0}
    return module._tell_kept({"push": total | counts})


def test_what_changed_with_a_new_edge_is_told_apart_from_what_changed_without_one() -> None:
    (fine,) = tell(rest_new_edge=0)
    assert "of 20 episodes played with other actions off the chain 16 kept the event; of the 4 others all have" in fine
    (wrong,) = tell(rest_new_edge=0, unexplained=1)
    assert "3 have a new edge into the chain, and 1 changed without one." in wrong


def test_results_that_did_not_count_new_edges_are_left_out() -> None:
    assert tell() == []
