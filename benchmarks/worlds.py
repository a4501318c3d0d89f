"""Worlds: how their labels, contacts and functional causes differ, row by row; and by what effects are measured.

python benchmarks/worlds.py labels door-key --frames 5000
python benchmarks/worlds.py effects mujoco-pucks --frames 20000
python benchmarks/worlds.py usual ale-breakout --frames 100000

`labels` records a world, with its `check` where it can be stepped twice from one state, and counts for each factor and
each kind of evidence: the rows in which it is there, those of them without the label, and labels without it; with
`--classes` for all factors of one class together. Of `reactor`, our own, the functional cause of each row is found
here, with its controls drawn anew a thousand times for each set.

`effects` records it without a check. It prints the time that a row takes, the standard deviation of each outcome
feature's change, and the rows in which a factor's effect is above other thresholds, where the world measures effects.

`usual` records it without a check, too. It compares rows that have the same own state of the outcome: for each class of
factors, how many of the rows in which one is a cause lie in states in which one mostly is. There the own state alone
tells what comes of it, and nothing but a label tells that a factor brought it about.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from actcause import envs, worlds
from actcause.data import Transitions, collect
from actcause.envs.base import Array, Domain
from actcause.io.settings import parse_setting
from actcause.worlds.base import EVIDENCE

ALIKE = 5  # rows with the same own state, from which on it can be said what mostly comes of it
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2)  # in spreads
HEADS = ("factor", "label", "evidence", "rows", "without the label", "label without it")
ALPHA, DRAWS = 1 / 3, 1000  # of the reactor


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("labels", "effects", "usual"))
    parser.add_argument("world", choices=("reactor", *worlds.names()))
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--classes", action="store_true")
    asked = parser.parse_args(given)
    parameters = dict(parse_setting(text, "size=8", {}) for text in asked.settings)
    begun = time.process_time()
    if asked.world == "reactor":
        data = record_reactor(asked.frames, asked.seed, parameters)
    else:
        data = record_world(asked.world, asked.frames, asked.seed, parameters, check=asked.what == "labels")
    spent = time.process_time() - begun
    print(", ".join((asked.world, f"{len(data):,} rows", f"seed {asked.seed}", data.metadata.get("simulator", "ours"))))
    if "kept" in data.extra:
        print(f"\nwithout all that is not labelled the outcome stayed in {data.extra['kept'].sum():,} rows")
    print()
    if asked.what != "labels":
        print("\n".join(describe_effects(data, spent) if asked.what == "effects" else describe_usual(data)))
        return
    counted = count_labels(data, data.metadata["classes"] if asked.classes else {})
    print("\n".join(f"| {' | '.join(cells)} |" for cells in (HEADS, ("---",) * len(HEADS), *counted)))


def record_world(name: str, frames: int, seed: int, parameters: dict[str, Any], *, check: bool) -> Transitions:
    """Record a world; with a check, if it has one."""
    kind: Any = worlds.WORLDS[name]
    checked = {"check": check} if "check" in {field.name for field in fields(kind)} else {}
    return collect(worlds.make(name, **checked, **parameters), frames, seed)


def record_reactor(frames: int, seed: int, parameters: dict[str, Any]) -> Transitions:
    """Record the reactor, and find the functional cause of every row."""
    domain = envs.make("reactor", **parameters)
    data = collect(domain, frames, seed, dtype="float64")
    generator = np.random.default_rng(seed)
    causes = [find_cause(domain, world, generator) for world in data.state]
    found = {f"fac.{factor}": np.array([factor in cause for cause in causes]) for factor in domain.edges}
    return data.replaced(extra={**data.extra, **found})


def find_cause(domain: Domain, world: Array, generator: np.random.Generator) -> tuple[str, ...]:
    """Find the functional cause of a world's next outcome; exchanged factors are drawn from all of their ranges."""
    low, high = domain.bounds
    outcome = domain.index(domain.outcome)
    actions = np.zeros((DRAWS, domain.action_size))
    kept = domain.step(world[None], actions[:1]).states[:, outcome]
    tried: dict[tuple[str, ...], Iterator[bool]] = {}

    def changes(exchanged: tuple[str, ...]) -> bool:
        if exchanged not in tried:
            others = np.repeat(world[None], DRAWS, axis=0)
            for position in map(domain.index, exchanged):
                others[:, position] = generator.uniform(low[position], high[position], others[:, position].shape)
            tried[exchanged] = iter((domain.step(others, actions).states[:, outcome] != kept).any(axis=1).tolist())
        return next(tried[exchanged])

    return worlds.find_functional_cause(domain.edges, changes, alpha=ALPHA, tries=DRAWS)


def count_labels(data: Transitions, classes: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Count, for each factor and each kind of evidence about it, where evidence and label differ.

    Factors of one class, where `classes` gives them one, are counted together.
    """
    assert data.cause is not None
    for name in dict.fromkeys(classes.get(factor, factor) for factor in data.edges):
        alike = [factor for factor in data.edges if classes.get(factor, factor) == name]
        label = data.cause[:, [data.layout.index(factor) for factor in alike]]
        for kind in EVIDENCE:
            columns = [data.extra.get(f"{kind}.{factor}") for factor in alike]
            known = [column for column in columns if column is not None]
            if len(known) == len(alike):
                flags = np.stack(known, axis=1)
                counts = (flags.sum(), (flags & ~label).sum(), (label & ~flags).sum())
                yield name, f"{label.sum():,}", kind, *(f"{count:,}" for count in counts)


def describe_effects(data: Transitions, spent: float) -> Iterator[str]:
    """Say how long a row took, how far the outcome's features change, and how many effects are how large."""
    yield f"{1000 * spent / len(data):.2f} ms a row on one core"
    deviations = zip(data.outcome_features, data.change.std(axis=0), strict=True)
    yield "spread of the change: " + ", ".join(f"{feature} {deviation:.3g}" for feature, deviation in deviations)
    for factor in data.edges:
        effects = data.extra.get(f"effect.{factor}")
        if effects is not None:
            above = ", ".join(f"{(effects > threshold).sum():,} above {threshold:g}" for threshold in THRESHOLDS)
            touched = data.extra.get(f"contact.{factor}")
            yield f"{factor}: {'' if touched is None else f'{touched.sum():,} contacts; '}effects: {above}"


def describe_usual(data: Transitions) -> Iterator[str]:
    """Say of each class of factors how many of its rows lie in own states of which one of it is mostly the cause."""
    assert data.cause is not None
    assert data.own is not None
    own = data.state[:, data.layout.index(data.own), : len(data.features[data.own])]
    _, state = np.unique(own, axis=0, return_inverse=True)
    alike = np.bincount(state)[state]
    yield f"{len(np.unique(state)):,} own states; {(alike >= ALIKE).sum():,} rows share theirs with {ALIKE - 1} or more"
    classes = data.metadata["classes"]
    for name in dict.fromkeys(classes.get(factor, factor) for factor in data.edges):
        members = [data.layout.index(factor) for factor in data.edges if classes.get(factor, factor) == name]
        caused = data.cause[:, members].any(axis=1)
        share = (np.bincount(state, weights=caused) / np.bincount(state))[state]
        counted = caused & (alike >= ALIKE)
        if counted.any():
            mostly = (share[counted] > 0.5).mean()
            yield (
                f"{name}: a cause in {caused.sum():,} rows; of {counted.sum():,} that can be compared, {mostly:.0%} "
                f"have an own state of which it mostly is, half of them in {np.median(share[counted]):.0%} of its rows"
            )


if __name__ == "__main__":
    main()
