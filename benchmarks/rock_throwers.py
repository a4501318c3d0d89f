"""Rock throwers: is T1 a cause of the shatter? Modified Halpern-Pearl, 2n + 1 variables.

Two models. In the *full* one each of n throwers hits unless one before him did, so the text grows with
the square of n. In the *linear* one the first thrower's hit preempts every other one, so the text grows
with n, and there is one of 100,001 variables. In both, T1 is a cause only with the hits of all others
held at 0, and T2 is none.

    python benchmarks/run.py rock_throwers
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import actcause as ac
import other_tools
from measure import GIB, Figure, Other
from models import Scenario, rock_throwers, rock_throwers_linear

TITLE = "Rock throwers: is T1 a cause of the shatter? (modified HP)"
HP2SAT = {1601: Other("HP2SAT", 34.8, reported=True)}
QUERY_BARS = {("full", 1601): 1.0}
TOTAL_BARS = {("full", 1601): 1.0, ("linear", 1601): None, ("linear", 100_001): 20.0}


@dataclass(frozen=True)
class Arguments:
    """Numbers of variables, and what the other tool may spend on each of them."""

    full: tuple[int, ...] = (3, 11, 21, 51, 101, 201, 801, 1601)
    linear: tuple[int, ...] = (1601, 10_001, 100_001)
    seconds: float = 100.0
    memory: int = 8 * GIB


TINY = Arguments(full=(3, 7), linear=(7,), seconds=20)


@dataclass(frozen=True)
class Run:
    """From text to verdict."""

    parsing: float
    query: float
    is_cause: bool

    @property
    def total(self) -> float:
        return self.parsing + self.query


def ask(scenario: Scenario, thrower: str) -> Run:
    start = perf_counter()
    model = ac.Model.from_text(scenario.text)
    parsed = perf_counter()
    verdict = ac.is_cause(model, context=scenario.context, effect=scenario.effect, event={thrower: 1})
    return Run(parsed - start, perf_counter() - parsed, bool(verdict))


def run(arguments: Arguments) -> Iterator[Figure]:
    settings = list(other_tools.SETTINGS) if other_tools.available() else []
    if not settings:
        print(other_tools.INSTALL)
    for size in arguments.full:
        others = [
            other_tools.measure_search(setting, size // 2, arguments.seconds, arguments.memory) for setting in settings
        ]
        settings = [setting for setting, other in zip(settings, others, strict=True) if other.value is not None]
        known = [HP2SAT[size]] if size in HP2SAT else []
        yield from figures(("full", size), rock_throwers(size // 2), (*known, *others))
    for size in arguments.linear:
        yield from figures(("linear", size), rock_throwers_linear(size // 2), ())


def figures(kind: tuple[str, int], scenario: Scenario, others: tuple[Other, ...]) -> Iterator[Figure]:
    what = f"{kind[1]:,} variables, {kind[0]}"
    runs = [ask(scenario, "T1") for _ in range(3)]
    query = min(runs, key=lambda run: run.query)
    total = min(runs, key=lambda run: run.total)
    right = query.is_cause and ("T2" not in scenario.context or not ask(scenario, "T2").is_cause)
    answer = "T1 yes, T2 no" if "T2" in scenario.context else "T1 yes"
    bar = QUERY_BARS.get(kind)
    yield Figure("rock_throwers", f"{what}: query", query.query, bar=bar, answer=answer, right=right, others=others)
    if kind in TOTAL_BARS:
        parts = {"parsing": total.parsing, "query": total.query}
        label = f"{what}: parsing {len(scenario.text) / 1e6:.2g} MB and query"
        yield Figure("rock_throwers", label, total.total, bar=TOTAL_BARS[kind], answer=answer, right=right, parts=parts)
