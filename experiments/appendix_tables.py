"""The appendix's tables: all minimal binary-subset pairs of eight examples from the literature.

actcause reproduce appendix_tables
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actcause.reproduction import Experiment, Page, Record, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.exact import SOLVERS, USES, solve_example
from actcause.reproduction.published import read_published
from actcause.reproduction.tables import align_printed, table

# By example: the title that the paper gives it, and the share of sufficiency that gives its tables.
EXAMPLES = {
    "forest-fire": ("Forest Fire", 0.2),
    "gang-execution": ("Gang Execution", 1.0),
    "halt-and-charge": ("Halt and Charge", 0.3),
    "binary-and": ("Binary And", 1.0),
    "binary-or": ("Binary Or", 1.0),
    "binary-xor": ("Binary XOR", 1.0),
    "rock-throwing": ("Rock Throwing", 1.0),
    "switching-railroad-tracks": ("Switching Railroad Tracks", 1.0),
}


@dataclass(frozen=True)
class Arguments:
    """Which examples, who solves, and the paper's share of necessity."""

    examples: tuple[str, ...] = tuple(EXAMPLES)
    solvers: tuple[str, ...] = SOLVERS
    alpha_necessity: float = 0.01


@dataclass(frozen=True)
class Piece:
    """An example and a solver."""

    example: str
    solver: str


FULL = Arguments()
QUICK = Arguments()
TINY = Arguments(examples=("forest-fire", "rock-throwing"), solvers=("auto",))


def pieces(arguments: Arguments) -> list[Piece]:
    """Every example with every solver."""
    return [Piece(example, solver) for example in arguments.examples for solver in arguments.solvers]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Give the two shares."""
    return {"alpha_sufficiency": EXAMPLES[piece.example][1], "alpha_necessity": arguments.alpha_necessity}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """All minimal pairs."""
    return [
        solve_example(piece.example, EXAMPLES[piece.example][1], arguments.alpha_necessity, piece.solver)
        for piece in pack
    ]


def page(results: Results) -> Page:
    """Show a summary, then for each example its pairs, one a row."""
    first = {one.piece["example"]: one for one in reversed(results.records)}
    rows, parts = [], []
    for example, record in sorted(first.items(), key=lambda one: list(EXAMPLES).index(one[0])):
        theirs = _theirs(record)
        ours = [tuple(pair) for pair in record.value["pairs"]]
        agree = {
            tuple(map(tuple, sorted(one.value["pairs"]))) for one in results.where(example=example)
        }  # the same pairs, whoever solves
        rows.append(
            [
                f"[{EXAMPLES[example][0]}](#{example})",
                f"{EXAMPLES[example][1]:g}",
                str(record.value["cost"]),
                str(record.value["count"]),
                str(len(theirs)),
                str(len(set(ours) & set(theirs))),
                "yes" if len(agree) == 1 else "**no**",
            ]
        )
        parts += [f"## {EXAMPLES[example][0]} {{#{example}}}", _pairs(record, theirs)]
    headings = ["example", "α-sufficiency", "least cost", "our pairs", "the paper's", "in both", "solvers agree"]
    body = "\n\n".join(
        [
            "Each minimal pair gives every state a binary: which variables are the functional actual cause there. The "
            "paper prints one table for each pair; here a pair is a row, and a column is a state. All tables of the "
            "paper are found, by the fast solver and by Algorithm 0.",
            table(headings, rows),
            *parts,
        ]
    )
    return Page(
        body,
        deviations=(
            "Rock Throwing has 32 minimal pairs. The paper prints 28; the four in which every state is a part by "
            "itself are missing there.",
            "Gang Execution: the printed table comes out with Death = Leader; with a death that follows from either "
            "shot there is a second pair.",
            "The shares of sufficiency are not printed in the paper; these are the ones that give its tables.",
        ),
    )


def _theirs(record: Record) -> list[tuple[str, ...]]:
    return align_printed(
        record.value, read_published()["appendix_tables"][EXAMPLES[record.piece["example"]][0]]["tables"]
    )


def _pairs(record: Record, theirs: list[tuple[str, ...]]) -> str:
    value = record.value
    names = [*value["variables"], value["outcome"]]
    headings = ["pair", *(" ".join(map(str, state)) for state in value["states"]), "in the paper"]
    rows = [
        [str(k), *(f"`{binary}`" for binary in pair), "yes" if tuple(pair) in theirs else "**no**"]
        for k, pair in enumerate(value["pairs"], start=1)
    ]
    return f"States are the values of {', '.join(names)}; binaries have a digit for each but the last.\n\n" + table(
        headings, rows
    )


EXPERIMENT = Experiment(
    name="appendix_tables",
    title="Examples from the literature",
    paper="All tables of the appendix on results of Algorithm 0.",
    expected="1 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: USES,
    order=9,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
