"""The functional cause of one step, found by exchanging factors."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from actcause.worlds import find_functional_cause

FACTORS = ("a", "b", "c")


def exchange(rule: Callable[[dict[str, bool]], bool], actual: dict[str, bool]) -> Callable[[tuple[str, ...]], bool]:
    draw = random.Random(3)

    def changes(exchanged: tuple[str, ...]) -> bool:
        values = {name: draw.random() < 0.5 if name in exchanged else value for name, value in actual.items()}
        return rule(values) != rule(actual)

    return changes


@pytest.mark.parametrize(
    ("rule", "actual", "cause"),
    [
        (lambda v: v["a"] and v["b"], (True, True, True), ("a", "b")),
        (lambda v: v["a"] and v["b"], (True, False, True), ("b",)),
        (lambda v: v["a"] or v["b"], (True, True, False), ("a",)),
        (lambda v: v["a"] or v["b"], (False, False, False), ("a", "b")),
        (lambda v: v["a"] != v["b"] and v["b"] != v["c"], (True, False, True), ("a", "b", "c")),
        (lambda v: True, (True, False, True), ()),
    ],
)
def test_it_is_the_least_set_that_keeps_the_outcome(
    rule: Callable[[dict[str, bool]], bool], actual: tuple[bool, ...], cause: tuple[str, ...]
) -> None:
    changes = exchange(rule, dict(zip(FACTORS, actual, strict=True)))
    assert find_functional_cause(FACTORS, changes, tries=200) == cause


def test_what_seldom_changes_the_outcome_is_no_cause_below_the_share_that_is_allowed() -> None:
    draw = random.Random(0)

    def changes(exchanged: tuple[str, ...]) -> bool:
        return "a" in exchanged and draw.random() < 0.2

    assert find_functional_cause(FACTORS, changes, alpha=0.01, tries=200) == ("a",)
    assert find_functional_cause(FACTORS, changes, alpha=0.5, tries=200) == ()
