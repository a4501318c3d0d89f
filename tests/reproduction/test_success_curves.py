"""How agents are held against each other: by seeds that both have, with an interval."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from actcause.reproduction.success_curves import compare_steps, compare_values, write_interval


def make_agents(steps: list[int | None], final: float = 50.0) -> list[Any]:
    return [
        SimpleNamespace(piece={"seed": seed}, value={"steps_50": one, "final": final + seed, "curve": [[100, 1.0]]})
        for seed, one in enumerate(steps)
    ]


def test_a_seed_that_never_came_to_the_goal_counts_with_all_its_steps() -> None:
    found = compare_steps(make_agents([None, 60]), make_agents([40, 40]), 50)
    assert found is not None
    assert found[0] == pytest.approx(160 / 80)
    assert found[1:] == pytest.approx((60 / 40, 100 / 40))


def test_nothing_is_said_where_no_agent_came_to_the_goal_or_no_seed_is_shared() -> None:
    assert compare_steps(make_agents([10]), make_agents([None]), 50) is None
    assert compare_steps(make_agents([10]), [], 50) is None
    assert compare_values([], make_agents([10]), "final") is None


def test_values_are_compared_seed_by_seed() -> None:
    found = compare_values(make_agents([1, 2, 3]), make_agents([1, 2], final=54.0), "final")
    assert found == (4.0, 4.0, 4.0)
    assert write_interval(found, "+.1f") == "+4.0"
    assert write_interval((1.5, 1.25, 2.0)) == "1.50 (1.25 to 2.00)"
    assert write_interval(None) == "—"
