"""Chains of recordings, by true graphs and by others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import DataError, Recording, collect_recording, trace


def test_in_push_the_block_goes_back_to_pusher_and_actions() -> None:
    recording = collect_recording("push", frames=1000, seed=1)
    assert recording.cause is not None
    block, pusher = recording.outcome_index("block"), recording.index("pusher")
    for number in range(50):
        episode = recording.take_episode(number)
        assert episode.cause is not None
        chain = trace(recording, episode=number, step=19, factor="block")
        touched = np.flatnonzero(episode.cause[:, block, pusher])
        links = {link.step for link in chain.links if link.outcome == "block"}
        assert links == set(touched.tolist())
        assert chain.action_steps == (tuple(range(touched.max() + 1)) if len(touched) else ())


def test_rows_may_stand_in_any_order() -> None:
    recording = collect_recording("3-chain", frames=200, seed=1)
    mixed = recording.subset(np.random.default_rng(0).permutation(len(recording)))
    told = {"episode": 1, "step": 30, "factor": "y"}
    assert trace(mixed, **told) == trace(recording, **told)  # type: ignore[arg-type]


def test_other_graphs_give_other_chains() -> None:
    recording = collect_recording("push", frames=100, seed=1)
    graphs = np.zeros((100, 6, 7), dtype=bool)
    chain = trace(recording, episode=0, step=3, factor="block", graphs=graphs)
    assert (chain.links, chain.actions, chain.initial) == ((), (), ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episode": 9}, "no episode 9; they are 0 to 4"),
        ({"step": 20}, "steps 0 to 19. Got 20"),
        ({"factor": "action"}, "Unknown factor 'action'"),
        ({"graphs": np.zeros((3, 3), dtype=bool)}, r"\(rows, outcomes, factors\)"),
    ],
)
def test_what_is_not_there_is_refused(changes: dict[str, Any], message: str) -> None:
    recording = collect_recording("push", frames=100, seed=1)
    with pytest.raises(DataError, match=message):
        trace(recording, **{"episode": 0, "step": 3, "factor": "block", **changes})


def test_a_chain_needs_graphs_and_every_step() -> None:
    recording: Recording = collect_recording("push", frames=100, seed=1)
    with pytest.raises(DataError, match="no true causes; give graphs"):
        trace(recording.replaced(cause=None), episode=0, step=3, factor="block")
    with pytest.raises(DataError, match="lacks some of the steps"):
        trace(recording.subset([0, 2, 3]), episode=0, step=3, factor="block")
    with pytest.raises(DataError, match="lacks some of the steps 0 to 1, "):  # a step that lies between others
        trace(recording.subset([0, 2, 3]), episode=0, step=1, factor="block")
