"""Any Gymnasium environment as a recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import actcause.envs.gym  # noqa: F401  (registers the domains)
from actcause.data import DataError, Recorder, load, record


class Table(gymnasium.Env[Any, Any]):
    """A hand pushes a block along a line; a lamp is sometimes carried away. Flat, as a Dict, or in words."""

    action_space = spaces.Discrete(3)

    def __init__(self, form: str = "flat") -> None:
        self.form = form
        parts = {"hand": spaces.Box(-9, 9, (1,)), "block": spaces.Box(-9, 9, (2,)), "mode": spaces.Discrete(4)}
        self.observation_space = spaces.Box(-9, 9, (4,)) if form == "flat" else spaces.Dict(parts)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.hand, self.block, self.steps = 0.0, np.array([1.0, 0.0]), 0
        return self.look(), {}

    def look(self) -> Any:
        if self.form == "flat":
            return np.array([self.hand, *self.block, 7.0], dtype=np.float32)
        return {"hand": np.array([self.hand]), "block": self.block.copy(), "mode": self.steps % 4}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.hand += int(action) - 1
        pushed = self.hand >= self.block[0]
        if pushed:
            self.block = np.array([self.hand + 0.5, 0.5])
        self.steps += 1
        return self.look(), 0.0, False, self.steps == 10, {"pushed": pushed}


SLICES = {"hand": "observation[0]", "block": slice(1, 3), "wall": [3]}


def name_causes(before: Any, action: Any, after: Any, info: Any) -> list[str]:
    return ["hand", "action"] if info["pushed"] else []


def test_a_dict_of_factors_is_recorded_as_it_is_used() -> None:
    env = Recorder(Table("dict"), "block", features={"block": ["x", "v"]}, truth=name_causes)
    seen, _ = env.reset(seed=0)
    for action in (2, 2, 0):
        seen, *_ = env.step(action)
    made = env.transitions()
    assert env.rows == 3
    assert made.factors == ("hand", "block", "mode", "action")
    assert made.features["block"] == ("x", "v")
    assert made.state[:, 0, 0].tolist() == [0, 1, 2]
    assert made.outcome.tolist() == [[1.5, 0.5], [2.5, 0.5], [2.5, 0.5]]
    assert made.metadata == {"environment": "Table", "categorical": ["mode.x0", "action.x0"]}
    assert made.cause is not None
    assert made.cause[:, 0].tolist() == [True, True, False]
    assert made.cause[:, 1].all()
    assert made.edges == ("hand", "mode", "action")
    assert seen["hand"].tolist() == [1]


def test_slices_of_a_flat_observation_are_recorded() -> None:
    made = record(Table(), "block", 40, factors=SLICES, seed=3)
    assert made.factors == ("hand", "block", "wall", "action")
    assert made.episode is not None
    assert made.episode.tolist() == [n // 10 for n in range(40)]
    follows = made.episode[1:] == made.episode[:-1]
    assert np.array_equal(made.outcome[:-1][follows], made.state[1:, 1, :2][follows])
    assert made == record(Table(), "block", 40, factors=SLICES, seed=3)
    assert made != record(Table(), "block", 40, factors=SLICES, seed=4)


def test_a_policy_decides_and_the_past_is_kept(tmp_path: Path) -> None:
    made = record(
        Table(), "block", 20, factors=SLICES, policy=lambda seen: 2, history=1, differences=["x0"],
        outcome_features=["x0"], out=tmp_path / "table.parquet", places=["x0"],
        classes={"hand": "thing", "wall": "thing"},
    )  # fmt: skip
    assert load(tmp_path / "table.parquet") == made
    assert made.features["hand"] == ("x0", "x0@-1", "x0.change")
    assert set(made.state[:, 0, 2]) == {1}
    assert (len(made), made.outcome_features) == (18, ("x0",))
    assert made.metadata["places"] == ["x0"]
    assert made.metadata["classes"]["wall"] == "thing"


def test_a_function_makes_factors_with_texts_and_absent_objects() -> None:
    def see(observation: Any) -> dict[str, Any]:
        hand, x, _, wall = observation.tolist()
        return {
            "block": {"x": x, "side": "near" if x < 2 else "far"},
            "hand": {"x": hand},
            "wall": {"x": wall} if hand != 1 else None,
            **({"lamp": [1.0]} if hand != 2 else {}),
        }

    env = Recorder(Table(), "block", factors=see, action="move")
    env.reset()
    for action in (2, 2, 2, 0):
        env.step(action)
    made = env.transitions()
    assert made.factors == ("block", "hand", "wall", "lamp", "move")
    assert made.mask is not None
    assert made.mask[:, 2].tolist() == [True, False, True, True]
    assert made.mask[:, 3].tolist() == [True, True, False, True]
    assert made.read_text("block.side").tolist() == ["near", "near", "far", "far"]
    assert made.read_text("next.side").tolist() == ["near", "far", "far", "far"]


def test_an_object_that_appears_late_is_absent_before() -> None:
    def see(observation: Any) -> dict[str, Any]:
        hand, x, *_ = observation.tolist()
        return {"block": [x], **({"late": [hand]} if hand >= 2 else {})}

    env = Recorder(Table(), "block", factors=see, truth=lambda *step: [])
    env.reset()
    for _ in range(4):
        env.step(2)
    made = env.transitions()
    assert made.mask is not None
    assert made.mask[:, made.factors.index("late")].tolist() == [False, False, True, True]


def test_a_step_without_the_outcome_is_no_transition_and_breaks_the_past() -> None:
    def see(observation: Any) -> dict[str, Any]:
        hand, x, *_ = observation.tolist()
        return {"hand": [hand], "block": [np.nan if hand == 3 else x]}

    env = Recorder(Table(), "block", factors=see)
    env.reset()
    for _ in range(6):
        env.step(2)
    made = env.transitions()
    assert made.state[:, 0, 0].tolist() == [0, 1, 4, 5]
    assert made.episode is not None
    assert made.episode[1] != made.episode[2]
    assert env.transitions(history=1).state[:, 0].tolist() == [[1, 0], [5, 4]]


def test_true_causes_of_a_domain_come_through() -> None:
    names = ("action", "paddle", "ball", "block1", "block2", "block3")

    def truth(before: Any, action: Any, after: Any, info: Any) -> dict[str, bool]:
        return {name: bool(holds) for name, holds in zip(names, info["cause"], strict=True) if name != "ball"}

    made = record(gymnasium.make("actcause/Break-v0"), "ball", 300, truth=truth)
    assert made.metadata["environment"] == "actcause/Break-v0"
    assert made.metadata["categorical"] == ["action.x0"]
    assert 0 < sum(made.rates()[name] for name in names if name != "ball") < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": SLICES, "outcome": "blok"}, "Unknown factor 'blok' .outcome.; did you mean 'block'"),
        ({}, "The observation must be a Dict of factors"),
        ({"factors": lambda seen: 3}, "must return a table of them"),
        ({"factors": lambda seen: {"block": {"x": [1, 2]}}}, "one number or text. Got .* for 'block.x'"),
        ({"factors": SLICES, "features": {"block": ["x"]}}, "'block' has the features x. Got 2 values"),
        ({"factors": {**SLICES, "action": "observation[0]"}}, "has a factor 'action' already"),
        ({"factors": SLICES, "truth": lambda *step: ["hnd"]}, "Unknown factor 'hnd' .truth.; did you mean 'hand'"),
        ({"factors": SLICES, "truth": lambda *step: "hand"}, "must be the names of the factors"),
        ({"factors": SLICES, "categorical": ["hnd"]}, "Unknown categorical feature 'hnd'"),
        ({"factors": SLICES, "frames": 0}, "positive integer"),
        (
            {"factors": SLICES, "features": {"blok": ["x", "v"]}},
            "Unknown factor 'blok' .features.; did you mean 'block'",
        ),
        ({"factors": SLICES, "truth": lambda *step: [True, False]}, "must be the names of the factors .* for none"),
        ({"factors": SLICES, "history": 20}, "No row has 20 rows of its episode before it"),
    ],
)
def test_a_mistake_is_one_sentence(options: dict[str, Any], message: str) -> None:
    given = {"outcome": "block", "frames": 5} | options
    with pytest.raises(DataError, match=message) as wrong:
        record(Table(), **given)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("env", [None, "CartPole-v1", gymnasium.vector.SyncVectorEnv([Table, Table])])
def test_what_is_no_environment_is_refused_in_one_sentence(env: Any) -> None:
    with pytest.raises(DataError, match="must be a Gymnasium environment, such as"):
        Recorder(env, "block")


def test_a_factor_that_is_a_discrete_entry_is_a_category() -> None:
    made = record(Table("dict"), "block", 5, factors={"thing": "hand", "phase": "mode", "block": "block"})
    assert made.metadata["categorical"] == ["phase.x0", "action.x0"]


def test_entries_that_no_factor_is_made_of_may_hold_anything() -> None:
    class Nested(Table):
        def look(self) -> Any:
            return {**super().look(), "camera": {"left": 1}}

    assert record(Nested("dict"), "block", 5, factors=["hand", "block"]).factors == ("hand", "block", "action")
    with pytest.raises(DataError, match="Entry 'camera' must be an array"):
        record(Nested("dict"), "block", 5)


def test_features_may_be_named_of_an_object_that_was_never_there() -> None:
    class Blind(Table):
        def look(self) -> Any:
            return {**super().look(), "hand": np.array([np.nan])}

    made = record(Blind("dict"), "block", 5, features={"hand": ["x"], "block": ["x", "v"]})
    assert made.factors == ("block", "mode", "action")


def test_what_was_not_begun_cannot_be_recorded() -> None:
    with pytest.raises(DataError, match="Nothing was recorded"):
        Recorder(Table(), "block", factors=SLICES).transitions()
    env = Recorder(Table(), "block", factors=SLICES)
    with pytest.raises(DataError, match=r"call reset\(\) first"):
        env.step(0)
    env.reset()
    with pytest.raises(DataError, match="Nothing was recorded"):
        env.transitions()


def test_recordings_need_gymnasium_only_when_an_environment_is_recorded() -> None:
    loaded = "print('gymnasium' in sys.modules)"
    program = f"import actcause.data, sys; {loaded}; actcause.data.Recorder; {loaded}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
