"""Figure 1: the invariant preimages of the block's position in 1-D block pushing, as a picture.

    actcause reproduce figure_1

The block stands at 50. Pusher and obstacle take all places of a grid over [0, 100] at which they do not overlap the
block; the dynamics are those of the domain `block-1d`. The picture shows the part of the states around the block.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actcause import StateSpace, partitions
from actcause.envs import make
from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.tables import table

BLOCK, SIZE = 50, 100
WINDOW = {"pusher": (46, 49), "obstacle": (46, 55)}
STATES = {"a": (49, 47), "b": (49, 51), "c": (49, 54), "d": (49, 52)}  # the paper's four, as (pusher, obstacle)
MEANING = {"10": "the pusher alone", "11": "pusher and obstacle", "01": "the obstacle alone", "00": "nothing"}


@dataclass(frozen=True)
class Arguments:
    """How fine the grid is, and the two shares."""

    steps: int = 4  # grid points in a unit of length
    alpha_sufficiency: float = 0.2
    alpha_necessity: float = 0.01


@dataclass(frozen=True)
class Piece:
    """The whole figure."""

    part: str = "all"


FULL = Arguments()
QUICK = Arguments()
TINY = Arguments(steps=1)


def pieces(arguments: Arguments) -> list[Piece]:
    """One."""
    return [Piece()]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Give the grid and the shares."""
    return {
        "steps": arguments.steps,
        "alpha_sufficiency": arguments.alpha_sufficiency,
        "alpha_necessity": arguments.alpha_necessity,
    }


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Solve the preimages over the whole grid, and every state of the window."""
    steps, domain = arguments.steps, make("block-1d")
    places = [at for at in range(SIZE * steps + 1) if abs(at - BLOCK * steps) >= steps]

    def outcome(pusher: Any, obstacle: Any) -> Any:
        pusher, obstacle = np.broadcast_arrays(pusher, obstacle)
        columns = [pusher.ravel() / steps, np.full(pusher.size, float(BLOCK)), obstacle.ravel() / steps]
        states = np.stack(columns, axis=1)[:, :, None]
        following = domain.step(states, np.zeros((len(states), 0))).states[:, 1, 0]
        return np.round(following * steps).astype(int).reshape(pusher.shape)

    space = StateSpace.from_function({"P": places, "O": places}, outcome)
    found = partitions(space, alpha_sufficiency=arguments.alpha_sufficiency, alpha_necessity=arguments.alpha_necessity)
    pair = found.first()
    inside = {name: [at for at in places if low * steps <= at <= high * steps] for name, (low, high) in WINDOW.items()}
    cells = []
    for pusher in inside["pusher"]:
        for obstacle in inside["obstacle"]:
            row = pair[space.find({"P": pusher, "O": obstacle})]
            cells.append([pusher / steps, obstacle / steps, row.outcome / steps, row.binary])
    return [
        {
            "states": len(space),
            "cost": found.cost,
            "count": found.count,
            "preimages": {one.binary: len(one) for one in pair.preimages},
            "window": cells,
        }
    ]


def page(results: Results) -> Page:
    """Show the picture, and the sizes of the preimages."""
    [record] = results.records
    value = record.value
    rows = [
        [f"`{binary}`", MEANING[binary], f"{states:,}", f"{100 * states / value['states']:.3f}%"]
        for binary, states in sorted(value["preimages"].items(), key=lambda one: -one[1])
    ]
    cells = {(pusher, obstacle): (end, binary) for pusher, obstacle, end, binary in value["window"]}
    shown = [
        [f"({name})", str(pusher), str(obstacle), f"{cells[pusher, obstacle][0]:g}", f"`{cells[pusher, obstacle][1]}`"]
        for name, (pusher, obstacle) in STATES.items()
    ]
    body = "\n\n".join(
        [
            "The block is at 50; the pusher goes two units to the right and pushes the block if it comes to it. Where "
            "only the pusher matters, the obstacle is no cause of where the block ends, however far or near it stands. "
            "The triangle is where the obstacle stops the push short.",
            "![Invariant preimages of the block's position: a triangle in which pusher and obstacle are the cause, a "
            "line in front of the block, and the pusher alone everywhere else](figure_1.svg)",
            f"Of {value['states']:,} states, with {value['count']} minimal pair of cost {value['cost']:,}:",
            table(["binary", "the block's position depends on", "states", "share"], rows),
            "The paper's four states:",
            table(["state", "pusher", "obstacle", "block ends at", "binary"], shown),
        ]
    )
    data = {"window": value["window"], "states": STATES}
    plot = Plot("figure_1", "Invariant preimages of the block's position", data, draw, size=(6.0, 4.6))
    return Page(
        body,
        (plot,),
        (
            f"The paper's picture is of a continuous space; ours is exact on a grid of {record.settings['steps']} "
            "points to a unit of length, over the whole range [0, 100].",
            "Bodies are one unit wide, which the example's numbers (49, 50, 52) ask for; so an obstacle directly in "
            "front of the block at 50 stands at 51, and one that is one unit away at 52.",
            "With the obstacle touching the block (at 51) nothing the pusher does moves the block. By its caption the "
            "paper counts state (b) to the triangle; under the two shares such states are a line beside it, on which "
            "the obstacle is always named.",
        ),
    )


def draw(figure: Any, data: Any) -> None:
    """Every state of the window as a mark, and the paper's four states by their letters."""
    axes = figure.add_subplot()
    looks = {
        "10": {"marker": "o", "color": "#9ecae1", "s": 12, "label": "the pusher alone (10)"},
        "11": {"marker": "s", "color": "#a50f15", "s": 22, "label": "pusher and obstacle (11)"},
        "01": {"marker": "^", "color": "black", "s": 34, "label": "the obstacle alone (01)"},
    }
    for binary, look in looks.items():
        at = [(pusher, obstacle) for pusher, obstacle, _, given in data["window"] if given == binary]
        if at:
            axes.scatter(*zip(*at, strict=True), linewidths=0, **look)
    for name, (pusher, obstacle) in data["states"].items():
        axes.annotate(
            f"({name})", (pusher, obstacle), xytext=(10, 0), textcoords="offset points", va="center", fontsize=10,
            annotation_clip=False,
        )  # fmt: skip
    axes.axhspan(49.02, 50.98, color="#e0e0e0", zorder=0)
    axes.text(46.1, 50, "the block, at 50", va="center", fontsize=9)
    axes.set_xlabel("position of the pusher")
    axes.set_ylabel("position of the obstacle")
    axes.set_xlim(45.8, 49.5)
    axes.set_xticks(range(46, 50))
    axes.grid(visible=False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, handletextpad=0.2, columnspacing=1.2)


EXPERIMENT = Experiment(
    name="figure_1",
    title="Invariant preimages of 1-D block pushing",
    paper="Figure 1 of the paper (Example 2.1).",
    expected="2 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: ("exact", "domain:block-1d"),
    order=1,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
