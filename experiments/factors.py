"""Ours: the error against the number of factors, of which one is a cause now and then and all others are distractors.

actcause reproduce factors
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
    """How many factors, and who learns from how much."""

    factors: tuple[int, ...] = (2, 4, 8, 16, 32)
    methods: tuple[str, ...] = ("jaci-em", "grad", "attn")
    seeds: tuple[int, ...] = tuple(range(5))
    frames: int = 100_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One number of factors, one method, one seed."""

    factors: int
    method: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    (2, 4, 8), ("jaci-em", "grad"), seeds=(0,), frames=20_000, options={"steps": 800, "distil_steps": 400, "width": 64}
)
QUICK = Arguments(
    (2, 4), ("jaci-em",), seeds=(0,), frames=5000, options={"steps": 200, "distil_steps": 100, "width": 32}
)
TINY = Arguments((2, 3), ("jaci-em",), seeds=(0,), frames=2000, options={"steps": 20, "distil_steps": 10, "width": 16})


def pieces(arguments: Arguments) -> list[Piece]:
    """Everything with everything."""
    return [
        Piece(factors, method, seed)
        for factors in arguments.factors
        for method in arguments.methods
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and options that are not the method's own."""
    return {"frames": arguments.frames, "options": dict(arguments.options)}


def relations(factors: int) -> str:
    """`1-in` among variables that push each other and never the outcome; so many factors, the outcome included."""
    others = [f"b{k + 1}" for k in range(factors - 2)]
    pairs = [f"{one} -> {other}" for one, other in zip(others[::2], others[1::2], strict=False)]
    if len(others) % 2:
        pairs.append(f"{others[-1]} -> {others[0] if len(others) > 1 else 'a1'}")
    return "; ".join(["a1 -> y", *pairs])


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train and score one method with so many factors, all seeds of the pack as one computation."""
    graph = relations(pack[0].factors)
    recorded = [record_domain("1-in", piece.seed, arguments.frames, relations=graph) for piece in pack]
    learners, seconds = fit_seeds(
        pack[0].method, [piece.seed for piece in pack], [train for train, _ in recorded], device, arguments.options
    )
    values = []
    for learner, (_, test) in zip(learners, recorded, strict=True):
        others = [k for k, name in enumerate(test.factors) if name != test.own]
        wrong = (learner.predict(test) != test.cause)[:, others]
        values.append(
            {
                "error": percent(score(learner, test, "1-in", hindsight=False).edge_error),
                "all_factors": percent(float(wrong.mean())),
                "any_factor": percent(float(wrong.any(axis=1).mean())),
                "training_seconds": round(seconds, 2),
                "trained_together": len(pack),
            }
        )
    return values


def page(results: Results) -> Page:
    """Show the curve, and the table behind it."""
    rows = []
    for factors in sorted(results.every("factors")):
        for method in results.every("method"):
            chosen = {"factors": factors, "method": method}
            if results.where(**chosen):
                cells = [spread(results.values(name, **chosen)) for name in ("error", "all_factors", "any_factor")]
                rows.append([str(factors), method, *cells])
    data = {
        method: [
            point(factors, results.values("error", factors=factors, method=method))
            for factors in sorted(results.every("factors"))
            if results.where(factors=factors, method=method)
        ]
        for method in results.every("method")
    }
    body = (
        "The domain is 1-in: one variable pushes the outcome in about half of the states. To it come variables that "
        "push each other and never the outcome. *Error* counts the one conditional edge; the last two columns count "
        "all factors, and states in which any factor is wrong. In percent.\n\n"
        + table(["factors", "method", "error", "over all factors", "states with any wrong"], rows)
    )
    return Page(body, (Plot("factors", "Error over the number of factors", data, draw),), OURS)


OURS = ("This is not in the paper, whose domains have two to seven factors.",)


def draw(figure: Any, data: Any) -> None:
    """One line for each method."""
    axes = figure.add_subplot()
    lines(axes, data)
    axes.set_xscale("log", base=2)
    every = sorted({int(one["x"]) for curve in data.values() for one in curve})
    axes.set_xticks(every, [str(one) for one in every])
    axes.set_xlabel("factors, the outcome's own included")
    axes.set_yscale("log")
    axes.set_ylabel("error in %")
    axes.legend()


EXPERIMENT = Experiment(
    name="factors",
    title="Error against the number of factors",
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
    uses=lambda piece: uses(piece.method, "1-in"),
    together=lambda piece: (piece.factors, piece.method),
    order=20,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
