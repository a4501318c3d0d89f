"""From transitions to the numbers that networks see, fitted on training data only.

A factor is shown as its standardised features, its position relative to the outcome's own previous value
(where both have a feature of that name), and whether it is there at all. The target is the outcome's change.
Categorical features become one column for each value seen in training, angles three (`angles.py`): the value, its
cosine and its sine. What has a heavy tail is compressed (`heavy_tails.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...data import Transitions
from ...data.layout import Layout
from ...errors import DataError, quote, suggest
from ..errors import LearnError
from .angles import find_periods, find_rotations, turn_back, wrap
from .heavy_tails import compress, expand, find_bound

Array = np.ndarray[Any, Any]
ARRAYS = ("mean", "scale", "target_mean", "target_scale")
STILL = 1e-6  # spreads below this share of the values' size are rounding, not variation


@dataclass(frozen=True)
class Encoded:
    """Rows as float32 arrays: `inputs` (rows, factors, columns), `target` (rows, outcome columns), `present`."""

    inputs: Array
    target: Array
    present: Array | None

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, rows: slice | Array) -> Encoded:
        there = None if self.present is None else self.present[rows]
        return Encoded(self.inputs[rows], self.target[rows], there)

    def blocks(self, size: int) -> list[Encoded]:
        """Cut the rows into blocks of at most this size."""
        return [self[at : at + size] for at in range(0, len(self), size)]


@dataclass(frozen=True)
class Encoder:
    """How one recording's rows become network inputs; `fit` it on training rows, `encode` any.

    >>> from actcause.data import collect
    >>> data = collect("1-in", 1000)
    >>> encoder = Encoder.fit(data)
    >>> encoded = encoder.encode(data)
    >>> encoded.inputs.shape, encoded.target.shape, encoder.own
    ((1000, 2, 8), (1000, 4), 1)
    """

    layout: Layout
    classes: tuple[str, ...]  # the class of each factor, in their order
    categories: Mapping[tuple[str, str], tuple[float, ...]]  # (factor or "next", feature): values seen
    mean: Array  # (factors, columns)
    scale: Array
    target_mean: Array  # (outcome columns,)
    target_scale: Array
    periods: Mapping[str, float] = field(default_factory=dict)  # of features that are angles: a full turn
    rotations: tuple[tuple[int, ...], ...] = ()  # outcome features that are a quaternion, four each
    bounds: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (factor or "next", feature) of heavy tails

    @classmethod
    def fit(
        cls, data: Transitions, *, classes: Mapping[str, str] | None = None, categorical: Iterable[str] | None = None
    ) -> Encoder:
        """Fit it to these rows; classes and categorical features default to what the recording's metadata says."""
        named = _classes(data, data.metadata.get("classes") if classes is None else classes)
        listed = data.metadata.get("categorical", ()) if categorical is None else categorical
        categories = _categories(data, listed)
        blank = cls(data.layout, named, categories, *(np.zeros(0),) * 4, find_periods(data), find_rotations(data))
        blank = replace(blank, bounds=blank._find_bounds(data))
        raw = blank._columns(data)
        mean, scale = _spread(raw, data.mask)
        for same in set(named):  # factors of one class are measured with one ruler
            rows = [position for position, name in enumerate(named) if name == same]
            if len(rows) > 1:
                centre = mean[rows].mean(axis=0)
                scale[rows] = np.sqrt((scale[rows] ** 2 + (mean[rows] - centre) ** 2).mean(axis=0))
                mean[rows] = centre
        relative = blank._width()
        mean[:, relative:] = 0  # a difference of 0 is contact: it stays 0
        target = blank._target(data)
        target_mean, target_scale = _spread(target[:, None], None)
        return replace(blank, mean=mean, scale=scale, target_mean=target_mean[0], target_scale=target_scale[0])

    @property
    def own(self) -> int | None:
        """The position of the outcome's own factor."""
        return None if self.layout.own is None else self.layout.index(self.layout.own)

    @property
    def class_index(self) -> list[int]:
        """A number for each factor's class."""
        order = list(dict.fromkeys(self.classes))
        return [order.index(name) for name in self.classes]

    @property
    def columns(self) -> int:
        """Numbers per factor, without those of the outcome's own factor beside it."""
        return int(self.mean.shape[1])

    @property
    def own_columns(self) -> int:
        """Columns that a factor has before its relative ones, which are differences to the outcome's own."""
        return self._width()

    def list_measured_columns(self, factor: str) -> dict[str, int]:
        """List the column of each feature of a factor that is no category."""
        found, at = {}, 0
        for name in self.layout.features[factor]:
            if (factor, name) not in self.categories:
                found[name] = at
            at += self.count_columns(factor, name)
        return found

    def count_columns(self, factor: str, feature: str) -> int:
        """Count the columns of a feature: of a category one for each value, of an angle three."""
        seen = self.categories.get((factor, feature))
        return len(seen) if seen is not None else 3 if feature in self.periods else 1

    @property
    def width(self) -> int:
        """Numbers per factor as networks see them: its own, and those of the outcome's own factor."""
        return self.columns * (1 if self.own is None else 2)

    @property
    def outputs(self) -> int:
        """Numbers of the target."""
        return len(self.target_scale)

    def encode(self, data: Transitions) -> Encoded:
        """Encode rows of the same layout as float32."""
        if _names(data.layout) != _names(self.layout):
            raise LearnError(
                f"The data must have the factors, features and outcome that were trained on "
                f"({', '.join(self.layout.factors)}; outcome {self.layout.outcome_factor}). "
                f"Got {', '.join(data.factors)}; outcome {data.outcome_factor}."
            )
        inputs = ((self._columns(data) - self.mean) / self.scale).astype(np.float32)
        target = ((self._target(data) - self.target_mean) / self.target_scale).astype(np.float32)
        if data.mask is not None:
            inputs *= data.mask[:, :, None]
        # A copy, since torch warns of arrays that are read-only.
        return Encoded(inputs, target, None if data.mask is None else data.mask.copy())

    def with_target_scale(self, target_scale: Array) -> Encoder:
        """Copy it with another spread of the target."""
        return replace(self, target_scale=target_scale)

    # -- columns -----------------------------------------------------------------------------------

    def _width(self) -> int:
        """Count the columns that a factor has before its relative ones."""
        return max(
            sum(self.count_columns(factor, feature) for feature in features)
            for factor, features in self.layout.features.items()
        )

    def _columns(self, data: Transitions) -> Array:
        layout, width = self.layout, self._width()
        own = layout.features[layout.own] if layout.own is not None else ()
        measured = [name for name in own if (layout.own, name) not in self.categories]
        shared = [
            (position, layout.features[factor].index(name), k)
            for position, factor in enumerate(layout.factors)
            for k, name in enumerate(measured)
            if factor != layout.own and name in layout.features[factor] and (factor, name) not in self.categories
        ]
        used = sorted({k for _, _, k in shared})
        columns = np.zeros((len(data), len(layout.factors), width + len(used)))
        for position, factor in enumerate(layout.factors):
            at = 0
            for feature, name in enumerate(layout.features[factor]):
                values = data.state[:, position, feature]
                seen = self.categories.get((factor, name))
                if seen is not None:
                    columns[:, position, at : at + len(seen)] = values[:, None] == np.asarray(seen)
                elif name in self.periods:
                    turned = values * (2 * math.pi / self.periods[name])
                    columns[:, position, at : at + 3] = np.stack([values, np.cos(turned), np.sin(turned)], axis=1)
                else:
                    columns[:, position, at] = compress(values, self.bounds.get((factor, name), math.inf))
                at += self.count_columns(factor, name)
        for position, feature, k in shared:
            before = data.state[:, layout.index(layout.own or ""), own.index(measured[k])]
            columns[:, position, width + used.index(k)] = data.state[:, position, feature] - before
        return columns

    def _change(self, data: Transitions) -> Array:
        """Return the outcome's change in float64, the short way round: (rows, outcome features)."""
        change = data.change.astype(np.float64)
        for k, _ in self.layout.shared:
            turn = self.periods.get(self.layout.outcome_features[k])
            if turn is not None:
                change[:, k] = wrap(change[:, k], turn)
        for rotation in self.rotations:
            turn_back(change, data.outcome, rotation)
        return change

    def _find_bounds(self, data: Transitions) -> dict[tuple[str, str], float]:
        """Find what is to be compressed: features that the outcome's own factor does not share, and the outcome's."""
        own = data.layout.own
        others = {name for factor in data.factors if factor != own for name in data.features[factor]}
        shared = {name for name in data.features[own] if name in others} if own is not None else set()
        found: dict[tuple[str, str], float] = {}
        for same in dict.fromkeys(self.classes):
            members = [k for k, name in enumerate(self.classes) if name == same]
            for feature, name in enumerate(data.features[data.factors[members[0]]]):
                if name not in shared and name not in self.periods:
                    values = data.state[:, members, feature].ravel()
                    found |= {(data.factors[k], name): find_bound(values) for k in members}
        change = self._change(data)
        found |= {("next", name): find_bound(change[:, k]) for k, name in enumerate(data.outcome_features)}
        return {key: bound for key, bound in found.items() if math.isfinite(bound) and key not in self.categories}

    def _target(self, data: Transitions) -> Array:
        parts, change = [], self._change(data)
        for k, name in enumerate(self.layout.outcome_features):
            seen = self.categories.get(("next", name))
            if seen is None:
                parts.append(compress(change[:, k : k + 1], self.bounds.get(("next", name), math.inf)))
            else:
                parts.append((data.outcome[:, k : k + 1] == np.asarray(seen)).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def decode(self, data: Transitions, predicted: Array) -> Array:
        """Decode outputs of a network for these rows, (…, rows, outputs), to the outcome, (…, rows, features)."""
        values = predicted * self.target_scale + self.target_mean
        found = np.empty((*values.shape[:-1], len(self.layout.outcome_features)))
        before = dict(self.layout.shared)
        at = 0
        for feature, name in enumerate(self.layout.outcome_features):
            seen = self.categories.get(("next", name))
            if seen is not None:
                found[..., feature] = np.asarray(seen)[values[..., at : at + len(seen)].argmax(axis=-1)]
                at += len(seen)
                continue
            found[..., feature] = expand(values[..., at], self.bounds.get(("next", name), math.inf))
            if feature in before:  # what networks predict is its change
                found[..., feature] += data.state[:, self.own or 0, before[feature]]
                if name in self.periods:  # as near to what came as the same angle can be
                    apart = found[..., feature] - data.outcome[:, feature]
                    found[..., feature] = data.outcome[:, feature] + wrap(apart, self.periods[name])
            at += 1
        return found

    # -- files -------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` needs besides the layout."""
        return {
            "classes": list(self.classes),
            "categories": [[*key, list(values)] for key, values in self.categories.items()],
            "periods": dict(self.periods),
            "rotations": [list(four) for four in self.rotations],
            "bounds": [[*key, bound] for key, bound in self.bounds.items()],
            **{name: getattr(self, name).tolist() for name in ARRAYS},
        }

    @classmethod
    def from_json(cls, layout: Layout, document: Mapping[str, Any]) -> Encoder:
        """Read the encoder that `to_json` described."""
        try:
            arrays = {name: np.asarray(document[name], dtype=np.float64) for name in ARRAYS}
            categories = {(str(f), str(n)): tuple(map(float, v)) for f, n, v in document["categories"]}
            encoder = cls(
                layout,
                tuple(map(str, document["classes"])),
                categories,
                **arrays,
                periods={str(name): float(turn) for name, turn in document.get("periods", {}).items()},
                rotations=tuple(tuple(map(int, four)) for four in document.get("rotations", ())),
                bounds={(str(f), str(n)): float(bound) for f, n, bound in document.get("bounds", ())},
            )
        except (KeyError, TypeError, ValueError) as wrong:
            raise LearnError(f"Not a description of an encoder: {quote(wrong)}.") from wrong
        if len(encoder.classes) != len(layout.factors) or encoder.mean.shape != encoder.scale.shape:
            raise LearnError("The description of the encoder does not fit the layout: it has other shapes.")
        return encoder


def _names(layout: Layout) -> tuple[Any, ...]:
    """Keep what a learner needs to know of a layout: which factors are scored does not matter to it."""
    features = tuple(layout.features[factor] for factor in layout.factors)
    return (layout.factors, features, layout.outcome_factor, layout.outcome_features, layout.own)


def _spread(values: Array, mask: Array | None) -> tuple[Array, Array]:
    """Measure mean and standard deviation of each column, of present factors only; 1 where nothing varies."""
    weights = np.ones((*values.shape[:2], 1)) if mask is None else mask[:, :, None].astype(np.float64)
    total = np.maximum(weights.sum(axis=0), 1)
    mean = (values * weights).sum(axis=0) / total
    std = np.sqrt((((values - mean) ** 2) * weights).sum(axis=0) / total)
    return mean, np.where(std > STILL * np.maximum(np.abs(mean), 1e-12), std, 1.0)


def _classes(data: Transitions, given: Mapping[str, str] | None) -> tuple[str, ...]:
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise LearnError(f"The classes must be a mapping from factors to names. Got {quote(given)} instead.")
    for factor in given:
        if factor not in data.factors:
            raise LearnError(f"Unknown factor '{factor}' (classes){suggest(str(factor), data.factors) or '.'}")
    named = {factor: str(given.get(factor, factor)) for factor in data.factors}
    shapes: dict[str, tuple[str, ...]] = {}
    for factor, name in named.items():
        if shapes.setdefault(name, data.features[factor]) != data.features[factor]:
            raise LearnError(f"The factors of class '{name}' must have the same features; '{factor}' has others.")
    return tuple(named.values())


def _categories(data: Transitions, listed: Iterable[str]) -> dict[tuple[str, str], tuple[float, ...]]:
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise LearnError(f"Categorical features must be a list such as ['lamp.on']. Got {quote(listed)} instead.")
    for name in listed:
        factor, _, feature = str(name).partition(".")
        if factor == "next":
            feature = feature.removeprefix(f"{data.outcome_factor}.")
            names, values = data.outcome_features, data.outcome
        elif factor in data.factors:
            names, values = data.features[factor], data.state[:, data.layout.index(factor)]
        else:
            raise LearnError(
                f"Unknown factor in categorical feature {quote(name)}{suggest(factor, data.factors) or '.'}"
            )
        if feature not in names:
            raise LearnError(f"Unknown categorical feature {quote(name)}{suggest(feature, names) or '.'}")
        seen = np.unique(values[:, names.index(feature)])
        if len(seen) > 64:
            raise DataError(
                f"The categorical feature '{name}' has {len(seen)} values; 64 are the most, so give it as a number."
            )
        found[factor, feature] = tuple(map(float, seen))
    return found
