"""A partition as the page shows it: its legend, its numbers, and the states as a grid or as a table.

The states of a model are the combinations of its roots' values, so a picture has one or two roots for its axes, and
all others keep one value each. A grid of a million cells travels as one byte a cell.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.counting import encode, percent
from ...core.expression import Array
from ...core.model import Model
from ...core.ranges import Range
from ...errors import QueryError, suggest
from .cache import Space

MOST_CELLS_ACROSS = 1024
MOST_ROWS = 400
SMALL = 64  # states: a table says more than a picture
MANY_VALUES = 5
MOST_VALUES = 200  # of a root that are listed to choose from
MOST_CHANGES = 20
MOST_BINARIES = 60  # that the legend lists
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
LONGEST_COUNT = 50_000  # bits of a number that is taken apart


@dataclass(frozen=True, eq=False)
class ColouredStates:
    """The states of one pair: `masks` in the legend's order, and for each state its place in it."""

    space: Space
    masks: tuple[int, ...]
    codes: Array
    counts: tuple[int, ...]
    firsts: tuple[int, ...]

    @classmethod
    def of(cls, space: Space, given: Array) -> ColouredStates:
        used, first, inverse, counts = np.unique(given, return_index=True, return_inverse=True, return_counts=True)
        masks: list[int] = used.tolist()
        order = sorted(range(len(masks)), key=lambda i: space.states.binary(masks[i]), reverse=True)
        order.sort(key=lambda i: masks[i].bit_count())
        rank = np.empty(len(masks), dtype=np.uint8 if len(masks) < 255 else np.uint16)
        rank[order] = np.arange(len(masks))
        return cls(
            space,
            tuple(masks[i] for i in order),
            rank[inverse.ravel()],
            tuple(int(counts[i]) for i in order),
            tuple(int(first[i]) for i in order),
        )

    @cached_property
    def rarity(self) -> Array:
        """The place of each binary of the legend among all, from the most frequent to the rarest."""
        ranks = np.empty(len(self.masks), dtype=np.int64)
        ranks[np.argsort(-np.asarray(self.counts), kind="stable")] = np.arange(len(self.masks))
        return ranks

    def build_legend(self) -> list[dict[str, Any]]:
        """Say what each binary means; of very many, the most frequent ones."""
        states = self.space.states
        chosen = sorted(sorted(range(len(self.masks)), key=lambda i: -self.counts[i])[:MOST_BINARIES])
        return [
            {
                "code": i,
                "binary": states.binary(self.masks[i]),
                "names": list(states.names(self.masks[i])),
                "words": describe_binary(self.space.model, states.names(self.masks[i])),
                "length": self.masks[i].bit_count(),
                "states": self.counts[i],
                "share": percent(self.counts[i], len(states)),
                "sample": self.space.context_of(self.firsts[i]),
            }
            for i in chosen
        ]

    def count_lengths(self) -> list[dict[str, Any]]:
        """Count the states with a binary of each length: the cost is their sum."""
        states: dict[int, int] = {}
        for mask, count in zip(self.masks, self.counts, strict=True):
            states[mask.bit_count()] = states.get(mask.bit_count(), 0) + count
        total = len(self.space.states)
        return [
            {"length": length, "states": count, "share": percent(count, total)}
            for length, count in sorted(states.items())
        ]


# -- grids -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axes:
    """Which roots are drawn across and up (None for a strip), and the value that each other root keeps."""

    across: str
    up: str | None
    held: Mapping[str, int]

    @classmethod
    def of(cls, space: Space, wanted: Sequence[str], held: Mapping[str, int], own: Mapping[str, int]) -> Axes:
        """Choose the axes asked for, or the two roots of most values; the rest has the example's own values."""
        model = space.model
        for name in (*wanted, *held):
            if name not in model.roots:
                raise QueryError(f"'{name}' is not a root of this model{suggest(name, model.roots) or '.'}")
        widest = sorted(model.roots, key=lambda name: -len(model.ranges[name]))
        ordered = [name for name in model.roots if name in widest[:2]]  # in the model's order
        if len(set(wanted)) < len(wanted):
            raise QueryError(f"The two axes must be different variables; got {wanted[0]} twice.")
        across = wanted[0] if wanted else ordered[0]
        up = wanted[1] if len(wanted) > 1 else next((name for name in (*ordered, *widest) if name != across), None)
        if up is not None and len(model.ranges[up]) < 2 and len(wanted) < 2:
            up = None
        others = [name for name in model.roots if name not in (across, up)]
        kept = {name: model.check_value(name, held.get(name, own.get(name, model.ranges[name][0]))) for name in others}
        if not set(others) & set(held) and not _select(space, kept).any():
            first = space.context_of(0)  # a restriction left nothing where the example is
            kept = {name: first[name] for name in others}
        return cls(across, up, kept)


