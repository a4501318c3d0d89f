"""Ours: how far the probabilities of `jaci-em` mean what they say, from the state alone and in hindsight.

actcause reproduce calibration
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.jaci_em_seeds import (
    FULL,
    QUICK,
    SMALL,
    TINY,
    Arguments,
    Piece,
    pieces,
    settings,
    train_seeds,
    uses,
)
from actcause.reproduction.learned import percent
from actcause.reproduction.plots import DASHES, INK, MARKERS
from actcause.reproduction.tables import spread, table

BINS = 10
KINDS = {"state": "from the state alone", "hindsight": "in hindsight"}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train `jaci-em` and hold what it says against how often it is true."""
    from actcause.learn.evaluation import calibration

    values = []
    for learner, test in train_seeds(pack, arguments, device):
        found = {
            "state": calibration(test, learner.predict_proba(test), bins=BINS),
            "hindsight": calibration(test, learner.explain_proba(test), bins=BINS),
        }
        doubtful = {kind: float(learner.unsure(test, hindsight=kind == "hindsight").mean()) for kind in KINDS}
        values.append(
            {
                **{kind: asdict(one) | {"error": percent(one.error)} for kind, one in found.items()},
                "said_without_labels": percent(learner.learned_["calibration_error"]),
                "unsure": {kind: percent(share) for kind, share in doubtful.items()},
            }
        )
    return values


def page(results: Results) -> Page:
    """Show the expected calibration errors, and the reliability diagrams."""
    rows = []
    data: dict[str, dict[str, list[list[float]]]] = {kind: {} for kind in KINDS}
    for domain in results.every("domain"):
        found = [one.value for one in results.where(domain=domain)]
        rows.append(
            [
                domain,
                *(spread([value[kind]["error"] for value in found]) for kind in KINDS),
                spread([value["said_without_labels"] for value in found]),
                *(spread([value["unsure"][kind] for value in found]) for kind in KINDS),
            ]
        )
        for kind in KINDS:
            data[kind][domain] = _pool([value[kind] for value in found])
    body = (
        "The *calibration error* is the mean gap between the probability that is said and how often it is true, over "
        f"{BINS} bins. *Foreseen* is what the learner itself expects, from held-out outcomes and without labels. "
        "*Unsure* is the share of rows in which it declines to answer. All in percent, on the states as they come. In "
        "the picture a large mark has many rows behind it, a small one may have a handful.\n\n"
        + table(
            [
                "domain",
                *(f"error {said}" for said in KINDS.values()),
                "foreseen",
                *(f"unsure {said}" for said in KINDS.values()),
            ],
            rows,
        )
    )
    plot = Plot(
        "calibration", "Reliability diagrams, from the state alone and in hindsight", data, draw, size=(8.0, 3.8)
    )
    return Page(body, (plot,), ("This is not in the paper, whose answers have no probabilities.",))


def _pool(curves: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Pool the bins of all seeds: what was said, how often it was true, how many rows."""
    bins: dict[int, list[float]] = {}
    for curve in curves:
        for said, found, states in zip(curve["said"], curve["found"], curve["states"], strict=True):
            kept = bins.setdefault(min(int(said * BINS), BINS - 1), [0.0, 0.0, 0.0])
            kept[0] += said * states
            kept[1] += found * states
            kept[2] += states
    return [[round(said / rows, 5), round(found / rows, 5), rows] for _, (said, found, rows) in sorted(bins.items())]


def draw(figure: Any, data: Any) -> None:
    """Draw a panel for each kind of answer; a mark is as large as many rows are in its bin."""
    panels = figure.subplots(1, len(data), sharey=True)
    for axes, (kind, curves) in zip(panels, data.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
        for position, (domain, points) in enumerate(curves.items()):
            look = {"color": INK[position % len(INK)], "linestyle": DASHES[position % len(DASHES)]}
            said, found, rows = zip(*points, strict=True)
            axes.plot(said, found, linewidth=0.8, alpha=0.7, **look)
            sizes = [8 + 60 * (one / sum(rows)) ** 0.5 for one in rows]
            shape = MARKERS[position % len(MARKERS)]
            axes.scatter(said, found, s=sizes, c=look["color"], marker=shape, label=domain)
        axes.set_title(KINDS[kind])
        axes.set_xlabel("probability said")
        axes.set_aspect("equal")
    panels[0].set_ylabel("share of causes among these")
    panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENT = Experiment(
    name="calibration",
    title="Calibration of the probabilities",
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
    uses=uses,
    together=lambda piece: piece.domain,
    order=23,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
