from __future__ import annotations

import numpy as np
import torch

from actcause.data import Transitions, collect
from actcause.learn.training.attention import CauseModel, OutcomeModel, Tokens
from actcause.learn.training.encoding import Encoder


def inputs_of(data: Transitions) -> tuple[Encoder, torch.Tensor]:
    encoder = Encoder.fit(data)
    return encoder, torch.as_tensor(encoder.encode(data).inputs)


def test_differences_are_those_that_the_encoder_measures() -> None:
    encoder, inputs = inputs_of(collect("push", 500))
    tokens = Tokens(1, encoder, 16, 1)
    measured = inputs[..., encoder.own_columns :]
    shared = tokens.shared.bool().expand(len(inputs), -1, -1)
    assert torch.allclose(tokens.subtract_own(inputs[..., : tokens.columns])[shared], measured[shared], atol=1e-4)


def test_equal_factors_may_change_places() -> None:
    data = collect("push", 200)
    encoder, inputs = inputs_of(data)
    one, two = (data.layout.index(f"obstacle{k}") for k in (1, 2))
    swapped = inputs.clone()
    swapped[:, one], swapped[:, two] = inputs[:, two], inputs[:, one]
    torch.manual_seed(0)
    model = OutcomeModel(1, encoder, 7, width=16, layers=2)
    assert torch.allclose(model(inputs[None], None), model(swapped[None], None), atol=1e-5)
    causes = CauseModel(1, encoder, width=16, layers=2)
    said, other = causes(inputs[None]), causes(swapped[None])
    assert torch.allclose(said[..., one], other[..., two], atol=1e-5)


def test_an_absent_factor_is_not_seen() -> None:
    encoder, inputs = inputs_of(collect("push", 100))
    present = torch.ones(1, len(inputs), inputs.shape[1])
    present[..., 0] = 0
    changed = inputs.clone()
    changed[:, 0] += 1
    torch.manual_seed(0)
    model = OutcomeModel(1, encoder, 7, width=16, layers=2)
    assert torch.allclose(model(inputs[None], present), model(changed[None], present), atol=1e-5)
    assert not torch.allclose(model(inputs[None], None), model(changed[None], None), atol=1e-3)


def drive(rows: int, seed: int = 0) -> Transitions:
    """Two cars on a long road: where one is says nothing, how far the other is ahead does."""
    generator = np.random.default_rng(seed)
    place = generator.uniform(0, 1000, rows)
    ahead = generator.uniform(-50, 50, rows)
    state = np.stack([place, place + ahead], axis=1)[..., None]
    outcome = place + np.where((ahead > 0) & (ahead < 10), 0.0, 1.0)
    return Transitions(
        factors=["ego", "car"], features={"ego": ["x"], "car": ["x"]}, state=state, outcome=outcome[:, None], own="ego"
    )


def test_what_moves_along_is_carried_to_where_the_own_factor_is() -> None:
    encoder, inputs = inputs_of(drive(1000))
    tokens = Tokens(1, encoder, 16, 1)
    tokens.fit(0, inputs, None, encoder.class_index)
    assert tokens.moving.tolist() == [[1.0]]
    carried = tokens.carry(inputs[None, 500:], inputs[:500, 0][None])
    mixed = torch.cat([inputs[:500, :1], carried[0, :, 1:]], dim=1)
    apart = tokens.subtract_own(mixed[..., : tokens.columns])[:, 1]
    before = tokens.subtract_own(inputs[500:, :, : tokens.columns])[:, 1]
    assert torch.allclose(apart, before, atol=1e-3)


def test_what_stays_in_one_arena_is_not_carried() -> None:
    encoder, inputs = inputs_of(collect("push", 1000))
    tokens = Tokens(1, encoder, 16, 1)
    tokens.fit(0, inputs, None, encoder.class_index)
    assert not tokens.moving.any()
    assert tokens.carry(inputs[None], inputs[:, 0][None]) is not None


def test_near_is_measured_for_each_class() -> None:
    encoder, inputs = inputs_of(drive(5000))
    tokens = Tokens(1, encoder, 16, 1)
    tokens.fit(0, inputs, None, encoder.class_index)
    apart = tokens.subtract_own(inputs[..., : tokens.columns])[:, 1].abs()
    assert float((apart < tokens.near[0, 0, 1, 0]).float().mean()) == np.float32(0.1)
