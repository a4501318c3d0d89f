"""Categories that are text: kept as numbers in the rows, as text in the metadata.

`metadata["categorical"]` lists the features that are categories, as learners take them: `door.state`, and
`next.state` for the outcome's. Where the values are text, `metadata["categories"]` has the texts of each, and a row
holds the position of its text in that list. Features of one name have one list, whatever their factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DataError, quote
from .layout import Layout, check_name
from .row_arrays import AnyRowArrays
from .tables import is_missing
from .validate import Array

MOST = 64  # texts of a feature; learners have a column for each
UNKNOWN = -1.0  # the code of a text that a learner has never seen

Categories = Mapping[str, tuple[str, ...]]  # the texts of each feature, by its name


def list_features(layout: Layout) -> list[str]:
    """List what may be categorical: `factor.feature` of all factors, and `next.feature` of the outcome."""
    state = [f"{factor}.{feature}" for factor in layout.factors for feature in layout.features[factor]]
    return [*state, *(f"next.{feature}" for feature in layout.outcome_features)]


def read_categorical(given: Any, layout: Layout) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Read the mapping's `categorical`: features or whole factors, in a list, or in a table with their texts.

    A feature of the outcome's own factor is categorical before the step and after it.
    """
    known = list_features(layout)
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not isinstance(given, Mapping) and not listed:
        raise DataError(f"'categorical' must be a list such as ['door.state']. Got {quote(given)} instead.")
    found: dict[str, None] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for name in given:
        if name in layout.factors:
            features = [f"{name}.{feature}" for feature in layout.features[name]]
        else:
            refusal = f"Unknown categorical feature {quote(name)}"
            features = [check_name(name, known, refusal, "the features are")]
        found |= dict.fromkeys(features)
        values = given[name] if isinstance(given, Mapping) else None
        if values is not None and (isinstance(values, str) or not isinstance(values, Sequence) or not values):
            raise DataError(f"The categories of '{name}' must be a list of its values. Got {quote(values)} instead.")
        if values is not None and any(isinstance(value, str) for value in values):  # numbers stay as they are
            texts |= {feature.partition(".")[2]: tuple(map(str, values)) for feature in features}
    own = [f"next.{name}" for name in layout.outcome_features if layout.own and f"{layout.own}.{name}" in found]
    return [name for name in known if name in {*found, *own}], texts


class TextCollector:
    """Collects the texts of categorical features, chunk by chunk; features with numbers alone have none."""

    def __init__(self) -> None:
        self._texts: dict[str, set[str]] = {}
        self._is_text: set[str] = set()

    def add(self, feature: str, values: Array) -> None:
        """Look at some values of a feature."""
        if values.dtype.kind in "fiub":
            seen = {f"{value:g}" for value in np.unique(values[np.isfinite(values)]).tolist()[: MOST + 1]}
        else:
            seen = {str(value).strip() for value in values.tolist() if not is_missing(value)}
            if not all(map(_is_number, seen)):
                self._is_text.add(feature)
        held = self._texts.setdefault(feature, set())
        held |= seen
        if feature in self._is_text and len(held) > MOST:
            raise DataError(f"The categorical feature '{feature}' has more than {MOST} texts; give it as a number.")

    def categories(self) -> dict[str, tuple[str, ...]]:
        """Return the texts of every feature that has some, in their order."""
        return {feature: tuple(sorted(self._texts[feature])) for feature in self._texts if feature in self._is_text}


def as_codes(values: Array, column: str, first: int, texts: Sequence[str]) -> Array:
    """Return the position of each text, NaN where a value is missing; another text is refused with its row.

    >>> as_codes(np.array(["open", "", "shut"], dtype=object), "door", 0, ("open", "shut"))
    array([ 0., nan,  1.])
    """
    if values.dtype.kind in "fiub" and all(map(_is_number, texts)):
        values = np.array([f"{value:g}" for value in values.tolist()], dtype=object)
    codes = {text: float(position) for position, text in enumerate(texts)}
    found = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        code = np.nan if is_missing(value) else codes.get(str(value).strip())
        if code is None:
            raise DataError(
                f"Column '{column}' must hold one of its categories {', '.join(texts[:8])}"
                f"{', …' if len(texts) > 8 else ''}. Got {quote(value)} in row {first + row + 1} instead."
            )
        found[row] = code
    return found


def describe_categories(categorical: Iterable[str], categories: Categories) -> dict[str, Any]:
    """Return what the metadata say of categories; nothing where there are none."""
    names = list(categorical)
    texts = {name: list(categories[feature]) for name in names if (feature := name.partition(".")[2]) in categories}
    return ({"categorical": names} if names else {}) | ({"categories": texts} if texts else {})


def recode_texts(data: AnyRowArrays, wanted: Mapping[str, Sequence[str]]) -> AnyRowArrays:
    """Return the rows with the codes of another recording: the same text is the same number in both."""
    known = data.metadata.get("categories", {})
    changed = [name for name in wanted if name in known and list(known[name]) != list(wanted[name])]
    if not changed:
        return data
    state, outcome, layout = data.state.copy(), data.outcome.copy(), data.layout
    for name in changed:
        factor, _, feature = name.partition(".")
        if factor == "next":
            values = outcome[:, layout.outcome_features.index(feature)]
        else:
            values = state[:, layout.index(factor), layout.features[factor].index(feature)]
        values[:] = recode(values, known[name], wanted[name])
    arrays = {name: getattr(data, name) for name in ("cause", "mask", "episode", "extra")}
    metadata = {**data.metadata, "categories": {**known, **{name: list(wanted[name]) for name in changed}}}
    return type(data).of(layout, state=state, outcome=outcome, metadata=metadata, **arrays)


def recode(values: Array, known: Sequence[str], wanted: Sequence[str]) -> Array:
    """Return codes of the texts `known` as codes of the texts `wanted`; texts that are not wanted get `UNKNOWN`.

    >>> recode(np.array([0.0, 1.0, 2.0]), ["open", "ajar", "shut"], ["shut", "open"])
    array([ 1., -1.,  0.])
    """
    table = np.array([float(wanted.index(text)) if text in wanted else UNKNOWN for text in known])
    return np.asarray(table[values.astype(np.int64)], dtype=values.dtype)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
