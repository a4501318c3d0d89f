"""The checks that rows pass when they are built; each refusal is one sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DataError, quote
from .layout import Layout

Array = np.ndarray[Any, Any]


def read_only(array: Array) -> Array:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_numbers(given: Any, what: str, dimensions: int, meaning: str, remedy: str) -> Array:
    """Return an array of float32 (kept if it is one) or float64."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError) as wrong:
        raise DataError(f"The {what} must be numbers of shape {meaning}. Got {quote(given)} instead.") from wrong
    if array.ndim != dimensions:
        hint = f"; {remedy} adds the last axis" if array.ndim == dimensions - 1 else ""
        raise DataError(f"The {what} must be of shape {meaning}. Got {array.shape} instead{hint}.")
    if not array.shape[-1]:
        raise DataError(f"The {what} must be of shape {meaning}. Got {array.shape}, without a single feature.")
    return array


def check_flags(given: Any, what: str, shape: tuple[int, int]) -> Array | None:
    """Return truth values of shape (rows, factors); 0 and 1 are taken for them."""
    if given is None:
        return None
    array = np.asarray(given)
    if array.shape != shape:
        raise DataError(f"The {what} must be of shape {shape} (rows, factors). Got {array.shape} instead.")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "fiu" or not bool(np.isin(array, (0, 1)).all()):
        odd = array if array.dtype.kind not in "fiu" else array[~np.isin(array, (0, 1))]
        [came] = odd.ravel()[:1].tolist()
        raise DataError(f"The {what} must be true or false for every row and factor. Got {quote(came)} instead.")
    return array.astype(np.bool_)


def mark_absent(state: Array, mask: Array | None, layout: Layout) -> Array | None:
    """Return the mask, false too where all features of a factor are NaN."""
    missing = np.isnan(state)
    if not bool(missing.any()):
        return mask
    gone = np.stack(
        [missing[:, k, : len(layout.features[name])].all(axis=1) for k, name in enumerate(layout.factors)], axis=1
    )
    return ~gone if mask is None else mask & ~gone


def zero_absent(state: Array, mask: Array | None, cause: Array | None, layout: Layout) -> Array:
    """Return the state with absent objects at 0, after checking that none of them acts."""
    if mask is None:
        return state
    absent, own = ~mask, layout.own
    if own is not None and bool(absent[:, layout.index(own)].any()):
        row = int(np.flatnonzero(absent[:, layout.index(own)])[0])
        raise DataError(f"'{own}' is absent in row {row}, where its next value is the outcome: leave such rows out.")
    if cause is not None and bool((cause & absent).any()):
        row, factor = np.argwhere(cause & absent)[0]
        raise DataError(f"'{layout.factors[factor]}' is absent in row {row} and named as a cause there.")
    if bool((state[absent] != 0).any()):
        state = state.copy()
        state[absent] = 0
    return state


def check_values(values: Array, layout: Layout, prefix: str = "") -> None:
    """Refuse values of the factors that are not finite, and values where no feature is named."""
    if not bool(np.isfinite(values).all()):
        row, factor, feature = np.argwhere(~np.isfinite(values))[0]
        name = layout.factors[factor]
        named = layout.features[name]
        where = f"{name}.{named[feature]}" if feature < len(named) else f"feature {feature} of {name}"
        raise _refuse_infinite(f"{prefix}{where}", values[row, factor, feature], row)
    for position, name in enumerate(layout.factors):
        used = len(layout.features[name])
        if bool(values[:, position, used:].any()):
            raise DataError(f"'{prefix}{name}' has {used} named features, and values beyond them: name them all.")


def check_outcome(outcome: Array, layout: Layout) -> None:
    """Refuse next values of the outcome that are not finite."""
    if not bool(np.isfinite(outcome).all()):
        row, feature = np.argwhere(~np.isfinite(outcome))[0]
        where = f"next.{layout.outcome_factor}.{layout.outcome_features[feature]}"
        raise _refuse_infinite(where, outcome[row, feature], row)


def _refuse_infinite(where: str, value: Any, row: int) -> DataError:
    return DataError(f"{where} is {value} in row {row}: every value must be a finite number.")


def check_episodes(given: Any, rows: int) -> Array:
    """Return one integer for each row."""
    array = np.asarray(given)
    if array.shape != (rows,) or array.dtype.kind not in "iu":
        raise DataError(
            f"The episode must be one integer for each of the {rows} rows. "
            f"Got an array of shape {array.shape} and type {array.dtype} instead"
            f"{'; np.unique(episode, return_inverse=True)[1] numbers them.' if array.shape == (rows,) else '.'}"
        )
    return array.astype(np.int64, copy=False)


def check_extra(name: object, given: Any, rows: int) -> Array:
    """Return one number or truth value for each row."""
    array = np.asarray(given)
    if not isinstance(name, str) or not name or array.shape != (rows,) or array.dtype.kind not in "fiub":
        raise DataError(
            f"Extra values must be one number or truth value for each of the {rows} rows. "
            f"Got {quote(name)} of shape {array.shape} and type {array.dtype} instead."
        )
    return array


def copy_metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that JSON gives back as it is."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError) as wrong:
        raise DataError(f"The metadata must be what JSON can hold: {wrong}.") from wrong
    return plain
