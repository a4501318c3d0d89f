"""Whatever will not do is answered with one clear line, by every verb of `actcause.rl`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from actcause import rl
from actcause.data import Recording, collect_recording
from actcause.envs import make
from actcause.errors import DataError, QueryError

PUSH: Recording = collect_recording("push", frames=100, dtype="float64")
ENV = rl.GoalPush(arena=6, margin=0.5, max_steps=5)
EPISODE = rl.record_agent(ENV, lambda seen: np.zeros(2), 1)
TRUE = rl.TrueGraphs(make("push"))
OTHER = rl.TrueGraphs(make("break"))


def chase(states: Any) -> Any:
    return states[:, 2, :2]


def explain(policy: Any = chase, recording: Any = PUSH, row: Any = 0, **options: Any) -> Any:
    return rl.explain_action(policy, recording, row, **options)


class Agent:
    """Predicts nothing."""

    def predict(self, seen: Any, deterministic: bool = True) -> Any:
        return None


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a name as policy": (lambda: explain("chase"), "policy must be a function from states to actions; read_policy"),
    "an agent as policy": (lambda: explain(Agent()), "policy must be a function from states to actions"),
    "a policy that gives one number": (lambda: explain(lambda states: 3.0), "an action for each state: 100"),
    "a policy that gives words": (lambda: explain(lambda states: ["left"] * len(states)), "must return numbers"),
    "a policy that gives nan": (lambda: explain(lambda states: states[:, 0] * np.nan), "must return finite numbers"),
    "a file to explain": (lambda: explain(recording="a.parquet"), "recording must be a Recording of whole states"),
    "transitions to explain": (lambda: explain(recording=PUSH.view("block")), "must be a Recording of whole states"),
    "one factor as a string": (lambda: explain(factors="block"), "factors must be a list of names. Got 'block'"),
    "a seed below 0": (lambda: explain(seed=-1), "seed must be an integer of at least 0. Got -1"),
    "anything counts as the same": (lambda: explain(same=float("inf")), "same must be a number of at least 0"),
    "a number as agent": (lambda: rl.read_policy(3, ENV.layout), "agent must be an agent with predict"),
    "a name as layout": (lambda: rl.read_policy(Agent(), "push"), "layout must be the layout of an environment"),
    "a goal that is not there": (
        lambda: rl.explain_failure(EPISODE, factor="block", goal="targt"), "did you mean 'target'",
    ),
    "a goal without a place": (
        lambda: rl.explain_failure(EPISODE, factor="block", goal="action"), "goal must be a factor with a place",
    ),
    "a failure of a file": (lambda: rl.explain_failure("a", factor="block"), "episode must be a Recording"),
    "a file to augment": (lambda: rl.augment("a.parquet", TRUE), "recording must be a Recording"),
    "a name as model": (lambda: rl.augment(PUSH, TRUE, model="a"), "model must be a fitted TransitionModel"),
    "a share below 0": (lambda: rl.augment(PUSH, TRUE, wrong=-1.0), "wrong must be a share between 0 and 1"),
    "pairs of half a row": (lambda: rl.augment(PUSH, TRUE, pairs=0.5), "pairs must be an integer of at least 1"),
    "dynamics of another domain": (lambda: rl.augment(PUSH, OTHER), "Got a recording of action, pusher"),
    "a name as dynamics": (lambda: rl.augment(PUSH, TRUE).measure_exactness("push"), "dynamics must be what has step"),
    "exactness by another domain": (lambda: rl.augment(PUSH, TRUE).measure_exactness(OTHER), "States must be of shape"),
    "a name as domain": (lambda: rl.TrueGraphs("push"), "domain must be a domain"),
    "a radius below 0": (lambda: rl.NearGraphs(-1), "radius must be a number of at least 0. Got -1"),
    "a word as threshold": (lambda: rl.MovedGraphs("pusher", "low"), "threshold must be a number of at least 0"),
    "graphs of a file": (lambda: rl.GraphsByOutcome("jaci-em").fit("a"), "recording must be a Recording"),
    "contacts of a file": (lambda: rl.ContactGraphs().fit("a"), "recording must be a Recording"),
    "a word as seed of contacts": (lambda: rl.ContactGraphs(seed="a"), "seed must be an integer of at least 0"),
    "a model of a file": (lambda: rl.TransitionModel().fit("a"), "recording must be a Recording"),
    "a device that is none": (lambda: rl.TransitionModel(device="tpu"), "device must be one that torch has here"),
    "a name as learner": (lambda: rl.OnlineGraphs("jaci-em"), "learner must be what has fit"),
    "rows that are none": (lambda: rl.OnlineGraphs(rl.ContactGraphs()).partial_fit("a"), "must be a Recording"),
    "an outcome that is no factor": (
        lambda: rl.follow_actions(np.zeros((3, 1, 1)), ["block"], ["pusher"]), "Outcomes must be among the factors",
    ),
    "graphs of another shape": (
        lambda: rl.follow_actions(np.zeros((3, 5, 2)), ["a", "b"], ["a", "b"]), "graphs must be of shape (steps, 2, 2)",
    ),
    "a name as environment": (lambda: rl.record_agent("push", chase, 1), "must be one goal-conditioned environment"),
    "an environment without factors": (
        lambda: rl.InteractionBonus(gymnasium.make("CartPole-v1")), "must be one goal-conditioned environment",
    ),
    "a name as actor": (lambda: rl.record_agent(ENV, "chase", 1), "act must be a function"),
    "no episode": (lambda: rl.record_agent(ENV, chase, 0), "episodes must be an integer of at least 1"),
    "observations without a goal": (
        lambda: rl.record_observations(ENV.layout, ENV.outcomes, {"observation": np.zeros(4)}, np.zeros(2), {}),
        "Got one without observation",
    ),
    "a word as action": (lambda: (ENV.reset(seed=0), ENV.step("left")), "action must be 2 numbers. Got 'left'"),
    "an action of nan": (lambda: (ENV.reset(seed=0), ENV.step(np.full(2, np.nan))), "action must be 2 numbers"),
    "states of other factors": (lambda: ENV.layout.observe(np.zeros((3, 9, 2))), "state must be of shape (..., 4, 3)"),
    "an action and more": (lambda: rl.record_agent(ENV, lambda seen: (chase, None), 1), "the agent itself"),
    "an array as graphs": (lambda: rl.augment(PUSH, np.zeros((100, 6, 7), bool)), "Got a ndarray instead"),
    "a name that another is tied to": (lambda: rl.NearGraphs(1.0, tied="pusher"), "tied must be a mapping"),
    "one outcome as a string": (
        lambda: rl.GraphsByOutcome("never", outcomes="block").fit(PUSH), "outcomes must be a list of names",
    ),
    "a class as causes": (lambda: rl.InteractionBonus(ENV, rl.ContactGraphs), "causes must be 'true' or have a method"),
    "a class as graphs": (lambda: rl.augment(PUSH, rl.ContactGraphs), "graphs must have a method predict(recording)"),
    "an array as causes": (lambda: rl.InteractionBonus(ENV, np.ones(3)), "causes must be 'true' or have a method"),
    "an action of another size": (
        lambda: ENV.layout.read_states(ENV.reset(seed=0)[0], np.zeros(3)), "action must be of shape (2,)",
    ),
    "contacts that nobody fitted": (lambda: rl.ContactGraphs().predict(PUSH), "or give OnlineGraphs of them"),
    "one object as a string": (lambda: rl.InteractionBonus(ENV, objects="block"), "objects must be a list of names"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_will_not_do_is_answered_with_one_clear_line(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises((QueryError, DataError)) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_buffer_says_which_environments_and_goals_it_takes() -> None:
    from stable_baselines3 import DDPG

    def build(**options: Any) -> Any:
        return DDPG("MultiInputPolicy", ENV, replay_buffer_class=rl.InteractionReplayBuffer,
                    replay_buffer_kwargs=options, device="cpu")  # fmt: skip

    with pytest.raises(QueryError, match="goal_selection_strategy must be one of"):
        build(goal_selection_strategy="last")
    assert build(goal_selection_strategy="final").replay_buffer is not None


def test_every_public_name_has_its_place_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api" / "rl.md").read_text(encoding="utf-8")
    assert [name for name in rl.__all__ if not re.search(rf"^::: actcause\.rl\.\w+\.{name}$", page, re.MULTILINE)] == []
