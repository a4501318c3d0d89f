"""What people are shown: no more than fits, and nothing that costs more than it shows."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console, RenderableType

from actcause import Model, Pair, examples, partitions
from actcause.cli import render_partition


def draw_page(page: RenderableType, width: int = 80) -> str:
    console = Console(width=width, markup=False, highlight=False, emoji=False, color_system=None)
    with console.capture() as capture:
        console.print(page)
    return capture.get()


def test_a_partition_of_a_million_states_is_drawn_from_a_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    example = examples.load("pusher-1d")
    found = partitions(example.model, outcome="Y", alpha_sufficiency="0.2", alpha_necessity="0.01")
    read: list[int] = []
    original = Pair.__getitem__

    def count_pair(pair: Pair, index: int) -> Any:
        read.append(index)
        return original(pair, index)

    monkeypatch.setattr(Pair, "__getitem__", count_pair)
    page = draw_page(render_partition.partition_page(found))
    assert 0 < len(read) <= render_partition.MAX_ROWS
    assert f"{1_002_001 - len(read):,} more states are not shown" in page
    assert "999,999     99.8%" in page


def test_a_wide_space_shows_the_variables_that_matter() -> None:
    names = [f"Variable{i}" for i in range(12)]
    model = Model.from_text("\n".join(names) + "\nY = Variable3 or Variable9\n")
    page = draw_page(render_partition.partition_page(partitions(model, outcome="Y", alpha_sufficiency="0.2")))
    header = next(line.split() for line in page.splitlines() if line.split()[:1] == ["binary"])
    assert header == ["binary", "Variable3", "Variable9", "Y"]
    assert "10 more variables are not shown." in page
