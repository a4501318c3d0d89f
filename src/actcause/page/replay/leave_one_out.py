"""What a learned model predicts from all factors, and what it predicts without each of them.

Only methods that learn a forward model under masks can say so: `jaci-em`, what came of it in `jaci-auto`, and `jaci`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...data import Transitions
from ...learn import Learner, MaskJACI, PaperJACI
from ...learn.methods.paper_networks import GaussianModel
from ...learn.training.batches import FOLDS
from ...learn.training.forward import Batch
from ...learn.training.networks import MaskedModel

Array = np.ndarray[Any, Any]


@torch.no_grad()
def predict_without_each(learner: Learner, data: Transitions) -> tuple[Array, Array] | None:
    """Predict the outcome from all, (rows, features), and without each, (factors, rows, features), in its units.

    None where the method has no model that can leave factors out.
    """
    if not isinstance(learner, (MaskJACI, PaperJACI)) or "forward" not in learner.nets_:
        return None
    device = next(learner.nets_["forward"].parameters()).device
    batch = Batch.of(learner.encoder_.encode(data), learner.encoder_, device)
    factors = len(data.factors)
    masks = torch.cat([torch.ones(1, factors), 1 - torch.eye(factors)]).to(device)
    parts = [_predict(learner, block, masks) for block in batch.blocks()]
    outcomes = learner.encoder_.decode(data, torch.cat(parts, dim=1).cpu().numpy())
    return outcomes[0], outcomes[1:]


def _predict(learner: Learner, block: Batch, masks: Tensor) -> Tensor:
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
