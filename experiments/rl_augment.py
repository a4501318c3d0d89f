"""Augmentation: how many exchanges are kept, how many of them are exact, and what a forward model makes of them.

    actcause reproduce rl_augment

Transitions are made by exchanging factor groups that are causally apart (Pitis et al. 2020), with graphs that are true,
learned (`ContactGraphs`, `LocalGraphs`), or by distance, with the new state asked about again and without; beside it,
exchanging anything. Exact is what the true dynamics would have given. They are asked for the figure alone, never for
the choice.

In a smaller part a forward model (a network of all factors that predicts the block's change) is trained on 2,000 real
transitions, on these and augmented ones, and on 8,000 real ones.

Without a GPU: `--only way=contacts`, which learns a world in half a minute, and all that learns nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from actcause.data import Recording, collect_recording
from actcause.envs import make
from actcause.reproduction import Experiment, Page, Results
from actcause.reproduction.__main__ import main
from actcause.reproduction.learned import uses_graphs
from actcause.reproduction.tables import list_missing, spread, table
from actcause.rl import ContactGraphs, NearGraphs, PuckGraphs, TransitionModel, TrueGraphs, augment

Array = Any
# The worlds, each with its domain, its parameters, and the width of its largest body.
WORLDS: dict[str, tuple[str, dict[str, Any], float]] = {
    "push-5": ("push", {}, 1.0),
    "push-8": ("push", {"arena": 8.0}, 1.0),
    "break": ("break", {}, 7.0),
    "pucks": ("mujoco-pucks", {}, 0.1),
}
LEARNED = ("learned", "checked")  # by trainings that take a GPU where they are of full size
EVERY = {  # with every exchange of a pair
    "true": "true-every", "contacts": "contacts-every", "checked": "checked-every", "near": "near-every"
}  # fmt: skip
NEAR = 2.0  # widths of the largest body
BARS = {"true": 99.5, "contacts": 98.0, "checked": 98.0}  # per cent exact
TIMES = 5  # as many as proximity are to be kept
PUCK_TOLERANCE = 0.05  # spreads: what makes a cause in that world
PAIRS = 60_000  # that are tried to augment 2,000 rows
MOST_NEW = 12_000  # augmented rows that a forward model is given
WORTH = 1.1  # times the error with 8,000 real rows that learned graphs may come to
WAYS = {
    "true": "true graphs",
    "contacts": "graphs learned by contacts",
    "checked": "learned graphs, and a learned model that must expect it",
    "learned": "learned graphs alone",
    "unasked": "true graphs, the new state not asked about",
    "near": "within two body widths",
    "anything": "exchanging anything",
}


@dataclass(frozen=True)
class Arguments:
    """Which worlds, by which graphs, how much, and how long learners train."""

    worlds: tuple[str, ...] = tuple(WORLDS)
    ways: tuple[str, ...] = (*WAYS, *EVERY.values())
    seeds: tuple[int, ...] = (0, 1, 2)
    frames: int = 20_000
    puck_frames: int = 4000
    learn_frames: int = 100_000
    puck_learn_frames: int = 20_000  # a minute of recording; from 4,000 half as many exchanges are allowed
    pairs: int = 20_000
    every: int = 200  # pairs of which every exchange is tried
    model_steps: int = 4000  # of the forward models; 0: none
    learned_worlds: tuple[str, ...] = tuple(WORLDS)  # in which graphs are learned too
    learned_seeds: tuple[int, ...] = (0, 1, 2)
    options: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=lambda: {"steps": 20_000, "rows": 1024, "width": 96})


@dataclass(frozen=True)
class Piece:
    """One world, one way to get graphs, one seed."""

    world: str
    way: str
    seed: int


FULL = Arguments()
SMALL = Arguments(
    frames=8000, puck_frames=1000, learn_frames=20_000, puck_learn_frames=4000, pairs=8000, every=100, model_steps=1500,
    learned_worlds=("push-5",), learned_seeds=(0,), options={"steps": 300, "distil_steps": 150, "width": 64},
    model={"steps": 1500, "rows": 256, "width": 48},
)  # fmt: skip
QUICK = Arguments(
    ("push-5",), seeds=(0,), frames=4000, learn_frames=5000, pairs=4000, every=50, model_steps=0,
    options={"steps": 100, "distil_steps": 50, "width": 32}, model={"steps": 100, "rows": 128, "width": 24},
)  # fmt: skip
TINY = Arguments(("push-5",), ("true", "near", "anything"), seeds=(0,), frames=500, pairs=500, every=20, model_steps=0)


def pieces(arguments: Arguments) -> list[Piece]:
    """Everything with everything."""
    return [
        Piece(world, way, seed)
        for world in arguments.worlds
        for way in arguments.ways
        for seed in arguments.seeds
        if way.split("-")[0] not in LEARNED or (world in arguments.learned_worlds and seed in arguments.learned_seeds)
    ]


def settings(piece: Piece, arguments: Arguments) -> dict[str, Any]:
    """How much is recorded and tried, and options of learners that are not their own."""
    pucks = piece.world == "pucks"
    way, _, every = piece.way.partition("-")
    known: dict[str, Any] = {
        "frames": arguments.puck_frames if pucks else arguments.frames,
        "pairs": min(arguments.pairs, arguments.puck_frames) if pucks else arguments.pairs,
    }
    if every:  # the simulator of pucks steps one world at a time
        known["pairs"] = arguments.every // 10 if pucks else arguments.every
    if way in (*LEARNED, "contacts"):
        known["learn_frames"] = arguments.puck_learn_frames if pucks else arguments.learn_frames
    if way in LEARNED:
        known |= {"options": {**arguments.options}, **({"model": {**arguments.model}} if way == "checked" else {})}
    if piece.world == "push-5" and arguments.model_steps and not every:
        known["model_steps"] = arguments.model_steps
    return known


def run(pack: Sequence[Piece], arguments: Arguments, device: str) -> list[Any]:
    """Augment, and measure."""
    return [measure(piece, arguments, device) for piece in pack]


def measure(piece: Piece, arguments: Arguments, device: str) -> dict[str, Any]:
    """Return the share of pairs kept, and the share of those that is exact."""
    name, parameters, width = WORLDS[piece.world]
    pucks = piece.world == "pucks"
    truth: Any = PuckGraphs() if pucks else TrueGraphs(make(name, **parameters))
    known = settings(piece, arguments)
    recording = record(piece.world, known["frames"], piece.seed)
    way, _, every = piece.way.partition("-")
    graphs, model = None, None
    if way in ("true", "unasked"):
        graphs = truth
    elif way == "near":
        graphs = NearGraphs(NEAR * width)
    elif way == "contacts":
        graphs = learn_contacts(piece.world, known["learn_frames"], piece.seed)
    elif way in LEARNED:
        graphs = learn_graphs(piece.world, known["learn_frames"], piece.seed, device, tuple(arguments.options.items()))
    if way == "checked":
        seen = record(piece.world, known["learn_frames"], piece.seed + 1000)
        model = learn_model(seen, piece.seed, device, arguments.model)
    made = augment(
        recording, graphs, pairs=known["pairs"], every=bool(every), recheck=way != "unasked", model=model,
        seed=piece.seed,
    )  # fmt: skip
    if made.recording is None:
        return {"kept": 0.0, "exact": None}
    exact = measure_pucks(truth, made.recording) if pucks else made.measure_exactness(truth)
    value: dict[str, Any] = {"kept": 100 * made.share, "exact": None if exact is None else 100 * exact}
    if made.expected_wrong is not None:
        value["expected"] = 100 * (1 - made.expected_wrong)
    if "model_steps" in known:
        value |= compare_models(piece, graphs, model, known["model_steps"])
    return value


def learn_model(seen: Recording, seed: int, device: str, options: Mapping[str, Any]) -> TransitionModel:
    """Learn what follows from what, from rows apart."""
    return TransitionModel(seed=seed, device=choose_device(device), **options).fit(seen)


@lru_cache(maxsize=2)
def learn_graphs(world: str, frames: int, seed: int, device: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """Learn the graphs of a world from rows apart."""
    from actcause.learn import LocalGraphs

    return LocalGraphs("jaci-em", seed=seed, device=device, **dict(options)).fit(record(world, frames, seed + 1000))


@lru_cache(maxsize=2)
def learn_contacts(world: str, frames: int, seed: int) -> ContactGraphs:
    """Learn who touches whom from rows apart."""
    return ContactGraphs(seed=seed).fit(record(world, frames, seed + 1000))


def choose_device(device: str) -> str:
    """Return what torch calls a device."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device


