"""Arrays of one's own that say what is a category, what is of one kind and where things are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from actcause.data import DataError, Transitions, describe


def arrays(rows: int = 6) -> dict[str, Any]:
    state = np.zeros((rows, 3, 2))
    state[:, :, 0] = np.arange(rows)[:, None] % 3
    features = {"door": ["state", "x"], "car1": ["x", "v"], "car2": ["x", "v"]}
    return {
        "factors": ["door", "car1", "car2"],
        "features": features,
        "state": state,
        "outcome": (state[:, 0, :1] + 1) % 3,
        "own": "door",
        "outcome_features": ["state"],
    }


def test_arrays_say_what_is_a_category_and_what_is_of_one_kind() -> None:
    data = Transitions(
        **arrays(),
        categorical=["door.state"],
        classes={"car1": "car", "car2": "car"},
        places=["x"],
        periods={"x": 360},
        metadata={"by": "me"},
    )
    assert data.metadata == {
        "by": "me",
        "classes": {"door": "door", "car1": "car", "car2": "car"},
        "places": ["x"],
        "periods": {"x": 360.0},
        "categorical": ["door.state", "next.state"],
    }
    assert Transitions(**arrays()).metadata == {}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"categorical": ["door.stat"]}, "Unknown categorical feature 'door.stat'; did you mean 'door.state'"),
        ({"categorical": {"door.state": ["shut", "open"]}}, "In arrays categories are numbers"),
        ({"classes": {"car3": "car"}}, "Unknown factor 'car3' .classes.; did you mean 'car"),
        ({"classes": {"door": "car", "car1": "car"}}, "both of class 'car' and must have the same features"),
        ({"places": ["y"]}, "Unknown feature 'y' .places."),
        ({"periods": ["x"]}, "'periods' must be a table of features and a full turn"),
        ({"periods": {"y": 360}}, "Unknown feature 'y' .periods."),
        ({"periods": {"x": 0}}, "The full turn of 'x' .periods. must be a number above 0. Got 0 instead."),
        ({"episode": list("aabbcc")}, r"one integer .*; np.unique\(episode, return_inverse=True\)\[1\] numbers them"),
        ({"cause": np.full((6, 3), 2.0)}, r"must be true or false .* Got 2.0 instead"),
    ],
)
def test_what_is_said_wrongly_of_arrays_is_one_sentence(said: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as wrong:
        Transitions(**{**arrays(), **said})
    assert "\n" not in str(wrong.value)


def test_an_outcome_that_is_the_state_itself_is_noted() -> None:
    """It may be a body that did not move; that nothing can be learned of it is said when it is to be learned."""
    given = arrays()
    [*_, note] = Transitions(**{**given, "outcome": given["state"][:, 0, :1]}).notes
    assert note == "The outcome 'door' is what it was before in all rows: is it one step later?"
    table = {"door.x": [0.0, 1.0], "car.x": [0.0, 0.0], "next.door.x": [0.0, 1.0]}
    still = Transitions.from_frame(table)
    assert "is what it was before in all rows" in still.notes[-1]
    assert describe(still).notes == still.notes


def test_an_outcome_that_resembles_another_feature_than_that_of_its_name_is_noted() -> None:
    place, speed = np.random.default_rng(0).normal(size=(2, 100))
    state = np.stack([place, speed], axis=1)[:, None]
    given = {"factors": ["ball"], "state": state, "outcome": speed[:, None] * 0.9, "own": "ball"}
    [note] = Transitions(**given).notes
    assert note.startswith("The outcome's 'x0' is like 'x1' of 'ball' one step before")
    assert Transitions(**given, outcome_features=["x1"]).notes == ()
