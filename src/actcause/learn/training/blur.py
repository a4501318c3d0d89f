"""How far the inputs of a model are blurred while it learns in noise, lest it know each row by its exact place.

Where chance moves the outcome by so much, nothing that matters to it is sharper than a part of that: a block that is
shoved about by 0.3 at random may as well stand 0.15 off. Rows that are shown a little off each time cannot be learned
by heart, and with them their noise. Without noise nothing is blurred.

Training with noise on the inputs is a penalty on slopes: Bishop, "Training with noise is equivalent to Tikhonov
regularization", Neural Computation 1995.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .density import OutcomeColumns
from .encoding import Encoder

BLUR = 0.5  # share of the noise in the outcome by which the same feature of any factor is blurred

Array = np.ndarray[Any, Any]


def measure_blur(encoder: Encoder, noise: Array) -> Array:
    """(factors, columns): by how much to blur each column, in its spreads, given the noise in each measured feature.

    `noise` is in spreads of the encoder's target. Features that the outcome does not have are blurred as those that it
    has are on average; categories are not.

    >>> from actcause.data import collect
    >>> encoder = Encoder.fit(collect("push", 1000))
    >>> blur = measure_blur(encoder, np.array([0.5, 0.5]))
    >>> blur.shape == encoder.mean.shape, bool((blur[encoder.own][:2] > 0).all())
    (True, True)
    """
    blur = np.zeros(encoder.mean.shape, np.float32)
    own, layout = encoder.own, encoder.layout
    if own is None or layout.own is None:
        return blur
    ours, before = encoder.list_measured_columns(layout.own), dict(layout.shared)
    places = {layout.outcome_features[feature]: layout.features[layout.own][at] for feature, at in before.items()}
    measured = [name for name in layout.outcome_features if ("next", name) not in encoder.categories]
    columns = OutcomeColumns.of(encoder).measured
    ratios = {
        places[name]: BLUR * float(sigma) * encoder.target_scale[at] / encoder.scale[own, ours[places[name]]]
        for name, at, sigma in zip(measured, columns, noise, strict=True)
        if places.get(name) in ours
    }
    if not ratios:
        return blur
    usual = float(np.mean(list(ratios.values())))
    for position, factor in enumerate(layout.factors):
        for name, column in encoder.list_measured_columns(factor).items():
            if name not in ratios:
                blur[position, column] = usual
            else:  # as far in the feature's own measure, whatever the spread of this factor
                wide = encoder.scale[own, ours[name]] / encoder.scale[position, column]
                blur[position, column] = ratios[name] * wide
    return blur
