"""Causes by distance: a factor is named where it is near the outcome's previous value.

What practitioners often do first: contact is taken for causation. Distance is measured in the features that a factor
shares with the outcome's own, by name. The radius is the one that best separates rows in which the own state does not
explain the outcome from those in which it does: split by whether any factor is within it, the surprise of the
own-state model (out of sample) has the most of its variance explained. No label is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from torch import nn

from ..learner import Array, Learner
from ..training.columns import spans
from ..training.encoding import Encoded, Encoder
from ..training.forward import Training
from ..training.networks import own_state_model
from ..training.replica import Replica
from ..training.session import Session

RADII = 200  # radii looked at
STOPPED = "Training stopped before a radius was chosen, so no factor is ever named; resume it or give it more time."


@final
@dataclass(kw_only=True)
class Proximity(Learner):
    """Names factors near the outcome's previous value (`proximity`); those that share no feature with it never.

    Nothing is learned but the radius; `steps` are those of the own-state model that it is chosen with.
    `predict_proba` falls with the distance; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("break", 2000)
    >>> learner = Proximity(steps=100).fit(data)
    >>> learner.predict(data)[:, data.factors.index("action")].any()
    np.False_
    """

    steps: int = 1000

    method: ClassVar[str] = "proximity"
    summary: ClassVar[str] = "distance to the outcome's previous value below a radius"
    revisions: ClassVar[tuple[str, ...]] = ("first recorded revision",)

    def check_options(self) -> None:
        super().check_options()
        self.require_integer("steps")

    def networks(self, encoder: Encoder, replicas: int) -> dict[str, nn.Module]:
        return {"passive": own_state_model(encoder, replicas)}

    @classmethod
    def learn(cls, replicas: Sequence[Replica], session: Session) -> None:
        learner = replicas[0].learner
        assert isinstance(learner, Proximity)
        training = Training(replicas, session)
        trainer = session.train(training.nets, training.surprises.stages(learner.steps))
        surprise = training.surprises.surprise.cpu().double().numpy()
        for position, replica in enumerate(replicas):
            rows = training.rows.replica(position)
            nearest = distances(replica.encoder, replica.encoded).min(axis=1)
            radius = best_radius(nearest, surprise[rows])
            notes = [STOPPED] if session.stopped else [] if radius > 0 else [_nothing(replica)]
            replica.learner.finish(replica, {}, {"radius": radius, "threshold": 0.5}, trainer.history, notes)

    def _probabilities(self, encoded: Encoded) -> Array:
        radius = self.learned_["radius"]
        away = distances(self.encoder_, encoded)
        return radius / (radius + away) if radius > 0 else np.zeros_like(away)


def distances(encoder: Encoder, encoded: Encoded) -> Array:
    """(rows, factors): Euclidean distance to the own factor in the features shared; infinite where there are none.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 500)
    >>> encoder = Encoder.fit(data)
    >>> distance = distances(encoder, encoder.encode(data))[:, 0]
    >>> bool(np.allclose(distance, np.linalg.norm(data.state[:, 0] - data.state[:, 1], axis=1), atol=1e-4))
    True
    """
    away = np.full(encoded.inputs.shape[:2], np.inf)
    own = encoder.own
    if own is None:
        return away
    places = [span for span in spans(encoder) if not span.categorical]
    before = {span.feature: _raw(encoder, encoded, own, span.start) for span in places if span.factor == own}
    for factor in range(away.shape[1]):
        shared = [span for span in places if span.factor == factor and span.feature in before]
        if factor != own and shared:
            squares = [(_raw(encoder, encoded, factor, s.start) - before[s.feature]) ** 2 for s in shared]
            away[:, factor] = np.sqrt(np.sum(squares, axis=0))
    if encoded.present is not None:
        away[~encoded.present] = np.inf
    return away


def best_radius(nearest: Array, surprise: Array) -> float:
    """The radius within which rows surprise most; 0 where nearness and surprise do not go together.

    >>> round(best_radius(np.array([0.1, 0.2, 0.3, 2.0, 3.0]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])), 3)
    0.25
    """
    reached = np.isfinite(nearest)
    if not reached.any():
        return 0.0
    order = np.argsort(nearest)
    ordered, seen = nearest[order], np.cumsum(surprise[order])
    count, best, radius = len(nearest), 0.0, 0.0
    for last in np.unique(np.geomspace(1, max(int(reached.sum()) - 1, 1), RADII).astype(np.int64)):
        inside = int(np.searchsorted(ordered, ordered[last - 1], side="right"))
        if inside == count:
            continue
        apart = seen[inside - 1] / inside - (seen[-1] - seen[inside - 1]) / (count - inside)
        explained = inside * (count - inside) / count**2 * apart**2
        if apart > 0 and explained > best:
            best, radius = explained, float((ordered[inside - 1] + min(ordered[inside], 2 * ordered[inside - 1])) / 2)
    return radius


def _raw(encoder: Encoder, encoded: Encoded, factor: int, column: int) -> Array:
    """One column in the recording's own units."""
    shown = encoded.inputs[:, factor, column].astype(np.float64)
    return np.asarray(shown * encoder.scale[factor, column] + encoder.mean[factor, column])


def _nothing(replica: Replica) -> str:
    if replica.train.own is None:
        return "The outcome has no own factor to be near to, so no factor is ever named; use another method."
    return "No radius separates rows that surprise from others, so no factor is ever named; use another method."
