"""Surprises: rows that the outcome's own state does not explain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import Transitions
from actcause.learn.training.batches import DeviceRows, folds_of
from actcause.learn.training.encoding import Encoder
from actcause.learn.training.loop import Trainer
from actcause.learn.training.networks import own_state_model
from actcause.learn.training.surprises import Surprises

CPU = torch.device("cpu")


def drifting(rate: float, seed: int = 0, rows: int = 2000) -> Transitions:
    """A block that moves by a tenth of its place, and is kicked in a share of the rows."""
    generator = np.random.default_rng(seed)
    state = generator.normal(size=(rows, 2, 1))
    kicked = generator.random(rows) < rate
    state[:, 1, 0] = kicked * (3 + generator.random(rows))
    outcome = 1.1 * state[:, 0] + state[:, 1]
    return Transitions(
        factors=["block", "kick"], state=state, outcome=outcome, own="block", episode=np.arange(rows) // 10
    )


def find_surprises(*parts: Transitions) -> Surprises:
    encoders = [Encoder.fit(part) for part in parts]
    folds = [folds_of(part.episode, len(part), 0) for part in parts]
    encoded = [encoder.encode(part) for encoder, part in zip(encoders, parts, strict=True)]
    rows = DeviceRows.load(encoded, folds, encoders[0].own, CPU)
    torch.manual_seed(0)
    surprises = Surprises(rows, own_state_model(encoders[0], len(parts)), range(len(parts)))
    Trainer({"passive": surprises.model}, 0, CPU).run(surprises.stages(300))
    return surprises


def test_rare_surprises_are_found_and_shown_as_often_as_other_rows() -> None:
    data = drifting(0.05)
    surprises = find_surprises(data)
    hit, rest = surprises.pools(0)
    kicked = data.state[:, 1, 0] > 0
    assert kicked[hit.numpy()].mean() > 0.9
    assert not kicked[rest.numpy()].any()
    assert surprises.share[0] == pytest.approx(0.05, abs=0.02)


def test_the_natural_weights_undo_the_balancing() -> None:
    surprises = find_surprises(drifting(0.05))
    hit, rest = surprises.pools(0)
    weight = torch.stack([surprises.natural[hit].mean(), surprises.natural[rest].mean()]) / 2
    assert weight.tolist() == pytest.approx([surprises.share[0], 1 - surprises.share[0]])


def test_the_outcome_is_measured_by_its_spread_among_the_rows_shown() -> None:
    surprises = find_surprises(drifting(0.05))
    hit, rest = surprises.pools(0)
    shown = torch.cat([surprises.target[hit].repeat(len(rest) // len(hit), 1), surprises.target[rest]])
    assert float(shown.std()) == pytest.approx(1, abs=0.1)


def test_common_surprises_change_nothing() -> None:
    surprises = find_surprises(drifting(0.5))
    assert len(surprises.pools(0)) == 1
    assert bool((surprises.natural == 1).all())
    assert bool((surprises.scale == 1).all())


def test_replicas_have_surprises_of_their_own() -> None:
    surprises = find_surprises(drifting(0.05), drifting(0.5, seed=1))
    assert [len(surprises.pools(replica)) for replica in (0, 1)] == [2, 1]
    assert int(torch.cat(surprises.pools(1)).min()) == 2000


def test_without_an_own_factor_there_is_nothing_to_train() -> None:
    data = drifting(0.5)
    blind = Transitions(factors=["a", "b"], state=data.state, outcome=data.outcome)
    encoder = Encoder.fit(blind)
    rows = DeviceRows.load([encoder.encode(blind)], [folds_of(None, len(blind), 0)], None, CPU)
    surprises = Surprises(rows, own_state_model(encoder, 1), [0])
    assert surprises.stages() == []
    assert len(torch.cat(surprises.pools(0))) == len(blind)