def measure_pucks(truth: Any, recording: Recording) -> float:
    """Return the share of transitions that the simulator gives too, within what makes a cause there."""
    from actcause.worlds.mujoco_pucks import SPREAD

    off = np.abs(truth.step(recording.state) - recording.next_state)[:, 1:] / SPREAD
    return float((off <= PUCK_TOLERANCE).all(axis=(1, 2)).mean())


@lru_cache(maxsize=4)
def record(world: str, frames: int, seed: int) -> Recording:
    """Record transitions; those of pucks from what is seen alone, all else being at rest, so that one can check."""
    name, parameters, _ = WORLDS[world]
    if world != "pucks":
        policy = "scripted" if name == "break" else "random"
        return collect_recording(make(name, **parameters), frames, seed=seed, policy=policy, dtype="float64")
    found = collect_recording(name, frames, seed=seed, dtype="float64")
    return found.replaced(next_state=PuckGraphs().step(found.state), cause=None)


# -- forward models --------------------------------------------------------------------------------------


def compare_models(piece: Piece, graphs: Any, model: Any, steps: int) -> dict[str, Any]:
    """Return the error of the block's predicted change: with 2,000 real rows, with augmented ones too, with 8,000."""
    test = record(piece.world, 8000, piece.seed + 2000)
    many = record(piece.world, 8000, piece.seed + 3000)
    few = many.subset(slice(0, 2000))
    asked = piece.way != "unasked"
    more = augment(few, graphs, pairs=PAIRS, recheck=asked, model=model, seed=piece.seed).recording
    new = [] if more is None else [more.subset(slice(0, MOST_NEW))]
    value: dict[str, Any] = {"new_rows": sum(map(len, new))}
    value |= train_model("more", [few, *new], test, steps, piece.seed)
    if piece.way == "anything":  # the yardsticks stand once
        value |= train_model("few", [few], test, steps, piece.seed)
        value |= train_model("many", [many], test, steps, piece.seed)
        value |= _measure_off("still", test, np.zeros((len(test), 2)))
    return value


