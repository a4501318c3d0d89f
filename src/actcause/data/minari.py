"""Minari data sets: observations that are a Dict of factors, or flat arrays that are cut into factors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DataError, import_extra, quote
from .categories import MOST
from .kinds import describe_kinds
from .layout import Layout, check_factor, check_name
from .observations import FLAT, Factors, split_observation
from .row_arrays import concatenate
from .transitions import Transitions
from .validate import Array


def from_minari(
    dataset: Any,
    outcome: str,
    *,
    own: str | None = None,
    action: str | None = "action",
    factors: Factors = None,
    features: Mapping[str, Sequence[str]] | None = None,
    outcome_features: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    classes: Mapping[str, str] | None = None,
    places: Sequence[str] | None = None,
    periods: Mapping[str, float] | None = None,
    cause: str | None = None,
    history: int = 0,
    differences: bool | Sequence[str] = False,
) -> Transitions:
    """Read every step of every episode as a transition.

    `dataset` is a `minari.MinariDataset`, the id of one that is stored here, or any iterable of episodes.
    Every entry of the observation is a factor (`factors` chooses some, or says which slices are which), and so are the
    actions, under the name `action` (None leaves them out). The outcome is the factor `outcome` one step later, or some
    `outcome_features` of it; `own` defaults to it. `categorical` lists features or factors that are categories;
    discrete actions of a Minari data set are. `classes`, `places` and `periods` are those of `Transitions`. An object
    all of whose values are NaN is absent. `cause` names an entry of the episode's infos that holds the true causes, in
    the order of the factors. `history` and `differences` are those of `Transitions.with_history`.

    >>> from types import SimpleNamespace
    >>> observations = {"ball": np.arange(4.0)[:, None], "paddle": np.zeros((4, 1))}
    >>> episode = SimpleNamespace(id=7, observations=observations, actions=np.array([0, 1, 0]), infos={})
    >>> data = from_minari([episode], outcome="ball")
    >>> data, data.outcome.ravel()
    (<Transitions: 3 rows in 1 episodes of ball, paddle, action; outcome ball>, array([1., 2., 3.]))

    A flat observation is cut into factors:

    >>> flat = SimpleNamespace(observations=np.arange(12.0).reshape(3, 4), actions=np.zeros((2, 1)))
    >>> from_minari([flat], "block", factors={"hand": "observation[0:2]", "block": slice(2, 4)}).factors
    ('hand', 'block', 'action')
    """
    parts: list[Transitions] = []
    numbers: list[int] = []
    layout: Layout | None = None
    dataset = _load(dataset)
    acts_discretely = _is_discrete(getattr(dataset, "action_space", None))
    for position, episode in enumerate(_episodes(dataset)):
        columns = _columns(episode, action, factors)
        after = check_factor(outcome, tuple(columns), "outcome")
        steps = len(columns[after]) - 1
        if steps < 1:
            continue
        if layout is None:
            layout = _layout(columns, features, own or outcome, outcome, outcome_features)
            kinds = [*categorical, *([action] if action in layout.factors and acts_discretely else [])]
            metadata = describe_kinds(
                layout, {}, categorical=kinds or None, classes=classes, places=places, periods=periods
            )
        own_number = getattr(episode, "id", None)
        number = int(own_number) if isinstance(own_number, (int, np.integer)) else position
        numbers.append(number)
        parts.append(_transitions(layout, columns, steps, number, _truth(episode, cause, steps), metadata))
    if not parts:
        raise DataError("There must be at least one episode with a step. Got none.")
    if len(set(numbers)) < len(numbers):  # of several data sets: episodes of one number would seem to be one
        parts = [part.replaced(episode=np.full(len(part), position)) for position, part in enumerate(parts)]
    if any(part.mask is not None for part in parts):
        every = [np.ones(part.state.shape[:2], bool) if part.mask is None else part.mask for part in parts]
        parts = [part.replaced(mask=mask) for part, mask in zip(parts, every, strict=True)]
    return concatenate(parts).with_history(history, differences=differences)


def _load(dataset: Any) -> Any:
    if not isinstance(dataset, str):
        return dataset
    minari = import_extra("minari", "Reading a Minari data set by its id", "minari")
    try:
        return minari.load_dataset(dataset)
    except (FileNotFoundError, ValueError) as wrong:
        raise DataError(f"Minari cannot load {quote(dataset)}: {str(wrong).strip().rstrip('.')}.") from wrong


def _is_discrete(space: Any) -> bool:
    """Tell whether actions are of few kinds, without importing Gymnasium."""
    count = getattr(space, "n", None) if type(space).__name__ == "Discrete" else None
    return isinstance(count, (int, np.integer)) and int(count) <= MOST


def _episodes(dataset: Any) -> Iterator[Any]:
    every = dataset.iterate_episodes() if hasattr(dataset, "iterate_episodes") else dataset
    if not isinstance(every, Iterable):
        raise DataError(f"A Minari data set or a list of episodes is needed. Got {quote(dataset)} instead.")
    yield from every


def _columns(episode: Any, action: str | None, factors: Factors) -> dict[str, Array]:
    observed = getattr(episode, "observations", None)
    entries = observed if isinstance(observed, Mapping) else {FLAT: observed}
    columns = {str(name): _table(values, str(name)) for name, values in entries.items()}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise DataError(f"The entries of an observation must be equally long. Got {sorted(lengths)} instead.")
    if action is not None:
        if action in columns:
            raise DataError(f"The observation has an entry '{action}' already: give the actions another name.")
        acted = _table(episode.actions, action)
        [seen] = lengths
        if len(acted) != seen - 1:
            raise DataError(f"{len(acted)} actions need {len(acted) + 1} observations. Got {seen} in an episode.")
        columns[action] = acted
    if factors is None and isinstance(observed, Mapping):
        return columns
    chosen = split_observation({FLAT: columns[FLAT]} if factors is None else columns, factors)
    acts = isinstance(factors, Mapping) and action is not None and not _mentions(factors, action)
    return chosen | ({str(action): columns[str(action)]} if acts else {})


def _mentions(factors: Mapping[str, Any], entry: str) -> bool:
    """Tell whether some factor is this entry, or a part of it."""
    written = [part for each in factors.values() for part in (each if isinstance(each, (list, tuple)) else [each])]
    return any(isinstance(part, str) and part.partition("[")[0] == entry for part in written)


def _table(values: Any, name: str) -> Array:
    """Return one row for each step: scalars get a column, larger arrays are laid out flat."""
    array = np.asarray(values) if not isinstance(values, (Mapping, tuple)) else np.empty(0, dtype=object)
    if array.dtype.kind not in "fiub" or array.ndim < 1:
        raise DataError(f"Entry '{name}' must be an array of numbers, one row a step; nested entries are not factors.")
    return array.reshape(len(array), -1)


def _layout(
    columns: Mapping[str, Array],
    features: Mapping[str, Sequence[str]] | None,
    own: str,
    outcome: str,
    outcome_features: Sequence[str] | None,
) -> Layout:
    named = {name: [f"x{position}" for position in range(values.shape[1])] for name, values in columns.items()}
    for name, given in (features or {}).items():
        wanted = len(named[check_factor(name, tuple(columns), "features")])
        if len(given) != wanted:
            raise DataError(f"'{name}' has {wanted} features. Got {len(given)} names.")
        named[name] = list(given)
    for name in outcome_features or ():
        check_name(name, named[outcome], f"The outcome '{outcome}' has no feature {quote(name)}", "its features are")
    chosen = named[outcome] if outcome_features is None else list(outcome_features)
    return Layout.build(tuple(columns), named, own=own, outcome_factor=outcome, outcome_features=chosen)


def _transitions(
    layout: Layout,
    columns: Mapping[str, Array],
    steps: int,
    number: int,
    cause: Array | None,
    metadata: Mapping[str, Any],
) -> Transitions:
    single = all(values.dtype == np.float32 for values in columns.values() if values.dtype.kind == "f")
    state = np.zeros((steps, len(layout.factors), layout.width), dtype=np.float32 if single else np.float64)
    for position, factor in enumerate(layout.factors):
        values = columns.get(factor)
        if values is None or values.shape[1] != len(layout.features[factor]):
            raise DataError(
                f"All episodes must have the same factors and features: '{factor}' differs in episode {number}."
            )
        state[:, position, : values.shape[1]] = values[:steps]
    named = layout.features[layout.outcome_factor]
    chosen = [named.index(name) for name in layout.outcome_features]
    following = columns[layout.outcome_factor][1 : steps + 1, chosen].astype(state.dtype)
    return Transitions.of(
        layout, state=state, outcome=following, cause=cause, episode=np.full(steps, number), metadata=metadata
    )


def _truth(episode: Any, key: str | None, steps: int) -> Array | None:
    """Read the true causes; where the infos of the reset stand before those of the steps, they are left out."""
    if key is None:
        return None
    infos = getattr(episode, "infos", None) or {}
    if key not in infos:
        raise DataError(f"The infos of an episode have no entry {quote(key)}; they have {', '.join(infos) or 'none'}.")
    values = np.asarray(infos[key])
    return values[len(values) - steps :]
