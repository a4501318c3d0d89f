"""MuJoCo's pucks: what is recorded of them, and whether its labels are true."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.errors import QueryError
from actcause.worlds import make
from actcause.worlds.mujoco_pucks import SPREAD
from actcause.worlds.puck_table import PuckTable

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def recording() -> Transitions:
    return collect("mujoco-pucks", 1000, seed=2)


@pytest.fixture
def table() -> PuckTable:
    table = PuckTable(mujoco, ("pusher", "target", "other1"), "target", SPREAD)
    table.start(np.random.default_rng(0))
    return table


def place(table: PuckTable, *, pusher: float, other: float, target: float = 0.0, speed: float = 0.0) -> None:
    for body, x, along in (("pusher", pusher, speed), ("target", target, 0.0), ("other1", other, 0.0)):
        table.put(body, np.array([x, 0.0, along, 0.0]))


def flags(data: Transitions, kind: str) -> np.ndarray:
    return np.stack([data.extra[f"{kind}.{body}"] for body in data.edges[1:]], axis=1)


def labels(data: Transitions) -> np.ndarray:
    assert data.cause is not None
    return data.cause[:, [data.layout.index(body) for body in data.edges[1:]]]


def test_a_body_is_a_cause_where_its_effect_is_above_the_threshold(recording: Transitions) -> None:
    assert np.array_equal(labels(recording), flags(recording, "effect") > 0.05)
    assert 50 < labels(recording).sum() < 250


def test_a_touch_that_moves_nothing_is_no_cause(recording: Transitions) -> None:
    idle = flags(recording, "contact") & ~labels(recording)
    assert idle.sum() >= 3
    assert (flags(recording, "impulse")[idle] > 0).all()


def test_where_nothing_touched_the_target_slides_on_by_itself(recording: Transitions) -> None:
    free = ~flags(recording, "contact").any(axis=1)
    assert not labels(recording)[free].any()
    inside = free & (np.abs(recording.state[:, 2, :2]) < 0.25).all(axis=1)
    before = np.linalg.norm(recording.state[inside, 2, 2:4], axis=1)
    after = np.linalg.norm(recording.outcome[inside, 2:], axis=1)
    assert (after <= before + 0.01).all()


def test_the_action_is_a_cause_only_with_the_pusher(recording: Transitions) -> None:
    assert recording.cause is not None
    action, pusher = recording.cause[:, 0], recording.cause[:, 1]
    assert action.any()
    assert not (action & ~pusher).any()


def test_taking_a_step_again_gives_the_same_bits(table: PuckTable) -> None:
    place(table, pusher=0.1, other=0.3, speed=-1.0)
    table.drive((-1.0, 0.2))
    taken = table.steps.take()
    assert taken.impulses
    assert table.steps.measure_effect(taken, taken.start) == 0.0


def test_a_pusher_that_drives_a_puck_into_the_target_is_a_cause_without_touching_it(table: PuckTable) -> None:
    place(table, pusher=0.185, other=0.104, speed=-1.5)
    others = [table.drive((0.0, 0.0)), table.drive((1.5, 0.0))]
    table.drive((-1.5, 0.0))
    taken = table.steps.take(others)
    assert set(taken.impulses) == {frozenset({"pusher", "other1"}), frozenset({"other1", "target"})}
    effects = table.steps.measure_effects(taken, threshold=0.05)
    assert set(effects) == {"pusher", "other1", "action"}
    assert min(effects.values()) > 0.05


def test_a_puck_that_lies_against_the_target_touches_it_and_is_no_cause(table: PuckTable) -> None:
    place(table, pusher=-0.3, other=0.0998)
    table.drive((0.0, 0.0))
    taken = table.steps.take()
    assert frozenset({"other1", "target"}) in taken.impulses
    assert table.steps.measure_effects(taken, threshold=0.05)["other1"] < 0.05


def test_what_keeps_a_puck_off_the_target_differs_and_is_no_cause(table: PuckTable) -> None:
    place(table, pusher=0.1, other=0.185)
    table.put("other1", np.array([0.185, 0.0, -3.0, 0.0]))
    table.drive((0.0, 0.0))
    taken = table.steps.take()
    assert set(taken.impulses) == {frozenset({"pusher", "other1"})}
    assert table.steps.find_differences(taken, threshold=0.05) == {"pusher": True, "other1": False, "action": False}
    assert table.steps.measure_effects(taken, threshold=0.05) == {}


def test_the_functional_cause_is_the_label() -> None:
    data = collect(make("mujoco-pucks", check=True), 100, seed=2)
    assert labels(data).any()
    assert (flags(data, "fac") == labels(data)).mean() > 0.98
    assert (flags(data, "differs")[labels(data)]).all()


def test_another_threshold_gives_other_labels_of_the_same_rows() -> None:
    usual, strict = (collect(make("mujoco-pucks", threshold=each), 200, seed=1) for each in (0.05, 2.0))
    assert np.array_equal(usual.state, strict.state)
    assert labels(strict).sum() < labels(usual).sum()
    assert not (labels(strict) & ~labels(usual)).any()


def test_the_number_of_pucks_can_be_set() -> None:
    data = collect(make("mujoco-pucks", others=1), 50)
    assert data.factors == ("action", "pusher", "target", "other1")
    assert data.metadata["classes"]["other1"] == "other"


def test_more_pucks_than_the_table_holds_are_refused() -> None:
    with pytest.raises(QueryError, match=r"'others' of mujoco-pucks must be 8 or fewer\. Got 9"):
        make("mujoco-pucks", others=9)
    assert len(collect(make("mujoco-pucks", others=8), 5)) == 5
