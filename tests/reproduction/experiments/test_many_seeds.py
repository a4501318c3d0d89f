"""Training for experiments: what `fit_many` gives, with recordings prepared once for all methods."""

from __future__ import annotations

import numpy as np
import pytest

from actcause.errors import QueryError
from actcause.learn import fit_many, make, names
from actcause.learn.training import replica, surprises, thresholds
from actcause.reproduction import learned

SHORT = {"steps": 10, "width": 8, "distil_steps": 5}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprises, "STEPS", 10)
    monkeypatch.setattr(thresholds, "STEPS", 10)


def test_seeds_are_fitted_as_fit_many_fits_them() -> None:
    recorded = [learned.record_domain("1-in", seed, 1500) for seed in (0, 1)]
    ours, _ = learned.fit_seeds("grad", [0, 1], [train for train, _ in recorded], "cpu", SHORT)
    known = learned.select_known_options("grad", SHORT)
    theirs = fit_many(
        [make("grad", seed=seed, device="cpu", **known) for seed in (0, 1)], [train for train, _ in recorded]
    )
    for one, other, (_, test) in zip(ours, theirs, recorded, strict=True):
        assert np.array_equal(one.predict_proba(test), other.predict_proba(test))


def test_a_recording_is_prepared_once_for_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare, calls = replica.prepare_replica, []
    monkeypatch.setattr(replica, "prepare_replica", lambda *given: calls.append(given) or prepare(*given))
    train, _ = learned.record_domain("1-in", 7, 1500)
    for method in ("never", "always", "granger"):
        learned.fit_seeds(method, [7], [train], "cpu", SHORT)
    assert len(calls) == 1


def test_options_are_those_that_a_method_has() -> None:
    assert learned.select_known_options("never", SHORT) == {}
    assert learned.select_known_options("grad", SHORT) == {"steps": 10, "width": 8}


def test_classes_come_from_the_domain() -> None:
    train, _ = learned.record_domain("1-in", 7, 1500)
    with pytest.raises(QueryError, match="leave them out"):
        learned.fit_seeds("never", [7], [train], "cpu", {"classes": {"a1": "one"}})


def test_every_method_has_a_place_in_the_experiments() -> None:
    assert {*learned.METHODS, *learned.NOT_RUN} == set(names())
    assert learned.uses("grad", "push") == ("method:grad", "domain:push")
