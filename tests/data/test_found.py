"""What a run found, read back from the columns beside the rows."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Recording, Transitions, collect, collect_recording
from actcause.data.episodes import find_eventful_rows, list_episodes
from actcause.data.found import read_found, read_found_graphs, view_found


@pytest.fixture
def recording() -> Recording:
    return collect_recording("push", frames=60, seed=1)


def find_nothing(recording: Recording) -> Recording:
    """The recording of a run that found each outcome to be caused by itself alone."""
    extra = {
        f"found.{outcome}.{factor}": np.full(len(recording), factor == outcome)
        for outcome in recording.outcomes
        for factor in recording.factors
    }
    return recording.replaced(extra=extra)


def test_rows_that_nobody_predicted_hold_nothing_found(recording: Recording) -> None:
    assert read_found(collect("push", frames=60)) is None
    assert read_found_graphs(recording) is None


def test_the_outcomes_own_factor_counts_as_found_though_nobody_looks_for_it() -> None:
    data = collect("push", frames=60)
    found = read_found(data.replaced(extra={"found.pusher": np.ones(len(data), dtype=bool)}))
    assert found is not None
    assert [name for name, cause in zip(data.factors, found[0], strict=True) if cause] == ["pusher", data.own]


def test_graphs_that_were_found_are_read_back_as_they_were_written(recording: Recording) -> None:
    graphs = read_found_graphs(find_nothing(recording))
    assert graphs is not None
    assert graphs.shape == (len(recording), len(recording.outcomes), len(recording.factors))
    assert graphs.sum() == len(recording) * len(recording.outcomes)


def test_a_view_of_whole_states_has_what_was_found_about_its_outcome(recording: Recording) -> None:
    view = view_found(find_nothing(recording), "pusher")
    assert set(view.extra) == {f"found.{factor}" for factor in recording.factors}
    found = read_found(view)
    assert found is not None
    assert [name for name, cause in zip(view.factors, found[0], strict=True) if cause] == ["pusher"]


def test_episodes_come_in_the_order_in_which_they_begin() -> None:
    assert list_episodes(np.array([9, 9, 3, 5, 5])).tolist() == [9, 3, 5]


def test_a_row_is_eventful_by_the_truth_and_else_by_what_was_found() -> None:
    rows = {"factors": ["a", "b"], "state": np.zeros((3, 2, 1)), "outcome": np.arange(3.0)[:, None], "own": "a"}
    found = np.array([[True, True], [True, False], [True, False]])
    truth = np.array([[True, False], [True, True], [True, False]])
    assert find_eventful_rows(Transitions(**rows, cause=truth), found).tolist() == [False, True, False]
    assert find_eventful_rows(Transitions(**rows), found).tolist() == [True, False, False]
    assert not find_eventful_rows(Transitions(**rows)).any()
