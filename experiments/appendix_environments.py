"""The appendix's three discrete environments: every row of their tables, and who is to blame in the state discussed.

actcause reproduce appendix_environments
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actcause import examples, is_cause, partitions
from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.tables import table

Columns = dict[str, Any]
Rule = tuple[str, Callable[[Columns], Any], Callable[[Columns], Any]]  # the row in words, where it holds, the outcome

# The rows of the paper's tables.
PUSHER: list[Rule] = [
    ("P 499, X not 501: 501", lambda s: (s["P"] == 499) & (s["X"] != 501), lambda s: 501),
    ("P 500, X neither 501 nor 502: 502", lambda s: (s["P"] == 500) & ~np.isin(s["X"], (501, 502)), lambda s: 502),
    ("P 499, X 501: 500", lambda s: (s["P"] == 499) & (s["X"] == 501), lambda s: 500),
    ("P 500, X 501: 500", lambda s: (s["P"] == 500) & (s["X"] == 501), lambda s: 500),
    ("P 500, X 502: 501", lambda s: (s["P"] == 500) & (s["X"] == 502), lambda s: 501),
    ("P neither 499 nor 500: 500", lambda s: ~np.isin(s["P"], (499, 500)), lambda s: 500),
]
ROCKET: list[Rule] = [
    (
        f"T1 {one}, T2 {two}, X {'' if bird else 'not '}500: {int(bool(one or two) and not bird)}",
        lambda s, one=one, two=two, bird=bird: (s["T1"] == one) & (s["T2"] == two) & ((s["X"] == 500) == bird),
        lambda s, launched=int(bool(one or two) and not bird): launched,
    )
    for bird in (False, True)
    for one, two in ((1, 1), (1, 0), (0, 1), (0, 0))
]
CHATBOT: list[Rule] = [
    ("E not 500: U", lambda s: s["E"] != 500, lambda s: s["U"]),
    ("E 500: 0", lambda s: s["E"] == 500, lambda s: 0),
]
TABLES = {"pusher-1d": PUSHER, "rocket-ship": ROCKET, "offensive-chatbot": CHATBOT}
QUESTIONED = {"pusher-1d": "X", "rocket-ship": "X", "offensive-chatbot": "E"}  # the paper asks about it alone
DEFINITIONS = ("modified-hp", "direct")


@dataclass(frozen=True)
class Arguments:
    """Which environments, and the two shares for functional actual causes."""

    environments: tuple[str, ...] = tuple(TABLES)
    alpha_sufficiency: float = 0.2
    alpha_necessity: float = 0.01


@dataclass(frozen=True)
class Piece:
    """One environment."""

    environment: str


FULL = Arguments()
QUICK = Arguments()
TINY = Arguments(environments=("rocket-ship",))


def pieces(arguments: Arguments) -> list[Piece]:
    """One for each environment."""
    return [Piece(name) for name in arguments.environments]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Give the two shares."""
    return {"alpha_sufficiency": arguments.alpha_sufficiency, "alpha_necessity": arguments.alpha_necessity}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Count the states of each row and those with its outcome; ask three definitions about the state discussed."""
    found = []
    for piece in pack:
        example = examples.load(piece.environment)
        solved = partitions(example.model, example.outcome, **settings(piece, arguments))
        space = solved.space
        values = [np.asarray(given)[codes] for given, codes in zip(space.ranges, space.codes, strict=True)]
        columns = dict(zip(space.variables, values, strict=True))
        outcomes = np.asarray(space.outcome_range)[space.outcomes]
        rows = []
        for words, holds, expected in TABLES[piece.environment]:
            where = holds(columns)
            right = where & (outcomes == expected(columns))
            rows.append([words, int(where.sum()), int(right.sum())])
        name = QUESTIONED[piece.environment]
        event = {name: example.context[name]}
        asked = {"context": dict(example.context), "effect": example.effect, "event": event}
        verdicts = {one: bool(is_cause(example.model, **asked, definition=one).holds) for one in DEFINITIONS}
        causes = [list(space.names(space.mask_of(binary))) for binary in solved.binaries(dict(example.context))]
        found.append(
            {
                "states": len(space),
                "rows": rows,
                "context": dict(example.context),
                "event": event,
                "verdicts": verdicts,
                "functional": causes,
            }
        )
    return found


def page(results: Results) -> Page:
    """Show the rows, and the verdicts."""
    parts = [
        "Each row of the paper's tables is held against every state of our models. In the state that the paper "
        "discusses, the variable that hardly ever matters is a cause by itself under modified Halpern-Pearl and under "
        "direct sufficiency, as the paper says, and it is no functional actual cause."
    ]
    verdicts = []
    for record in results.records:
        value, name = record.value, record.piece["environment"]
        rows = [
            [words, f"{states:,}", f"{right:,}", "yes" if states and states == right else "**no**"]
            for words, states, right in value["rows"]
        ]
        headings = ["row of the paper's table", "states", "with its outcome", "as printed"]
        parts += [f"## {examples.load(name).title}", table(headings, rows)]
        event = ", ".join(f"{k}={v}" for k, v in value["event"].items())
        verdicts.append(
            [
                examples.load(name).title,
                ", ".join(f"{k}={v}" for k, v in value["context"].items()),
                event,
                *("a cause" if holds else "no cause" for holds in value["verdicts"].values()),
                " or ".join("{" + ", ".join(each) + "}" for each in value["functional"]),
            ]
        )
    headings = ["environment", "state", "asked about", *DEFINITIONS, "functional actual cause"]
    parts.insert(1, table(headings, verdicts))
    return Page("\n\n".join(parts))


EXPERIMENT = Experiment(
    name="appendix_environments",
    title="Discrete environments",
    paper="The appendix's tables of the discrete 1D pusher, the rocket ship and the chatbot, and what it says of them.",
    expected="5 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: ("exact",),
    order=10,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
