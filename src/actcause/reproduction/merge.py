"""Merge results that another machine has made and written to a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .catalogue import ExperimentFile, choose
from .experiment import SIZES, Record, ReproduceError, as_fields, piece_key
from .running import Plan
from .states import GOOD
from .store import Store, read_records


def merge_results(file: Path, known: dict[str, ExperimentFile], results: Path) -> tuple[int, int]:
    """Add the results of a file as they are; count those taken, and those left since as good a one is there."""
    records = list(read_records(file))
    sizes = {name: _index_sizes(*choose(known, [name])) for name in {record.experiment for record in records}}
    batches: dict[tuple[str, str], list[Record]] = {}
    for record in records:  # all are checked before any is written
        batches.setdefault((record.experiment, _find_size(sizes[record.experiment], record)), []).append(record)
    taken = 0
    for (name, size), batch in batches.items():
        standings = {piece_key(piece): one for piece, one in Plan.of(known[name], size, results).standings}
        there = {key for key, one in standings.items() if one.state in GOOD or one.record in batch}
        new = [record for record in batch if piece_key(record.piece) not in there]
        if new:
            Store.of(results, size).append(name, new)
        taken += len(new)
    return taken, len(records) - taken


def _index_sizes(listed: ExperimentFile) -> dict[str, str]:
    """Index the sizes by piece and settings."""
    experiment, sizes = listed.experiment, dict[str, str]()
    for size in SIZES:
        arguments = experiment.size(size)
        for piece in experiment.pieces(arguments):
            sizes.setdefault(_identify(as_fields(piece), experiment.settings(piece, arguments)), size)
    return sizes


def _find_size(sizes: Mapping[str, str], record: Record) -> str:
    size = sizes.get(_identify(record.piece, record.settings))
    if size is None:
        raise ReproduceError(
            f"A result of {record.experiment} has a piece or settings that no size of it has: {dict(record.piece)}."
        )
    return size


def _identify(piece: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    return json.dumps([piece, settings], sort_keys=True)
