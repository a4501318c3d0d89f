"""Hindsight relabelling filtered by causes: success against steps, beside plain hindsight.

    actcause reproduce rl_relabel
    experiments/on_gpu.sh OUT 480 rl_relabel          where there is nothing but python, numpy, torch and safetensors
    experiments/on_cores.sh OUT                       pucks and FetchPush, a process for each seed

Agents (DDPG, equal updates) learn to bring a block to a goal, with goals in hindsight from any step (HER), and from
those alone that the agent had a part in: by true causes, by causes learned from the agent's own experience (a mixture
with an account for each body, `actcause.rl.online_causes`, that learns in every round; or `jaci-exchange`, fitted anew
at set times), or simply because "the block moved". Every so often an agent acts for some episodes without exploring;
success is the share of them that end at the goal. Agents that differ in nothing but the random stream differ too. In
push all seeds and all ways of a task are one computation (`actcause.rl.goal_race`), and so they are in pucks and
FetchPush (`actcause.rl.env_race`), whose worlds are stepped one at a time, on a CPU.
There `ContactGraphs` are what is learned at set times.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

from actcause.reproduction import Experiment, Page, Plot, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import uses_graphs
from actcause.reproduction.success_curves import (
    DRAWS,
    compare_steps,
    describe_steps,
    draw_success,
    join_curves,
    write_interval,
)
from actcause.reproduction.tables import list_missing, table

# What is raced in push, by what differs from the usual race.
RACES: dict[str, dict[str, Any]] = {
    "push": {},
    "push-noise": {"noise": 0.05},
    "push-crowd": {"others": 3},  # bodies that drift by themselves and hit the block too
    "push-6": {"arena": 6.0, "horizon": 30, "margin": 0.5},
    "push-6-noise": {"arena": 6.0, "horizon": 30, "margin": 0.5, "noise": 0.05},
}
# Tasks that are environments, each with its parameters.
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "pucks": ("GoalPucks", {}),
    "pucks-near": ("GoalPucks", {"tolerance": 0.12}),
    "fetch": ("GoalFetchPush", {}),
}
# Of these: twice as many updates for each step as in push, of smaller networks, since they run on CPU cores.
SPARSE = {"steps": 64_000, "worlds": 4, "updates": 2, "width": 64, "rows": 128, "every": 8000, "episodes": 40}
WORLDS = {"pucks": "mujoco-pucks", "pucks-near": "mujoco-pucks", "fetch": "fetch-push"}  # of which each is made
WAYS = {
    "her": "HER",
    "true": "true causes",
    "online": "causes learned on the way",
    "learned": "causes learned at set times",
    "moved": "the object moved",
}
LEARNED = ("online", "learned")  # ways whose filter may be wrong
GOALS = (50, 80)  # per cent of success to which steps are counted
BARS = {"true": 1.25}  # times fewer steps than HER
SHARE = 0.8  # of the gain of true causes, with learned ones
SUITED = {"rows": 256, "updates": 4, "width": 128, "worlds": 16}


@dataclass(frozen=True)
class Arguments:
    """Which tasks, which filters, and how long."""

    tasks: tuple[str, ...] = ("push", "push-noise", "push-crowd", "pucks", "pucks-near", "fetch")
    ways: tuple[str, ...] = tuple(WAYS)
    seeds: tuple[int, ...] = tuple(range(8))
    steps: int = 160_000
    every: int = 1920
    episodes: int = 100
    race: Mapping[str, Any] = field(default_factory=lambda: dict(SUITED))
    fits: tuple[int, ...] = (12_000, 36_000)  # steps after which causes are learned
    method: str = "jaci-exchange"  # that learns causes; in arenas this large masks take far longer
    options: Mapping[str, Any] = field(
        default_factory=lambda: {"steps": 3000, "distil_steps": 1000, "labelled": 10_000}
    )
    online_updates: int = 60  # of causes learned on the way, for each round of episodes
    contact_steps: int = 1500  # of causes learned at set times in pucks and FetchPush, by `ContactGraphs`


@dataclass(frozen=True)
class Piece:
    """One task, one filter, one seed."""

    task: str
    way: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    ("push-6", "push-6-noise", "pucks", "fetch"), seeds=(0, 1), steps=60_000, every=2400, episodes=50,
    fits=(10_000,), race={**SUITED, "width": 64, "rows": 128}, contact_steps=600,
    options={"steps": 600, "distil_steps": 300, "width": 32, "labelled": 3000},
)  # fmt: skip
QUICK = Arguments(
    ("push-6",), seeds=(0,), steps=4800, every=960, episodes=10, fits=(2000,),
    race={"width": 32, "rows": 64, "updates": 1, "worlds": 16},
    options={"steps": 40, "distil_steps": 20, "width": 16, "labelled": 500},
)  # fmt: skip
TINY = Arguments(
    ("push-6",), ("her", "true"), seeds=(0,), steps=240, every=120, episodes=2, fits=(),
    race={"width": 8, "rows": 16, "updates": 1, "worlds": 4},
)  # fmt: skip


def pieces(arguments: Arguments) -> list[Piece]:
    """Everything with everything; causes are learned in every round in races alone."""
    return [
        Piece(task, way, seed)
        for task in arguments.tasks
        for way in arguments.ways
        for seed in arguments.seeds
        if way != "online" or task in RACES
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How long, how large, how often it is looked at."""
    known = {name: getattr(arguments, name) for name in ("steps", "every", "episodes")}
    learned = {"fits": list(arguments.fits), "method": arguments.method, "options": dict(arguments.options)}
    own: dict[str, dict[str, Any]] = {"learned": learned, "online": {"online_updates": arguments.online_updates}}
    if piece.task not in TASKS:
        return {**known, **arguments.race, **own.get(piece.way, {})}
    contacts = {"fits": list(arguments.fits), "contact_steps": arguments.contact_steps}
    return {**known, **arguments.race, **SPARSE, **(contacts if piece.way == "learned" else {})}


