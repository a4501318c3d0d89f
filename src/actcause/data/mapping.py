"""Which column is what, in files that are not ours.

A mapping is a dictionary, or a JSON or TOML file that holds one, with these keys, all optional where the
columns are named as in our own files:

- `factors`: for each factor its columns, a list, `{feature: column}`, or a slice of an array: `obs[0:3]`. Default:
  every column `factor.feature`.
- `features`: `{factor: names}` of the features, where `factors` does not name them. Default: the last part of the
  columns' names; of a slice `x0`, `x1`, ….
- `outcome`: `{name: columns of the next value}`. If the name is a factor's, the columns are its features one
  step later, in the same order or as `{feature: column}`. Or only a factor's name: its next value is then
  what the following row of the same episode holds, and the last row of every episode is left out. Default:
  the columns `next.factor.feature`. A column of the state cannot be its own outcome.
- `outcome_features`: those of the outcome's features that are explained. Default: all.
- `own`: the factor that holds the outcome's own previous value. Default: the outcome's, if it is a factor.
- `episode`: the column that tells episodes apart, numbers or text. Default: `episode`; false for none. The
  rows of an episode must be together if the outcome is taken from the following row.
- `cause`: `{factor: column of true or false}`. Default: the columns `cause.factor`. Factors without one count
  as no cause and are not scored.
- `present`: `{factor: column}`, false where the object is absent. Default: the columns `present.factor`; a factor
  without one is absent where all of its values are missing.
- `categorical`: the features that are categories, numbers or text: `["door.state", "action"]`, a factor's name standing
  for all of its features; or `{"door.state": ["open", "shut"]}` with their values. Kept in the metadata.
- `classes`: `{factor: class}` for factors that are of one kind, so that a learner may treat them alike; they
  must have the same features. Default: every factor is a class of its own. Kept in the metadata.
- `places`: the features that say where a thing is, for distances. Kept in the metadata.
- `periods`: `{feature: full turn}` of the features that begin anew after one: `{"heading": 360}`. Kept in the metadata.
  Default: what fills a turn of 360 or 2 pi and is called an angle, or steps over the end of the turn.
- `history`: how many past frames become features (`x@-1`, `x@-2`, …). `differences`: true, or a list of features whose
  change since the last frame becomes one (`x.change`). The first rows of an episode, which lack a past, are left out.
- `edges`: the factors that are scored. `metadata`: whatever shall be kept with the data.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import DataError, quote
from .array_columns import find_columns
from .categories import read_categorical
from .history import Past
from .kinds import read_classes, read_periods, read_places
from .layout import RESERVED, Layout, check_factor, check_name
from .parquet import check_readable

KEYS = (
    "factors", "features", "outcome", "outcome_features", "own", "episode", "cause", "present", "categorical", "edges",
    "classes", "places", "periods", "history", "differences", "metadata",
)  # fmt: skip
OF_ANY_FILE = ("history", "differences")  # keys that need not know the columns
MAX_BYTES = 10_000_000
EXAMPLE = '{"factors": {"ball": ["bx", "by"]}, "outcome": {"ball": ["next_bx", "next_by"]}}'


@dataclass(frozen=True)
class ColumnMap:
    """What every column means; `following` is None where the next value is taken from the following row."""

    layout: Layout
    state: tuple[tuple[str, ...], ...]  # for each factor the columns of its features
    following: tuple[str, ...] | None
    episode: str | None
    cause: Mapping[str, str]
    present: Mapping[str, str]
    categorical: tuple[str, ...]  # `factor.feature` and `next.feature`
    categories: Mapping[str, tuple[str, ...]]  # the texts of categorical features that were given with them
    past: Past
    metadata: Mapping[str, Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        every = [*(name for names in self.state for name in names), *(self.following or ())]
        every += [*self.cause.values(), *self.present.values(), *([self.episode] if self.episode else [])]
        return tuple(dict.fromkeys(every))

    @property
    def categorical_columns(self) -> dict[str, str]:
        """The columns of categorical features, each with the feature's name."""
        layout, named = self.layout, set(self.categorical)
        found = {
            column: feature
            for factor, columns in zip(layout.factors, self.state, strict=True)
            for feature, column in zip(layout.features[factor], columns, strict=True)
            if f"{factor}.{feature}" in named
        }
        after = zip(layout.outcome_features, self.following or (), strict=self.following is not None)
        return found | {column: feature for feature, column in after if f"next.{feature}" in named}

    @property
    def names(self) -> dict[str, str]:
        """What the columns of our own files are called in this one."""
        layout = self.layout
        found = {f"cause.{factor}": column for factor, column in self.cause.items()}
        found |= {f"present.{factor}": column for factor, column in self.present.items()}
        for factor, columns in zip(layout.factors, self.state, strict=True):
            features = zip(layout.features[factor], columns, strict=True)
            found |= {f"{factor}.{feature}": column for feature, column in features}
        after = zip(layout.outcome_features, self.following or (), strict=self.following is not None)
        found |= {f"next.{layout.outcome_factor}.{feature}": column for feature, column in after}
        return found | ({"episode": self.episode} if self.episode else {})

    @classmethod
    def resolve(cls, columns: Sequence[str], given: Any = None) -> ColumnMap:
        """Match a mapping with the columns there are; a mistake is shown with the nearest name."""
        mapping = read_mapping(given)
        factors = _name_features(_factors(mapping.get("factors"), columns), mapping.get("features"))
        names = list(factors)
        outcome, features, following = _choose_features(
            mapping.get("outcome_features"),
            *_outcome(mapping.get("outcome"), factors, columns, mapping.get("outcome_features")),
        )
        _check_outcome(outcome, following, factors)
        own = mapping.get("own", outcome if outcome in factors else False)
        cause = _flags("cause", mapping.get("cause"), names, columns)
        present = _flags("present", mapping.get("present"), names, columns)
        edges = mapping.get("edges")
        if edges is None and cause:
            edges = [name for name in names if name in cause and name != own]
        layout = Layout.build(
            names,
            {factor: list(named) for factor, named in factors.items()},
            own=check_factor(own, names, "own") if own else None,
            outcome_factor=outcome,
            outcome_features=features,
            edges=edges,
        )
        episode = mapping.get("episode", "episode" if "episode" in columns else False)
        metadata = mapping.get("metadata", {})
        if not isinstance(metadata, Mapping):
            raise DataError(f"'metadata' of the mapping must be a table. Got {quote(metadata)} instead.")
        if mapping.get("classes") is not None:
            metadata = {**metadata, "classes": read_classes(mapping["classes"], layout)}
        if mapping.get("places") is not None:
            metadata = {**metadata, "places": read_places(mapping["places"], layout)}
        if mapping.get("periods") is not None:
            metadata = {**metadata, "periods": read_periods(mapping["periods"], layout)}
        categorical, categories = read_categorical(mapping.get("categorical", ()), layout)
        past = Past.read(mapping.get("history"), mapping.get("differences"))
        past.changing(layout, categorical)
        return cls(
            layout=layout,
            state=tuple(tuple(named.values()) for named in factors.values()),
            following=following,
            episode=_column(episode, columns) if episode else None,
            cause=cause,
            present=present,
            categorical=tuple(categorical),
            categories=categories,
            past=past,
            metadata=metadata,
        )


