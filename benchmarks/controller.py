"""A controller of ten variables over 1,000 steps: what set off the alarm?

A pump keeps a tank between two levels by a sensor that sticks for the last twelve steps; the alarm latches. The model
text has ten variables; unrolled it has 10,010. Measured: from text to the first twenty causes (what `actcause ask`
shows), and verdicts on single events at the end, in the middle and at the start; and on one in the middle, whose change
alone changes nothing, by definitions with contingencies or networks. Every witness is replayed; what comes after the
alarm is no cause.

    python benchmarks/run.py controller
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import actcause as ac
from measure import Figure

TITLE = "A controller of ten variables, unrolled in time (modified HP where no other is named)"
TEXT = """
demand in 0..2
leak
level in 0..20 = 10
stuck
reading = 0 if stuck else level
low = reading < 8
pump = 0
pump' = 1 if low else 0 if reading > 12 else pump
flow = 2 if pump else 0
level' = max(0, min(20, level + flow - demand - leak))
high = level >= 19
alarm = 0
alarm' = alarm or high
"""
STUCK = 12  # steps at the end
BAR = 10.0


@dataclass(frozen=True)
class Arguments:
    """The number of steps, and how many causes are looked for."""

    steps: int = 1_000
    causes: int = 20


TINY = Arguments(steps=120, causes=3)


def run(arguments: Arguments) -> Iterator[Figure]:
    last = arguments.steps
    start = perf_counter()
    model = ac.Model.from_text(TEXT).unrolled(last)
    unrolled = perf_counter()
    columns = {"demand": 1, "leak": 0, "stuck": [int(step >= last - STUCK) for step in range(last + 1)]}
    context = ac.Trace(columns).context(model)
    asked = {"context": context, "effect": f"alarm@{last} == 1"}
    answer = ac.causes(model, max_causes=arguments.causes, **asked)
    found = list(answer.causes)
    total = perf_counter() - start
    what = f"{last:,} steps, {len(model.variables):,} variables"
    yield Figure(
        "controller",
        f"{what}: from text to the first {arguments.causes} causes",
        total,
        bar=BAR,
        answer=f"{len(found)} causes",
        right=len(found) == arguments.causes and all(cause.witness.replay(answer.query) for cause in found),
        parts={"unrolling": unrolled - start, "trace and query": total - (unrolled - start)},
    )
    actual = answer.query.actual
    near = f"level@{last - STUCK}"
    for where, event, expected in (
        ("the level when the sensor stuck", {near: actual[near]}, True),
        ("a sticking at the last step", {f"stuck@{last}": 1}, False),
        ("a demand after the alarm", {f"demand@{last - 1}": 1}, False),
        ("a demand in the middle", {f"demand@{last // 2}": 1}, True),
        ("the sensor not sticking at the start", {"stuck@0": 0}, True),
    ):
        begin = perf_counter()
        verdict = ac.is_cause(model, event=event, **asked)
        seconds = perf_counter() - begin
        answered = "yes" if verdict else "no"
        replayed = verdict.witness is None or bool(verdict.witness.replay(verdict.query))
        right = verdict.holds is expected and replayed
        yield Figure("controller", f"{what}: was it {where}?", seconds, bar=BAR, answer=answered, right=right)
    # A low mark while the pump runs: it would have run on without.
    middle = next(f"low@{step}" for step in range(last // 2, 0, -1) if actual[f"low@{step}"] and actual[f"pump@{step}"])
    for definition in ("original-hp", "updated-hp", "strong"):
        begin = perf_counter()
        verdict = ac.is_cause(model, event={middle: actual[middle]}, definition=definition, **asked)
        seconds = perf_counter() - begin
        right = verdict.holds is True and verdict.witness is not None and bool(verdict.witness.replay(verdict.query))
        name = f"{what}: was it the low mark in the middle, by {definition}?"
        yield Figure("controller", name, seconds, bar=BAR, answer="yes" if verdict else "no", right=right)
