"""Convolution over subsets finds what trying everything finds."""

from __future__ import annotations

from itertools import product
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.solvers import subset_convolution, weighted_clauses
from actcause.core.solvers.subset_convolution import convolve, least_weight
from actcause.core.solvers.weighted_clauses import Program
from strategies import many


def nothing() -> None:
    """Spend no time."""


@many(200)
@given(st.integers(1, 6), st.randoms(use_true_random=True))
def test_the_least_sum_over_all_ways_to_part_a_set(bits: int, rng: Random) -> None:
    first, second = ([rng.randint(0, 100) for _ in range(1 << bits)] for _ in range(2))
    expected = [
        min(first[part] + second[union ^ part] for part in range(1 << bits) if part & union == part)
        for union in range(1 << bits)
    ]
    found = convolve(np.asarray(first, dtype=np.uint8), np.asarray(second, dtype=np.uint8), bits, nothing)
    assert found.tolist() == expected


def labelling(rng: Random) -> Program:
    """Draw groups that each stand for one of some outcomes, and states that need one of their groups."""
    groups, outcomes = rng.randint(2, 5), rng.randint(1, 4)
    number = {pair: place for place, pair in enumerate(product(range(groups), range(outcomes)), 1)}
    soft = []
    for _ in range(rng.randint(1, 25)):
        outcome = rng.randrange(outcomes)
        mine = [group for group in range(groups) if rng.random() < 0.4]
        soft.append(([number[group, outcome] for group in mine], rng.randint(1, 300 if rng.random() < 0.2 else 3)))
    lone = len(number) + 1
    if rng.random() < 0.3:
        soft.append(([lone, 1], 5))
    exclusive = [[number[group, outcome] for outcome in range(outcomes)] for group in range(groups)]
    return Program(lone, soft, [], [labels for labels in exclusive if len(labels) > 1])


def broken(program: Program, true: frozenset[int]) -> int:
    return sum(weight for clause, weight in program.soft if true.isdisjoint(clause))


@many(600)
@given(st.randoms(use_true_random=True))
def test_labels_are_as_good_as_any(rng: Random) -> None:
    program = labelling(rng)
    found = least_weight(program.variables, program.soft, program.exclusive, nothing)
    if found is None:
        return
    weight, true = found
    bound = {variable for labels in program.exclusive for variable in labels}
    free = frozenset(range(1, program.variables + 1)) - bound
    every = (free.union(chosen) for chosen in product(*program.exclusive))
    assert weight == broken(program, true) == min(broken(program, labels) for labels in every)
    assert all(len(true & set(labels)) <= 1 for labels in program.exclusive)


@many(200)
@given(st.randoms(use_true_random=True))
def test_maxsat_finds_the_same_weight(rng: Random) -> None:
    program = labelling(rng)
    program = program._replace(soft=[(clause, weight) for clause, weight in program.soft if clause])
    found = least_weight(program.variables, program.soft, program.exclusive, nothing)
    if found is not None:
        other = weighted_clauses.minimize_by_rc2(program, lambda: None)
        assert other is not None
        assert found[0] == other[0]


def test_weights_past_a_byte_are_summed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    soft = [([1], 1000), ([2], 999), ([3, 1], 400), ([4], 2000)]
    weight, true = least_weight(4, soft, [[1, 2], [3, 4]], nothing) or (0, frozenset())
    assert (weight, true) == (999, {1, 4})
    monkeypatch.setattr(subset_convolution, "KINDS", ((np.uint8, 127),))
    assert least_weight(4, soft, [[1, 2], [3, 4]], nothing) is None


def test_what_is_not_a_labelling_is_left_to_others() -> None:
    assert least_weight(4, [([1, 2], 1)], [[1, 2], [3, 4]], nothing) is None  # both labels of a set in one clause
    assert least_weight(2, [([1], 1)], [[1, 2]], nothing) is None  # a single set
    many_sets = [[2 * place + 1, 2 * place + 2] for place in range(21)]
    assert least_weight(42, [([1], 1)], many_sets, nothing) is None


def test_four_outcomes_of_eight_variables_are_solved_without_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen groups compete for 256 states; that the least cost is proved takes no solver but for what is left."""
    monkeypatch.setattr(weighted_clauses, "find_spec", lambda name: None)
    by_search = Mock(wraps=weighted_clauses.minimize_by_rc2)
    monkeypatch.setattr(weighted_clauses, "minimize_by_rc2", by_search)
    table = np.random.default_rng(0).integers(0, 4, 256)
    space = ac.StateSpace.from_function(
        {f"X{i}": (0, 1) for i in range(8)}, lambda *bits: table[sum(bit << place for place, bit in enumerate(bits))]
    )
    found = ac.partitions(space, alpha_sufficiency=1)
    assert found.status is ac.Status.COMPLETE
    assert found.first().check()
    assert all(len(call.args[0].soft) < 40 for call in by_search.call_args_list)


def test_time_ends_a_convolution() -> None:
    three = Program(6, [([1, 4], 1), ([2, 5], 1), ([3, 6], 1)], [], [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(weighted_clauses.OutOfBudget):
        weighted_clauses.minimize(three, lambda: 1e-3)
