"""The first ablation of the 1D mover: weak sufficiency in place of α-sufficiency.

actcause reproduce mover_weak_sufficiency
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.exact import SOLVERS, USES, solve_example
from actcause.reproduction.published import read_published
from actcause.reproduction.tables import align_printed, pair_table


@dataclass(frozen=True)
class Arguments:
    """Who solves, and the paper's share of necessity."""

    solvers: tuple[str, ...] = SOLVERS
    alpha_necessity: float = 0.01


@dataclass(frozen=True)
class Piece:
    """One solver."""

    solver: str


FULL = Arguments()
QUICK = Arguments()
TINY = Arguments(solvers=("auto",))


def pieces(arguments: Arguments) -> list[Piece]:
    """One for each solver."""
    return [Piece(solver) for solver in arguments.solvers]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """No share of sufficiency: that is what is left out."""
    return {"alpha_sufficiency": None, "alpha_necessity": arguments.alpha_necessity}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """All minimal pairs."""
    return [solve_example("mover-1d", None, arguments.alpha_necessity, piece.solver) for piece in pack]


def page(results: Results) -> Page:
    """All of ours, the paper's among them."""
    value = results.records[0].value
    [theirs] = align_printed(value, [read_published()["mover_1d_weak_sufficiency"]["table"]])
    pairs = {f"pair {k}": pair for k, pair in enumerate(value["pairs"], start=1)}
    which = next((name for name, pair in pairs.items() if tuple(pair) == theirs), None)
    said = f"the paper prints {which}" if which else "**the paper's is none of them**"
    body = (
        f"With weak sufficiency, which every observed event has, cost alone decides: the obstacle is blamed where the "
        f"mover is not even near it. There are {value['count']} minimal pairs of cost {value['cost']}; {said}.\n\n"
        + pair_table(value, {**pairs, "paper": theirs})
    )
    return Page(body, deviations=("The paper prints one of the minimal pairs; the others cost the same.",))


EXPERIMENT = Experiment(
    name="mover_weak_sufficiency",
    title="The 1D mover with weak sufficiency",
    paper="The appendix's first ablation of the mover (its table with weak sufficiency).",
    expected="1 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: USES,
    order=7,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
