"""The appendix's table of hyperparameters: the paper's values beside the defaults of our learners.

actcause reproduce appendix_hyperparameters
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.tables import table

# Parameter, the paper's value, and the option of `jaci` and of `jaci-em` that it corresponds to.
ROWS = (
    ("learning rate of the forward model", "0.001-0.003", "learning_rate", "learning_rate"),
    ("learning rate of the binary network, as a share of that", "0.1 (0.0001-0.0007)", "ratio", None),
    ("penalty (adaptive lasso rate)", "1-10", "penalty", "penalty"),
    ("layers (3 in each of two convolutions)", "6", "layers", "layers"),
    ("width", "256", "width", "width"),
    ("width of the embedding", "1024 (512 in the text)", "embedding", None),
    ("training steps", "200,000", "steps", "steps"),
    ("batch size", "512", "batch", "batch"),
    ("threshold for a cause", "0.99", "threshold", None),
)


@dataclass(frozen=True)
class Arguments:
    """Nothing to set."""


@dataclass(frozen=True)
class Piece:
    """The whole table."""

    part: str = "all"


FULL = QUICK = TINY = Arguments()


def pieces(arguments: Arguments) -> list[Piece]:
    """One."""
    return [Piece()]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """None."""
    return {}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """List the defaults; of `jaci-em` those that it takes for small and for large recordings."""
    from actcause.learn import make
    from actcause.learn.methods.mask_jaci import LARGE, MANY_ROWS, SMALL

    ours = make("jaci-em").settings()
    return [
        {
            "jaci": make("jaci").settings(),
            "jaci-em": {"small": {**ours, **SMALL}, "large": {**ours, **LARGE}},
            "many_rows": MANY_ROWS,
        }
    ]


def page(results: Results) -> Page:
    """Show the paper's beside ours."""
    [record] = results.records
    many, sizes = record.value["many_rows"], record.value["jaci-em"].values()
    rows = []
    for name, printed, option, other in ROWS:
        cells = ["" if other is None else _number(size[other]) for size in sizes]
        rows.append([name, printed, _number(record.value["jaci"][option]), *cells])
    body = (
        f"`jaci` is the paper's Algorithm 1; `jaci-em` sizes itself by the recording, below and from {many:,} "
        "rows.\n\n"
        + table(["parameter", "paper", "`jaci`", f"`jaci-em`, under {many:,} rows", f"from {many:,} rows"], rows)
    )
    return Page(
        body,
        deviations=(
            "`jaci` takes fewer steps, smaller batches, narrower networks and a lower threshold: networks of the "
            "paper's width more often gave a factor up.",
            "The paper's text says that embeddings have 512 numbers, its table 1024.",
            "The penalty of `jaci-em` is in spreads of the outcome, not in units of a loss, and is adjusted on "
            "held-out episodes.",
        ),
    )


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


EXPERIMENT = Experiment(
    name="appendix_hyperparameters",
    title="Hyperparameters",
    paper="The appendix's table of hyperparameters.",
    expected="2 s",
    arguments=FULL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: ("method:jaci", "method:jaci-em"),
    order=12,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
