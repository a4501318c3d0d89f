"""Why an episode failed: the chain ends where the object ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import Recording, collect_recording
from actcause.errors import QueryError
from actcause.rl import GoalPush, NearGraphs, explain_failure, record_agent


def run(act: Any, **options: Any) -> Recording:
    env = GoalPush(**{"arena": 6.0, "margin": 0.5, "max_steps": 40, **options})
    return record_agent(env, act, 1, seed=1)


def chase(observation: Any) -> Any:
    return 3 * (observation["observation"][2:4] - observation["observation"][:2])


def test_a_block_that_was_shoved_away_is_traced_to_the_actions_that_did_it() -> None:
    episode = run(chase)
    found = explain_failure(episode, factor="block", goal="target")
    assert episode.cause is not None
    touched = np.flatnonzero(episode.cause[:, episode.outcomes.index("block"), 1])
    assert found.last_touch == touched[-1]
    assert found.chain.actions
    assert max(step for _, step in found.chain.actions) <= touched[-1]
    assert "because of" in str(found)
    ended = np.linalg.norm(episode.next_state[-1, 2, :2] - episode.next_state[-1, 3, :2])
    assert found.distance == pytest.approx(ended)


def test_a_block_that_nobody_touched_is_said_to_be_so() -> None:
    found = explain_failure(run(lambda observation: -chase(observation)), factor="block", goal="target")
    assert found.last_touch is None
    assert "nothing but itself" in str(found)
    assert found.chain.actions == ()


def test_a_lost_ball_is_traced_to_the_last_strike_of_the_paddle() -> None:
    recording = collect_recording("break", frames=6000, seed=0, worlds=20)
    assert recording.cause is not None
    struck = recording.cause[:, recording.outcomes.index("ball"), 1]
    number = int(recording.episode[np.flatnonzero(struck)[0]])
    episode = recording.take_episode(number)
    found = explain_failure(episode, factor="ball")
    assert found.distance is None
    assert any(link.outcome == "ball" and "paddle" in link.causes for link in found.chain.links)


def test_other_graphs_can_be_asked_and_several_episodes_are_refused() -> None:
    episode = run(chase)
    assert explain_failure(episode, factor="block", graphs=NearGraphs(1.5)).last_touch is not None
    assert explain_failure(episode, factor="block", graphs=episode.cause).last_touch is not None
    env = GoalPush(max_steps=3)
    both = record_agent(env, lambda observation: np.zeros(2), 2)
    with pytest.raises(QueryError, match="one episode"):
        explain_failure(both, factor="block")
