"""Table 1: the one minimal binary-subset pair of the 1D mover, by the fast solver and by Algorithm 0.

actcause reproduce mover
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
    """The paper's two shares, and who solves."""

    solvers: tuple[str, ...] = SOLVERS
    alpha_sufficiency: float = 0.4
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
    """Give the two shares."""
    return {"alpha_sufficiency": arguments.alpha_sufficiency, "alpha_necessity": arguments.alpha_necessity}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """All minimal pairs."""
    shares = arguments.alpha_sufficiency, arguments.alpha_necessity
    return [solve_example("mover-1d", *shares, piece.solver) for piece in pack]


def page(results: Results) -> Page:
    """Ours beside the paper's."""
    value = results.records[0].value
    [theirs] = align_printed(value, [read_published()["mover_1d"]["table"]])
    agree = all(one.value["pairs"] == [list(theirs)] for one in results.records)
    solvers = " and ".join(f"`{one.piece['solver']}`" for one in results.records)
    body = (
        f"A mover goes one step right unless an obstacle is there. The digits of a binary stand for the mover m and "
        f"the obstacle o. There is {value['count']} minimal pair, of cost {value['cost']}, found by {solvers}; "
        f"{'it is the one that the paper prints' if agree else '**it is not the one that the paper prints**'}. The "
        "obstacle is named only where it stands in the way.\n\n"
        + pair_table(value, {"ours": value["pairs"][0], "paper": theirs})
    )
    return Page(body, deviations=("The paper does not print the two shares; these are the ones that give its table.",))


EXPERIMENT = Experiment(
    name="mover",
    title="The 1D mover",
    paper="Table 1 of the paper, and the left half of its cost figure.",
    expected="1 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: USES,
    order=2,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
