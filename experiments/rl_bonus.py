"""A bonus for causing something: does an agent that explores relations learn faster, and does it end as well?

    actcause reproduce rl_bonus
    experiments/on_gpu.sh OUT 480 rl_bonus            where there is nothing but python, numpy, torch and safetensors

Agents (DDPG with hindsight, equal updates) learn to bring the block of push to a goal: without a bonus, with that of
`InteractionBonus` as `InteractionReplayBuffer` samples it (in every step in which the agent moves the block, with the
weight of now), with the same bonus as a task of its own, and, at the small size, with some that do one thing otherwise:
whether it is seldom earned or not, with the weight of the time when a step was kept, paid once an episode, or never
ending. Every so often an agent acts for some episodes without
exploring; success is the share of them that end at the goal. A bonus that ends in less success than none is a failure.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import uses_graphs
from actcause.reproduction.success_curves import (
    DRAWS,
    compare_steps,
    compare_values,
    describe_steps,
    draw_success,
    join_curves,
    write_interval,
)
from actcause.reproduction.tables import spread, table

# Of each way: that of the race, and its words.
WAYS = {
    "none": ("her", "HER"),
    "bonus": ("her+bonus", "HER, a bonus"),
    "apart": ("her+apart", "HER, the bonus as a task of its own"),
    "causes": ("true", "goals by true causes"),
    "causes-bonus": ("true+bonus", "goals by true causes, a bonus"),
    "causes-apart": ("true+apart", "goals by true causes, the bonus as a task of its own"),
    "steady": ("her+steady", "HER, a bonus whether seldom or not"),
    "stored": ("her+stored", "HER, a bonus with the weight of back then"),
    "once": ("her+once", "HER, a bonus once an episode"),
    "unending": ("her+unending", "HER, a bonus that never ends"),
}
PAIRS = {"bonus": "none", "apart": "none", "causes-bonus": "causes", "causes-apart": "causes"}  # held against what
TASKS: dict[str, dict[str, Any]] = {
    "push-12": {},
    "push-16": {"arena": 16.0, "horizon": 80, "steps": 160_000},
    "push-9": {"arena": 9.0, "horizon": 50},
    "push-6": {"arena": 6.0, "horizon": 30, "margin": 0.5},
}
GOALS = (10, 50)  # per cent of success to which steps are counted
LATE = 3  # looks at the end that count as final
COMPARED = ("more success at the end", "more on average", *(f"times fewer steps to {goal}%" for goal in GOALS))
SUITED = {"rows": 256, "updates": 4, "width": 128, "worlds": 16}


@dataclass(frozen=True)
class Arguments:
    """The task, how long it is learned, and the bonus."""

    tasks: tuple[str, ...] = ("push-12", "push-16")
    ways: tuple[str, ...] = ("none", *PAIRS, "causes")
    seeds: tuple[int, ...] = tuple(range(8))
    steps: int = 120_000
    every: int = 2880
    episodes: int = 100
    bonus: float = 1.0
    times: int = 500
    race: Mapping[str, Any] = field(default_factory=lambda: dict(SUITED))


@dataclass(frozen=True)
class Piece:
    """One task, one way, one seed."""

    task: str
    way: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    ("push-9",), tuple(WAYS), (0, 1, 2), steps=112_000, every=8000, race={**SUITED, "width": 64, "rows": 128}
)  # fmt: skip
QUICK = Arguments(
    ("push-6",), ("none", "bonus", "apart"), (0,), steps=4800, every=960, episodes=10, times=50,
    race={"width": 32, "rows": 64, "updates": 1, "worlds": 16},
)  # fmt: skip
TINY = Arguments(
    ("push-6",), ("none", "bonus", "apart"), (0,), steps=240, every=120, episodes=2, times=5,
    race={"width": 8, "rows": 16, "updates": 1, "worlds": 4},
)  # fmt: skip


def pieces(arguments: Arguments) -> list[Piece]:
    """List every way with every seed, for each task."""
    return [Piece(task, way, seed) for task in arguments.tasks for way in arguments.ways for seed in arguments.seeds]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """Say what the task is, how long it is learned, and what the bonus is."""
    known = {name: getattr(arguments, name) for name in ("steps", "every", "episodes")}
    given = "+" in WAYS[piece.way][0]
    bonus = {"bonus": arguments.bonus} if given and not piece.way.endswith("apart") else {}
    times = {"times": arguments.times} if given and piece.way != "unending" else {}
    return {**known, **arguments.race, **TASKS[piece.task], **bonus, **times}


def together(piece: Piece) -> Hashable:
    """Put all seeds and all ways of a task into one computation."""
    return piece.task


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train the agents of one task."""
    from actcause.rl.goal_race import Race, run_race

    names = ("steps", "every", "episodes", "bonus", "times")
    known = {name: getattr(arguments, name) for name in names}
    race = Race(**{**known, **arguments.race, **TASKS[pack[0].task]})
    found = run_race(race, [WAYS[piece.way][0] for piece in pack], [piece.seed for piece in pack], device=device)
    return [describe(one.curve) for one in found]


