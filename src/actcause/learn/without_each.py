"""What a learned model predicts from all factors, and what it predicts without each of them.

A forward model under masks (`jaci-em`, `jaci`) is not shown a factor. A model of the whole state (`jaci-exchange`) is
shown what it was in other rows, and says what comes of that on average. `jaci-auto` has one or the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..data import Transitions
from .learner import Learner
from .methods.exchange import ExchangeJACI
from .methods.exchange_training import MODELS
from .methods.mask_jaci import MaskJACI
from .methods.paper_jaci import PaperJACI
from .methods.paper_networks import GaussianModel
from .training.batches import FOLDS
from .training.density import Density, OutcomeColumns
from .training.forward import Batch
from .training.networks import MaskedModel
from .training.sufficiency import Judge

Array = np.ndarray[Any, Any]
OTHERS = 8  # rows that a factor is taken from
BLOCK = 512  # rows predicted at once
MOST_COLUMNS = 400  # of predictions without a factor that are written beside rows


@torch.no_grad()
def predict_without_each(learner: Learner, data: Transitions) -> tuple[Array, Array] | None:
    """Predict the outcome from all, (rows, features), and without each, (factors, rows, features), in its units.

    None where the method has no model that can leave factors out.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> predict_without_each(Never().fit(data), data) is None
    True
    """
    if not isinstance(learner, (ExchangeJACI, MaskJACI, PaperJACI)):
        return None
    name = "whole" if "whole" in learner.nets_ else "forward"
    device = next(learner.nets_[name].parameters()).device
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, device)
    if name == "whole":
        judge = Judge.of(learner.nets_, learner.encoder_, 1.0, MODELS, data.mask is not None)
        parts = [_predict_exchanged(judge, block) for block in batch.blocks(BLOCK)]
    else:
        masks = torch.cat([torch.ones(1, len(data.factors)), 1 - torch.eye(len(data.factors))]).to(device)
        parts = [_predict_masked(learner, block, masks) for block in batch.blocks()]
    outcomes = learner.encoder_.decode(data, torch.cat(parts, dim=1).cpu().numpy())
    return outcomes[0], outcomes[1:]


def add_predictions_without_each(
    learner: Learner, data: Transitions, *, most_columns: int = MOST_COLUMNS
) -> Transitions:
    """Add extra values `expected.NAME` and `without.FACTOR.NAME` to the rows: what is predicted from all, and without.

    Nothing is added where the method has no such model, or where that would take more than `most_columns`.
    """
    names = data.outcome_features
    if len(data.factors) * len(names) > most_columns:
        return data
    predicted = predict_without_each(learner, data)
    if predicted is None:
        return data
    everything, without_each = (values.astype(np.float32) for values in predicted)
    extra = {**data.extra, **{f"expected.{name}": everything[:, k] for k, name in enumerate(names)}}
    for position, factor in enumerate(data.factors):
        if factor != data.own:
            extra |= {f"without.{factor}.{name}": without_each[position, :, k] for k, name in enumerate(names)}
    return data.replaced(extra=extra)


def _predict_masked(learner: Learner, block: Batch, masks: Tensor) -> Tensor:
    """Predict under each mask: (masks, rows, outputs)."""
    model = learner.nets_["forward"]
    each = masks.unsqueeze(1) * block.present  # (masks, rows, factors)
    if isinstance(model, MaskedModel):
        embedded = model.embedding(block.network_inputs.expand(FOLDS, -1, -1, -1))
        predicted: Tensor = model(embedded, each.unsqueeze(0).expand(FOLDS, -1, -1, -1))
        return predicted.mean(dim=0)
    assert isinstance(model, GaussianModel)
    embedded = model.embedding(block.network_inputs)
    return torch.stack([model(embedded, mask.unsqueeze(0))[0][0] for mask in each])


def _predict_exchanged(judge: Judge, block: Batch) -> Tensor:
    """Predict from all factors, and with each of them taken from other rows in turn: (1 + factors, rows, outputs)."""
    rows, factors = block.present.shape
    drawn = torch.linspace(0, len(judge.inputs) - 1, OTHERS, device=block.inputs.device).long()
    others = judge.inputs[drawn].expand(rows, -1, -1, -1)
    if judge.own is not None:
        others = judge.whole.tokens.carry(others, block.inputs[:, None, judge.own])
    parts = [_expect(judge, block.inputs.unsqueeze(1), block.present.unsqueeze(1))]
    for factor in range(factors):
        inputs = block.inputs.unsqueeze(1).repeat(1, OTHERS, 1, 1)
        there = block.present.unsqueeze(1).repeat(1, OTHERS, 1)
        inputs[:, :, factor] = others[:, :, factor]
        if judge.present is not None:
            there[:, :, factor] = judge.present[drawn, factor]
        parts.append(_expect(judge, inputs, there))
    return torch.stack(parts)


def _expect(judge: Judge, inputs: Tensor, present: Tensor) -> Tensor:
    """(rows, outputs): the mean over models and over what was exchanged, (rows, variants, factors, columns)."""
    there = None if judge.present is None else present.expand(judge.models, -1, -1, -1)
    density = judge.predict(inputs.expand(judge.models, -1, -1, -1, -1), there)
    return _write_columns(judge.columns, density).mean(dim=(0, 2))


def _write_columns(columns: OutcomeColumns, density: Density) -> Tensor:
    """Write a distribution's means and probabilities as the columns of a target."""
    means = () if density.mean is None else density.expect().unbind(-1)
    parts = {at: mean.unsqueeze(-1) for at, mean in zip(columns.measured, means, strict=True)}
    parts |= {part.start: chance.exp() for part, chance in zip(columns.categorical, density.chances, strict=True)}
    return torch.cat([parts[at] for at in sorted(parts)], dim=-1)
