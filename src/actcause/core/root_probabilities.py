"""Probabilities as a user may give them: of contexts that are listed, and of roots that are independent.

They are kept as fractions, or as whole numbers in the same proportions, so that every share of them is exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from ..errors import QueryError, quote
from .expression import Array
from .model import Model
from .query import as_share
from .steps import split_step

LARGEST_INT64 = 1 << 62
LARGEST_DENOMINATOR = 10**60  # past it, numbers with a point are read by their digits
TOLERANCE = Fraction(1, 10**6)
WHOLE_NUMBER = re.compile(r"-?[0-9]+")

Distribution = Mapping[int, Fraction]


def read_amounts(given: Sequence[Any], parameter: str) -> Array:
    """Read probabilities that sum to 1, or counts, as whole numbers in the same proportions.

    >>> read_amounts(["1/2", 0.25, 0.25], "prior").tolist(), read_amounts([3, 1], "prior").tolist()
    ([2, 1, 1], [3, 1])
    """
    if all(isinstance(amount, int | np.integer) and not isinstance(amount, bool) for amount in given):
        counts = [int(amount) for amount in given]
        if min(counts) < 0 or not any(counts):
            raise QueryError("The weights of {parameter} must be counts, not all of them 0.", parameter=parameter)
        return as_integers(counts)
    shares = [read_share(amount, parameter, "A probability of {parameter}") for amount in given]
    denominator = lcm(*(share.denominator for share in shares))
    if denominator > LARGEST_DENOMINATOR:
        shares = [Fraction(repr(float(amount))) if isinstance(amount, float) else Fraction(amount) for amount in given]
        denominator = lcm(*(share.denominator for share in shares))
    if abs(sum(shares, Fraction(0)) - 1) > TOLERANCE:
        wrong = "The probabilities of {parameter} must sum to 1; got {total:g}."
        raise QueryError(wrong, parameter=parameter, total=float(sum(shares)))
    return as_integers([int(share * denominator) for share in shares])


def read_share(given: Any, parameter: str, what: str) -> Fraction:
    """Read a probability; one that is given as a fraction stays what it is, however long."""
    checked = as_share(parameter, given, what)
    if checked is None:
        raise QueryError(f"{what} must be a number between 0 and 1; got None.", parameter=parameter)
    exact = isinstance(given, Fraction) or (isinstance(given, str) and "/" in given)
    return Fraction(given) if exact else checked


def as_integers(numbers: Sequence[int]) -> Array:
    """Hold whole numbers in an array whose sums are exact."""
    return np.asarray(numbers, dtype=np.int64 if sum(numbers) < LARGEST_INT64 else object)


def parse_prior(text: str) -> dict[str, Any]:
    """Read the probabilities of independent roots from text: `A=0.3` for a binary root, `B:2=1/4` for one value.

    >>> parse_prior("A=0.3, B:0=3/4, B:2=1/4")
    {'A': '0.3', 'B': {0: '3/4', 2: '1/4'}}
    """
    found: dict[str, Any] = {}
    for part in (part.strip() for part in text.split(",")):
        key, equals, share = (piece.strip() for piece in part.partition("="))
        name, colon, value = (piece.strip() for piece in key.partition(":"))
        complete = name and equals and share and (WHOLE_NUMBER.fullmatch(value) if colon else True)
        known = found.get(name, {})
        repeated = int(value) in known if complete and colon and isinstance(known, dict) else name in found
        if not complete or repeated:
            wrong = "{parameter} must be 'uniform', or written as 'A=0.3, B:0=1/4, B:1=3/4', each once; got {got}."
            raise QueryError(wrong, parameter="prior", got=quote(part))
        if colon:
            found.setdefault(name, {})[int(value)] = share
        else:
            found[name] = share
    return found


def read_prior_text(model: Model, text: str) -> dict[str, Any]:
    r"""Read a prior as the command line takes it: the probabilities of independent roots, or the word `uniform`.

    >>> read_prior_text(Model.from_text("A\nB = A"), "uniform")
    {'A': {0: Fraction(1, 2), 1: Fraction(1, 2)}}
    """
    if text != "uniform":
        return parse_prior(text)
    ranges = {name: model.ranges[name] for name in model.roots}
    return {name: dict.fromkeys(values, Fraction(1, len(values))) for name, values in ranges.items()}


def _spread(model: Model, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what is said of a variable in time to its root at every step, unless more is said of that."""
    bases = {name for name in given if name not in model.ranges}
    if not bases:
        return given
    spread = {root: given[split_step(root)[0]] for root in model.roots if split_step(root)[0] in bases}
    found = {split_step(root)[0] for root in spread}
    return {**spread, **{name: chances for name, chances in given.items() if name not in found}}


def read_roots(model: Model, given: Mapping[str, Any], parameter: str) -> dict[str, Distribution]:
    r"""Read independent roots: the probability of 1 for a binary root, or that of each value.

    >>> read_roots(Model.from_text("A\nB in 0..2"), {"A": 0.3, "B": {0: "1/3", 2: "2/3"}}, "prior")["A"]
    {0: Fraction(7, 10), 1: Fraction(3, 10)}
    """
    found: dict[str, Distribution] = {}
    for name, chances in _spread(model, given).items():
        model.check_known(name)
        if name in model.equations:
            wrong = "{parameter} gives a probability to {name}, which follows from its equation; give it to roots only."
            raise QueryError(wrong, parameter=parameter, name=name)
        found[name] = _read_root(model, name, chances, parameter)
    missing = [name for name in model.roots if name not in found]
    if missing:
        wrong = "{parameter} must give a probability to every root; missing: {name}."
        raise QueryError(wrong, parameter=parameter, name=missing[0])
    return {name: found[name] for name in model.roots}


def _read_root(model: Model, name: str, chances: Any, parameter: str) -> Distribution:
    if not isinstance(chances, Mapping):
        if model.ranges[name] != (0, 1):
            wrong = "{parameter} must give {name} a probability for each value, such as {such}; got {got}."
            such = {model.ranges[name][0]: 0.25, model.ranges[name][-1]: 0.75}
            raise QueryError(wrong, parameter=parameter, name=name, such=such, got=quote(chances))
        share = read_share(chances, parameter, f"The probability of {name}")
        return {0: 1 - share, 1: share}
    if not chances:
        raise QueryError("{parameter} gives {name} no values.", parameter=parameter, name=name)
    values = [model.check_value(name, value) for value in chances]
    amounts = read_amounts(list(chances.values()), parameter)
    total = int(amounts.sum())
    return {value: Fraction(int(amount), total) for value, amount in zip(values, amounts, strict=True)}
