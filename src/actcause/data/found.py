"""What a run has found, read back as arrays from the columns that `actcause predict` writes.

Rows of one outcome have the extra values `found.FACTOR`, whole states have `found.OUTCOME.FACTOR`.
"""

from __future__ import annotations

import numpy as np

from .recording import Recording
from .transitions import Transitions
from .validate import Array

KINDS = ("found", "probability")


def read_found(data: Transitions) -> Array | None:
    """Return the causes that were found, (rows, factors); None if the rows hold none.

    The outcome's own factor is always one, as in the truth: nobody looks for it, so it has no column.

    >>> data = Transitions(factors=["a", "b"], state=[[[1.0], [0]]], outcome=[[2.0]], own="a")
    >>> read_found(data) is None
    True
    >>> read_found(data.replaced(extra={"found.b": [False]})).tolist()
    [[True, False]]
    """
    columns = [data.extra.get(f"found.{factor}") for factor in data.factors]
    if all(column is None for column in columns):
        return None
    every = [
        np.full(len(data), factor == data.own) if column is None else column
        for column, factor in zip(columns, data.factors, strict=True)
    ]
    return np.stack(every, axis=1).astype(bool)


def read_found_graphs(recording: Recording) -> Array | None:
    """Return the local graphs that were found, (rows, outcomes, factors); None if the rows hold none."""
    columns = [[f"found.{outcome}.{factor}" for factor in recording.factors] for outcome in recording.outcomes]
    if any(name not in recording.extra for names in columns for name in names):
        return None
    return np.stack([np.stack([recording.extra[name] for name in names], axis=1) for names in columns], axis=1)


def view_found(recording: Recording, outcome: str) -> Transitions:
    """View one outcome of whole states, with what was found about it as a run of this outcome alone would say it."""
    view = recording.view(outcome)
    extra = {
        f"{kind}.{factor}": view.extra[f"{kind}.{outcome}.{factor}"]
        for kind in KINDS
        for factor in recording.factors
        if f"{kind}.{outcome}.{factor}" in view.extra
    }
    return view.replaced(extra=extra)
