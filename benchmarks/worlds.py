"""Worlds: how their labels, contacts and functional causes differ, row by row.

python benchmarks/worlds.py labels door-key --frames 5000

Records a world, with its `check` where it can be stepped twice from one state, and counts for each factor and each
kind of evidence: the rows in which it is there, those of them without the label, and labels without it. Of `reactor`,
our own, the functional cause of each row is found here, with its controls drawn anew a thousand times for each set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from actcause import envs, worlds
from actcause.data import Transitions, collect
from actcause.envs.base import Array, Domain
from actcause.io.settings import parse_setting
from actcause.worlds.base import EVIDENCE

HEADS = ("factor", "label", "evidence", "rows", "without the label", "label without it")
ALPHA, DRAWS = 1 / 3, 1000  # of the reactor


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("labels",))
    parser.add_argument("world", choices=("reactor", *worlds.names()))
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    asked = parser.parse_args(given)
    parameters = dict(parse_setting(text, "size=8", {}) for text in asked.settings)
    if asked.world == "reactor":
        data = record_reactor(asked.frames, asked.seed, parameters)
    else:
        data = record_world(asked.world, asked.frames, asked.seed, parameters)
    print(", ".join((asked.world, f"{len(data):,} rows", f"seed {asked.seed}", data.metadata.get("simulator", "ours"))))
    if "kept" in data.extra:
        print(f"\nwithout all that is not labelled the outcome stayed in {data.extra['kept'].sum():,} rows")
    print()
    print("\n".join(f"| {' | '.join(cells)} |" for cells in (HEADS, ("---",) * len(HEADS), *count_labels(data))))


def record_world(name: str, frames: int, seed: int, parameters: dict[str, Any]) -> Transitions:
    """Record a world, with its check where it has one."""
    kind: Any = worlds.WORLDS[name]
    checked = {"check": True} if "check" in {field.name for field in fields(kind)} else {}
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


def count_labels(data: Transitions) -> Iterator[tuple[str, ...]]:
    """Count, for each factor and each kind of evidence about it, where evidence and label differ."""
    assert data.cause is not None
    for factor in data.edges:
        label = data.cause[:, data.layout.index(factor)]
        for kind in EVIDENCE:
            flags = data.extra.get(f"{kind}.{factor}")
            if flags is not None:
                counts = (flags.sum(), (flags & ~label).sum(), (label & ~flags).sum())
                yield factor, f"{label.sum():,}", kind, *(f"{count:,}" for count in counts)


if __name__ == "__main__":
    main()
