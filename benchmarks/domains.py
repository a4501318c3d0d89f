"""Domains: recording transitions into a file, and stepping one environment as Gymnasium does.

python benchmarks/run.py domains

Recording runs many worlds at once and includes writing the Parquet file. Stepping is one world, 20,000
random steps with resets (environment made and actions drawn beforehand, since a Random Vectors domain looks
for its thresholds when it is made, and Gymnasium's sampling takes longer than a step), with its CartPole
stepped the same way in the same run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium

from actcause import envs
from actcause.data import collect, count_rows
from actcause.envs.gym import IDS
from measure import Figure, Other, time_best

TITLE = "Domains: recording and stepping"
RANDOM_VECTORS = ("1-in", "2-in", "3-in", "3-chain", "3-m-in", "d-20", "tau-1")
RECORDED = {"break": (500_000, 20.0), "push": (500_000, 20.0), **dict.fromkeys(RANDOM_VECTORS, (100_000, 5.0))}
ACTIONS = 256
STEPPED = tuple(IDS.values())


@dataclass(frozen=True)
class Arguments:
    """How much is recorded and stepped."""

    share: float = 1.0
    steps: int = 20_000


TINY = Arguments(share=0.002, steps=60)


def run(arguments: Arguments) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        for name, (frames, bar) in RECORDED.items():
            out = Path(folder) / f"{name}.parquet"
            wanted = int(frames * arguments.share)
            domain = envs.make(name)
            seconds, _ = time_best(lambda d=domain, n=wanted, o=out: collect(d, n, 0, out=o))
            written = count_rows(out)
            yield Figure(
                "domains", f"{name}: {wanted:,} frames into a file", seconds, bar=bar,
                answer=f"{written:,} rows", right=written == wanted,
            )  # fmt: skip
    cart, _ = time_best(prepare_steps("CartPole-v1", arguments.steps))
    for title in STEPPED:
        seconds, done = time_best(prepare_steps(f"actcause/{title}-v0", arguments.steps))
        yield Figure(
            "domains", f"{title}: {arguments.steps:,} steps of one environment", seconds, bar=arguments.steps / 20_000,
            others=(Other("CartPole-v1", cart),), answer=f"{done:,} steps", right=done == arguments.steps,
        )  # fmt: skip


def prepare_steps(name: str, steps: int) -> Callable[[], int]:
    """Make an environment, warm and with random actions drawn; return what takes so many steps of it."""
    env = gymnasium.make(name).unwrapped
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(ACTIONS)]
    env.step(actions[0])

    def take_steps() -> int:
        env.reset(seed=0)
        for step in range(steps):
            _, _, ended, cut, _ = env.step(actions[step % ACTIONS])
            if ended or cut:
                env.reset()
        return steps

    return take_steps
