"""The trivial answers: never and always."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn import fit_many
from actcause.learn.methods.trivial import Always, Never


@pytest.fixture(scope="module")
def data() -> Transitions:
    return collect("3-in", 500)


def test_never_names_the_outcomes_own_factor_only(data: Transitions) -> None:
    assert Never().fit(data).predict(data).sum(axis=0).tolist() == [0, 0, 0, 500]


def test_always_names_every_factor(data: Transitions) -> None:
    assert Always().fit(data).explain(data).all()


def test_always_names_no_factor_that_is_not_there(data: Transitions) -> None:
    mask = np.ones((500, 4), dtype=bool)
    mask[:250, 0] = False
    part = data.replaced(mask=mask, cause=None)
    assert np.array_equal(Always().fit(part).predict(part), mask)


def test_the_two_errors_add_up_to_one(data: Transitions) -> None:
    assert Never().fit(data).score(data) + Always().fit(data).score(data) == pytest.approx(1)


def test_several_are_fitted_at_once(data: Transitions) -> None:
    for learner in fit_many([Never(seed=0), Never(seed=1)], [data, data]):
        assert learner.nets_ == {}
