"""highway-env's traffic: what is recorded of it, and whether its labels are true."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.errors import QueryError
from actcause.worlds import make

pytest.importorskip("highway_env")


@pytest.fixture(scope="module")
def rows() -> Transitions:
    return collect(make("highway", check=True), 160, seed=3)


def flags(data: Transitions, kind: str) -> np.ndarray:
    return np.stack([data.extra[f"{kind}.{car}"] for car in data.edges], axis=1)


def test_a_car_is_a_cause_where_the_driver_looked_at_it_and_its_term_is_large_enough(rows: Transitions) -> None:
    assert rows.cause is not None
    label, looked = rows.cause[:, 1:], flags(rows, "contact")
    assert not (label & ~looked).any()
    assert (looked & ~label).any()
    assert np.array_equal(label.any(axis=1), rows.extra["effect"] >= 0.3)


def test_without_a_car_that_is_no_cause_the_ego_car_drives_as_it_did(rows: Transitions) -> None:
    assert rows.cause is not None
    assert not (flags(rows, "differs") & ~rows.cause[:, 1:]).any()
    assert rows.extra["kept"].all()


def test_without_the_cause_the_ego_car_drives_faster_unless_the_next_in_front_is_as_near(
    rows: Transitions,
) -> None:
    assert rows.cause is not None
    label = rows.cause[:, 1:]
    assert (flags(rows, "differs") & label).sum() > 0.8 * label.sum() > 0


def test_a_higher_threshold_labels_fewer_rows_of_the_same_recording() -> None:
    usual, strict = (collect(make("highway", least=least), 120, seed=1) for least in (0.3, 2.0))
    assert np.array_equal(usual.state, strict.state)
    assert usual.cause is not None
    assert strict.cause is not None
    assert strict.cause.sum() < usual.cause.sum()
    assert not (strict.cause & ~usual.cause).any()


def test_the_number_of_cars_and_lanes_can_be_set() -> None:
    data = collect(make("highway", cars=2, lanes=1), 40)
    assert data.factors == ("ego", "car1", "car2")
    assert data.metadata["classes"] == {"ego": "ego", "car1": "car", "car2": "car"}
    assert not data.state[:, :, 1].any()


def test_a_road_without_lanes_is_refused() -> None:
    with pytest.raises(QueryError, match=r"'lanes' of highway must be 1 or more, an integer\. Got 0"):
        make("highway", lanes=0)