def build_grid(coloured: ColouredStates, axes: Axes) -> dict[str, Any]:
    """Build a slice's binaries as rows of small integers: 0 where no state is, else a place of the legend + 1.

    Axes end where the slice does. Where one has too many values, a cell stands for several states and shows the rarest
    binary among them.
    """
    space = coloured.space
    chosen = np.flatnonzero(_select(space, axes.held)) if axes.held else slice(None)
    codes, columns = coloured.codes[chosen], space.states.contexts
    across, wide, each_across = _place_along(columns[axes.across][chosen], space.model.ranges[axes.across])
    up: Array = np.zeros(len(codes), dtype=np.int64)
    high: Range = (0,)
    each_up = 1
    if axes.up is not None:
        up, high, each_up = _place_along(columns[axes.up][chosen], space.model.ranges[axes.up])
    cells = np.zeros((len(high), len(wide)), dtype=np.uint8 if len(coloured.masks) < 255 else np.uint16)
    if each_across == each_up == 1:
        cells[up, across] = codes + 1
    else:
        ranks = np.full(cells.shape, -1, dtype=np.int64)
        np.maximum.at(ranks, (up, across), coloured.rarity[codes])
        back = np.argsort(coloured.rarity)
        cells[ranks >= 0] = back[ranks[ranks >= 0]] + 1
    return {
        "across": {"name": axes.across, "values": list(wide), "each": each_across},
        "up": None if axes.up is None else {"name": axes.up, "values": list(high), "each": each_up},
        "bytes": cells.itemsize,
        "cells": b64encode(cells.astype(cells.dtype.newbyteorder("<")).tobytes()).decode(),
        "states": len(codes),
    }


def _select(space: Space, held: Mapping[str, int]) -> Array:
    match = np.ones(len(space.states), dtype=bool)
    for name, value in held.items():
        match &= space.states.contexts[name] == value
    return match


def _place_along(column: Array, values: Range) -> tuple[Array, Range, int]:
    """Place each state along an axis; return also the first value of each place, and how many values it holds."""
    places = encode(column, values)
    low, high = (int(places.min()), int(places.max())) if len(places) else (0, 0)
    each = -(-(high - low + 1) // MOST_CELLS_ACROSS)
    places -= low
    return (places // each if each > 1 else places), values[low : high + 1 : each], each


# -- tables ----------------------------------------------------------------------------------------


def build_table(coloured: ColouredStates, before: Array | None, now: Array) -> dict[str, Any]:
    """Build a table of the first states: values, outcome, binary, and whether it `changed` since the pair before."""
    space = coloured.space
    states, model = space.states, space.model
    hidden = [name for name in model.roots if name not in states.variables]
    rows = []
    for index in range(min(len(states), MOST_ROWS)):
        context = space.context_of(index)
        rows.append(
            {
                "values": [*(context[name] for name in hidden), *states.state(index).values()],
                "outcome": states.outcome_of(index),
                "code": int(coloured.codes[index]),
                "binary": states.binary(int(now[index])),
                "context": context,
                "changed": before is not None and bool(before[index] != now[index]),
            }
        )
    return {"columns": [*hidden, *states.variables], "rows": rows, "more": len(states) - len(rows)}


def list_changes(space: Space, before: Array | None, now: Array) -> dict[str, Any]:
    """List where a pair differs from the one before it."""
    places = [] if before is None else np.flatnonzero(before != now).tolist()
    states = space.states
    listed = [
        {
            "state": format_values(states.state(index)),
            "context": space.context_of(index),
            "from": states.binary(int(before[index])),
            "to": states.binary(int(now[index])),
        }
        for index in places[:MOST_CHANGES]
        if before is not None
    ]
    return {"count": len(places), "listed": listed}


def list_roots(space: Space) -> list[dict[str, Any]]:
    """List the roots, to choose axes and a slice from."""
    model = space.model
    return [
        {
            "name": name,
            "label": model.labels.get(name, ""),
            "count": len(model.ranges[name]),
            "low": model.ranges[name][0],
            "high": model.ranges[name][-1],
            "values": list(model.ranges[name]) if len(model.ranges[name]) <= MOST_VALUES else None,
        }
        for name in model.roots
    ]


def choose_view(space: Space) -> str:
    """Choose a picture for many states of roots with many values, else a table."""
    many = any(len(space.model.ranges[name]) >= MANY_VALUES for name in space.model.roots)
    return "picture" if many and len(space.states) > SMALL else "table"


# -- words -----------------------------------------------------------------------------------------


def describe_binary(model: Model, names: Sequence[str]) -> str:
    r"""Describe which variables matter by a binary.

    >>> describe_binary(Model.from_text('P "the pusher"\nX\nY = P and X'), ["P", "X"])
    'P (the pusher) and X together'
    """
    if not names:
        return "nothing matters enough"
    named = [f"{name} ({model.labels[name]})" if name in model.labels else name for name in names]
    return f"{join_words(named)} together" if len(named) > 1 else f"{named[0]} alone"


def join_words(words: Sequence[str]) -> str:
    """Join words by commas and a last 'and'.

    >>> join_words(["A", "B", "C"])
    'A, B and C'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def format_values(values: Mapping[str, int]) -> str:
    """Write an assignment in one line.

    >>> format_values({"A": 1, "B": 0})
    'A=1, B=0'
    """
    return ", ".join(f"{name}={value}" for name, value in values.items())


def format_count(count: int | None) -> str:
    """Write a number of pairs, exact however large it is: they are products of small numbers.

    >>> format_count(32), format_count(2**40), format_count(2**40 * 3**20), format_count(None)
    ('32', '2^40', '2^40 · 3^20', 'not counted')
    """
    if count is None:
        return "not counted"
    if count < 10**9:
        return f"{count:,}"
    twos = (count & -count).bit_length() - 1
    factors, rest = {2: twos} if twos else {}, count >> twos
    for prime in PRIMES[1:] if rest.bit_length() <= LONGEST_COUNT else ():
        while rest % prime == 0:
            factors[prime] = factors.get(prime, 0) + 1
            rest //= prime
    if rest == 1:
        return " · ".join(f"{prime}^{power}" if power > 1 else f"{prime}" for prime, power in factors.items())
    return f"about 2^{count.bit_length() - 1}"
