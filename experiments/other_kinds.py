"""Ours: the default learner in kinds of worlds that were not looked at while it was built.

    actcause reproduce other_kinds
    actcause reproduce other_kinds --size small     # on two CPU cores

The worlds have known rules and need no simulator (`actcause.reproduction.rule_worlds`). Learners see no label.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import TEST_SEED, first_known, fit_and_measure
from actcause.reproduction.rule_worlds import RULE_WORLDS, record_rules
from actcause.reproduction.tables import describe_missing, list_missing, spread, table

OURS = "jaci-auto"
BUILT_FOR = ("wheel", "impacts")  # in view when angles and heavy tails were taken care of
MENDED = "room"  # in view when learning by exchange was mended


@dataclass(frozen=True)
class Arguments:
    """Which worlds, who learns from them, and how much."""

    worlds: tuple[str, ...] = tuple(RULE_WORLDS)
    methods: tuple[str, ...] = (OURS, "jaci-em", "cf", "attn", "ncii", "granger", "proximity", "never")
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
SMALL = Arguments(methods=(OURS, "cf", "granger", "proximity", "never"), seeds=(0,), frames=40_000, tests=10_000,
    options={"steps": 2500},
)  # fmt: skip
QUICK = Arguments(
    ("crafting",), (OURS, "granger", "never"), seeds=(0,), frames=4000, tests=1000,
    options={"steps": 150, "distil_steps": 80, "width": 16},
)  # fmt: skip
TINY = Arguments(
    ("crafting",), (OURS, "never"), seeds=(0,), frames=500, tests=200,
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
    recorded = [
        (
            record_rules(piece.world, arguments.frames, piece.seed),
            record_rules(piece.world, arguments.tests, TEST_SEED + piece.seed),
        )
        for piece in pack
    ]
    return fit_and_measure(pack[0].method, [piece.seed for piece in pack], recorded, device, arguments.options)


def page(results: Results) -> Page:
    """Show the default beside the best of the others, then all methods."""
    shown = [world for world in results.arguments.worlds if results.where(world=world)]
    parts = [INTRODUCTION, _ours(results, shown), _absent(results), "## All methods", _errors(results, shown)]
    return Page("\n\n".join(part for part in parts if part), (), DEVIATIONS)


def _ours(results: Results, worlds: Sequence[str]) -> str:
    rows = []
    for world in worlds:
        here = {"world": world, "method": OURS}
        if not results.where(**here):
            continue
        rivals = {one.piece["method"] for one in results.where(world=world)} - {OURS, "never"}
        means = {name: results.values("balanced", world=world, method=name) for name in rivals}
        best = min(means, key=lambda name: sum(means[name]) / len(means[name]), default="never")
        pairs = [
            " / ".join(spread(results.values(before + name, world=world, method=method)) for name in NAMES)
            for before, method in (("", OURS), ("explain_", OURS), ("", best), ("", "never"))
        ]
        by = ", ".join(sorted({one.value["learned"]["learned_by"] for one in results.where(**here)}))
        pairs[2] = f"{best} {pairs[2]}"
        rows.append([world, RULE_WORLDS[world].summary, *pairs, by])
    return table(["world", "what happens there", "predict", "explain", "best other", "never", "learned by"], rows)


def _errors(results: Results, worlds: Sequence[str]) -> str:
    rows = []
    for world in worlds:
        for method in first_known({one.piece["method"] for one in results.where(world=world)}):
            found = results.where(world=world, method=method)
            cells = [
                spread(results.values(before + name, world=world, method=method))
                for before in ("", "explain_")
                for name in (*NAMES, "exact")
            ]
            seconds = [one.value["processor_seconds"] / one.value["trained_together"] for one in found]
            rows.append([world, method, str(len(found)), *cells, spread(seconds, 0)])
    of_each = ["balanced", "exact sets"]
    return table(["world", "method", "seeds", "error", *of_each, "explain: error", *of_each, "seconds"], rows)


def _absent(results: Results) -> str:
    """Name what has not been run yet."""
    given = results.arguments
    return list_missing(
        {world: describe_missing(results, given.methods, given.seeds, world=world) for world in given.worlds}
    )


NAMES = ("error", "balanced")
INTRODUCTION = (
    "Seven small worlds with known rules, each of a kind that no [domain](../domains.md) and no "
    "[world](../worlds.md) here is of; `src/actcause/reproduction/rule_worlds.py` has their rules. They stand for the "
    f"recording that somebody brings. {' and '.join(BUILT_FOR).capitalize()} were in view when learners were taught "
    f"[angles and heavy tails](../learning.md#angles-and-heavy-tails), and {MENDED} showed that a switch which always "
    "does the same was taken for what comes by itself; nothing was changed after a look at the others. "
    "Every method has its default options, but for the settings listed above, and sees no label. A pair is *edge error "
    "/ balanced error* in percent: the share of wrong answers over all factors, and the mean of that share over rows "
    "with and without a cause. Means ± standard deviation between seeds. Seconds are those that a processor worked at "
    "one seed's training, on one thread."
)
DEVIATIONS = ("This is not in the paper.",)

EXPERIMENT = Experiment(
    name="other_kinds",
    title="Other kinds of worlds",
    paper="Ours; the paper has no such table.",
    expected="minutes on one core for each world and seed that the default learns",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=lambda piece: (f"method:{piece.method}",),
    together=lambda piece: (piece.world, piece.method),
    order=32,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
