"""Ours: every method in other people's worlds, with default options and without labels.

    actcause reproduce worlds
    actcause reproduce worlds --only method=jaci-auto --only seed=0     # some of it, kept under results/

Each seed learns from 100,000 transitions of a world and is scored on 20,000 recorded apart. The simulators are those of
the extras `worlds` and `atari`; `reactor`, a domain of our own in which nothing collides, needs none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import (
    EVERY,
    first_known,
    fit_and_measure,
    record_domain,
    train_on_causes_and_measure,
    uses,
)
from actcause.reproduction.tables import describe_missing, list_missing, spread, table

WORLDS = ("door-key", "highway", "mujoco-pucks", "fetch-push", "fetch-slide", "ale-breakout", "reactor")
OURS = "jaci-auto"
TOLD = "told"  # a network that is trained on the true causes: no learner, but a measure for all
BARS = {  # edge error and balanced error, in percent, that the default is to reach
    "door-key": (0.1, 1.0),
    "highway": (1.0, 2.0),
    "mujoco-pucks": (1.0, 3.5),
    "fetch-push": (2.5, 5.0),
    "ale-breakout": (0.08, 0.8),
}


@dataclass(frozen=True)
class Arguments:
    """Which worlds, who learns from them, and how much."""

    worlds: tuple[str, ...] = WORLDS
    methods: tuple[str, ...] = (*EVERY, TOLD)
    seeds: tuple[int, ...] = (0, 1, 2)
    frames: int = 100_000
    tests: int = 20_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """One method in one world with one seed."""

    world: str
    method: str
    seed: int


FULL = Arguments()
SHORT = {"steps": 600, "distil_steps": 300, "width": 32}
SMALL = Arguments(
    methods=("jaci-auto", "jaci-em", "cf", "granger", "never", "always", TOLD), seeds=(0,), frames=10_000, tests=5000,
    options=SHORT,
)  # fmt: skip
QUICK = Arguments(
    ("door-key", "reactor"), ("jaci-auto", "cf", "never"), seeds=(0,), frames=4000, tests=1000,
    options={"steps": 200, "distil_steps": 100, "width": 32},
)  # fmt: skip
TINY = Arguments(
    ("reactor",), ("jaci-auto", "never", TOLD), seeds=(0,), frames=1000, tests=300,
    options={"steps": 20, "distil_steps": 10, "width": 16, "batch": 64},
)  # fmt: skip


def pieces(arguments: Arguments) -> list[Piece]:
    """World after world, so that all methods learn from the same recordings."""
    return [
        Piece(world, method, seed)
        for world in arguments.worlds
        for method in arguments.methods
        for seed in arguments.seeds
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded, and options that are not the method's own."""
    return {"frames": arguments.frames, "tests": arguments.tests, "options": dict(arguments.options)}


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train and score one method in one world, all seeds of the pack as one computation."""
    recorded = [record_domain(piece.world, piece.seed, arguments.frames, tests=arguments.tests) for piece in pack]
    seeds = [piece.seed for piece in pack]
    if pack[0].method == TOLD:
        return train_on_causes_and_measure(seeds, recorded, device, arguments.options)
    return fit_and_measure(pack[0].method, seeds, recorded, device, arguments.options)


# -- what came out -----------------------------------------------------------------------------------


def missed(results: Results) -> list[str]:
    """Say where the default learner misses a bar."""
    found = []
    for world, (most, most_balanced) in BARS.items():
        error = results.values("error", world=world, method=OURS)
        if not error:
            continue
        balanced = fmean(results.values("balanced", world=world, method=OURS))
        if fmean(error) > most or balanced > most_balanced:
            found.append(
                f"{world}: {fmean(error):.2f} / {balanced:.2f}%, where at most {most:g} / {most_balanced:g}% is "
                "asked for"
            )
    return found


def page(results: Results) -> Page:
    """Show the default beside its bars, then world by world all methods and what they say of each factor."""
    worlds = results.every("world")
    parts = [INTRODUCTION, _ours(results, worlds)]
    sentences = missed(results) if results.size == "full" else []
    if sentences:
        parts += ["The bars that are missed:", "\n".join(f"- {sentence}" for sentence in sentences)]
    parts.append(_absent(results))
    for world in worlds:
        methods = first_known({one.piece["method"] for one in results.where(world=world)})
        parts += [f"## {world}", _errors(results, world, methods), _factors(results, world, methods)]
        parts += _notes(results, world)
    return Page("\n\n".join(part for part in parts if part), (), DEVIATIONS)


def _ours(results: Results, worlds: Sequence[str]) -> str:
    """Write a row for the default learner in each world."""
    rows = []
    for world in worlds:
        here = {"world": world, "method": OURS}
        if not results.where(**here):
            continue
        bar = f"{BARS[world][0]:g} / {BARS[world][1]:g}" if world in BARS else "—"
        ways = sorted({one.value["learned"].get("learned_by", "—") for one in results.where(**here)})
        pairs = [_pair(results, before, **here) for before in ("", "explain_")]
        memory = max(results.values("peak_memory", **here), default=0)
        told = {"world": world, "method": TOLD}
        reachable = _pair(results, "", **told) if results.where(**told) else "—"
        cost = [", ".join(ways), _seconds(results, **here), f"{memory:.1f} GiB"]
        last = [bar, reachable, _best_other(results, world), *cost]
        rows.append([world, str(len(results.where(**here))), *pairs, *last])
    headings = [
        "world",
        "seeds",
        "predict",
        "explain",
        "to reach",
        "told the causes",
        "best other method",
        "learned by",
        "seconds",
        "memory",
    ]
    return table(headings, rows)


def _best_other(results: Results, world: str) -> str:
    """Show the baseline with the lowest balanced error; our own other ways do not count."""
    found = {
        method: results.values("balanced", world=world, method=method)
        for method in EVERY
        if not method.startswith("jaci-") and results.where(world=world, method=method)
    }
    if not found:
        return "—"
    best = min(found, key=lambda method: fmean(found[method]))
    return f"{best} {_pair(results, '', world=world, method=best)}"


def _pair(results: Results, before: str, **piece: Any) -> str:
    error, balanced = (results.values(f"{before}{name}", **piece) for name in ("error", "balanced"))
    return f"{spread(error)} / {spread(balanced)}"


def _seconds(results: Results, **piece: Any) -> str:
    """Show how long a seed took."""
    return spread([one.value["processor_seconds"] / one.value["trained_together"] for one in results.where(**piece)], 0)


def _errors(results: Results, world: str, methods: Sequence[str]) -> str:
    rows = []
    for method in methods:
        here = {"world": world, "method": method}
        names = ("error", "balanced", "exact", "explain_error", "explain_balanced", "explain_exact")
        cells = [spread(results.values(name, **here)) for name in names]
        rows.append([method, str(len(results.where(**here))), *cells, _seconds(results, **here)])
    headings = ["method", "seeds", "error", "balanced", "exact sets", "explain: error", "balanced", "exact sets"]
    return table([*headings, "seconds"], rows)


def _factors(results: Results, world: str, methods: Sequence[str]) -> str:
    """Recall and precision of each factor, in percent."""
    first = results.where(world=world)[0]
    rows = []
    for factor, known in first.value["factors"].items():
        cells = []
        for method in methods:
            each = [one.value["factors"][factor] for one in results.where(world=world, method=method)]
            both = [spread([one[name] for one in each if one[name] is not None], 0) for name in ("recall", "precision")]
            cells.append(" / ".join(both) if both != ["—", "—"] else "—")
        rows.append([f"{factor} ({known['rate']:.2f}%)", *cells])
    return table(["recall / precision", *methods], rows)


def _notes(results: Results, world: str) -> list[str]:
    """List what the default learner noted by itself, for its first seed."""
    for one in results.where(world=world, method=OURS)[:1]:
        notes = one.value["notes"]
        told = "\n".join(f"- {note}" for note in notes) if notes else "- nothing"
        return [f"`{OURS}` with seed {one.piece['seed']} noted:\n\n{told}"]
    return []


def _absent(results: Results) -> str:
    """Name what has not been run yet."""
    given = results.arguments
    lost = {world: describe_missing(results, given.methods, given.seeds, world=world) for world in given.worlds}
    return list_missing(lost)


INTRODUCTION = (
    "[Worlds](../worlds.md) are simulators that nobody here wrote, and `reactor`. Every method has its default "
    "options, but for the settings listed above, and sees no label; the default is `jaci-auto`. A pair is *edge "
    "error / balanced error* in percent: the share of wrong answers over all factors, and the mean of that share "
    "over rows with and without a cause. *Exact sets* is the share of rows in which every factor is right. "
    "`predict` answers from the state alone, `explain` knows the outcome. Means ± standard deviation between seeds. "
    "*Told the causes* is no method: a network like the one that answers here learns the true causes of the same "
    "rows, so its errors are what the recording and the network alone leave open. Labels can say more than rows "
    "show: in Breakout the ball itself mostly tells that a brick is there ([how often](../worlds.md#ale-breakout)). "
    "Seconds are those that a processor worked at one seed's training, on one thread; memory is the most that the "
    "process held until then, recordings and other methods included."
)
DEVIATIONS = ("This is not in the paper, whose worlds are its own.",)

EXPERIMENT = Experiment(
    name="worlds",
    title="Other people's worlds",
    paper="Ours; the paper has no such table.",
    expected="minutes on one core for each method, world and seed that learns (the seconds are in the tables)",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: (f"domain:{piece.world}",) if piece.method == TOLD else uses(piece.method, piece.world),
    together=lambda piece: (piece.world, piece.method),
    missed=missed,
    order=30,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