def train_model(name: str, parts: Sequence[Recording], test: Recording, steps: int, seed: int) -> dict[str, float]:
    """Train a network of all factors to predict how the block moves; return its errors."""
    import torch

    torch.manual_seed(seed)
    block = test.index("block")

    def read(one: Recording) -> tuple[Any, Any]:
        inputs = torch.tensor(np.concatenate([one.state[:, :, :2]], axis=2).reshape(len(one), -1), dtype=torch.float32)
        change = one.next_state[:, block, :2] - one.state[:, block, :2]
        return (inputs - 2.5) / 2.5, torch.tensor(change, dtype=torch.float32)

    inputs, change = (torch.cat(found) for found in zip(*map(read, parts), strict=True))
    layers = [torch.nn.Linear(inputs.shape[1], 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(128, 2))
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(steps):
        rows = torch.randint(len(inputs), (256,))
        loss = ((network(inputs[rows]) - change[rows]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return _measure_off(name, test, network(read(test)[0]).numpy())


def _measure_off(name: str, test: Recording, predicted: Array) -> dict[str, float]:
    """Return the root mean square errors of the block's predicted change: over all rows, and where it moved or not."""
    block = test.index("block")
    change = test.next_state[:, block, :2] - test.state[:, block, :2]
    squares = ((predicted - change) ** 2).sum(axis=1)
    moved = change.any(axis=1)
    parts = {f"model_{name}": squares, f"moved_{name}": squares[moved], f"unmoved_{name}": squares[~moved]}
    return {key: float(np.sqrt(part.mean())) for key, part in parts.items()}


# -- the page ----------------------------------------------------------------------------------------------


def page(results: Results) -> Page:
    """Show a table for each world, and the forward models."""
    parts = [
        "Factor groups are exchanged between two transitions where they are causally apart. *Kept* is the share of the "
        "pairs tried that gave a new transition, *exact* the share of those that the true dynamics would have given. "
        "That there is no edge in the two transitions is no licence: the row *not asked about* shows what an exchange "
        "brings about by itself. *Kept* counts one exchange for each pair, drawn by chance, and can be no more than "
        "all of them. *New rows of a pair* counts every exchange of a pair that holds: with finer groups a pair gives "
        "more of them.",
    ]
    parts += _show_worlds(results, results.every("world"))
    if results.size == "full":
        parts.append(list_missing({_title(world): _list_lost(results, world) for world in WORLDS}))
    checked = results.where(way="checked")
    if results.size != "full" and checked:
        known = checked[0].settings
        parts.append(
            f"**`LocalGraphs` are not done here.** They were trained for {known['options'].get('steps')} steps and "
            f"the model that must expect an exchange for {known['model']['steps']}, a small part of what both take. A "
            "model that is coarse lets pass what is off by little, and says so by itself: without a label it expected "
            f"{spread(results.values('expected', way='checked'))}% of what it kept to be exact."
        )
    parts += _tell_times(results)
    models = _show_models(results)
    if results.smaller is not None:
        less = results.smaller
        missing = [world for world in less.every("world") if not results.where(world=world, way="contacts")]
        shown = _show_worlds(less, missing, "##") + ([] if models else _show_models(less, "##"))
        if shown:
            words = (
                f"What is missing above, as a small size that two CPU cores can do: {less.arguments.frames:,} frames"
            )
            models += ["## Of the small size", f"{words}, and learners of {less.arguments.learn_frames:,}.", *shown]
    parts += models
    return Page("\n\n".join(part for part in parts if part), deviations=(
        "The paper has no such experiment; Pitis et al. 2020 measure what agents make of augmented data.",
        "A recording of pucks does not show how a puck lies and spins. So that exactness can be told, each recorded "
        f"state was stepped once more with that at rest; exact means within {PUCK_TOLERANCE} spreads on every body.",
        "*Within two body widths* is a distance of 2 in push, 14 in break (the paddle is 7 wide) and 0.2 m in pucks.",
    ))  # fmt: skip


def _list_lost(results: Results, world: str) -> str:
    """Name the ways of which a seed is missing in a world, and how many seeds are."""
    lost = []
    for way in FULL.ways:
        count = sum(piece.world == world and piece.way == way for piece in pieces(FULL))
        missing = count - len(results.where(world=world, way=way))
        name, _, every = way.partition("-")
        words = f"every exchange of a pair, {WAYS[name]}" if every else WAYS[name]
        if missing:
            lost.append(words if missing == count else f"{words} ({missing} of {count} seeds)")
    return "; ".join(lost)


def _show_worlds(results: Results, worlds: Sequence[str], mark: str = "#") -> list[str]:
    """Show how many exchanges are kept in each world, and how many of these are exact."""
    parts = []
    for world in worlds:
        rows = [
            [
                words,
                *(spread(results.values(name, world=world, way=way)) or "—" for name in ("kept", "exact")),
                _tell_new(results, world, way),
            ]
            for way, words in WAYS.items()
            if results.where(world=world, way=way)
        ]
        titles = ["graphs", "kept, % of pairs", "exact, %", "new rows of a pair"]
        parts += [f"{mark}# {_title(world)}", table(titles, rows)]
    return parts


def _tell_times(results: Results) -> list[str]:
    """Hold how many pairs are kept against proximity, and say where true graphs leave no room for as many."""
    rows = []
    for world in results.every("world"):
        near, true = (results.values("kept", world=world, way=way) for way in ("near", "true"))
        if not near or not true:
            continue
        kept = [results.values("kept", world=world, way=way) for way in ("true", "contacts")]
        shown = [f"{np.mean(one) / np.mean(near):.1f}" if one and any(near) else "—" for one in kept]
        new = [_count_new(results, world, way) for way in ("true", "contacts", "near")]
        more = [f"{np.mean(one) / np.mean(new[2]):.0f}" if one and any(new[2]) else "—" for one in new[:2]]
        room = "yes" if TIMES * np.mean(near) <= np.mean(true) else "no"
        rows.append([_title(world), f"{TIMES * np.mean(near):.1f}", f"{np.mean(true):.1f}", room, *shown, *more])
    if not rows:
        return []
    titles = ["world", f"{TIMES} times near, % of pairs", "all that are apart, %", f"room for {TIMES} times"]
    titles += ["true: times near", "contacts: times near", "true: times the new rows", "contacts: times the new rows"]
    return [
        "## Times as many as proximity",
        "A pair is kept at most where its groups are apart indeed, which is what true graphs find. Where proximity "
        f"keeps more than {100 / TIMES:.0f}% of those already, nothing can keep {TIMES} times as many pairs, however "
        "good; what is left to gain there are the new rows that a pair gives.",
        table(titles, rows),
    ]


def _count_new(results: Results, world: str, way: str) -> list[float]:
    """Return how many new rows a pair gave, of each seed, with every exchange."""
    return [kept / 100 for kept in results.values("kept", world=world, way=EVERY.get(way, ""))]


def _tell_new(results: Results, world: str, way: str) -> str:
    found = _count_new(results, world, way)
    return spread(found) if found else "—"


def _title(world: str) -> str:
    titles = {"push-5": "Push, arena 5, three obstacles", "push-8": "Push, arena 8, three obstacles", "break": "Break"}
    return titles.get(world, "MuJoCo pucks")


def _show_models(results: Results, mark: str = "#") -> list[str]:
    few = results.values("model_few", world="push-5")
    if not few:
        return []

    def show(words: str, name: str, **where: str) -> list[str]:
        errors = [results.values(f"{part}_{name}", world="push-5", **where) for part in ("model", "moved", "unmoved")]
        new = results.values("new_rows", world="push-5", **where) if where else []
        return [words, f"{np.mean(new):,.0f}" if new else "—", *(spread(one, digits=4) or "—" for one in errors)]

    rows = [show("predicting no motion", "still"), show("2,000 real rows", "few")]
    for way, words in WAYS.items():
        if results.values("model_more", world="push-5", way=way):
            rows.append(show(f"2,000 real rows and those of: {words}", "more", way=way))
    rows.append(show("8,000 real rows", "many"))
    return [
        f"{mark}# What a forward model makes of it",
        "The root mean square error of the block's predicted change in push, arena 5, on rows apart: over all of them, "
        "where the block moved, and where it did not. A network of all factors is trained for as many steps on each; "
        f"{PAIRS:,} pairs were tried, and up to {MOST_NEW:,} new rows taken.",
        table(["trained on", "new rows", "error", "where it moved", "where it did not"], rows),
        _tell_worth(results),
    ]


def _compare_worth(results: Results) -> dict[str, float]:
    """Return the error with augmented rows as a multiple of that with 8,000 real ones, for each way."""
    many = results.values("model_many", world="push-5")
    found = {way: results.values("model_more", world="push-5", way=way) for way in WAYS}
    return {way: float(np.mean(errors) / np.mean(many)) for way, errors in found.items() if errors and many}


def _tell_worth(results: Results) -> str:
    """Say what exactness is worth to a network that sees raw coordinates."""
    parts = [f"{times:.2f} with {WAYS[way]}" for way, times in _compare_worth(results).items()]
    return f"As multiples of the error with 8,000 real rows: {'; '.join(parts)}."


def missed(results: Results) -> list[str]:
    """List worlds below the bars."""
    found = []
    for world in results.every("world"):
        near = results.values("kept", world=world, way="near")
        for way, bar in BARS.items():
            exact = results.values("exact", world=world, way=way)
            kept = results.values("kept", world=world, way=way)
            if exact and np.mean(exact) < bar:
                found.append(f"{world}, {way}: {np.mean(exact):.1f}% exact, below {bar}%")
            new, close = (_count_new(results, world, one) for one in (way, "near"))
            true = results.values("kept", world=world, way="true")
            if kept and near and np.mean(kept) < TIMES * np.mean(near):
                times = f"{np.mean(kept) / np.mean(near):.1f} times as many pairs kept as near, below {TIMES}"
                if true and np.mean(true) < TIMES * np.mean(near):
                    times += f", for which there is no room ({np.mean(true):.0f}% are apart)"
                rows = f"; {np.mean(new) / np.mean(close):.0f} times as many new rows" if new and any(close) else ""
                found.append(f"{world}, {way}: {times}{rows}")
    worth = _compare_worth(results).get("contacts", 0.0)
    if worth > WORTH:
        found.append(f"push-5, contacts: {worth:.2f} times the error with 8,000 real rows, above {WORTH}")
    return found


def uses(piece: Piece) -> tuple[str, ...]:
    """Name the parts that a result depends on."""
    return uses_graphs(WORLDS[piece.world][0], "jaci-em" if piece.way.split("-")[0] in LEARNED else None)


EXPERIMENT = Experiment(
    name="rl_augment",
    title="Augmentation",
    paper="Ours: counterfactual augmentation after Pitis et al. 2020, with actual causes.",
    expected="an hour on one H200; without LocalGraphs half an hour on 16 cores",
    arguments=FULL,
    small=SMALL,
    quick=QUICK,
    tiny=TINY,
    pieces=pieces,
    settings=settings,
    run=run,
    page=page,
    uses=uses,
    missed=missed,
    order=30,
)

if __name__ == "__main__":
    sys.exit(main(name=EXPERIMENT.name))
