"""What each part of `actcause.rl` costs an agent that learns, beside a step of its training.

    python benchmarks/rl_costs.py [--rounds N]

Prints processor time, in ms on one thread, the least of some rounds: it says little about how long you wait on a busy
machine. Pucks and FetchPush are left out where the extra `worlds` is not installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from stable_baselines3 import DDPG, HerReplayBuffer
from stable_baselines3.common.vec_env import DummyVecEnv

from actcause import rl
from actcause.data import collect_recording
from actcause.envs import make
from actcause.errors import MissingExtraError

EPISODE = 60  # steps
SAMPLE = 256  # transitions of an update


def main() -> None:
    """Measure and print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print("| what | ms |")
    print("| --- | --- |")
    for words, kind in (("push", rl.GoalPush), ("pucks", rl.GoalPucks), ("FetchPush", rl.GoalFetchPush)):
        for told in (False, True):
            try:
                env = kind(max_steps=EPISODE, with_causes=told)
            except MissingExtraError:
                continue
            name = f"a step of {words}" + (", with its true graph" if told else "")
            show(name, rounds, partial(play, env, partial(act_at_random, env)), EPISODE)
    measure_agents(rounds)
    measure_graphs(rounds)


def measure_agents(rounds: int) -> None:
    """Measure an agent's training step, and what its memory adds."""
    for words, kind, options in (
        ("HER", HerReplayBuffer, {}),
        ("goals by true causes", rl.InteractionReplayBuffer, {"causes": "true"}),
        ("goals by distance", rl.InteractionReplayBuffer, {"causes": rl.NearGraphs(1.5)}),
    ):
        env: Any = DummyVecEnv([lambda: rl.GoalPush(arena=6.0, margin=0.5, max_steps=EPISODE)])
        agent = DDPG("MultiInputPolicy", env, replay_buffer_class=kind, replay_buffer_kwargs=options, device="cpu",
                     batch_size=SAMPLE, learning_starts=20 * EPISODE, seed=0)  # fmt: skip
        agent.learn(20 * EPISODE)
        memory: Any = agent.replay_buffer
        show(f"a sample of {SAMPLE}, {words}", rounds, partial(memory.sample, SAMPLE))
        ended = int(memory.pos) - EPISODE
        show(f"an episode's end, {words}", rounds, partial(end, memory, ended))
        if kind is HerReplayBuffer:
            show(f"an update of an agent with {SAMPLE}", rounds, partial(agent.train, 1, SAMPLE))


def end(memory: Any, start: int) -> None:
    """Let a memory go through an episode once more."""
    memory._current_ep_start[0] = start
    memory._compute_episode_length(0)


def measure_graphs(rounds: int) -> None:
    """Measure exchanges and explanations."""
    domain = make("push")
    recording = collect_recording(domain, 10_000, seed=0, dtype="float64")
    began = time.process_time()
    contacts = rl.ContactGraphs().fit(recording)
    print(f"| learning `ContactGraphs` from {len(recording):,} rows | {1000 * (time.process_time() - began):,.0f} |")
    pairs = 1000
    for words, graphs in (("true graphs", rl.TrueGraphs(domain)), ("`ContactGraphs`", contacts)):
        show(
            f"a pair exchanged, {words}",
            rounds,
            partial(rl.augment, recording, graphs, pairs=pairs),
            pairs,
        )
    policy: Callable[[Any], Any] = lambda states: states[:, 2, :2] - states[:, 1, :2]  # noqa: E731
    show("an action explained", rounds, lambda: rl.explain_action(policy, recording, 0))
    task = rl.GoalPush(arena=6.0, margin=0.5, max_steps=EPISODE)
    episode = rl.record_agent(task, partial(act_at_random, task), 1)
    show("a failure explained", rounds, lambda: rl.explain_failure(episode, factor="block", goal="target"))


def act_at_random(env: Any, seen: Any) -> Any:
    """Choose an action without looking."""
    return env.action_space.sample()


def play(env: Any, act: Callable[[Any], Any]) -> None:
    """Play one episode."""
    seen, over = env.reset(seed=0)[0], False
    while not over:
        seen, _, _, over, _ = env.step(act(seen))


def show(words: str, rounds: int, act: Callable[[], Any], count: int = 1) -> None:
    """Print the least processor time of some rounds, in ms for each of so many."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        act()
        taken.append(1000 * (time.process_time() - began) / count)
    print(f"| {words} | {np.min(taken):.3g} |", flush=True)


if __name__ == "__main__":
    main()
