"""One state looked at closely: it says what the whole space says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import actcause as ac
from actcause.core.spaces.state_checks import check_necessity, find_neighbour
from actcause.core.spaces.state_space import StateSpace
from actcause.core.text import parse_formula


@pytest.mark.parametrize("name", ["rock-throwing", "forest-fire-disjunctive", "mover-1d", "switching-railroad-tracks"])
@pytest.mark.parametrize("alpha", [None, Fraction(1, 2)])
def test_a_state_is_judged_as_among_all_states(name: str, alpha: Fraction | None) -> None:
    example = ac.examples.load(name)
    states = StateSpace.from_model(example.model, example.outcome)
    formula = parse_formula(example.outcome, example.model.ranges)
    for mask in range(1, 1 << len(states.variables)):
        everywhere = states.necessary(mask, alpha)
        for index in range(len(states)):
            found = check_necessity(example.model, formula, states, index, states.names(mask), alpha)
            assert found.holds == everywhere[index]
            assert (found.example is None) == (found.count == 0)


def test_a_change_that_is_found_gives_what_it_is_said_to_give() -> None:
    rocks = ac.examples.load("rock-throwing")
    states = StateSpace.from_model(rocks.model, "BS")
    found = check_necessity(rocks.model, parse_formula("BS"), states, states.find_context(rocks.context), ["ST"])
    assert found.example is not None
    values = rocks.model.evaluate(rocks.context, do={**found.held, **found.example})
    assert (values["BS"], found.held) == (found.gives, {"BH": 0})


def test_what_is_raised_while_counting_ends_it() -> None:
    rocks = ac.examples.load("rock-throwing")
    states = StateSpace.from_model(rocks.model, "BS")

    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        check_necessity(rocks.model, parse_formula("BS"), states, 0, ["ST"], None, stop)


def test_the_neighbour_differs_in_the_fewest_variables_and_then_the_least() -> None:
    states = StateSpace.from_model(ac.Model.from_text("A in 0..9\nB in 0..9\nY = A + B"), "Y")
    masks = np.zeros(len(states), dtype=np.int64)
    assert find_neighbour(states, masks, 0) is None
    near, far = states.find({"A": 1, "B": 1}), states.find({"A": 9, "B": 0})
    masks[near] = 1
    assert find_neighbour(states, masks, 0) == near
    masks[far] = 1
    assert find_neighbour(states, masks, 0) == far  # one variable, however much, before two
