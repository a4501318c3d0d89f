"""False positives and false negatives over the penalty, in the domain 1-in.

    actcause reproduce penalty

The paper varies the adaptive rate of its Algorithm 1 (`jaci`); beside it stands the penalty of `jaci-em`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import fit_seeds, percent, record_domain, score, uses
from actcause.reproduction.plots import lines, point
from actcause.reproduction.tables import spread, table

DOMAIN = "1-in"
GRIDS = {"jaci": (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0), "jaci-em": (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)}
DEFAULTS = {"jaci": 1.0, "jaci-em": 0.02}


@dataclass(frozen=True)
class Arguments:
    """Which penalties of which method, and how long."""

    grids: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: dict(GRIDS))
    seeds: tuple[int, ...] = tuple(range(5))
    frames: int = 100_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One penalty of one method with one seed."""

    method: str
    penalty: float
    seed: int


FULL = Arguments()
SMALL = Arguments(
    {"jaci-em": (0.005, 0.02, 0.08, 0.3)},
    seeds=(0,),
    frames=20_000,
    options={"steps": 800, "distil_steps": 400, "width": 64},
)
QUICK = Arguments(
    {"jaci": (1.0, 10.0), "jaci-em": (0.01, 0.1)}, seeds=(0,), frames=5000,
    options={"steps": 150, "distil_steps": 80, "width": 32, "pretrain": 50, "embedding": 32, "layers": 1},
)  # fmt: skip
TINY = Arguments(
    {"jaci-em": (0.02, 0.2)}, seeds=(0,), frames=2000, options={"steps": 20, "distil_steps": 10, "width": 16}
)


def pieces(arguments: Arguments) -> list[Piece]:
    """Every penalty of every method with every seed."""
    return [
        Piece(method, penalty, seed)
        for method, grid in arguments.grids.items()
        for penalty in grid
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and options that are not the method's own."""
    return {"domain": DOMAIN, "frames": arguments.frames, "options": dict(arguments.options)}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train with the penalty given, all seeds of the pack as one computation."""
    recorded = [record_domain(DOMAIN, piece.seed, arguments.frames) for piece in pack]
    options = {**arguments.options, "penalty": pack[0].penalty}
    learners, _ = fit_seeds(
        pack[0].method, [piece.seed for piece in pack], [train for train, _ in recorded], device, options
    )
    values = []
    for learner, (_, test) in zip(learners, recorded, strict=True):
        found = score(learner, test, DOMAIN)
        values.append(
            {
                "error": percent(found.edge_error),
                "false_positive_rate": percent(found.false_positive_rate),
                "false_negative_rate": percent(found.false_negative_rate),
                "explain": percent(found.hindsight),
                "chosen": learner.learned_.get("penalty"),
            }
        )
    return values


def page(results: Results) -> Page:
    """Show a table and a picture for each method."""
    rows, data = [], {}
    for method in sorted(results.every("method"), reverse=True):
        grid = sorted({one.piece["penalty"] for one in results.where(method=method)})
        curves: dict[str, list[dict[str, float]]] = {"false positives": [], "false negatives": []}
        for penalty in grid:
            positive = results.values("false_positive_rate", method=method, penalty=penalty)
            negative = results.values("false_negative_rate", method=method, penalty=penalty)
            errors = results.values("error", method=method, penalty=penalty)
            marked = " (default)" if penalty == DEFAULTS[method] else ""
            rows.append([method, f"{penalty:g}{marked}", spread(positive), spread(negative), spread(errors)])
            curves["false positives"].append(point(penalty, positive))
            curves["false negatives"].append(point(penalty, negative))
        data[method] = curves
    body = (
        "A larger penalty names fewer factors: fewer false positives, more false negatives. The two meet where the "
        "error is least. In percent, mean ± standard deviation between seeds.\n\n"
        + table(["method", "penalty", "false positives", "false negatives", "error"], rows)
    )
    without = "" if "jaci" in data else "\n\nResults of `jaci`, the paper's own algorithm, are missing."
    plot = Plot(
        "penalty", "False positives and false negatives over the penalty, one panel for each method", data, draw
    )
    return Page(
        body + without,
        (plot,),
        (
            "The paper's figure has no numbers that could be put beside ours.",
            "The penalty of `jaci-em` is in spreads of the outcome and is adjusted on held-out episodes to between "
            "half and twice its value; the paper's adaptive rate (`jaci`) is in units of its loss. The scales differ.",
        ),
    )


def draw(figure: Any, data: Any) -> None:
    """Draw a panel for each method."""
    panels = figure.subplots(1, len(data), squeeze=False)[0]
    for axes, (method, curves) in zip(panels, data.items(), strict=True):
        lines(axes, curves)
        axes.set_xscale("log")
        axes.set_title(method)
        axes.set_xlabel("penalty")
        axes.set_ylim(bottom=0)
        axes.legend()
    panels[0].set_ylabel("rate in %")


EXPERIMENT = Experiment(
    name="penalty",
    title="False positives and negatives over the penalty",
    paper="The appendix's figure of false positives and false negatives in 1-in.",
    expected="10 min on one H200",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: uses(piece.method, DOMAIN),
    together=lambda piece: (piece.method, piece.penalty),
    order=4,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
