"""Ours: `jaci-em` trained four times as long as usual, and on recordings whose states change in small steps.

    actcause reproduce longer

A method that finds causes by alternating between two networks could drift away from them in the end: training that
goes on must not make it worse. And recordings of real processes move slowly: in `1-in, increments` a step adds two
hundredths of what it would otherwise set (100,000 transitions in 2,000 episodes), so that a model could learn each
episode by heart.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from actcause.data.collect import collect
from actcause.data.transitions import Transitions
from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import (
    DOMAINS,
    TEST_SEED,
    fit_seeds,
    paper_frames,
    percent,
    record_domain,
    score,
    uses,
)
from actcause.reproduction.plots import marks
from actcause.reproduction.tables import spread, table

METHOD = "jaci-em"
INCREMENTS = "1-in-increments"
INCREMENTS_BAR = 2.0  # percent
SURE = 2.0  # standard errors by which a mean difference must be above 0 to count
ENOUGH = 0.05  # and percentage points


@dataclass(frozen=True)
class Arguments:
    """Which recordings, how many times as long, and how much of them."""

    domains: tuple[str, ...] = (INCREMENTS, *DOMAINS)
    times: tuple[int, ...] = (1, 4)
    seeds: tuple[int, ...] = tuple(range(5))
    frames: int | None = None  # None: the paper's
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One domain, trained so many times as long, with one seed."""

    domain: str
    times: int
    seed: int


FULL = Arguments()
SMALL = Arguments((INCREMENTS, "1-in", "tau-1"), seeds=(0,), frames=20_000, options={"steps": 800, "distil_steps": 400})
QUICK = Arguments(("1-in",), seeds=(0,), frames=5000, options={"steps": 200, "distil_steps": 100, "width": 32})
TINY = Arguments((INCREMENTS,), seeds=(0,), frames=2000, options={"steps": 20, "distil_steps": 10, "width": 16})


def pieces(arguments: Arguments) -> list[Piece]:
    """Everything with everything."""
    return [
        Piece(domain, times, seed)
        for domain in arguments.domains
        for times in arguments.times
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and options that are not the method's own."""
    return {"frames": _frames(piece.domain, arguments), "options": dict(arguments.options)}


def _frames(domain: str, arguments: Arguments) -> int:
    return arguments.frames or paper_frames(domain)


def _record(domain: str, seed: int, frames: int) -> tuple[Transitions, Transitions]:
    if domain != INCREMENTS:
        return record_domain(domain, seed, frames)
    from actcause.envs import make

    world = make("1-in", draw=seed, dynamics="increment")
    return collect(world, frames, seed=seed), collect(world, frames // 5, seed=TEST_SEED + seed)


def _steps(rows: int, times: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Multiply the method's own numbers of steps, or those given; once is left to the method."""
    from actcause.learn.methods.mask_jaci import LARGE, MANY_ROWS, SMALL

    if times == 1:
        return dict(given)
    usual = {**(LARGE if rows >= MANY_ROWS else SMALL), **given}
    return {**given, **{name: times * int(usual[name]) for name in ("steps", "distil_steps")}}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train and score, all seeds of the pack as one computation."""
    domain, times = pack[0].domain, pack[0].times
    recorded = [_record(domain, piece.seed, _frames(domain, arguments)) for piece in pack]
    options = _steps(len(recorded[0][0]), times, arguments.options)
    learners, seconds = fit_seeds(
        METHOD, [piece.seed for piece in pack], [train for train, _ in recorded], device, options
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
            }
        )
    return values


def worse(once: Sequence[float], longer: Sequence[float]) -> bool:
    """Whether longer training is worse beyond chance, seed by seed, and by more than a trifle."""
    gaps = [after - before for before, after in zip(once, longer, strict=False)]
    error = stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    return fmean(gaps) > max(ENOUGH, SURE * error)


def missed(results: Results) -> list[str]:
    """Domains that longer training makes worse, and increments if too often wrong."""
    found = []
    for domain in results.every("domain"):
        errors = {times: results.values("error", domain=domain, times=times) for times in results.every("times")}
        for times, longer in errors.items():
            if times > 1 and longer and errors.get(1) and worse(errors[1], longer):
                found.append(
                    f"{domain}: {fmean(longer):.3f}% after training {times} times as long, "
                    f"{fmean(errors[1]):.3f}% before"
                )
        if domain == INCREMENTS and errors.get(1) and fmean(errors[1]) > INCREMENTS_BAR:
            found.append(f"{domain}: {fmean(errors[1]):.3f}%, where at most {INCREMENTS_BAR:g}% is asked for")
    return found


def page(results: Results) -> Page:
    """Once beside several times, domain by domain."""
    domains, counts = results.every("domain"), sorted(results.every("times"))
    rows = [
        [domain, *(spread(results.values("error", domain=domain, times=times), 3) for times in counts)]
        for domain in domains
    ]
    unmet = missed(results) if results.size == "full" else []
    body = "\n\n".join(
        [
            "Error in percent of `jaci-em` on transitions recorded apart, mean ± standard deviation between seeds.",
            table(["domain", *("as usual" if times == 1 else f"{times} times as long" for times in counts)], rows),
            f"A domain counts as worse where the difference, seed by seed, is above {ENOUGH:g} points and above "
            f"{SURE:g} of its standard errors. In `{INCREMENTS}` at most {INCREMENTS_BAR:g}% is asked for.",
            *(f"- missed: {sentence}" for sentence in unmet),
        ]
    )
    data = {
        "domains": domains,
        "errors": {
            str(times): [results.values("error", domain=domain, times=times) for domain in domains] for times in counts
        },
    }
    plot = Plot("longer", "Error of each domain after usual and after longer training", data, draw)
    return Page(body, (plot,), ("This is not in the paper.",))


def draw(figure: Any, data: Any) -> None:
    """Every seed as a small mark, the mean as a large one."""
    axes = figure.add_subplot()
    names = [name.replace("-increments", "\nincrements") for name in data["domains"]]
    said = {"as usual" if times == "1" else f"{times} times as long": found for times, found in data["errors"].items()}
    marks(axes, names, said, least=0.005)
    axes.legend()


EXPERIMENT = Experiment(
    name="longer",
    title="Longer training, and small increments",
    paper="Ours; the paper has no such table.",
    expected="10 min on one H200",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: uses(METHOD, "1-in" if piece.domain == INCREMENTS else piece.domain),
    together=lambda piece: (piece.domain, piece.times),
    missed=missed,
    order=24,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
