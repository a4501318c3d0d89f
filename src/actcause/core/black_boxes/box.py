"""A black box: a function of named inputs, called for one setting or for many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, iscoroutinefunction, signature
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import ModelError, QueryError, quote, suggest
from ..text import write_list
from .inputs import InputRange, Interval, Settings, read_ranges, show_value

OUTPUT = "output"  # the name of what a function returns that returns no mapping


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A whole simulator as one Python function: its inputs go in by name, what happens comes out.

    `inputs` maps each name to its values, or to an `Interval`. The function returns a number, called `output` in
    formulas, or a mapping of names to numbers. It must be deterministic. A `vectorized` one takes an array for each
    input and returns arrays of the same length.

    `inner` maps variables inside the simulator that can be set, too, to their values. The function gets them by name,
    None (NaN where vectorised) for those left to themselves, and returns all of them in its mapping.

    >>> box = BlackBox(lambda speed, brake: speed * (1 - brake) > 50,
    ...                inputs={"speed": Interval(0, 120), "brake": (0, 1)})
    >>> box({"speed": 90, "brake": 0})
    {'output': True}
    """

    function: Callable[..., Any]
    inputs: Mapping[str, InputRange]
    inner: Mapping[str, tuple[Any, ...]]
    vectorized: bool = False

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Mapping[str, Any],
        *,
        inner: Mapping[str, Any] | None = None,
        vectorized: bool = False,
    ) -> None:
        fix = object.__setattr__
        if not callable(function):
            raise ModelError(f"A black box needs a function; got {quote(function)}.")
        ranges, inside = read_ranges("inputs", inputs), read_ranges("inner variables", inner or {})
        if not ranges:
            raise ModelError("A black box needs at least one input, such as inputs={'brake': (0, 1)}.")
        for name, values in inside.items():
            if name in ranges:
                raise ModelError(f"{name} is an input and an inner variable; a name can be one of them.")
            if isinstance(values, Interval) or any(isinstance(value, str) for value in values):
                raise ModelError(f"The inner variable {name} must have a list of numbers as its range.")
        _check_signature(function, [*ranges, *inside])
        fix(self, "function", function)
        fix(self, "inputs", MappingProxyType(ranges))
        fix(self, "inner", MappingProxyType(inside))
        fix(self, "vectorized", bool(vectorized))

    @property
    def handles(self) -> dict[str, InputRange]:
        """Everything that can be set, with its range."""
        return {**self.inputs, **self.inner}

    def __call__(self, settings: Settings) -> dict[str, Any]:
        """Run the function once, whatever is left out of the inner variables being left to itself."""
        (outputs,) = self.run([settings])
        return outputs

    def run(self, rows: Sequence[Settings]) -> list[dict[str, Any]]:
        """Run the function for each row of settings; a vectorised one in a single call."""
        if not self.vectorized:
            return [self._run_one(row) for row in rows]
        columns = {name: np.asarray([row[name] for row in rows]) for name in self.inputs}
        columns |= {name: np.asarray([row.get(name, np.nan) for row in rows], dtype=float) for name in self.inner}
        try:
            returned = self.function(**columns)
        except (Exception, SystemExit) as error:
            raise _report_failure(error, f"for {len(rows)} rows of inputs") from error
        named = self._name(returned)
        outputs: dict[str, Any] = {}
        for name, column in named.items():
            array = np.asarray(column)
            if array.shape[:1] != (len(rows),):
                wrong = "The vectorised function must return {count} values of {name}, one for each row; it returned "
                wrong += "an array of shape {shape}."
                raise QueryError(wrong, parameter="function", count=len(rows), name=name, shape=array.shape)
            outputs[name] = array
        return [{name: array[row] for name, array in outputs.items()} for row in range(len(rows))]

    def _run_one(self, row: Settings) -> dict[str, Any]:
        arguments = {**dict.fromkeys(self.inner), **row}
        try:
            returned = self.function(**arguments)
        except (Exception, SystemExit) as error:
            raise _report_failure(error, f"at {describe(row)}") from error
        return self._name(returned)

    def _name(self, returned: Any) -> dict[str, Any]:
        outputs = dict(returned) if isinstance(returned, Mapping) else {OUTPUT: returned}
        missing = next((name for name in self.inner if name not in outputs), None)
        if missing is not None:
            wrong = "The function must return a mapping with every inner variable; {name!r} is missing."
            raise QueryError(wrong, parameter="function", name=missing)
        return outputs


def _check_signature(function: Callable[..., Any], names: Sequence[str]) -> None:
    """Refuse a function that cannot be called with these names, before it is run; what does not tell is let through."""
    if iscoroutinefunction(function):
        raise ModelError("The function is asynchronous; wrap it in one that returns what comes out.")
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        return
    if any(one.kind is Parameter.POSITIONAL_ONLY and one.default is Parameter.empty for one in parameters.values()):
        raise ModelError("The function takes inputs by their place; wrap it in one that takes them by name.")
    kinds = {name: one.kind for name, one in parameters.items()}
    by_name = [
        name for name, kind in kinds.items() if kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    unknown = next((name for name in names if name not in by_name), None)
    if unknown is not None and Parameter.VAR_KEYWORD not in kinds.values():
        hint = suggest(unknown, by_name) or f"; it takes {write_list(by_name) if by_name else 'none'}."
        raise ModelError(f"The function takes no input {unknown!r}{hint}")
    missing = [name for name in by_name if parameters[name].default is Parameter.empty and name not in names]
    if missing:
        are, each = ("is", "it") if len(missing) == 1 else ("are", "each")
        raise ModelError(f"The function takes {write_list(missing)}, which {are} no input here; give {each} a range.")


def _report_failure(error: BaseException, where: str) -> QueryError:
    reason = f"{type(error).__name__}: {error}".rstrip(": ").splitlines()[0]
    wrong = "The function failed {where} ({reason}); it must run for all values of its inputs."
    return QueryError(wrong, parameter="function", where=where, reason=reason)


def describe(settings: Settings) -> str:
    """Write settings for people."""
    return ", ".join(f"{name}={show_value(value)}" for name, value in settings.items())


def check_number(name: str, value: Any, settings: Settings) -> float | int:
    """Check that an output that a formula names is a number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (np.generic,)):
        value = value.item()
    if not isinstance(value, (bool, Real)) or value != value:
        wrong = "The function returned {got} for {name!r} at {where}; a formula needs a number there, so return one "
        wrong += "or give {effect} as a Python function."
        raise QueryError(wrong, parameter="function", got=quote(value), name=name, where=describe(settings))
    return value if isinstance(value, (int, float)) else float(value)
