"""Labels for groups of states that compete."""

from __future__ import annotations

import pytest

from actcause.core.solvers.dynamic_program import SAFE, Option
from actcause.core.solvers.maxsat import OFTEN, MaxSat


class OutOfPatienceError(Exception):
    pass


def test_many_states_are_not_set_up_without_a_look_at_the_clock() -> None:
    looks = []

    def check() -> None:
        looks.append(None)
        if len(looks) == 3:
            raise OutOfPatienceError

    states = 4 * OFTEN
    options = [[Option(1, 1, state // 2), Option(3, 2, SAFE)] for state in range(states)]
    labelling = MaxSat(options, [state % 2 for state in range(states)], [1] * states)
    with pytest.raises(OutOfPatienceError):
        labelling.solve(check, lambda: None)
    assert labelling.cost is None


def test_of_two_states_that_compete_for_a_group_one_takes_its_larger_choice() -> None:
    options = [[Option(1, 1, 7), Option(3, 2, SAFE)], [Option(1, 1, 7), Option(5, 2, SAFE)]]
    labelling = MaxSat(options, [0, 1], [1, 1])
    labelling.solve(lambda: None, lambda: None)
    assert labelling.cost == 3
    assert sorted(labelling) == [[1, 5], [3, 1]]
