"""How a variable follows from its parents: an expression, or a Python function of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError, quote
from .arithmetic import LARGEST
from .expression import Array, Expression
from .facts import Facts, facts


@dataclass(frozen=True)
class Equation:
    """How a variable follows from its parents: an expression, or a Python function of them."""

    parents: tuple[str, ...]
    expression: Expression | None = None
    function: Callable[..., Any] | None = None
    vectorized: bool = False
    facts: Facts | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_expression(cls, expression: Expression) -> Equation:
        summary = facts(expression)
        return cls(summary.names, expression, facts=summary)

    @classmethod
    def from_function(cls, name: str, function: Callable[..., Any]) -> Equation:
        """Read the parents from the function's parameter names."""
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise ModelError(
                f"The parents of {name} cannot be read from {function!r}; wrap it in a lambda that names them."
            ) from None
        named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters:
            if parameter.kind not in named:
                raise ModelError(
                    f"The equation of {name} has the parameter '{parameter}'; "
                    f"each parameter must be the name of one parent."
                )
        parents = tuple(parameter.name for parameter in parameters)
        return cls(parents, function=function, vectorized=getattr(function, "vectorized", False))

    def value(self, env: Mapping[str, int]) -> int:
        """Evaluate one assignment of the parents."""
        if self.expression is not None:
            return self.expression.value(env)
        assert self.function is not None
        arguments: list[Any] = [env[parent] for parent in self.parents]
        if self.vectorized:
            arguments = [np.asarray([argument], dtype=np.int64) for argument in arguments]
            return int(_as_integers(self.function(*arguments), (1,))[0])
        return _as_integer(self.function(*arguments))

    def array(self, env: Mapping[str, Array]) -> Array:
        """Evaluate many assignments of the parents."""
        if self.expression is not None:
            return self.expression.array(env, np.asarray(True) if self.facts and self.facts.divides else None)
        assert self.function is not None
        if not self.parents:
            return np.asarray(self.value({}), dtype=np.int64)
        columns = np.broadcast_arrays(*(env[parent] for parent in self.parents))
        if self.vectorized:
            return _as_integers(self.function(*columns), columns[0].shape)
        rows, inverse = np.unique(np.stack([c.ravel() for c in columns], axis=1), axis=0, return_inverse=True)
        values = np.asarray([_as_integer(self.function(*map(int, row))) for row in rows], dtype=np.int64)
        return values[inverse.ravel()].reshape(columns[0].shape)


def as_equation(name: str, given: Callable[..., Any] | Expression | Equation) -> Equation:
    """Make an equation of whatever a user may give for one."""
    if isinstance(given, Equation):
        return given
    if isinstance(given, Expression):
        return Equation.from_expression(given)
    return Equation.from_function(name, given)


def _as_integer(value: Any) -> int:
    if isinstance(value, (bool, int, np.integer, np.bool_)) and abs(int(value)) <= LARGEST:
        return int(value)
    raise ModelError(f"the function must return an integer or a truth value; it returned {quote(value)}")


def _as_integers(values: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "biu":
        raise ModelError(f"the function must return integers or truth values; it returned an array of {array.dtype}")
    try:
        return np.broadcast_to(array.astype(np.int64), shape)
    except ValueError:
        raise ModelError(
            f"the function must return one value for each of its inputs; "
            f"for inputs of shape {shape} it returned an array of shape {array.shape}"
        ) from None


def vectorized(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a numpy function, so that a model calls it with whole arrays.

    >>> from actcause import Model
    >>> @vectorized
    ... def final(P, X):
    ...     return np.where((P == 499) & (X != 501), 501, 500)
    >>> model = Model({"P": range(1001), "X": range(1001), "Y": (500, 501)}, {"Y": final})
    >>> model.evaluate({"P": 499, "X": 200})["Y"]
    501
    """
    function.vectorized = True  # type: ignore[attr-defined]
    return function


def sort_by_parents(variables: Sequence[str], equations: Mapping[str, Equation]) -> tuple[str, ...]:
    """Sort variables, parents before children; name the cycle if there is one."""
    order: list[str] = []
    sorted_names: set[str] = set()
    on_path: dict[str, None] = {}
    for start in variables:
        if start in sorted_names:
            continue
        stack: list[tuple[str, Iterator[str]]] = [(start, _parents_of(start, equations))]
        on_path[start] = None
        while stack:
            name, parents = stack[-1]
            for parent in parents:
                if parent in on_path:
                    path = list(on_path)
                    cycle = [*path[path.index(parent) :], parent]
                    shown = cycle if len(cycle) <= 9 else [*cycle[:4], "…", *cycle[-4:]]
                    wrong = f"The equations form a cycle: {' <- '.join(shown)}; a model must be acyclic."
                    raise ModelError(wrong, variable=cycle[0])
                if parent not in sorted_names:
                    stack.append((parent, _parents_of(parent, equations)))
                    on_path[parent] = None
                    break
            else:
                stack.pop()
                del on_path[name]
                sorted_names.add(name)
                order.append(name)
    return tuple(order)


def _parents_of(name: str, equations: Mapping[str, Equation]) -> Iterator[str]:
    equation = equations.get(name)
    return iter(()) if equation is None else iter(equation.parents)