def together(piece: Piece) -> Hashable:
    """Put all seeds and all ways of a race into one computation."""
    return piece.task


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train the agents of one task."""
    if pack[0].task not in RACES:
        return run_in_env(pack, arguments, device)
    from actcause.rl.goal_race import Race, run_race

    names = ("steps", "every", "episodes", "fits", "method", "options", "online_updates")
    known = {name: getattr(arguments, name) for name in names}
    race = Race(**{**known, **arguments.race, **RACES[pack[0].task]})
    ways, seeds = [piece.way for piece in pack], [piece.seed for piece in pack]
    found = run_race(race, ways, seeds, device=device)
    return [
        describe(one.curve) | ({"wrong": [list(point) for point in one.wrong]} if piece.way in LEARNED else {})
        for piece, one in zip(pack, found, strict=True)
    ]


def describe(curve: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """Return a curve with the steps at which it first reaches each goal."""
    reached = {f"steps_{goal}": next((at for at, share in curve if share >= goal), None) for goal in GOALS}
    return {"curve": [list(point) for point in curve], "final": curve[-1][1], **reached}


def run_in_env(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Train the agents of a task that is an environment, stepped one world at a time."""
    from actcause import rl
    from actcause.rl.env_race import EnvRace, run_env_race

    kind, parameters = TASKS[pack[0].task]
    known = {name: getattr(arguments, name) for name in ("steps", "every", "episodes", "fits")}
    race = EnvRace(
        make=lambda told: getattr(rl, kind)(**parameters, with_causes=told),
        options={"steps": arguments.contact_steps}, **{**known, **SPARSE},
    )  # fmt: skip
    ways = [piece.way for piece in pack]
    found = run_env_race(race, ways, [piece.seed for piece in pack], device=device, report=partial(_tell, ways))
    return [describe(one.curve) for one in found]


def _tell(ways: Sequence[str], done: int, shares: Sequence[float]) -> None:
    shown = ", ".join(f"{way} {share:.0f}%" for way, share in zip(ways, shares, strict=True))
    print(f"  {done:,} steps: {shown}", file=sys.stderr)


