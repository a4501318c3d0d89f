"""Training curves: the error while it is being trained, in the domain 1-in, over ten runs.

    actcause reproduce curves

What is scored is the network that names binaries as it stands, on transitions recorded apart; training does not see
the score. The last point is the fitted learner's, after everything that follows the joint training.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import fit_seeds, percent, record_domain, score, select_known_options, uses
from actcause.reproduction.plots import lines, point
from actcause.reproduction.tables import spread, table

DOMAIN = "1-in"
STAGES = {"jaci-em": "em", "jaci": "joint"}  # those in which the network that names binaries learns
SCORED_ROWS = 5000


@dataclass(frozen=True)
class Arguments:
    """Which methods, how often they are looked at, and how long they train."""

    methods: tuple[str, ...] = ("jaci-em", "jaci")
    seeds: tuple[int, ...] = tuple(range(10))
    frames: int = 100_000
    looks: int = 40
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One method with one seed."""

    method: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    ("jaci-em",), seeds=(0,), frames=20_000, looks=20, options={"steps": 800, "distil_steps": 400, "width": 64}
)
QUICK = Arguments(
    seeds=(0,), frames=5000, looks=4,
    options={"steps": 300, "distil_steps": 80, "width": 32, "pretrain": 50, "embedding": 32, "layers": 1},
)  # fmt: skip
TINY = Arguments(
    ("jaci-em",), seeds=(0,), frames=2000, looks=2, options={"steps": 150, "distil_steps": 10, "width": 16}
)


def pieces(arguments: Arguments) -> list[Piece]:
    """Every method with every seed."""
    return [Piece(method, seed) for method in arguments.methods for seed in arguments.seeds]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and options that are not the method's own."""
    return {
        "domain": DOMAIN, "frames": arguments.frames, "looks": arguments.looks, "options": dict(arguments.options),
    }  # fmt: skip


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train all seeds of the pack as one computation, looking at the error now and then."""
    method, seeds = pack[0].method, [piece.seed for piece in pack]
    recorded = [record_domain(DOMAIN, seed, arguments.frames) for seed in seeds]
    watch = _Watch(method, seeds, recorded, arguments)
    learners, _ = fit_seeds(
        method, seeds, [train for train, _ in recorded], device, arguments.options, watch.told, watch.begin
    )
    values = []
    for position, (learner, (_, test)) in enumerate(zip(learners, recorded, strict=True)):
        final = percent(score(learner, test, DOMAIN, hindsight=False).edge_error)
        values.append({"points": watch.points[position], "final": final, "steps": watch.steps})
    return values


class _Watch:
    """Looks at the network that names binaries while it learns: the error of every run, a few times."""

    def __init__(self, method: str, seeds: Sequence[int], recorded: Sequence[Any], arguments: Arguments) -> None:
        import torch

        from actcause.learn import make
        from actcause.learn.training.layers import beside_own
        from actcause.learn.training.replica import prepare_replica

        options = select_known_options(method, arguments.options)
        learners = [make(method, seed=seed, **options) for seed in seeds]
        tests = [test.subset(slice(0, SCORED_ROWS)) for _, test in recorded]
        runs = [prepare_replica(one, train) for one, (train, _) in zip(learners, recorded, strict=True)]
        inputs = [run.encoder.encode(test).inputs for run, test in zip(runs, tests, strict=True)]
        self.seen = beside_own(torch.stack([torch.as_tensor(one) for one in inputs]), runs[0].encoder.own)
        edges = [tests[0].layout.index(name) for name in tests[0].edges]
        self.edges, self.truth = edges, torch.stack([torch.as_tensor(test.cause[:, edges]) for test in tests])
        threshold = getattr(learners[0], "threshold", 0.5)
        self.odds = math.log(threshold / (1 - threshold))
        self.stage, self.looks = STAGES[method], arguments.looks
        self.points: list[list[list[float]]] = [[] for _ in seeds]
        self.steps = self.next = 0

    def begin(self, session: Any) -> None:
        """Remember where the networks are."""
        self.session = session

    def told(self, moment: Any) -> None:
        """Take a look if it is time."""
        self.steps = moment.steps
        if moment.stage != self.stage or moment.step < self.next:
            return
        import torch

        network = self.session.trainer.nets["binary"]
        device = next(network.parameters()).device
        with torch.no_grad():
            odds = network(self.seen.to(device), None)[..., self.edges].cpu()
        wrong = ((odds > self.odds) != self.truth).float().mean(dim=(1, 2))
        for points, error in zip(self.points, wrong.tolist(), strict=True):
            points.append([moment.step, percent(error)])
        self.next = moment.step + moment.steps / self.looks


def page(results: Results) -> Page:
    """Show the curves, and where they end."""
    rows, data = [], {}
    for method in results.every("method"):
        found = [one.value for one in results.where(method=method)]
        ends = [value["final"] for value in found]
        firsts = [value["points"][0][1] for value in found if value["points"]]
        falling = fmean(_falling(value["points"]) for value in found)
        rows.append([method, str(len(found)), spread(firsts), spread(ends), f"{100 * falling:.0f}%"])
        steps = found[0]["steps"]
        curve = [
            point(round(step / steps, 5), [value["points"][k][1] for value in found if k < len(value["points"])])
            for k, (step, _) in enumerate(found[0]["points"])
        ]
        data[method] = [*curve, point(1.0, ends)]
    body = (
        "The error falls although nobody optimises it. In percent, mean ± standard deviation between runs; the last "
        "column says how often the error was lower at one look than at the look before.\n\n"
        + table(["method", "runs", "first look", "fitted", "looks at which it fell"], rows)
    )
    without = "" if "jaci" in data else "\n\nResults of `jaci`, the paper's own algorithm, are missing."
    plot = Plot("curves", "Error over the course of training, the range between runs shaded", data, draw)
    return Page(
        body + without,
        (plot,),
        (
            "The paper's figure has no numbers; it says that the error of its ten runs falls monotonically.",
            "The error is that of the network while it trains. `jaci-em` begins to train it after a quarter of its "
            "steps, and distils it in the end, which the last point shows.",
            "The horizontal axis is the share of all steps: the methods differ in how many they take.",
        ),
    )


def _falling(points: Sequence[Sequence[float]]) -> float:
    pairs = list(pairwise(points))
    return sum(after[1] < before[1] for before, after in pairs) / max(len(pairs), 1)


def draw(figure: Any, data: Any) -> None:
    """One line for each method."""
    axes = figure.add_subplot()
    lines(axes, data)
    axes.set_xlabel("share of the training")
    axes.set_ylabel("error in %")
    axes.set_xlim(right=1.02)
    axes.set_yscale("log")
    axes.legend()


EXPERIMENT = Experiment(
    name="curves",
    title="Training curves",
    paper="The appendix's training curve in 1-in.",
    expected="2 min on one H200",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: uses(piece.method, DOMAIN),
    together=lambda piece: piece.method,
    order=5,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
