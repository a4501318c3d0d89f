"""Tables and numbers in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .experiment import Results


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    listed = [list(headings), ["---"] * len(headings), *map(list, rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in listed)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Write the mean, and the standard deviation between seeds.

    >>> spread([1.0, 2.0]), spread([1.0]), spread([])
    ('1.50 ± 0.71', '1.00', '—')
    """
    if not values:
        return "—"
    beside = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{beside}"


def describe_missing(results: Results, methods: Sequence[str], seeds: Sequence[int], **piece: Any) -> str:
    """Name the methods of which some seeds, or all, have not been run for such pieces; empty where all have."""
    there = {(one.piece["method"], one.piece["seed"]) for one in results.where(**piece)}
    gaps = {method: [str(seed) for seed in seeds if (method, seed) not in there] for method in methods}
    wholly = [method for method, lost in gaps.items() if len(lost) == len(seeds)]
    partly = [f"{method} (seed {', '.join(lost)})" for method, lost in gaps.items() if 0 < len(lost) < len(seeds)]
    return ", ".join([*partly, *wholly])


def list_missing(lost: Mapping[str, str]) -> str:
    """List what has not been run, by where; empty where nothing is missing."""
    lines = [f"- {where}: {what}" for where, what in lost.items() if what]
    return "Not run yet:\n\n" + "\n".join(lines) if lines else ""


def duration(seconds: float) -> str:
    """Write seconds in words.

    >>> duration(0.04), duration(8.2), duration(150), duration(7300)
    ('under 0.1 s', '8.2 s', '2.5 min', '2.0 h')
    """
    if seconds < 0.1:
        return "under 0.1 s"
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.1f} {name}"
    raise AssertionError


# -- minimal pairs ----------------------------------------------------------------------------------


def align_printed(value: dict[str, Any], tables: Sequence[Sequence[tuple[list[int], str]]]) -> list[tuple[str, ...]]:
    """Turn the paper's tables (of states and binaries) into pairs: a binary for each of our states, in our order."""
    found = []
    for one in tables:
        by_state = {tuple(values): binary for values, binary in one}
        found.append(tuple(by_state.get(tuple(state), "?") for state in value["states"]))
    return found


def pair_table(value: dict[str, Any], binaries: dict[str, Sequence[str]]) -> str:
    """Write a row for each state, with a column of binaries for each name."""
    headings = [*value["variables"], value["outcome"], *binaries]
    rows = [
        [*map(str, state), *(f"`{column[position]}`" for column in binaries.values())]
        for position, state in enumerate(value["states"])
    ]
    return table(headings, rows)
