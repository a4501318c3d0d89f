"""`actcause train --sweep`: tell its words apart, run it, and print its table."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import QueryError
from ..io.console import print_json, print_note
from ..parallel import engine
from .exit_codes import INTERRUPTED, MISTAKE, SUCCESS


def split_words(words: Sequence[str], sweep: Sequence[str]) -> tuple[str, list[str]]:
    """Tell DATA from the words of the sweep: those after --sweep that name a setting, wherever they stand.

    >>> split_words(["break.parquet", "seed=0..9"], ["penalty=0.01,0.02"])
    ('break.parquet', ['penalty=0.01,0.02', 'seed=0..9'])
    """
    settings = [word for word in words if sweep and not Path(word).exists() and word.partition("=")[0].isidentifier()]
    settings = [word for word in settings if "=" in word]
    sources = [word for word in words if word not in settings]
    if len(sources) != 1:
        raise QueryError(f"One file of transitions or one domain is learned from. Got {', '.join(sources) or 'none'}.")
    return sources[0], [*sweep, *settings]


def run(given: Mapping[str, Any], *, engine_name: str, workers: int | None, address: str | None, as_json: bool) -> int:
    """Sweep as `learn.sweep` is given it, and print its table; 2 where a trial failed."""
    from ..learn.sweeps.sweep import sweep
    from ..learn.training import launch

    if launch.size() > 1:
        raise QueryError("A sweep is not started by torchrun: give it --workers, or another engine.")

    def on_verdict(verdict: Mapping[str, Any], done: int, count: int) -> None:
        if sys.stderr.isatty():
            print_note(f"{done} of {count}: {verdict['name']} {verdict['status']}")

    try:
        with engine(engine_name, workers, address) as shared:
            ranking = sweep(**given, workers=shared, on_verdict=on_verdict)
    except KeyboardInterrupt:
        print_note("stopped; the same command goes on where it was, and redoes nothing that is finished")
        return INTERRUPTED
    for note in ranking.notes:
        print_note(note)
    failed = sum(trial["score"] is None for trial in ranking.trials)
    if as_json:
        print_json({"out": str(given["out"]), "failed": failed, **ranking.to_json()})
    elif ranking.winner is not None:
        print(ranking)
        print(f"The winner of {len(ranking.trials)}, chosen without labels: {given['out'] / ranking.winner}")
    return MISTAKE if failed else SUCCESS
