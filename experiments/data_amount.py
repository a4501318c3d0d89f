"""Ours: the error against the amount of data, 1,000 to 500,000 transitions.

actcause reproduce data_amount
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


@dataclass(frozen=True)
class Arguments:
    """How much data of which domains, and who learns from them."""

    domains: tuple[str, ...] = ("1-in", "3-in")
    methods: tuple[str, ...] = ("jaci-em", "grad", "attn")
    frames: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000, 500_000)
    seeds: tuple[int, ...] = tuple(range(5))
    tests: int = 20_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One amount of data of one domain, one method, one seed."""

    domain: str
    method: str
    frames: int
    seed: int


FULL = Arguments()
SMALL = Arguments(
    ("1-in",), ("jaci-em", "grad"), (1_000, 3_000, 10_000, 30_000), seeds=(0,),
    options={"steps": 800, "distil_steps": 400, "width": 64},
)  # fmt: skip
QUICK = Arguments(
    ("1-in",), ("jaci-em",), (1000, 5000), seeds=(0,), tests=2000,
    options={"steps": 200, "distil_steps": 100, "width": 32},
)  # fmt: skip
TINY = Arguments(
    ("1-in",), ("jaci-em",), (1000,), seeds=(0,), tests=500, options={"steps": 20, "distil_steps": 10, "width": 16}
)


def pieces(arguments: Arguments) -> list[Piece]:
    """Everything with everything."""
    return [
        Piece(domain, method, frames, seed)
        for domain in arguments.domains
        for frames in arguments.frames
        for method in arguments.methods
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is scored, and options that are not the method's own."""
    return {"tests": arguments.tests, "options": dict(arguments.options)}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train and score one method on so much data, all seeds of the pack as one computation."""
    domain, method, frames = pack[0].domain, pack[0].method, pack[0].frames
    recorded = [record_domain(domain, piece.seed, frames, tests=arguments.tests) for piece in pack]
    learners, seconds = fit_seeds(
        method, [piece.seed for piece in pack], [train for train, _ in recorded], device, arguments.options
    )
    values = []
    for learner, (_, test) in zip(learners, recorded, strict=True):
        found = score(learner, test, domain)
        values.append(
            {
                "error": percent(found.edge_error),
                "explain": percent(found.hindsight),
                "training_seconds": round(seconds, 2),
                "trained_together": len(pack),
                "notes": list(learner.notes_),
            }
        )
    return values


def page(results: Results) -> Page:
    """Show the curves, and the table behind them."""
    amounts, methods, domains = sorted(results.every("frames")), results.every("method"), results.every("domain")
    rows = []
    for domain in domains:
        for frames in amounts:
            cells = [
                spread(results.values(name, domain=domain, frames=frames, method=method))
                for method in methods
                for name in (("error", "explain") if method == "jaci-em" else ("error",))
            ]
            rows.append([domain, f"{frames:,}", *cells])
    data = {
        domain: {
            method: [
                point(frames, found)
                for frames in amounts
                if (found := results.values("error", domain=domain, frames=frames, method=method))
            ]
            for method in methods
        }
        for domain in domains
    }
    headings = [
        name for method in methods for name in ([method, "jaci-em in hindsight"] if method == "jaci-em" else [method])
    ]
    tests = results.records[0].settings["tests"]
    body = (
        f"Error in percent on the same {tests:,} transitions, recorded apart, however much was learned from.\n\n"
        + table(["domain", "transitions", *headings], rows)
    )
    plot = Plot("data_amount", "Error over the number of transitions learned from, a panel for each domain", data, draw)
    return Page(body, (plot,), ("This is not in the paper, which has 100,000 transitions, or 500,000.",))


def draw(figure: Any, data: Any) -> None:
    """Draw a panel for each domain."""
    panels = figure.subplots(1, len(data), squeeze=False, sharey=True)[0]
    for axes, (domain, curves) in zip(panels, data.items(), strict=True):
        lines(axes, curves)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(domain)
        axes.set_xlabel("transitions learned from")
        axes.legend()
    panels[0].set_ylabel("error in %")


EXPERIMENT = Experiment(
    name="data_amount",
    title="Error against the amount of data",
    paper="Ours; the paper has no such figure.",
    expected="5 min on one H200",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: uses(piece.method, piece.domain),
    together=lambda piece: (piece.domain, piece.method, piece.frames),
    order=21,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
