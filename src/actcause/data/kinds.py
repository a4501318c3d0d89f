"""What the metadata say of factors and features: which are of one kind, categories, places, angles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import DataError, quote
from .categories import read_categorical
from .layout import Layout, check_factor, check_name


def read_classes(given: Any, layout: Layout) -> dict[str, str]:
    """Read the class of every factor: as given, else the factor's own name.

    >>> features = {"ball1": ["x"], "ball2": ["x"], "wall": ["at"]}
    >>> layout = Layout.build(list(features), features, own="wall")
    >>> read_classes({"ball1": "ball", "ball2": "ball"}, layout)
    {'ball1': 'ball', 'ball2': 'ball', 'wall': 'wall'}
    """
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given.values()):
        raise DataError(f"'classes' must be a table of factors and their classes. Got {quote(given)}.")
    named = {check_factor(factor, layout.factors, "classes"): str(name) for factor, name in given.items()}
    classes = {factor: named.get(factor, factor) for factor in layout.factors}
    first: dict[str, str] = {}
    for factor, name in classes.items():
        like = first.setdefault(name, factor)
        if layout.features[factor] != layout.features[like]:
            raise DataError(
                f"'{factor}' and '{like}' are both of class '{name}' and must have the same features. "
                f"Got {', '.join(layout.features[factor])} and {', '.join(layout.features[like])}: "
                "name the features alike or the classes differently."
            )
    return classes


def read_places(given: Any, layout: Layout) -> list[str]:
    """Read the features that say where a thing is."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise DataError(f"'places' must be a list such as ['x', 'y']. Got {quote(given)} instead.")
    known = sorted({name for named in layout.features.values() for name in named})
    return [check_name(name, known, f"Unknown feature {quote(name)} (places)", "the features are") for name in given]


def read_periods(given: Any, layout: Layout) -> dict[str, float]:
    """Read the features that begin anew after a full turn, with that turn.

    >>> read_periods({"heading": 360}, Layout.build(["car", "wind"], {"car": ["heading"], "wind": ["x"]}, own="car"))
    {'heading': 360.0}
    """
    if not isinstance(given, Mapping):
        raise DataError(
            f"'periods' must be a table of features and a full turn, such as {{'heading': 360}}. "
            f"Got {quote(given)} instead."
        )
    known = sorted({name for named in layout.features.values() for name in named})
    found = {}
    for name, turn in given.items():
        check_name(name, known, f"Unknown feature {quote(name)} (periods)", "the features are")
        if isinstance(turn, bool) or not isinstance(turn, (int, float)) or not 0 < turn < math.inf:
            raise DataError(f"The full turn of '{name}' (periods) must be a number above 0. Got {quote(turn)} instead.")
        found[str(name)] = float(turn)
    return found


def describe_kinds(
    layout: Layout,
    metadata: Mapping[str, Any] | None,
    *,
    categorical: Any = None,
    classes: Any = None,
    places: Any = None,
    periods: Any = None,
) -> dict[str, Any]:
    """Return the metadata with what was said of factors and features; unknown names are refused."""
    described = dict(metadata or {})
    if classes is not None:
        described["classes"] = read_classes(classes, layout)
    if places is not None:
        described["places"] = read_places(places, layout)
    if periods is not None:
        described["periods"] = read_periods(periods, layout)
    if categorical is not None:
        named, texts = read_categorical(categorical, layout)
        described["categorical"] = named
        if texts:
            raise DataError("In arrays categories are numbers: list the features alone, such as ['door.state'].")
    return described