def describe(curve: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """Return a curve, its end, its mean, and the steps at which it first reaches each goal."""
    shares = [share for _, share in curve]
    reached = {f"steps_{goal}": next((at for at, share in curve if share >= goal), None) for goal in GOALS}
    return {
        "curve": [list(point) for point in curve],
        "final": fmean(shares[-LATE:]),
        "average": fmean(shares),
        **reached,
    }


def page(results: Results) -> Page:
    """Show success on the way and at the end."""
    parts = [
        "The bonus is given in every step in which the agent moves the block. Its weight is the share of recent "
        "episodes in which that did not happen; it also falls with each in which it did, and ends, so that the "
        "task's own reward is all there is. Either it is added to the task's reward, by the weight of the time when a "
        "transition is sampled, relabelled or not; or it is a task of its own: in half as many episodes as its weight "
        "says the agent is at the bonus alone, and in the others at its goal. One more input tells its networks which, "
        "and a quarter of the rows that they learn from are for the bonus, of as many in all. Success, in per cent, is "
        "measured without exploring, mean ± standard deviation between seeds. Agents of one seed begin with the same "
        "weights in the same worlds."
    ]
    plots = []
    titles = ["agent", "seeds", f"success at the end (last {LATE} looks)", "success on average"]
    titles += [f"steps to {goal}%" for goal in GOALS]
    for task in results.every("task"):
        rows = []
        for way, (_, words) in WAYS.items():
            found = results.where(task=task, way=way)
            if found:
                ends = [spread(results.values(name, task=task, way=way)) for name in ("final", "average")]
                rows.append([words, str(len(found)), *ends, *(describe_steps(found, goal) for goal in GOALS)])
        parts += [f"## {task}", table(titles, rows)]
        rows = compare(results, task)
        if rows:
            parts.append(table(["beside the same agent without it", *COMPARED], rows))
        data = {words: join_curves(results.where(task=task, way=way)) for way, (_, words) in WAYS.items()}
        shown = {words: points for words, points in data.items() if points}
        plots.append(Plot(f"rl_bonus_{task}", f"Success against steps in {task}", shown, draw_success))
    failed = missed(results)
    if failed:
        parts.append(
            "**A bonus that ends in less success than none is a failure.** By the means: "
            + "; ".join(failed)
            + ". Where the interval holds 0, that may be chance."
        )
    parts.append(
        f"Differences and *times fewer* have a 95% interval from {DRAWS:,} draws of seeds with replacement. A seed "
        "that never came to a goal counts with all its steps."
    )
    if set(results.every("way")) & {"steady", "stored", "once", "unending"}:
        parts.append(
            "The last rows each do one thing otherwise: the weight does not ask how seldom the bonus is earned; "
            "rewards are kept with the weight that they had; it is paid for the first such step of an episode alone; "
            "it never ends. Seeds of one way differ by as much as most ways do: read the spread before the mean."
        )
    return Page(
        "\n\n".join(parts),
        tuple(plots),
        deviations=(
            "The paper names exploring relations as a use of actual causes and has no such experiment.",
            "Batches of all agents of a task are drawn by one stream: an agent's curve depends on who runs beside it.",
        ),
    )


def compare(results: Results, task: str) -> list[list[str]]:
    """Hold every bonus against the same agent without it."""
    rows = []
    for way, other in PAIRS.items():
        base, given = (results.where(task=task, way=name) for name in (other, way))
        if base and given:
            more = [write_interval(compare_values(base, given, name), "+.1f") for name in ("final", "average")]
            rows.append([WAYS[way][1], *more, *(write_interval(compare_steps(base, given, goal)) for goal in GOALS)])
    return rows


def missed(results: Results) -> list[str]:
    """Say where a bonus ends in less success than none."""
    wrong = []
    for task in results.every("task"):
        for way, other in PAIRS.items():
            base, given = (results.where(task=task, way=name) for name in (other, way))
            more = compare_values(base, given, "final")
            if more is not None and more[0] < 0:
                wrong.append(f"{task}, {WAYS[way][1]}: {write_interval(more, '+.1f')} points at the end")
    return wrong


def uses(piece: Piece) -> tuple[str, ...]:
    """Name the parts that a result depends on."""
    return uses_graphs("push", None)


EXPERIMENT = Experiment(
    name="rl_bonus",
    title="A bonus for causing something",
    paper="Ours: exploring relations, which the paper's last appendix names as a use of actual causes.",
    expected="six minutes on one H200 for each task; the small size fifteen minutes on one CPU core",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=uses,
    together=together,
    missed=missed,
    order=33,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
