"""Explanations of actions: what a policy read is named, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import collect_recording
from actcause.errors import DataError, QueryError
from actcause.rl import explain_action

RECORDING = collect_recording("push", frames=600, seed=4, dtype="float64")
PUSHER, BLOCK, TARGET, OBSTACLE = 1, 2, 3, 4


def chase_or_home(states: Any) -> Any:
    left = states[:, PUSHER, 0] < 2.5
    return np.where(left[:, None], states[:, BLOCK, :2] - states[:, PUSHER, :2], 2.5 - states[:, PUSHER, :2])


def back_off_from_either(states: Any) -> Any:
    return (states[:, BLOCK, 0] < 2.5) | (states[:, OBSTACLE, 0] < 2.5)


def test_a_policy_that_reads_two_factors_here_and_one_there_is_told_apart_row_by_row() -> None:
    for row in range(0, 600, 20):
        left = RECORDING.state[row, PUSHER, 0] < 2.5
        found = explain_action(chase_or_home, RECORDING, row)
        assert found.factors == (("pusher", "block") if left else ("pusher",))
        assert found.kept == 1


def test_of_two_reasons_of_which_one_is_enough_one_is_named_and_of_none_both() -> None:
    seen = set()
    for row in range(0, 600, 20):
        reasons = [RECORDING.state[row, factor, 0] < 2.5 for factor in (BLOCK, OBSTACLE)]
        found = explain_action(back_off_from_either, RECORDING, row)
        seen.add(sum(reasons))
        if sum(reasons) == 0:
            assert found.factors == ("block", "obstacle1")
        else:
            (name,) = found.factors
            assert reasons[("block", "obstacle1").index(name)]
    assert seen == {0, 1, 2}


def test_a_policy_that_reads_nothing_has_nothing_named() -> None:
    found = explain_action(lambda states: np.ones((len(states), 2)), RECORDING, 0)
    assert found.factors == ()
    assert "whatever the state is" in str(found)


def test_an_explanation_says_how_necessary_each_factor_is() -> None:
    row = int(np.flatnonzero(RECORDING.state[:, PUSHER, 0] < 2.5)[0])
    found = explain_action(chase_or_home, RECORDING, row)
    assert set(found.necessity) == {"pusher", "block"}
    assert all(share > 0.9 for share in found.necessity.values())
    assert "because of pusher" in str(found)


def test_a_share_of_exceptions_is_let_pass() -> None:
    def rarely(states: Any) -> Any:  # the target matters where it is far to the right
        return np.where(states[:, TARGET, 0] > 4.0, states[:, TARGET, 1], 0.0)

    row = int(np.flatnonzero(RECORDING.state[:, TARGET, 0] < 4.0)[0])
    assert explain_action(rarely, RECORDING, row, alpha=0.5).factors == ()
    assert explain_action(rarely, RECORDING, row, alpha=0.0).factors == ("target",)


@pytest.mark.parametrize(
    ("name", "value"), [("row", 600), ("row", -1), ("alpha", 1), ("tries", 0), ("same", -1), ("row", "first")]
)
def test_a_wrong_argument_is_named(name: str, value: Any) -> None:
    arguments = {"row": 0, name: value}
    with pytest.raises(QueryError) as caught:
        explain_action(chase_or_home, RECORDING, **arguments)
    assert caught.value.parameter == name


def test_an_unknown_factor_and_a_policy_of_another_shape_are_refused() -> None:
    with pytest.raises(DataError, match="did you mean 'block'"):
        explain_action(chase_or_home, RECORDING, 0, factors=["blok"])
    with pytest.raises(QueryError, match="an action for each state"):
        explain_action(lambda states: np.zeros(3), RECORDING, 0)


def test_too_many_factors_are_refused_with_the_remedy() -> None:
    many = RECORDING.replaced(
        factors=[f"f{k}" for k in range(14)], features=None, outcomes=["f1"], edges=None, cause=None,
        state=np.tile(RECORDING.state, (1, 2, 1)), next_state=np.tile(RECORDING.next_state, (1, 2, 1)),
    )  # fmt: skip
    with pytest.raises(QueryError, match="name those in question in factors"):
        explain_action(chase_or_home, many, 0)
    assert explain_action(chase_or_home, many, 0, factors=["f1", "f2", "f3"]).factors
