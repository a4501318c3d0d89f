"""Encoded columns: where features are, and which columns follow from others."""

from __future__ import annotations

import numpy as np
import torch

from actcause.data import Transitions, collect
from actcause.learn.training.columns import Relative, spans
from actcause.learn.training.encoding import Encoder


def make_rows(seed: int = 0) -> Transitions:
    generator = np.random.default_rng(seed)
    state = np.zeros((200, 3, 3))
    state[:, :, 0] = generator.integers(0, 3, (200, 3))
    state[:, :, 1:] = generator.normal(5, 2 + seed, (200, 3, 2))
    state[:, 2, 2] = 0
    return Transitions(
        factors=["ball", "wall", "lamp"],
        features={"ball": ["kind", "x", "y"], "wall": ["kind", "x", "y"], "lamp": ["kind", "x"]},
        state=state,
        outcome=state[:, 0] + 1,
        own="ball",
        metadata={"categorical": ["ball.kind", "wall.kind"]},
    )


def test_a_categorical_feature_spans_a_column_for_each_value() -> None:
    data = make_rows()
    found = {(s.factor, s.feature): (s.start, s.stop, s.categorical) for s in spans(Encoder.fit(data))}
    assert found[1, "kind"] == (0, 3, True)
    assert found[1, "y"] == (4, 5, False)
    assert found[2, "kind"] == (0, 1, False)
    assert found[2, "x"] == (1, 2, False)


def test_relative_columns_follow_as_the_encoder_has_them() -> None:
    parts = [make_rows(0), make_rows(1)]
    encoders = [Encoder.fit(part) for part in parts]
    inputs = torch.stack([torch.as_tensor(e.encode(p).inputs) for e, p in zip(encoders, parts, strict=True)])
    relative = Relative.of(encoders, torch.device("cpu"))
    assert relative is not None
    spoiled = inputs.clone()
    spoiled[..., relative.factor, relative.column] = 7
    assert torch.allclose(relative.update(spoiled), inputs, atol=1e-5)


def test_a_moved_factor_looks_as_if_it_had_been_recorded_there() -> None:
    data = collect("break", 300)
    encoder = Encoder.fit(data)
    relative = Relative.of([encoder], torch.device("cpu"))
    assert relative is not None
    state = data.state.copy()
    state[:, 1, :4] = state[::-1, 1, :4]
    wanted = encoder.encode(data.replaced(state=state, cause=None)).inputs
    inputs = torch.as_tensor(encoder.encode(data).inputs)[None]
    inputs[0, :, 1] = inputs[0, :, 1].flip(0)
    assert np.allclose(relative.update(inputs)[0].numpy(), wanted, atol=1e-4)


def test_without_an_own_factor_nothing_is_relative() -> None:
    data = Transitions(
        factors=["a", "b"], state=np.random.default_rng(0).normal(size=(50, 2, 1)), outcome=np.arange(50.0)[:, None]
    )
    assert Relative.of([Encoder.fit(data)], torch.device("cpu")) is None
