"""Worlds: how their labels, contacts and functional causes differ, row by row.

python benchmarks/worlds.py labels door-key --frames 5000

Records a world, with its `check` where it can be stepped twice from one state, and counts for each factor and each
kind of evidence: the rows in which it is there, those of them without the label, and labels without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from actcause import worlds
from actcause.data import Transitions, collect
from actcause.io.settings import parse_setting
from actcause.worlds.base import EVIDENCE

HEADS = ("factor", "label", "evidence", "rows", "without the label", "label without it")


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("labels",))
    parser.add_argument("world", choices=worlds.names())
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    asked = parser.parse_args(given)
    data = record(
        asked.world, asked.frames, asked.seed, dict(parse_setting(text, "size=8", {}) for text in asked.settings)
    )
    print(f"{asked.world}, {len(data):,} rows, seed {asked.seed}, {data.metadata['simulator']}\n")
    if "kept" in data.extra:
        print(f"without all that is not labelled the outcome stayed in {data.extra['kept'].sum():,} rows\n")
    print("\n".join(f"| {' | '.join(cells)} |" for cells in (HEADS, ("---",) * len(HEADS), *count_labels(data))))


def record(name: str, frames: int, seed: int, parameters: dict[str, Any]) -> Transitions:
    """Record a world, with its check where it has one."""
    kind: Any = worlds.WORLDS[name]
    checked = {"check": True} if "check" in {field.name for field in fields(kind)} else {}
    return collect(worlds.make(name, **checked, **parameters), frames, seed)


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
