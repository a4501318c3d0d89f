"""Causes by attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from actcause.data import collect
from actcause.learn import LearnError
from actcause.learn.methods.attn import Attention, AttentionModel
from actcause.learn.training.encoding import Encoder
from actcause.learn.training.forward import Batch


def test_attention_adds_up_to_one_over_the_factors_that_are_there() -> None:
    data = collect("3-in", 50)
    encoder = Encoder.fit(data)
    mask = np.ones((50, 4), dtype=bool)
    mask[:, 1] = False
    batch = Batch.of(encoder.encode(data.replaced(mask=mask, cause=None)), encoder, torch.device("cpu"))
    _, attention = AttentionModel(1, encoder, width=8, layers=1, heads=2)(
        batch.network_inputs, batch.present.unsqueeze(0)
    )
    assert attention.shape == (1, 50, 2, 4)
    assert torch.allclose(attention.sum(-1), torch.ones(1, 50, 2))
    assert float(attention[..., 1].detach().max()) == 0


def test_an_entropy_loss_sharpens_the_heads() -> None:
    data = collect("3-in", 1000)
    entropies = [Attention(steps=100, width=16, batch=128, entropy=weight).fit(data).history_ for weight in (0.0, 1.0)]
    plain, sharp = ([h["entropy"] for h in history if h["stage"] == "forward"][-1] for history in entropies)
    assert sharp < plain / 2


def test_the_width_must_be_shared_out_among_the_heads() -> None:
    with pytest.raises(LearnError, match="'width' parameter of Attention must be a multiple of heads"):
        Attention(width=10, heads=4).fit(collect("1-in", 200))
