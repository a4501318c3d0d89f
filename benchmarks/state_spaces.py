"""Functional actual causes of whole state spaces.

The discrete 1D pusher has 1,002,001 states; time and peak memory are those of a fresh process. Ten binary
variables have 1,024 states, which compete for binaries when `alpha_sufficiency` is 1: the least cost must
be found and proved, which `status` being complete says. The mover is small enough for Algorithm 0 as the
paper has it.

    python benchmarks/run.py state_spaces
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import actcause as ac
from measure import Figure, Other, call_in_fresh_process, time_best, time_call

TITLE = "Functional actual causes of whole state spaces"
FUNCTIONS = (
    "random 0", "random 1", "random 2", "parity", "majority", "DNF", "multiplexer", "sparse 0", "four values 0",
)  # fmt: skip


@dataclass(frozen=True)
class Arguments:
    """The pusher's board, the number of binary variables, and the limit of each search."""

    positions: int = 1001
    variables: int = 10
    functions: tuple[str, ...] = FUNCTIONS
    seconds: float = 60.0


TINY = Arguments(positions=600, variables=3)


def run(arguments: Arguments) -> Iterator[Figure]:
    yield from pusher(arguments.positions)
    yield rocket_ship()
    for name in arguments.functions:
        yield binary_function(name, arguments.variables, arguments.seconds)
    yield mover()


# -- the literature's --------------------------------------------------------------------------------


def partition_pusher(positions: int) -> tuple[float, int, int, tuple[str, ...]]:
    example = ac.examples.load("pusher-1d")
    text = example.text.replace("0..1000", f"0..{positions - 1}")
    shares = {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}
    seconds, found = time_call(lambda: ac.partitions(ac.Model.from_text(text), example.outcome, **shares))
    return seconds, len(found.space), found.cost, found.binaries(dict(example.context))


def pusher(positions: int) -> Iterator[Figure]:
    outcome = call_in_fresh_process(partition_pusher, positions)
    seconds, states, cost, binaries = outcome.result
    what = f"1D pusher, {states:,} states"
    # At (499, 200) the pusher alone is the cause, although the obstacle could have mattered.
    right, answer = binaries == ("10",), f"cost {cost:,}"
    yield Figure("state_spaces", f"{what}: time", seconds, bar=2.0, answer=answer, right=right)
    peak = outcome.peak_bytes / 2**20
    yield Figure("state_spaces", f"{what}: peak memory", peak, unit="MiB", bar=1024.0, answer=answer, right=right)


def rocket_ship() -> Figure:
    example = ac.examples.load("rocket-ship")
    shares = {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}
    seconds, found = time_best(lambda: ac.partitions(ac.Model.from_text(example.text), example.outcome, **shares))
    binaries = found.binaries({"T1": 1, "T2": 1, "X": 200})
    what = f"Rocket Ship, {len(found.space):,} states; at (1, 1, 200)"
    causes = " or ".join(
        "{" + ", ".join(v for v, d in zip(found.variables, b, strict=True) if d == "1") + "}" for b in binaries
    )
    return Figure("state_spaces", what, seconds, answer=causes, right=binaries == ("110",))


def mover() -> Figure:
    example = ac.examples.load("mover-1d")

    def ask(solver: str) -> ac.Partitions:
        return ac.partitions(ac.Model.from_text(example.text), example.outcome, alpha_sufficiency=1, solver=solver)

    seconds, fast = time_best(lambda: ask("auto"))
    literal, slow = time_best(lambda: ask("algorithm-0"))
    return Figure(
        "state_spaces",
        f"1D mover, {len(fast.space)} states, alpha_sufficiency 1",
        seconds,
        answer=f"cost {fast.cost}, {fast.count} pairs",
        right=(fast.cost, fast.count) == (slow.cost, slow.count),
        others=(Other("Algorithm 0", literal),),
    )


# -- binary variables, where states compete -----------------------------------------------------------


def function(name: str, variables: int) -> Callable[..., Any]:
    """Return a function of binary arrays by its name, with the seed at the end where it is random."""
    kind, _, seed = name.rpartition(" ") if name[-1].isdigit() else (name, "", "0")
    rng = np.random.default_rng(int(seed))
    states = 2**variables
    tables = {
        "random": lambda: rng.integers(0, 2, states),
        "sparse": lambda: (rng.random(states) < 0.05).astype(np.int64),
        "four values": lambda: rng.integers(0, 4, states),
    }
    if kind in tables:
        table = tables[kind]()
        return lambda *bits: table[sum(bit << place for place, bit in enumerate(bits))]
    return {"parity": parity, "majority": majority, "DNF": dnf, "multiplexer": multiplexer}[kind]


def parity(*bits: Any) -> Any:
    return sum(bits) % 2


def majority(*bits: Any) -> Any:
    return sum(bits) > len(bits) // 2


def dnf(*bits: Any) -> Any:
    """Three bits, or the next three, ...: one of the groups is all 1."""
    groups = [np.logical_and.reduce(bits[start : start + 3]) for start in range(0, len(bits), 3)]
    return np.logical_or.reduce(groups)


def multiplexer(*bits: Any) -> Any:
    """Read the first bits as the number of a bit among the rest; 0 where there is none of that number."""
    address = next(count for count in range(1, len(bits)) if 2**count + count >= len(bits))
    number = sum(bit << place for place, bit in enumerate(bits[:address]))
    return sum((number == place) * bit for place, bit in enumerate(bits[address:]))


def binary_function(name: str, variables: int, limit: float) -> Figure:
    ranges = {f"X{i}": (0, 1) for i in range(1, variables + 1)}

    def ask() -> ac.Partitions:
        space = ac.StateSpace.from_function(ranges, function(name, variables))
        return ac.partitions(space, alpha_sufficiency=1, max_seconds=limit)

    seconds, found = time_call(ask)
    proved = found.status is ac.Status.COMPLETE
    return Figure(
        "state_spaces",
        f"{variables} binary variables, {name}",
        seconds if proved else None,
        limit=limit,
        bar=60.0,
        answer=f"least cost {found.cost:,}, proved" if proved else "no proof",
        right=bool(found.first().check()) if proved else None,
    )
