"""MiniGrid's door: what is recorded of it, and whether its labels are true."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.errors import QueryError
from actcause.worlds import make

pytest.importorskip("minigrid")


@pytest.fixture(scope="module")
def recording() -> Transitions:
    return collect(make("door-key", check=True), 400, seed=5)


def column(data: Transitions, factor: str, feature: str) -> np.ndarray:
    return data.state[:, data.layout.index(factor), data.features[factor].index(feature)]


def find_caused(data: Transitions, factor: str) -> np.ndarray:
    assert data.cause is not None
    return data.cause[:, data.layout.index(factor)]


def test_labels_are_the_functional_causes_that_stepping_again_finds(recording: Transitions) -> None:
    for factor in recording.edges:
        assert np.array_equal(find_caused(recording, factor), recording.extra[f"fac.{factor}"]), factor
    assert find_caused(recording, "agent").sum() >= 10


def test_the_door_changes_by_a_toggle_before_it_and_by_nothing_else(recording: Transitions) -> None:
    changed = recording.outcome[:, 0] != column(recording, "door", "state")
    assert np.array_equal(changed, find_caused(recording, "action"))
    assert np.array_equal(changed, find_caused(recording, "agent"))
    assert (column(recording, "action", "kind")[changed] == 5).all()
    assert recording.extra["contact.agent"][changed].all()


def test_a_contact_is_not_yet_a_cause(recording: Transitions) -> None:
    idle = recording.extra["contact.agent"] & ~find_caused(recording, "agent")
    assert idle.sum() > 10


def test_the_key_is_a_cause_where_a_locked_door_was_opened() -> None:
    data = collect("door-key", 4000, seed=0)
    opened = (column(data, "door", "state") == 2) & (data.outcome[:, 0] == 0)
    assert np.array_equal(find_caused(data, "key"), opened)
    assert opened.sum() >= 5
    assert (column(data, "key", "carried")[opened] == 1).all()


def test_other_sizes_are_other_grids() -> None:
    assert collect(make("door-key", size=8), 100).state[:, 3, 0].max() == 6


def test_a_grid_that_minigrid_does_not_have_is_refused() -> None:
    with pytest.raises(QueryError, match=r"'size' of door-key must be one of .* Got 7"):
        make("door-key", size=7)
