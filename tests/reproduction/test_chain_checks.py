"""Chains held against the simulator, at tiny sizes."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.reproduction.chain_checks import check_chains, make_player


@pytest.mark.parametrize("domain", ["push", "break"])
def test_the_same_actions_give_the_same_episode(domain: str) -> None:
    player = make_player(domain)
    recording = player.record(5, seed=1)
    for number in range(5):
        episode = recording.take_episode(number)
        actions = episode.state[:, 0, : len(recording.features["action"])]
        again = player.play(number, actions)
        np.testing.assert_array_equal(again.next_state, episode.next_state)
        np.testing.assert_array_equal(again.cause, episode.cause)


@pytest.mark.parametrize("domain", ["push", "break"])
def test_true_chains_name_the_actions_that_matter(domain: str) -> None:
    player = make_player(domain)
    recording = player.record(60, seed=2)
    found = [player.find_happening(recording, number) for number in range(60)]
    counts = check_chains(player, recording, [one for one in found if one is not None], None, seed=0)
    assert counts["events"] == counts["reach_actions"] > 20
    assert counts["links"] == counts["true_links"] == counts["known_links"]
    assert counts["kept_resting"] == counts["off"] > 0
    assert counts["kept_random"] + counts["new_edge"] == counts["off"]
    assert counts["unexplained"] == 0
    assert counts["undone_on_one"] > 5 * counts["undone_off_one"]
    assert counts["undone_on_all"] > counts["on"] / 2


def test_wrong_graphs_are_found_out() -> None:
    player = make_player("push")
    recording = player.record(60, seed=2)
    found = [player.find_happening(recording, number) for number in range(60)]
    nothing = np.zeros_like(recording.cause)
    counts = check_chains(player, recording, [one for one in found if one is not None], nothing, seed=0)
    assert counts["links"] == counts["on"] == 0
    assert counts["kept_resting"] < counts["off"]


def test_pucks_can_be_played_again() -> None:
    pytest.importorskip("mujoco")
    player = make_player("mujoco-pucks")
    recording = player.record(3, seed=1)
    episode = recording.take_episode(1)
    again = player.play(1, episode.state[:, 0, :2])
    np.testing.assert_array_equal(again.next_state, episode.next_state)
    np.testing.assert_array_equal(again.cause, episode.cause)
    found = [player.find_happening(recording, number) for number in range(3)]
    counts = check_chains(player, recording, [one for one in found if one is not None], None, seed=0)
    assert counts["kept_resting"] == counts["off"]


def test_pucks_that_fare_otherwise_when_the_pusher_rests_were_touched_by_somebody_new() -> None:
    pytest.importorskip("mujoco")
    player = make_player("mujoco-pucks")
    recording = player.record(100, seed=0)
    found = [player.find_happening(recording, number) for number in range(100)]
    counts = check_chains(player, recording, [one for one in found if one is not None], None, seed=0)
    assert counts["rest_new_edge"] > 0  # a pusher that rests can stand in a puck's way
    assert counts["kept_resting"] + counts["rest_new_edge"] == counts["off"]
    assert counts["rest_unexplained"] == counts["unexplained"] == 0
    assert counts["undone_on_one"] > 5 * counts["undone_off_one"]
