"""Ours: the error against the penalty of a trained model, and which penalty is chosen without labels.

    actcause reproduce penalty_choice

A model is trained once; then, in hindsight, the penalty that a factor costs is varied around the one trained with.
Labels say what each would have given. The choice does not see them: it takes the penalty at which the two models of
cross-fitting agree.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from statistics import fmean
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
from actcause.reproduction.learned import RESAMPLED, percent
from actcause.reproduction.plots import lines, point
from actcause.reproduction.tables import spread, table

FACTORS = (0.125, 0.25, 0.5, 0.71, 1.0, 1.41, 2.0, 4.0, 8.0)  # of the penalty that was trained with


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train `jaci-em` once, then explain the test rows with every penalty."""
    from actcause.learn.evaluation import edge_error, resampled

    values = []
    for learner, test in train_seeds(pack, arguments, device):
        rows = resampled(test) if pack[0].domain in RESAMPLED else test
        errors = []
        for factor in FACTORS:
            changed = copy.copy(learner)
            changed.learned_ = {**learner.learned_, "penalty": factor * learner.penalty}
            errors.append(percent(edge_error(rows, changed.explain(rows))))
        values.append(
            {
                "trained_with": learner.penalty,
                "chosen": learner.learned_["penalty"] / learner.penalty,
                "error": percent(edge_error(rows, learner.explain(rows))),
                "factors": list(FACTORS),
                "errors": errors,
            }
        )
    return values


def page(results: Results) -> Page:
    """Show the curves, and what the choice costs."""
    rows, data = [], {}
    for domain in results.every("domain"):
        found = [one.value for one in results.where(domain=domain)]
        best = [min(value["errors"]) for value in found]
        chosen = [value["error"] for value in found]
        fixed = [value["errors"][FACTORS.index(1.0)] for value in found]
        rows.append(
            [
                domain,
                spread([value["chosen"] for value in found]),
                spread(chosen, 3),
                spread(fixed, 3),
                spread(best, 3),
                f"{fmean(chosen) - fmean(best):.3f}",
            ]
        )
        data[domain] = [point(factor, [value["errors"][k] for value in found]) for k, factor in enumerate(FACTORS)]
    body = (
        "Error of `jaci-em` in hindsight, in percent, over the penalty as a multiple of the one trained with. The "
        "choice sees no label; *best* is what labels would have chosen for each seed, which nobody can have.\n\n"
        + table(["domain", "chosen multiple", "error as chosen", "as trained", "best", "lost without labels"], rows)
    )
    plot = Plot("penalty_choice", "Error in hindsight over the penalty, one line for each domain", data, draw)
    return Page(body, (plot,), ("This is not in the paper, which sets the penalty by hand between 1 and 10.",))


def draw(figure: Any, data: Any) -> None:
    """One line for each domain; the range that is chosen from is marked."""
    axes = figure.add_subplot()
    axes.axvspan(0.5, 2.0, color="#eeeeee", zorder=0, label="chosen from here")
    lines(axes, data, shaded=False)  # many lines, close together
    axes.set_xscale("log", base=2)
    axes.set_xticks([0.125, 0.25, 0.5, 1, 2, 4, 8], ["⅛", "¼", "½", "1", "2", "4", "8"])
    axes.set_xlabel("penalty, as a multiple of the one trained with")
    axes.set_ylabel("error in hindsight, in %")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(0, 1.5 * max(0.1, *(point["mean"] for points in data.values() for point in points)))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENT = Experiment(
    name="penalty_choice",
    title="Choosing the penalty without labels",
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
    order=22,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
