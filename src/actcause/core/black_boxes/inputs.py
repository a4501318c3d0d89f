"""What an input of a black box can be: one of a few values, or anything in an interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from ...errors import ModelError, QueryError, quote, suggest
from ..parser import is_name

MOST_LISTED = 1_000_000
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`: the range of a continuous input.

    >>> Interval(0, 120)
    Interval(low=0.0, high=120.0)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if not isinstance(end, Real) or isinstance(end, bool) or not isfinite(end):
                raise ModelError(f"The ends of an interval must be finite numbers; got {quote(end)}.")
        if not self.low < self.high:
            raise ModelError(f"An interval must have low < high; got {self.low:g} and {self.high:g}.")
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Real) and not isinstance(value, bool) and self.low <= float(value) <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


InputRange = Interval | tuple[Any, ...]


def read_ranges(what: str, given: object) -> dict[str, InputRange]:
    """Check the names and ranges of inputs (or of inner variables)."""
    if not isinstance(given, Mapping):
        raise ModelError(f"The {what} must map names to ranges, such as {{'brake': (0, 1)}}; got {quote(given)}.")
    return {name: _read_range(name, values) for name, values in given.items()}


def _read_range(name: object, values: object) -> InputRange:
    if not isinstance(name, str) or not is_name(name):
        raise ModelError(f"The name of an input must be a word such as 'brake'; got {quote(name)}.")
    if isinstance(values, Interval):
        return values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ModelError(f"The range of {name} must be a list of values or an Interval; got {quote(values)}.")
    listed = tuple(dict.fromkeys(_plain(value) for value in islice(values, MOST_LISTED + 1)))
    if not listed:
        raise ModelError(f"The range of {name} is empty; give it at least one value.")
    if len(listed) > MOST_LISTED:
        raise ModelError(f"The range of {name} has more than {MOST_LISTED} values; make it an Interval.")
    for value in listed:
        if not isinstance(value, (str, Real)) or (isinstance(value, float) and not isfinite(value)):
            raise ModelError(f"The range of {name} must hold numbers or words; got {quote(value)}.")
    return listed


def _plain(value: object) -> Any:
    """Turn a value of numpy into one of Python; what cannot be hashed is shown as it is in the error."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        hash(value)
    except TypeError:
        raise ModelError(f"The range of an input must hold numbers or words; got {quote(value)}.") from None
    return value


def read_settings(parameter: str, given: object, ranges: Mapping[str, InputRange]) -> dict[str, Any]:
    """Read a context or an event: a mapping, or text such as `speed=90, brake=0`."""
    if isinstance(given, str):
        given = parse_settings(parameter, given)
    if not isinstance(given, Mapping):
        wrong = "{parameter} must be a mapping such as {{'brake': 0}}; got {got}."
        raise QueryError(wrong, parameter=parameter, got=quote(given))
    settings = {}
    for name, raw in given.items():
        if name not in ranges:
            hint = suggest(str(name), list(ranges)) or f"; there are {', '.join(ranges)}."
            wrong = "Unknown input {name!r} in {parameter}{hint}"
            raise QueryError(wrong, parameter=parameter, name=name, hint=hint)
        values, value = ranges[name], _plain(raw)
        if value not in values:
            wrong = "{parameter}: {name} must be {expected}; got {got}."
            expected = _describe(values)
            raise QueryError(wrong, parameter=parameter, name=name, expected=expected, got=quote(value))
        settings[name] = float(value) if isinstance(values, Interval) else values[values.index(value)]
    return settings


def _describe(values: InputRange) -> str:
    if isinstance(values, Interval):
        return f"a number from {values}"
    shown = ", ".join(map(str, values[:8]))
    return f"one of {shown}{', …' if len(values) > 8 else ''}"


def parse_settings(parameter: str, text: str) -> dict[str, Any]:
    """Read `speed=90.5, weather=rain`; what reads as a number is one.

    >>> parse_settings("context", "speed=90.5, brake=0, weather=rain")
    {'speed': 90.5, 'brake': 0, 'weather': 'rain'}
    """
    settings: dict[str, Any] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            wrong = "{parameter} must be assignments such as 'speed=90, brake=0'; got {got}."
            raise QueryError(wrong, parameter=parameter, got=quote(part.strip()))
        if name in settings:
            raise QueryError("{parameter} sets {name} twice.", parameter=parameter, name=name)
        settings[name] = read_value(value)
    return settings


def read_value(text: str) -> int | float | str:
    """Read a number where there is one, else a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_range(text: str) -> tuple[str, InputRange]:
    """Read an input with its range: `brake=0,1` or `brake in 0,1`, `gear=1..5`, `speed=0.0..120.0`, `sky=clear,rain`.

    With a decimal point at either end `..` is an interval, else all integers between.

    >>> parse_range("gear=1..3"), parse_range("speed in 0..120.0")
    (('gear', (1, 2, 3)), ('speed', Interval(low=0.0, high=120.0)))
    """
    name, equals, values = (piece.strip() for piece in text.replace(" in ", "=", 1).partition("="))
    low, dots, high = (piece.strip() for piece in values.strip("{}").partition(".."))
    ends = [read_value(end) for end in (low, high)]
    if not equals or not name or not values or (dots and any(isinstance(end, str) for end in ends)):
        wrong = "{parameter} must name an input and its range, such as 'brake=0,1' or 'speed=0.0..120.0'; got {got}."
        raise QueryError(wrong, parameter="input", got=quote(text))
    if not dots:
        listed = [read_value(value.strip()) for value in values.strip("{}").split(",")]
        return name, read_ranges("inputs", {name: listed})[name] if is_name(name) else _read_range(name, listed)
    if all(isinstance(end, int) for end in ends):
        return name, _read_range(name, range(int(ends[0]), min(int(ends[1]), int(ends[0]) + MOST_LISTED) + 1))
    return name, Interval(float(ends[0]), float(ends[1]))


def write_json(settings: Settings) -> dict[str, Any]:
    """Write settings for programs: a fraction becomes its text."""
    plain = (bool, int, float, str)
    return {name: value if isinstance(value, plain) else str(value) for name, value in settings.items()}


def show_value(value: object) -> str:
    """Write a value for people.

    >>> show_value(61.23456789), show_value(3), show_value("rain")
    ('61.23', '3', 'rain')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)
