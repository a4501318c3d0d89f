"""A state space that is never held whole: the discrete 1D pusher on 10,001 x 10,001 positions, with two workers.

Time and memory are those of a fresh process and its workers, the most that each of them had added up. What must come
out follows from the model: with the pusher at 499 or 500 its position matters; with the obstacle at 501 the obstacle's
instead, and both with the pusher at 500 and the obstacle at 502. Everywhere else fewer than one position in a hundred
would change anything.

    python benchmarks/run.py out_of_core
"""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import actcause as ac
from actcause.core.spaces.out_of_core import partitions
from actcause.parallel import engine
from measure import MANY, Figure, call_in_fresh_process, peak_bytes, time_call, with_many

TITLE = "A state space past memory"
TIME_BAR, MEMORY_BAR = 300.0, 4096.0


@dataclass(frozen=True)
class Arguments:
    """The pusher's board and the workers."""

    positions: int = 10_001
    workers: tuple[int, ...] = (1, 2)


TINY = Arguments(positions=601, workers=(1,))


def run(arguments: Arguments) -> Iterator[Figure]:
    spent = []
    for workers in arguments.workers:
        outcome = call_in_fresh_process(partition_pusher, arguments.positions, workers)
        seconds, states, cost, preimages, binaries, peak = outcome.result
        right = preimages == count_binaries(arguments.positions) and binaries == ("10",)
        what = f"1D pusher, {states:,} states, {workers} worker{'s'[: workers - 1]}"
        answer = f"cost {cost:,}"
        spent.append(seconds)
        yield Figure("out_of_core", f"{what}: time", seconds, bar=TIME_BAR, answer=answer, right=right)
        yield Figure(
            "out_of_core", f"{what}: peak memory", peak / 2**20, "MiB", bar=MEMORY_BAR, answer=answer, right=right
        )
    if arguments.workers == (1, 2):
        yield Figure(
            "out_of_core", f"1D pusher, {states:,} states: time of 2 workers", spent[1] / spent[0], unit="of one's",
            parts={MANY: with_many(*spent)}, answer=answer, right=right,
        )  # fmt: skip


def partition_pusher(
    positions: int, workers: int
) -> tuple[float, int, int | None, dict[str, int], tuple[str, ...], int]:
    example = ac.examples.load("pusher-1d")
    model = ac.Model.from_text(example.text.replace("0..1000", f"0..{positions - 1}"))
    shares = {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}
    with engine(workers=workers) as run:
        seconds, found = time_call(lambda: partitions(model, example.outcome, **shares, workers=run))
        peak = peak_bytes() + sum(map(peak_of, multiprocessing.active_children()))
    return seconds, found.states, found.cost, found.preimages, found.binaries(dict(example.context)), peak


def peak_of(process: multiprocessing.Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def count_binaries(positions: int) -> dict[str, int]:
    """Count by hand how many states are given which binary."""
    pushed = 2 * positions - 3
    return {"00": positions**2 - pushed - 3, "01": 2, "10": pushed, "11": 1}