def page(results: Results) -> Page:
    """Show curves, and the steps to each goal."""
    parts = [
        "Success against steps, with hindsight goals from any step (HER) and from those alone that a chain leads to "
        "from the agent's actions to the object. Updates are equal, and agents of one seed begin with the same weights "
        "in the same worlds. Agents that differ in nothing but their random stream differ by some 15% in the steps "
        "that they need, so one seed, or two, show nothing but that it runs. Where nothing moves the object but the "
        "agent, *the object moved* is the same filter as true causes; in *push-crowd* three bodies that drift by "
        "themselves hit the block too. *Wrong* is the share of the steps of all episodes that a learned filter takes "
        "as goals where true causes do not, or the other way round."
    ]
    plots = []
    for task in results.every("task"):
        rows = []
        for way, words in WAYS.items():
            found = results.where(task=task, way=way)
            if found:
                final = [one.value["final"] for one in found]
                shown = [_tell_wrong(found), f"{fmean(final):.0f}"]
                for goal in GOALS:
                    shown += [describe_steps(found, goal), _tell_ratio(results, task, way, goal)]
                rows.append([words, str(len(found)), *shown])
        headings = ["goals from", "seeds", "wrong, %", "success at the end, %"]
        for goal in GOALS:
            headings += [f"steps to {goal}%", "times fewer than HER"]
        parts += [f"## {task}", table(headings, rows)]
        data = {words: join_curves(results.where(task=task, way=way)) for way, words in WAYS.items()}
        shown_data = {words: points for words, points in data.items() if points}
        plots.append(Plot(f"rl_relabel_{task}", f"Success against steps in {task}", shown_data, draw_success))
    parts.append(
        "*Times fewer* is the mean of HER's steps over that of the way's, with a 95% interval from "
        f"{DRAWS:,} draws of seeds with replacement. A seed that never came to a goal counts with all its steps, so "
        "that ratios are understated where HER does not come there."
    )
    lost = {
        task: ", ".join(
            words
            for way, words in WAYS.items()
            if not results.where(task=task, way=way) and (way != "online" or task in RACES)
        )
        for task in FULL.tasks
    }
    parts.append(list_missing({f"{task}, of the full size": words for task, words in lost.items()}))
    return Page("\n\n".join(part for part in parts if part), tuple(plots), deviations=(
        "The paper has no such experiment; Chuck et al. 2025 (HInt) filter whole trajectories, and use other agents.",
        "Batches of all agents of a task are drawn by one stream: an agent's curve depends on who runs beside it.",
        "In push-crowd agents do not see the bodies that drift; the learner of causes does.",
        "Agents also see how pusher, object and goal lie from each other, which the environments do not say.",
        "In pucks and FetchPush causes that are learned at set times are those of `ContactGraphs`.",
    ))  # fmt: skip


def measure_ratio(results: Results, task: str, way: str, goal: int) -> tuple[float, float, float] | None:
    """Return how many times fewer steps a way takes than HER, with a bootstrap interval over seeds."""
    return compare_steps(results.where(task=task, way="her"), results.where(task=task, way=way), goal)


def _tell_ratio(results: Results, task: str, way: str, goal: int) -> str:
    return write_interval(None if way == "her" else measure_ratio(results, task, way, goal))


def missed(results: Results) -> list[str]:
    """List what is below the bars, at the full size."""
    found = []
    for task in results.every("task"):
        known = {way: measure_ratio(results, task, way, 50) for way in ("true", "online", "learned")}
        true, learned = known["true"], known["online"] or known["learned"]
        if true is not None and (true[0] < BARS["true"] or true[1] <= 1):
            found.append(f"{task}: {true[0]:.2f} times fewer steps with true causes ({true[1]:.2f} to {true[2]:.2f})")
        if true is not None and learned is not None and learned[0] - 1 < SHARE * (true[0] - 1):
            found.append(f"{task}: {learned[0]:.2f} times fewer with learned causes, {true[0]:.2f} with true ones")
    return found


def _tell_wrong(found: Sequence[Any]) -> str:
    wrong = [one.value["wrong"][-1][1] for one in found if one.value.get("wrong")]
    return f"{fmean(wrong):.2f}" if wrong else "—"


def uses(piece: Piece) -> tuple[str, ...]:
    """Name the parts that a result depends on."""
    learned = piece.way == "learned" and piece.task not in TASKS
    return uses_graphs(WORLDS.get(piece.task, "push"), FULL.method if learned else None)


EXPERIMENT = Experiment(
    name="rl_relabel",
    title="Relabelling by causes",
    paper="Ours: hindsight relabelling after Chuck et al. 2025, with actual causes.",
    expected="ten minutes on one H200; pucks and FetchPush two hours each on one CPU core",
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
    order=32,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
