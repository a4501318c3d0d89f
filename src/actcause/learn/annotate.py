"""Rows with what was found about them beside them, for files and pictures."""

from __future__ import annotations

import numpy as np

from ..data import Transitions
from .base import Learner


def annotated(learner: Learner, data: Transitions, *, hindsight: bool = False) -> Transitions:
    """The same rows with extra values `found.FACTOR`, `probability.FACTOR` and `unsure`.

    >>> from actcause.data import collect
    >>> from actcause.learn import Never
    >>> data = collect("1-in", 1000)
    >>> list(annotated(Never().fit(data), data).extra)
    ['found.a1', 'probability.a1', 'unsure']
    """
    probability = learner.explain_proba(data) if hindsight else learner.predict_proba(data)
    found = learner._decided(data, probability)
    extra = {name: values for name, values in data.extra.items() if name.split(".")[0] not in ("found", "probability")}
    for position, factor in enumerate(data.factors):
        if factor != data.own:
            extra[f"found.{factor}"] = found[:, position]
            extra[f"probability.{factor}"] = probability[:, position].astype(np.float32)
    return data.replaced(extra=extra | {"unsure": learner.unsure(data, hindsight=hindsight)})
