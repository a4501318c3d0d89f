"""What `actcause partition` shows to people: the cost, the number of pairs, and the first pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..core.counting import percent
from ..core.spaces.out_of_core import OutOfCorePartitions
from ..core.spaces.preimages import Pair, Partitions
from .options import name_option
from .render import MAX_COLUMNS, dim, draw_table

MAX_ROWS = 40


def partition_page(partitions: Partitions | OutOfCorePartitions) -> RenderableType:
    """Draw the cost, the number of minimal pairs, and the first pair.

    Of a space that is held its states are shown, as the paper prints them; of others only how many have which binary.
    """
    if partitions.cost is None:
        return Text(f"No pair was found. {partitions.status.describe(name_option)}")
    states: list[RenderableType] = []
    hidden: dict[str, int] = {}
    if isinstance(partitions, Partitions):
        pair = partitions.first()
        names, indices = _choose_states(pair)
        states = [_state_table(pair, names, indices)]
        hidden = {"variables": len(partitions.variables) - len(names), "states": len(pair) - sum(map(len, indices))}
        counts = {preimage.binary: len(preimage) for preimage in pair.preimages}
        count, only = _count_text(partitions.count), partitions.count == 1
    else:
        counts = dict(partitions.preimages)
        count, only = _product_text(partitions.ways), not partitions.ways
    hidden["binaries"] = len(counts) - MAX_ROWS
    return Group(
        Text(f"Causes of {partitions.outcome} in every state, by functional actual cause.", style="bold"),
        Text(f"minimal cost: {partitions.cost:,}    pairs of minimal cost: {count}"),
        Text("The pair:" if only else "The first pair:"),
        *states,
        preimage_table(partitions.variables, counts),
        *(dim(f"{count:,} more {what} are not shown.") for what, count in hidden.items() if count > 0),
    )


def preimage_table(variables: Sequence[str], counts: Mapping[str, int]) -> Table:
    """Draw which variables matter in how many states; `counts` gives the states of each binary."""
    total = sum(counts.values())
    table = draw_table("binary", "what matters", "states", "share")
    table.columns[2].justify = table.columns[3].justify = "right"
    for binary, states in list(counts.items())[:MAX_ROWS]:
        names = ", ".join(name for name, digit in zip(variables, binary, strict=True) if digit == "1")
        table.add_row(binary, names or "nothing", f"{states:,}", percent(states, total))
    return table


def _choose_states(pair: Pair) -> tuple[list[str], list[list[int]]]:
    """Choose what is shown: the variables that matter somewhere, and some states of each preimage."""
    parts = pair.preimages[:MAX_ROWS]
    each = MAX_ROWS if len(pair) <= MAX_ROWS else MAX_ROWS // len(parts)
    names = list(pair.space.variables)
    if len(names) > MAX_COLUMNS:
        mattering = {name for preimage in parts for name in preimage.variables}
        names = [name for name in names if name in mattering][:MAX_COLUMNS]
    return names, [preimage.members[:each].tolist() for preimage in parts]


def _state_table(pair: Pair, names: Sequence[str], shown: Sequence[Sequence[int]]) -> Table:
    table = draw_table("binary", *names, pair.space.outcome)
    table.columns[0].no_wrap = True
    for indices in shown:
        for state, outcome, binary in sorted((pair[i] for i in indices), key=lambda row: tuple(row.state.values())):
            table.add_row(binary, *(str(state[name]) for name in names), str(outcome))
        table.add_section()
    return table


def _count_text(count: int | None) -> str:
    if count is None:
        return "not known"
    if count < 10**15:
        return f"{count:,}"
    exponent = int(log10(count))
    return f"about {count // 10 ** (exponent - 2) / 100:.2f} x 10^{exponent} (--json has every digit)"


def _product_text(ways: Mapping[int, int]) -> str:
    """Write a number that may have millions of digits as a product of powers."""
    return " x ".join(f"{many}^{often:,}" for many, often in sorted(ways.items())) or "1"
