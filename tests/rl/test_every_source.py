"""Every verb takes graphs from everywhere: the simulator, distance, change, and every method of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import DummyVecEnv

from actcause.data import Recording, trace
from actcause.learn import METHODS, LocalGraphs
from actcause.learn.training.loop import Stage, Trainer
from actcause.rl import (
    ContactGraphs,
    GoalPush,
    GraphsByOutcome,
    InteractionBonus,
    InteractionReplayBuffer,
    MovedGraphs,
    NearGraphs,
    OnlineGraphs,
    TransitionModel,
    TrueGraphs,
    augment,
    explain_failure,
    record_agent,
)

STEPS = 20
TINY: Mapping[str, Any] = {"steps": 6, "distil_steps": 4, "pretrain": 2, "delay": 2, "batch": 16, "width": 8}


def make_env() -> GoalPush:
    return GoalPush(arena=6, margin=0.5, max_steps=STEPS)


@cache
def record() -> Recording:
    env = make_env()
    env.action_space.seed(0)
    return record_agent(env, lambda seen: env.action_space.sample(), 15)


def learn_each(method: str) -> Any:
    known = {field.name for field in fields(METHODS[method])}
    options = {name: value for name, value in TINY.items() if name in known}
    return GraphsByOutcome(method, options, outcomes=["block"]).fit(record())


SOURCES: dict[str, Callable[[], Any]] = {
    "the simulator": lambda: TrueGraphs(make_env().domain),
    "distance": lambda: NearGraphs(1.5),
    "change": lambda: MovedGraphs("pusher"),
    "contacts": lambda: ContactGraphs(steps=20).fit(record()),
    "all outcomes": lambda: LocalGraphs(steps=6, distil_steps=4, width=8).fit(record()),
    "learned on the way": lambda: OnlineGraphs(ContactGraphs(steps=20), first=100).partial_fit(record()),
    **{method: lambda method=method: learn_each(method) for method in METHODS},  # type: ignore[misc]
}


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is to be learned well here."""
    run = Trainer.run

    def cut_short(trainer: Trainer, stages: Sequence[Stage]) -> None:
        run(trainer, [replace(stage, steps=min(stage.steps, 4)) for stage in stages])

    monkeypatch.setattr(Trainer, "run", cut_short)


@pytest.mark.parametrize("name", SOURCES)
def test_every_verb_takes_graphs_from_everywhere(name: str) -> None:
    recording, source = record(), SOURCES[name]()
    made = augment(recording, source, pairs=60)
    assert len(made) <= 60
    augment(recording, source, pairs=20, model=TransitionModel(steps=2, width=8).fit(recording))
    episode = recording.take_episode(2)
    why = explain_failure(episode, factor="block", goal="target", graphs=source)
    graphs = getattr(source, "explain", source.predict)(episode)
    assert graphs.shape == (STEPS, 2, 4)
    assert why.chain.to_json() == trace(episode, episode=2, step=STEPS - 1, factor="block", graphs=graphs).to_json()
    vectors = DummyVecEnv([lambda: InteractionBonus(make_env(), source)])
    space: Any = vectors.observation_space
    buffer = InteractionReplayBuffer(100, space, vectors.action_space, vectors, device="cpu", causes=source)
    before: Any = vectors.reset()
    for _ in range(2 * STEPS):
        action = np.array([vectors.action_space.sample()])
        after, reward, done, infos = vectors.step(action)
        buffer.add(before, after, action, reward, done, infos)  # type: ignore[arg-type]
        before = after
    assert buffer.sample(8).rewards.shape == (8, 1)
