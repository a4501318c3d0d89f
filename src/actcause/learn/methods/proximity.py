"""Causes by distance: a factor is named where it is near the outcome's previous value.

What practitioners often do first: contact is taken for causation. Distance is measured in the places that a factor
shares with the outcome's own, by name: speeds and past frames say nothing about nearness. The radius is the one that
best separates rows in which the own state does not explain the outcome from those in which it does: split by whether
any factor is within it, the surprise of the own-state model (out of sample) has the most of its variance explained. No
label is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from torch import nn

from ...errors import quote, suggest
from ..errors import LearnError
from ..learner import Array, Learner
from ..training.columns import spans
from ..training.encoding import Encoded, Encoder
from ..training.forward import Training
from ..training.networks import own_state_model
from ..training.replica import Replica
from ..training.session import Session

RADII = 200  # radii looked at
PLACES = frozenset({"x", "y", "z", "pos", "position", "place", "location", "row", "col", "column"})
MOTIONS = frozenset(
    {"v", "vx", "vy", "vz", "vel", "velocity", "speed", "dx", "dy", "dz", "dot", "change", "acc", "acceleration"}
)
STOPPED = "Training stopped before a radius was chosen, so no factor is ever named; resume it or give it more time."


@final
@dataclass(kw_only=True)
class Proximity(Learner):
    """Names factors near the outcome's previous value (`proximity`); those that share no place with it never.

    `places` names the features that say where a thing is. By default these are what the recording's metadata lists
    under `places`, else what the names say (`choose_places`). Nothing is learned but the radius; `steps` are those of
    the own-state model that it is chosen with. `predict_proba` falls with the distance; it is not calibrated.

    >>> from actcause.data import collect
    >>> data = collect("break", 2000)
    >>> learner = Proximity(steps=100).fit(data)
    >>> learner.predict(data)[:, data.factors.index("action")].any()
    np.False_
    """

    steps: int = 1000
    places: Sequence[str] | None = None  # such as ["x", "y"]; default: the recording's, or by name

    method: ClassVar[str] = "proximity"
    summary: ClassVar[str] = "distance to the outcome's previous value below a radius"
    revisions: ClassVar[tuple[str, ...]] = (
        "first recorded revision",
        "distance is measured in places alone, no longer in velocities too",
    )

    def check_options(self) -> None:
        super().check_options()
        self.require_integer("steps")
        listed = self.places is None or (
            isinstance(self.places, (list, tuple)) and all(isinstance(name, str) for name in self.places)
        )
        self.require("places", listed, "a list of features such as ['x', 'y']")

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
            places = find_places(replica, learner.places)
            nearest = distances(replica.encoder, replica.encoded, places).min(axis=1)
            radius = best_radius(nearest, surprise[rows])
            notes = [STOPPED] if session.stopped else [] if radius > 0 else [_nothing(replica, places)]
            learned = {"radius": radius, "threshold": 0.5, "places": places}
            replica.learner.finish(replica, {}, learned, trainer.history, notes)

    def _probabilities(self, encoded: Encoded) -> Array:
        radius = self.learned_["radius"]
        away = distances(self.encoder_, encoded, self.learned_.get("places"))  # runs of before have no places
        return radius / (radius + away) if radius > 0 else np.zeros_like(away)


def choose_places(names: Sequence[str]) -> list[str]:
    """Choose the features that say where a thing is: those called so, else all that are not called speeds.

    A name is read word by word. Of earlier frames (`x@-1`) none is chosen.

    >>> choose_places(["x", "y", "vx", "vy", "angle"]), choose_places(["pos_x", "vel_x"]), choose_places(["a", "speed"])
    (['x', 'y'], ['pos_x'], ['a'])
    """
    words = {name: set(re.findall("[a-z]+", name.lower())) for name in names if "@" not in name}
    still = [name for name, parts in words.items() if not parts & MOTIONS]
    return [name for name in still if words[name] & PLACES] or still


def find_places(replica: Replica, given: Sequence[str] | None) -> list[str]:
    """Find the features that distance is measured in: as given, as the recording says, or by their names."""
    data = replica.train
    own = data.features[data.own] if data.own is not None else ()
    listed = data.metadata.get("places") if given is None else given
    if listed is None:
        others = {name for factor in data.factors if factor != data.own for name in data.features[factor]}
        return choose_places([name for name in own if name in others])
    unknown = next((name for name in listed if data.own is not None and name not in own), None)
    if unknown is not None:
        hint = suggest(str(unknown), own) or f"; it has {', '.join(own)}."
        raise LearnError(f"The outcome's own factor '{data.own}' has no feature {quote(unknown)} (places){hint}")
    return list(listed)


def distances(encoder: Encoder, encoded: Encoded, places: Collection[str] | None = None) -> Array:
    """Measure, (rows, factors), the distance to the own factor in the places shared; infinite where there are none.

    Without `places` all features shared count as such.

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
    measured = [span for span in spans(encoder) if not span.categorical and (places is None or span.feature in places)]
    before = {span.feature: _raw(encoder, encoded, own, span.start) for span in measured if span.factor == own}
    for factor in range(away.shape[1]):
        shared = [span for span in measured if span.factor == factor and span.feature in before]
        if factor != own and shared:
            squares = [(_raw(encoder, encoded, factor, s.start) - before[s.feature]) ** 2 for s in shared]
            away[:, factor] = np.sqrt(np.sum(squares, axis=0))
    if encoded.present is not None:
        away[~encoded.present] = np.inf
    return away


def best_radius(nearest: Array, surprise: Array) -> float:
    """Find the radius within which rows surprise most; 0 where nearness and surprise do not go together.

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
    """Read one column in the recording's own units."""
    shown = encoded.inputs[:, factor, column].astype(np.float64)
    return np.asarray(shown * encoder.scale[factor, column] + encoder.mean[factor, column])


def _nothing(replica: Replica, places: Sequence[str]) -> str:
    if replica.train.own is None:
        return "The outcome has no own factor to be near to, so no factor is ever named; use another method."
    if not places:
        return "No factor shares a place with the outcome, so none is ever named; say which features are 'places'."
    return "No radius separates rows that surprise from others, so no factor is ever named; use another method."