def read_mapping(given: Any) -> Mapping[str, Any]:
    """Read a dictionary, or the file that holds one, with known keys only."""
    if given is None:
        return {}
    if isinstance(given, (str, PathLike)):
        given = _mapping_file(Path(given))
    if not isinstance(given, Mapping):
        raise DataError(f"A mapping must be a table with the keys {', '.join(KEYS)}. Got {quote(given)} instead.")
    for key in given:
        check_name(key, KEYS, f"Unknown key {quote(key)} of the mapping", "its keys are")
    return given


def _mapping_file(path: Path) -> Any:
    check_readable(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path} is too large for a mapping.")
        text = path.read_text(encoding="utf-8-sig")
        return tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as wrong:
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise DataError(f"{path} is not a mapping in {kind}: {wrong}.") from wrong


# -- what the mapping says -------------------------------------------------------------------------


def _column(name: object, columns: Sequence[str]) -> str:
    found = find_columns(name, columns)
    if len(found) > 1:
        raise DataError(f"{quote(name)} is {len(found)} columns where one is wanted: say which, such as '{found[0]}'.")
    return found[0]


def _read_columns(given: Any, columns: Sequence[str], what: str) -> dict[str, str]:
    """Read features and their columns from a list (then the columns name the features), one name, or a table."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        return {str(feature): _column(column, columns) for feature, column in given.items()}
    if isinstance(given, Sequence) and given:
        found = [column for written in given for column in find_columns(written, columns)]
        twice = next((column for position, column in enumerate(found) if column in found[:position]), None)
        if twice is not None:
            raise DataError(f"Column '{twice}' stands twice in {what}: list it once.")
        names = [column.rsplit(".", 1)[-1] for column in found]
        in_arrays = found != list(given) or any(column.endswith("]") for column in found)
        if in_arrays:  # their parts have numbers, not names
            names = [f"x{position}" for position in range(len(found))]
        names = names if len(set(names)) == len(names) else found
        return dict(zip(names, found, strict=True))
    raise DataError(f"The columns of {what} must be a list of names. Got {quote(given)} instead.")


def _factors(given: Any, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    if given is not None:
        if not isinstance(given, Mapping) or not given:
            raise DataError(f"'factors' of the mapping must be a table of columns. Got {quote(given)} instead.")
        return {str(name): _read_columns(listed, columns, f"'{name}'") for name, listed in given.items()}
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        factor, dot, feature = column.partition(".")
        if dot and factor and feature and factor not in RESERVED:
            found.setdefault(factor, {})[feature] = column
    if not found:
        raise DataError(
            "The columns do not say what they are (none is named factor.feature): give {parameter}, in JSON such as "
            "{example}.",
            parameter="mapping",
            example=EXAMPLE,
        )
    return found


def _outcome(
    given: Any, factors: Mapping[str, Mapping[str, str]], columns: Sequence[str], chosen: Any
) -> tuple[str, list[str], tuple[str, ...] | None]:
    """Read the outcome's name, its features, and the columns of its next value (None: the following row's)."""
    marked: dict[str, dict[str, str]] = {}
    for column in columns:
        head, _, rest = column.partition(".")
        factor, dot, feature = rest.partition(".")
        if head == "next" and dot and factor and feature:
            marked.setdefault(factor, {})[feature] = column
    if given is None:
        if len(marked) != 1:
            found = f"are columns next.… of {len(marked)} factors" if marked else "is no column next.factor.feature"
            raise DataError(
                "The outcome is not named and there {found}: give {parameter}, in JSON such as {example}; a "
                "factor's name alone as 'outcome' is explained by the following row.",
                parameter="mapping",
                found=found,
                example=EXAMPLE,
            )
        given = next(iter(marked))
    if isinstance(given, str):
        if given in marked:
            return given, list(marked[given]), tuple(marked[given].values())
        return check_factor(given, tuple(factors), "outcome"), list(factors[given]), None
    if not isinstance(given, Mapping) or len(given) != 1:
        raise DataError(f"'outcome' of the mapping must be a table of one outcome's columns. Got {quote(given)}.")
    [(name, listed)] = given.items()
    found_columns = _read_columns(listed, columns, f"the outcome '{name}'")
    features = list(found_columns)
    if name in factors and not isinstance(listed, Mapping):
        features = list(factors[name])
        listed_alone = isinstance(chosen, Sequence) and len(chosen) == len(found_columns)
        if listed_alone and all(feature in features for feature in chosen):
            features = [str(feature) for feature in chosen]  # the columns are those of the features that are explained
        if len(features) != len(found_columns):
            raise DataError(
                f"'{name}' has {len(features)} features and {len(found_columns)} columns of the next value: "
                f"list as many, or say which is which ({{'x': 'next_x'}})."
            )
    return str(name), features, tuple(found_columns.values())


def _name_features(factors: dict[str, dict[str, str]], given: Any) -> dict[str, dict[str, str]]:
    """Give the features of factors the names that the mapping lists for them."""
    if given is None:
        return factors
    if not isinstance(given, Mapping):
        raise DataError(f"'features' of the mapping must be a table of factors and names. Got {quote(given)} instead.")
    named = dict(factors)
    for factor, names in given.items():
        columns = list(factors[check_factor(factor, tuple(factors), "features")].values())
        listed = isinstance(names, Sequence) and not isinstance(names, str)
        if not listed or len(set(map(str, names))) != len(columns):
            raise DataError(
                f"The features of '{factor}' must be {len(columns)} different names, one for each of its columns. "
                f"Got {quote(names)} instead."
            )
        named[factor] = dict(zip(map(str, names), columns, strict=True))
    return named


def _choose_features(
    given: Any, outcome: str, features: list[str], following: tuple[str, ...] | None
) -> tuple[str, list[str], tuple[str, ...] | None]:
    """Choose those of the outcome's features that are explained, with their columns."""
    if given is None:
        return outcome, features, following
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise DataError(f"'outcome_features' of the mapping must be a list of features. Got {quote(given)} instead.")
    refusal = f"The outcome '{outcome}' has no feature"
    chosen = [check_name(name, features, f"{refusal} {quote(name)}", "its features are") for name in given]
    columns = None if following is None else tuple(following[features.index(name)] for name in chosen)
    return outcome, chosen, columns


def _check_outcome(outcome: str, following: tuple[str, ...] | None, factors: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse an outcome that is read from a column of the state: it would never change, or explain itself."""
    of = {column: factor for factor, named in factors.items() for column in named.values()}
    shared = next((column for column in following or () if column in of), None)
    if shared is None:
        return
    remedy = f"or only the factor's name ('outcome': '{outcome}') for the value of the following row"
    raise DataError(
        f"The outcome '{outcome}' is read from column '{shared}', which holds '{of[shared]}' before the step: "
        f"give the column of its next value{f', {remedy}' if outcome in factors else ''}."
    )


def _flags(what: str, given: Any, factors: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    if given is None:
        return {factor: f"{what}.{factor}" for factor in factors if f"{what}.{factor}" in columns}
    if given is False:
        return {}
    if not isinstance(given, Mapping):
        raise DataError(f"'{what}' of the mapping must be a table of factors and columns. Got {quote(given)} instead.")
    return {check_factor(factor, factors, what): _column(column, columns) for factor, column in given.items()}
