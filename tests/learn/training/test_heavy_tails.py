"""Heavy tails: a few huge values do not hide the many common ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from actcause.data import Transitions, collect
from actcause.learn.training.encoding import Encoder
from actcause.learn.training.heavy_tails import find_bound
from actcause.reproduction.rule_worlds import RULE_WORLDS, record_rules

ROWS = 30_000


def hit_hard() -> Transitions:
    """A charge that decays, and in one row of ten is raised by a dose whose variance is infinite."""
    random = np.random.default_rng(1)
    dose = random.pareto(1.1, ROWS) + 0.2
    struck = random.random(ROWS) < 0.1
    charge = random.exponential(1.0, ROWS)
    state = np.stack([np.stack([charge, struck], axis=1), np.stack([dose, np.zeros(ROWS)], axis=1)], axis=1)
    return Transitions(
        factors=["cell", "beam"], state=state, outcome=(0.8 * charge + struck * dose)[:, None], own="cell",
        features={"cell": ["charge", "struck"], "beam": ["dose"]}, outcome_features=["charge"],
    )  # fmt: skip


def test_common_events_are_seen_beside_a_few_huge_ones() -> None:
    data = hit_hard()
    encoder = Encoder.fit(data)
    assert set(encoder.bounds) == {("beam", "dose"), ("next", "charge")}
    struck = data.state[:, 0, 1] > 0
    target = np.abs(encoder.encode(data).target[:, 0])
    raw = np.abs(data.change[:, 0] - data.change.mean()) / data.change.std()
    assert np.median(raw[struck]) < 0.1
    assert np.median(target[struck]) > 3 * np.median(raw[struck])


@pytest.mark.parametrize("seed", range(8))
def test_heavy_tails_are_recognised_whatever_the_draw(seed: int) -> None:
    data = record_rules("impacts", 40_000, seed)
    assert ("next", "charge") in Encoder.fit(data).bounds


@pytest.mark.parametrize("name", sorted(set(RULE_WORLDS) - {"impacts"}))
def test_worlds_without_heavy_tails_have_none(name: str) -> None:
    assert not Encoder.fit(record_rules(name, 40_000, 1)).bounds


def test_a_compressed_outcome_is_read_back() -> None:
    data = hit_hard()
    encoder = Encoder.fit(data)
    decoded = encoder.decode(data, encoder.encode(data).target.astype(np.float64))
    assert np.allclose(decoded, data.outcome, rtol=1e-3, atol=1e-3)
    again = Encoder.from_json(data.layout, encoder.to_json())
    assert np.array_equal(again.encode(data).target, encoder.encode(data).target)


@pytest.mark.parametrize("share", [0.003, 0.005, 0.02, 0.3])
def test_rare_events_of_usual_size_are_no_heavy_tail(share: float) -> None:
    random = np.random.default_rng(2)
    values = random.normal(scale=0.01, size=100_000)
    events = random.random(100_000) < share
    values[events] += random.exponential(1.0, int(events.sum()))
    assert math.isinf(find_bound(values))


@pytest.mark.parametrize("domain", ["1-in", "3-chain", "push", "break", "reactor"])
def test_our_domains_have_no_heavy_tails_and_no_angles(domain: str) -> None:
    encoder = Encoder.fit(collect(domain, 20_000, seed=0))
    assert not encoder.bounds
    assert not encoder.periods
    assert not encoder.rotations
