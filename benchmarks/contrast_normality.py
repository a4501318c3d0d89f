"""What a contrast and what is normal cost: "is T1 a cause?" with them, in times of the plain question.

The rock throwers of 1,601 variables, full and linear (see `rock_throwers.py`). The contrast is the one that changes
nothing, so the search is the same. `normally nobody throws` has a rule for each thrower, all of them broken by what
happened; `normally no hit but the first` has one for each hit but that, all of them kept by it. T1 is a cause only with
the hits of all others held at 0, which is as normal as what happened, so all answers are yes.

    python benchmarks/run.py contrast_normality
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import actcause as ac
from measure import Figure
from models import Scenario, rock_throwers, rock_throwers_linear

TITLE = "Contrast and normality, in times of the plain query (modified HP)"
BAR = 2.0
RUNS = {"full": 4, "linear": 12}  # the best of them counts; plain and other questions take turns


@dataclass(frozen=True)
class Arguments:
    """The number of variables."""

    size: int = 1601


TINY = Arguments(size=7)


def run(arguments: Arguments) -> Iterator[Figure]:
    throwers = arguments.size // 2
    for kind, scenario in (("full", rock_throwers(throwers)), ("linear", rock_throwers_linear(throwers))):
        throws = [f"T{i} == 0" for i in range(1, throwers + 1)]
        hits = [f"H{i} == 0" for i in range(2, throwers + 1)]
        asked: dict[str, dict[str, Any]] = {
            "rather than BS == 0": {"contrast": "BS == 0"},
            "normally nobody throws, by inclusion": {"normality": ac.Normality(throws)},
            "normally nobody throws, by count": {"normality": ac.Normality(throws, "count")},
            "normally no hit but the first, by inclusion": {"normality": ac.Normality(hits)},
            "normally no hit but the first, by count": {"normality": ac.Normality(hits, "count")},
        }
        rounds = [[ask(scenario, **more) for more in ({}, *asked.values())] for _ in range(RUNS[kind])]
        plain, *others = (list(column) for column in zip(*rounds, strict=True))
        for what, runs in zip(asked, others, strict=True):
            seconds, plainly = min(runs)[0], min(plain)[0]
            yield Figure(
                "contrast_normality",
                f"{arguments.size:,} variables, {kind}: {what}",
                seconds / plainly,
                unit="times",
                bar=BAR,
                answer=f"T1 yes; {seconds * 1e3:.0f} ms over {plainly * 1e3:.0f} ms",
                right=all(found for _, found in runs),
            )


def ask(scenario: Scenario, **more: Any) -> tuple[float, bool]:
    """Ask about T1; the model is parsed anew, so that nothing is remembered."""
    model = ac.Model.from_text(scenario.text)
    start = perf_counter()
    verdict = ac.is_cause(model, context=scenario.context, effect=scenario.effect, event={"T1": 1}, **more)
    return perf_counter() - start, bool(verdict)
