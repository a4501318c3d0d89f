"""Rows with the predictions about them beside them, for files and pictures."""

from __future__ import annotations

import numpy as np
import torch

from ...data import Transitions
from ..learner import Learner

BLOCK = 512  # rows whose numbers between two layers stay in a core's cache and in memory that need not be asked for


def add_predictions(learner: Learner, data: Transitions, *, hindsight: bool = False) -> Transitions:
    """Add extra values `found.FACTOR`, `probability.FACTOR` and `unsure` to the rows.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> list(add_predictions(Never().fit(data), data).extra)
    ['found.a1', 'probability.a1', 'unsure']
    """
    size = len(data) if _on_gpu(learner) else BLOCK
    blocks = [data.subset(slice(at, at + size)) for at in range(0, len(data), size)]
    with torch.no_grad():
        answers = [learner.explain_proba(block) if hindsight else learner.predict_proba(block) for block in blocks]
        doubts = [learner.unsure(block, hindsight=hindsight) for block in blocks]
    probability = np.concatenate(answers).astype(np.float32, copy=False)
    causes = learner._decide(data, probability)
    extra = {name: values for name, values in data.extra.items() if name.split(".")[0] not in ("found", "probability")}
    for position, factor in enumerate(data.factors):
        if factor != data.own:
            extra[f"found.{factor}"] = causes[:, position]
            extra[f"probability.{factor}"] = probability[:, position]
    return data.replaced(extra=extra | {"unsure": np.concatenate(doubts)})


def _on_gpu(learner: Learner) -> bool:
    return any(weight.is_cuda for net in learner.nets_.values() for weight in net.parameters())
