"""The cost histogram of the 1D mover: how many valid binary-subset pairs there are of each cost.

actcause reproduce mover_costs
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actcause import examples, partitions
from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.plots import bars
from actcause.reproduction.tables import table

SETTINGS = {"alpha-sufficiency": 0.4, "weak-sufficiency": None}
TITLES = {"alpha-sufficiency": "α-sufficiency 0.4 (Table 1)", "weak-sufficiency": "weak sufficiency"}


@dataclass(frozen=True)
class Arguments:
    """The paper's share of necessity, and both kinds of sufficiency that its tables of the mover use."""

    sufficiencies: tuple[str, ...] = tuple(SETTINGS)
    alpha_necessity: float = 0.01


@dataclass(frozen=True)
class Piece:
    """One kind of sufficiency."""

    sufficiency: str


FULL = QUICK = TINY = Arguments()


def pieces(arguments: Arguments) -> list[Piece]:
    """One for each kind of sufficiency."""
    return [Piece(kind) for kind in arguments.sufficiencies]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Give the two shares."""
    return {"alpha_sufficiency": SETTINGS[piece.sufficiency], "alpha_necessity": arguments.alpha_necessity}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Count valid pairs by cost, minimal or not."""
    mover = examples.load("mover-1d")
    found = []
    for piece in pack:
        solved = partitions(mover.model, mover.outcome, **settings(piece, arguments))
        found.append({"histogram": {str(cost): count for cost, count in sorted(solved.histogram().items())}})
    return found


def page(results: Results) -> Page:
    """Both histograms."""
    counts = {one.piece["sufficiency"]: one.value["histogram"] for one in results.records}
    costs = sorted({int(cost) for each in counts.values() for cost in each})
    rows = [[str(cost), *(f"{each.get(str(cost), 0):,}" for each in counts.values())] for cost in costs]
    least = {kind: min(map(int, each)) for kind, each in counts.items()}
    total = {kind: sum(each.values()) for kind, each in counts.items()}
    said = "; ".join(
        f"with {TITLES[kind]} {counts[kind][str(least[kind])]} of {total[kind]:,} valid pairs have the least cost, "
        f"{least[kind]}"
        for kind in counts
    )
    body = (
        "Every way to give each of the twelve states a binary that is valid there, counted by its cost; nothing is "
        f"enumerated, the counts are exact. As the paper says of its own figure, few pairs are minimal: {said}.\n\n"
        + table(["cost", *(f"pairs, {TITLES[kind]}" for kind in counts)], rows)
    )
    data = {
        "costs": [str(cost) for cost in costs],
        "series": {TITLES[kind]: [each.get(str(cost)) for cost in costs] for kind, each in counts.items()},
    }
    plot = Plot("mover_costs", "Valid pairs of the 1D mover by cost, on a logarithmic scale", data, draw)
    return Page(
        body,
        (plot,),
        ("The paper's figure has no numbers, and does not say under which sufficiency it counts: both are shown.",),
    )


def draw(figure: Any, data: Any) -> None:
    """Bars on a logarithmic scale."""
    axes = figure.add_subplot()
    bars(axes, data["costs"], data["series"])
    axes.set_yscale("log")
    axes.set_xlabel("cost of a binary-subset pair")
    axes.set_ylabel("valid pairs")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper left")
    axes.set_ylim(0.6, max(value for each in data["series"].values() for value in each if value) * 8)


EXPERIMENT = Experiment(
    name="mover_costs",
    title="Costs of the 1D mover's pairs",
    paper="The appendix's histogram of costs (the right half of the figure on the 1D mover).",
    expected="1 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: ("exact",),
    order=6,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
