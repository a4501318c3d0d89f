"""How often each factor was found, and how often that was wrong."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Recording, Transitions, collect_recording
from actcause.learn import count_found, count_found_graphs


def predict(found: list[bool], *, truth: list[bool] | None, mask: list[bool] | None = None) -> Transitions:
    """Rows of an outcome `a` and a factor `b`, found as given, the first of them unsure."""
    rows = len(found)
    return Transitions(
        factors=["a", "b"],
        state=np.zeros((rows, 2, 1)),
        outcome=np.arange(float(rows))[:, None],
        own="a",
        cause=None if truth is None else np.stack([np.ones(rows, dtype=bool), truth], axis=1),
        mask=None if mask is None else np.stack([np.ones(rows, dtype=bool), mask], axis=1),
        extra={"found.b": np.array(found), "unsure": np.arange(rows) == 0},
    )


def test_rates_doubts_and_errors_are_shares_of_all_rows_of_all_batches() -> None:
    batches = [
        predict([True, True, False], truth=[True, False, False]),
        predict([False], truth=[True]),
    ]
    counts = count_found(batches)
    assert counts.to_json() == {"rows": 4, "rates": {"b": 0.5}, "unsure": 0.5, "error": 0.5}


def test_an_error_counts_where_the_factor_is_present_and_the_truth_is_known() -> None:
    absent = predict([True, False], truth=[False, False], mask=[False, True])
    assert count_found([absent]).error == 0.0
    assert count_found([predict([True], truth=None)]).error is None


@pytest.mark.parametrize("right", [True, False])
def test_graphs_are_counted_outcome_by_outcome_with_their_mean_error(right: bool) -> None:
    recording: Recording = collect_recording("3-chain", frames=200)
    assert recording.cause is not None
    extra = {
        f"found.{outcome}.{factor}": recording.cause[:, place, position] == right
        for place, outcome in enumerate(recording.outcomes)
        for position, factor in enumerate(recording.factors)
    }
    counts = count_found_graphs(recording.replaced(extra=extra))
    assert counts.error == (0.0 if right else 1.0)
    assert counts.unsure is None
    rate = recording.rates()["y"]["a2"]
    assert counts.rates["y by a2"] == pytest.approx(rate if right else 1 - rate)
