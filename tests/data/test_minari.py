"""Data sets of Minari: episodes become transitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
from minari.data_collector import EpisodeBuffer

from actcause.data import (
    DataError,
    from_minari,
)


def episodes() -> Iterator[SimpleNamespace]:
    for number, steps in enumerate((3, 2)):
        yield SimpleNamespace(
            id=number + 5,
            observations={
                "ball": np.arange(2 * (steps + 1), dtype=np.float32).reshape(-1, 2),
                "lamp": np.arange(steps + 1),
            },
            actions=np.ones((steps, 1), dtype=np.float32),
            infos={"cause": np.ones((steps + 1, 3), dtype=bool)},
        )


def test_episodes_with_a_dict_of_factors_become_transitions() -> None:
    made = from_minari(list(episodes()), outcome="ball", features={"ball": ["x", "y"]}, cause="cause")
    assert made.factors == ("ball", "lamp", "action")
    assert made.features == {"ball": ("x", "y"), "lamp": ("x0",), "action": ("x0",)}
    assert made.outcome.tolist() == [[2, 3], [4, 5], [6, 7], [2, 3], [4, 5]]
    assert made.episode is not None
    assert made.episode.tolist() == [5, 5, 5, 6, 6]
    assert (made.own, made.edges, made.state.dtype) == ("ball", ("lamp", "action"), np.float32)
    assert made.rates() == dict.fromkeys(made.factors, 1.0)
    assert from_minari(list(episodes()), outcome="ball", action=None, factors=["lamp", "ball"]).factors == (
        *("lamp", "ball"),
    )


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, {"outcome": "bal"}, "did you mean 'ball'"),
        ({"observations": np.zeros((4, 2))}, {}, "must be a Dict"),
        ({"observations": {"ball": {"x": np.zeros(4)}}}, {}, "nested entries are not factors"),
        ({}, {"factors": {"ball": "bal[0]"}}, "no entry 'bal' .'ball'.; did you mean 'ball'"),
        ({}, {"factors": {"ball": "ball[0:5]"}}, "'ball.0:5.' is outside 'ball', which has 2 values"),
        ({}, {"factors": {"ball": slice(0, 2)}}, "Positions .'ball'. are those of a flat observation"),
        ({}, {"factors": {"ball": 0.5}}, "'ball' must be an entry of the observation"),
        ({"observations": np.zeros((4, 2))}, {"factors": {"ball": slice(3, 5)}}, "'ball' is outside the observation"),
        ({}, {"outcome_features": ["z"]}, "The outcome 'ball' has no feature 'z'"),
        ({}, {"categorical": ["bal"]}, "Unknown categorical feature 'bal'"),
        ({"observations": {"ball": np.zeros(4), "lamp": np.zeros(3)}}, {}, "equally long"),
        ({"actions": np.zeros(9)}, {}, "9 actions need 10 observations. Got 4"),
        ({}, {"action": "lamp"}, "has an entry 'lamp' already"),
        ({}, {"cause": "truth"}, "no entry 'truth'; they have cause"),
        ({}, {"features": {"ball": ["x"]}}, "'ball' has 2 features. Got 1 names"),
    ],
)
def test_an_episode_that_does_not_fit_is_refused(
    changes: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    episode = SimpleNamespace(**(vars(next(episodes())) | changes))
    with pytest.raises(DataError, match=message):
        from_minari([episode], **({"outcome": "ball"} | arguments))


def flat_episode(number: int, steps: int = 4) -> SimpleNamespace:
    """An episode with flat observations: a hand, a block and a goal of two numbers each."""
    seen = np.random.default_rng(number).normal(size=(steps + 1, 6)).astype(np.float32)
    return SimpleNamespace(id=number, observations=seen, actions=np.arange(steps) % 2, infos={})


SLICES = {"hand": "observation[0:2]", "block": slice(2, 4), "goal": [4, "observation[5]"]}


def test_flat_observations_are_cut_into_factors() -> None:
    episodes = [flat_episode(0), flat_episode(1)]
    chosen = {"features": {"block": ["x", "y"]}, "outcome_features": ["y"], "categorical": ["action"]}
    made = from_minari(episodes, "block", factors=SLICES, **chosen)
    assert made.factors == ("hand", "block", "goal", "action")
    assert np.array_equal(made.state[:4, 2, :2], episodes[0].observations[:4, 4:])
    assert np.array_equal(made.outcome[4:, 0], episodes[1].observations[1:, 3])
    assert (made.outcome_features, made.metadata["categorical"]) == (("y",), ["action.x0"])
    named = from_minari(episodes, "block", factors={**SLICES, "push": "action"})
    assert named.factors == ("hand", "block", "goal", "push")
    kinds = from_minari(episodes, "block", factors=SLICES, classes={"hand": "arm"}, categorical=["action"])
    assert (kinds.metadata["classes"]["hand"], kinds.metadata["categorical"]) == ("arm", ["action.x0"])
    again = from_minari([flat_episode(0), flat_episode(0)], "block", factors=SLICES)
    assert again.episode is not None
    assert again.episode.tolist() == [0] * 4 + [1] * 4  # episodes of one number, of two data sets, stay apart
    past = from_minari(episodes, "block", factors=SLICES, history=1)
    assert past == from_minari(episodes, "block", factors=SLICES).with_history(1)
    assert len(past) == 6


def test_discrete_actions_of_a_data_set_are_categories() -> None:
    episodes = [flat_episode(0)]
    dataset = SimpleNamespace(iterate_episodes=lambda: iter(episodes), action_space=gymnasium.spaces.Discrete(2))
    assert from_minari(dataset, "block", factors=SLICES).metadata == {"categorical": ["action.x0"]}
    dataset.action_space = gymnasium.spaces.Box(-1, 1, (1,))
    assert from_minari(dataset, "block", factors=SLICES).metadata == {}


def test_an_object_that_is_nan_in_an_episode_is_absent_there() -> None:
    episodes = [flat_episode(0), flat_episode(1)]
    episodes[1].observations[2, :2] = np.nan
    made = from_minari(episodes, "block", factors=SLICES)
    assert made.mask is not None
    assert np.argwhere(~made.mask).tolist() == [[6, 0]]


def test_no_episode_at_all_is_refused() -> None:
    with pytest.raises(DataError, match="at least one episode"):
        from_minari([], outcome="ball")
    with pytest.raises(DataError, match="list of episodes"):
        from_minari(3, outcome="ball")


@pytest.mark.filterwarnings("ignore::UserWarning:minari", "ignore:`eval_env` is set to None")
def test_a_real_minari_data_set_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    space = gymnasium.spaces.Box(-100, 100, (2,), np.float32)
    buffers = [
        EpisodeBuffer(
            id=episode.id - 5,
            observations={"ball": list(episode.observations["ball"])},
            actions=list(episode.actions),
            rewards=[0.0] * len(episode.actions),
            terminations=[False] * len(episode.actions),
            truncations=[False] * (len(episode.actions) - 1) + [True],
        )
        for episode in episodes()
    ]
    dataset = minari.create_dataset_from_buffers(
        "toy/ball-v0",
        buffers,
        observation_space=gymnasium.spaces.Dict({"ball": space}),
        action_space=gymnasium.spaces.Box(-1, 1, (1,), np.float32),
        data_format="arrow",
        algorithm_name="none",
        author="nobody",
        author_email="nobody@example.org",
        code_permalink="none",
        description="a test",
        requirements=[],
    )
    made = from_minari(dataset, outcome="ball")
    assert made.outcome.tolist() == [[2, 3], [4, 5], [6, 7], [2, 3], [4, 5]]
    assert from_minari("toy/ball-v0", outcome="ball") == made
    with pytest.raises(DataError, match="Minari cannot load"):
        from_minari("toy/other-v0", outcome="ball")
