"""The experiments on other people's worlds and on noise: what they measure, and what their pages own up to."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from actcause.learn import make, names
from actcause.reproduction import Results, learned
from actcause.reproduction.catalogue import catalogue, find_folder
from actcause.reproduction.experiment import Record

KNOWN = catalogue(find_folder())
WORLDS, NOISE = KNOWN["worlds"].experiment, KNOWN["noise"].experiment


def record(experiment: str, piece: dict[str, Any], **value: Any) -> Record:
    shown = {"notes": [], "learned": {}, "factors": {}, "processor_seconds": 2.0, "trained_together": 1, **value}
    return Record(experiment, piece, {}, shown, {}, {}, 1.0, None, "", {})


def results(experiment: Any, *records: Record) -> Results:
    return Results("full", records, len(experiment.pieces(experiment.arguments)), experiment.arguments, {}, ())


def test_they_are_all_methods_three_seeds_and_every_world() -> None:
    from actcause import worlds

    known = set(names())
    assert set(WORLDS.arguments.methods) - {"told"} == known == set(NOISE.arguments.methods) - {"rules"}
    assert {*worlds.names(), "reactor"} == set(WORLDS.arguments.worlds)
    assert WORLDS.arguments.seeds == NOISE.arguments.seeds == (0, 1, 2)
    assert not WORLDS.arguments.options
    assert not NOISE.arguments.options


def test_answers_are_measured_as_they_are_given() -> None:
    train, test = learned.record_domain("reactor", 0, 1000, tests=300)
    found = learned.measure(make("always", device="cpu").fit(train), test)
    truth = test.cause[:, [test.layout.index(name) for name in test.edges]]
    assert found["error"] == found["explain_error"] == pytest.approx(100 * (1 - truth.mean()), abs=1e-4)
    assert found["exact"] == pytest.approx(100 * truth.all(axis=1).mean(), abs=1e-4)
    assert found["named"] == {name: 100.0 for name in test.factors if name != test.own}
    assert {one["recall"] for one in found["factors"].values() if one["rate"]} == {100.0}


def test_noise_reaches_the_recording() -> None:
    still, _ = learned.record_domain("push", 3, 500, tests=10)
    noisy, _ = learned.record_domain("push", 3, 500, noise=0.3, tests=10)
    assert (still.metadata["parameters"]["noise"], noisy.metadata["parameters"]["noise"]) == (0.0, 0.3)


def test_who_knows_the_rules_errs_only_where_chance_decides() -> None:
    module = sys.modules[type(NOISE.arguments).__module__]
    piece = module.Piece("1-in", 0.2, "rules", 0)
    _, test = learned.record_domain("1-in", 0, 400, noise=0.2, tests=400)
    assert module.play_rules(piece, test)["error"] == 0.0
    assert module.play_rules(replace(piece, seed=1), test)["error"] > 0  # the rules of another draw


def test_a_page_names_what_is_missed_and_what_was_not_run() -> None:
    piece = {"world": "door-key", "method": "jaci-auto", "seed": 0}
    good = {"error": 0.05, "balanced": 0.5, "exact": 99.0, "explain_error": 0.0, "explain_balanced": 0.0}
    assert WORLDS.missed(results(WORLDS, record("worlds", piece, **good))) == []
    bad = results(WORLDS, record("worlds", piece, **{**good, "balanced": 2.0}))
    assert WORLDS.missed(bad) == ["door-key: 0.05 / 2.00%, where at most 0.1 / 1% is asked for"]
    body = WORLDS.page(bad).body
    assert "door-key: 0.05 / 2.00%" in body
    assert "- door-key: jaci-auto (seed 1, 2), jaci-em, jaci-exchange," in body


def test_explaining_worse_than_predicting_is_told() -> None:
    piece = {"domain": "push", "noise": 0.1, "method": "jaci-auto", "seed": 0}
    shown = record("noise", piece, error=1.0, balanced=3.0, explain_error=1.0, explain_balanced=3.5)
    assert NOISE.missed(results(NOISE, shown)) == ["push with noise 0.1: explain 3.50% is worse than predict 3.00%"]
    assert "explain 3.50% is worse" in NOISE.page(results(NOISE, shown)).body


def test_a_network_told_the_causes_is_measured_as_learners_are() -> None:
    train, test = learned.record_domain("reactor", 0, 4000, tests=1000)
    (found,) = learned.train_on_causes_and_measure([0], [(train, test)], "cpu", {"steps": 150})
    (never,) = learned.fit_and_measure("never", [0], [(train, test)], "cpu", {})
    assert set(found) == set(never)
    assert found["balanced"] < never["balanced"] / 2
