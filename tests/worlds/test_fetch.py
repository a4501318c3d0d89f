"""FetchPush and FetchSlide: what is recorded of them, and whether its labels are true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.errors import QueryError
from actcause.worlds import make
from actcause.worlds.fetch_robot import FetchRobot

mujoco = pytest.importorskip("mujoco")
robotics = pytest.importorskip("gymnasium_robotics")


def make_environment(name: str) -> Any:
    import gymnasium

    gymnasium.register_envs(robotics)
    return gymnasium.make(name).unwrapped


@pytest.fixture(scope="module", params=["fetch-push", "fetch-slide"])
def recording(request: pytest.FixtureRequest) -> Transitions:
    return collect(request.param, 400, seed=1)


def test_the_gripper_is_a_cause_where_its_touch_moved_the_block(recording: Transitions) -> None:
    assert recording.cause is not None
    label, touched = recording.cause[:, 1], recording.extra["contact.gripper"]
    assert np.array_equal(label, recording.extra["effect.gripper"] > 0.05)
    assert 10 < label.sum() <= touched.sum() < 200
    assert not (label & ~touched).any()
    assert np.array_equal(recording.extra["impulse.gripper"] > 0, touched)


def test_the_action_is_a_cause_only_with_the_gripper_and_the_goal_never(recording: Transitions) -> None:
    assert recording.cause is not None
    action, gripper, _, goal = recording.cause.T
    assert action.any()
    assert not (action & ~gripper).any()
    assert not goal.any()


def test_what_is_recorded_follows_from_the_row_before(recording: Transitions) -> None:
    assert recording.episode is not None
    same = recording.episode[1:] == recording.episode[:-1]
    assert np.array_equal(recording.state[1:][same, 2, :3], recording.outcome[:-1][same])


@pytest.mark.parametrize("name", ["FetchPush-v4", "FetchSlide-v4"])
def test_steps_are_those_of_the_environment_to_the_last_bit(name: str) -> None:
    robot = FetchRobot(mujoco, make_environment(name), np.full(3, 0.008))
    robot.start(np.random.default_rng(3))
    other = make_environment(name)
    other.reset(seed=int(np.random.default_rng(3).integers(2**31)))
    for action in np.random.default_rng(0).uniform(-1, 1, (8, 4)):
        others = [robot.drive(np.zeros(4))]
        robot.drive(action)
        taken = robot.steps.take(others)
        assert robot.steps.measure_effect(taken, taken.start) == 0.0
        robot.steps.find_differences(taken, threshold=0.05)
        robot.steps.restore(taken.end)
        robot.settle()
        expected = other.step(action)[0]
        state = robot.read()
        assert np.array_equal(state["gripper"][:3], expected["observation"][:3])
        assert np.allclose(state["gripper"][3:] * other.dt, expected["observation"][20:23], atol=1e-12)
        assert np.array_equal(state["block"][:3], expected["achieved_goal"])
        assert np.array_equal(state["goal"], expected["desired_goal"])


def test_an_arm_from_another_row_leaves_the_block_where_it_was() -> None:
    robot = FetchRobot(mujoco, make_environment("FetchPush-v4"), np.full(3, 0.008))
    generator = np.random.default_rng(0)
    robot.start(generator)
    begun, before = robot.steps.save(), robot.read()
    for _ in range(5):
        robot.drive((1.0, 0.5, 1.0, 0.0))
        robot.steps.take()
        robot.settle()
    robot.remember()
    there = robot.read()["gripper"]
    robot.put_back(begun, generator)
    exchanged = robot.read()
    assert np.array_equal(exchanged["gripper"], there)
    assert np.array_equal(exchanged["block"], before["block"])
    robot.put_back(begun)
    assert np.array_equal(robot.read()["gripper"], before["gripper"])


def test_the_functional_cause_is_the_label() -> None:
    data = collect(make("fetch-push", check=True), 40, seed=4)
    assert data.cause is not None
    found = np.stack([data.extra[f"fac.{factor}"] for factor in data.edges], axis=1)
    label = data.cause[:, [data.layout.index(factor) for factor in data.edges]]
    assert label[:, 1].any()
    assert (found == label).mean() > 0.97
    assert data.extra["differs.gripper"][label[:, 1]].all()


def test_a_threshold_must_be_positive() -> None:
    with pytest.raises(QueryError, match=r"'threshold' of fetch-push must be positive\. Got 0 instead"):
        make("fetch-push", threshold=0)


def test_a_recording_says_which_physics_it_was_made_with(recording: Transitions) -> None:
    assert recording.metadata["simulator"].endswith(f", mujoco {mujoco.__version__}")


def test_recording_says_nothing_about_other_environments(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "actcause", "collect", "fetch-push", "--frames", "5", "--out", str(tmp_path / "a")]
    assert "Adroit" not in subprocess.run(command, capture_output=True, text=True, check=True).stderr
