"""Structural causal models: variables with finite ranges, and an equation for each that is not a root.

A model is a value. It is built once, checked when built, and never changes; an intervention is an
argument of `evaluate`, not a state of the model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from .errors import ModelError, suggest
from .expression import Array, Expression, Facts, Name, facts

MAX_RANGE = 1_000_000
# Work (tree nodes times combinations of parents' values) spent on inferring ranges, per model.
INFERENCE_BUDGET = 100_000_000
VALUES_BUDGET = 4_096

Range = tuple[int, ...]
BINARY: Range = (0, 1)
_TRUTH = frozenset(BINARY)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One line of model text: a variable, its range if given, its equation if it has one."""

    name: str
    range: Range | None = None
    expression: Expression | None = None
    exogenous: bool = False
    label: str | None = None


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
        found = facts(expression)
        return cls(found.names, expression, facts=found)

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
        """The value for one assignment of the parents."""
        if self.expression is not None:
            return self.expression.value(env)
        assert self.function is not None
        arguments: list[Any] = [env[parent] for parent in self.parents]
        if self.vectorized:
            arguments = [np.asarray([argument], dtype=np.int64) for argument in arguments]
            return int(np.asarray(self.function(*arguments)).reshape(-1)[0])
        return _as_integer(self.function(*arguments))

    def array(self, env: Mapping[str, Array]) -> Array:
        """The values for many assignments of the parents."""
        if self.expression is not None:
            return self.expression.array(env, np.asarray(True) if self.facts and self.facts.divides else None)
        assert self.function is not None
        if not self.parents:
            return np.asarray(self.value({}), dtype=np.int64)
        columns = np.broadcast_arrays(*(env[parent] for parent in self.parents))
        if self.vectorized:
            result = np.asarray(self.function(*columns)).astype(np.int64)
            return np.broadcast_to(result, columns[0].shape)
        rows, inverse = np.unique(np.stack([c.ravel() for c in columns], axis=1), axis=0, return_inverse=True)
        values = np.asarray([_as_integer(self.function(*map(int, row))) for row in rows], dtype=np.int64)
        return values[inverse.ravel()].reshape(columns[0].shape)


def _as_integer(value: Any) -> int:
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return int(value)
    raise ModelError(f"An equation must return an integer or a truth value; got {value!r}.")


def vectorized(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a numpy function, so that a model calls it with whole arrays.

    >>> @vectorized
    ... def final(P, X):
    ...     return np.where((P == 499) & (X != 501), 501, 500)
    >>> model = Model({"P": range(1001), "X": range(1001), "Y": (500, 501)}, {"Y": final})
    >>> model.evaluate({"P": 499, "X": 200})["Y"]
    501
    """
    function.vectorized = True  # type: ignore[attr-defined]
    return function


class Model:
    """A structural causal model.

    Build one from text with `Model.from_text`, or from Python: `ranges` maps each variable to its
    values, `equations` maps each variable that is not a root to a function whose parameter names are
    its parents. A variable with an equation and no range gets the range its equation can reach.

    >>> model = Model({"ST": (0, 1), "BT": (0, 1)}, {
    ...     "SH": lambda ST: ST,
    ...     "BH": lambda BT, SH: BT and not SH,
    ...     "BS": lambda SH, BH: SH or BH,
    ... })
    >>> model.evaluate({"ST": 1, "BT": 1}, do={"SH": 0})
    {'ST': 1, 'BT': 1, 'SH': 0, 'BH': 1, 'BS': 1}
    """

    __slots__ = ("__dict__", "_declared", "equations", "exogenous", "labels", "order", "ranges", "roots", "variables")

    variables: tuple[str, ...]
    ranges: Mapping[str, Range]
    equations: Mapping[str, Equation]
    exogenous: tuple[str, ...]
    labels: Mapping[str, str]
    roots: tuple[str, ...]
    order: tuple[str, ...]
    _declared: frozenset[str]

    def __init__(
        self,
        ranges: Mapping[str, Iterable[int]],
        equations: Mapping[str, Callable[..., Any]] | None = None,
        *,
        exogenous: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
    ) -> None:
        built = {
            name: Equation.from_expression(function)
            if isinstance(function, Expression)
            else Equation.from_function(name, function)
            for name, function in (equations or {}).items()
        }
        declared = {name: _check_range(name, values) for name, values in ranges.items()}
        names = dict.fromkeys((*ranges, *built))
        self._build(tuple(names), declared, built, tuple(exogenous), dict(labels or {}))

    @classmethod
    def from_text(cls, text: str) -> Model:
        r"""Read model text; see the page on the model text format.

        >>> str(Model.from_text("A\nB = not A"))
        'A\nB = not A'
        """
        from .text import parse_model

        if not isinstance(text, str):
            raise ModelError(f"Model.from_text expects a string of model text; got {type(text).__name__}.")
        return parse_model(text)

    @classmethod
    def from_declarations(cls, declarations: Iterable[Declaration]) -> Model:
        """Build from parsed lines; a root without a range is binary."""
        lines = list(declarations)
        model = cls.__new__(cls)
        declared = {d.name: d.range for d in lines if d.range is not None}
        declared |= {d.name: BINARY for d in lines if d.range is None and d.expression is None}
        equations = {d.name: Equation.from_expression(d.expression) for d in lines if d.expression is not None}
        exogenous = tuple(d.name for d in lines if d.exogenous)
        labels = {d.name: d.label for d in lines if d.label is not None}
        model._build(tuple(d.name for d in lines), declared, equations, exogenous, labels)
        return model

    def _build(
        self,
        variables: tuple[str, ...],
        declared: dict[str, Range],
        equations: dict[str, Equation],
        exogenous: tuple[str, ...],
        labels: dict[str, str],
    ) -> None:
        if not variables:
            raise ModelError("A model needs at least one variable; got none.")
        known = set(variables)
        for name in (*exogenous, *labels):
            if name not in known:
                raise ModelError(f"Unknown variable '{name}'{suggest(name, variables)}.")
        for name in exogenous:
            if name in equations:
                raise ModelError(f"The exogenous variable {name} cannot have an equation.")
        for name, equation in equations.items():
            for parent in equation.parents:
                if parent not in known:
                    hint = suggest(parent, variables)
                    raise ModelError(f"The equation of {name} uses the unknown variable '{parent}'{hint}.")
        fix = object.__setattr__
        fix(self, "variables", variables)
        fix(self, "equations", MappingProxyType(equations))
        fix(self, "exogenous", exogenous)
        fix(self, "labels", MappingProxyType(labels))
        fix(self, "roots", tuple(name for name in variables if name not in equations))
        fix(self, "order", _topological(variables, equations))
        fix(self, "_declared", frozenset(declared))
        fix(self, "ranges", MappingProxyType(self._infer_ranges(declared)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A model is immutable; pass do={{...}} to evaluate instead of setting '{name}'.")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_text, (self.to_text(),))

    # -- ranges --------------------------------------------------------------------------------

    def _infer_ranges(self, declared: dict[str, Range]) -> dict[str, Range]:
        ranges: dict[str, Range] = {}
        budget = INFERENCE_BUDGET
        for name in self.order:
            if (equation := self.equations.get(name)) is None:
                if name not in declared:
                    raise ModelError(f"The root {name} needs a range.")
                ranges[name] = declared[name]
                continue
            if equation.expression is not None and equation.facts is not None and equation.facts.arithmetic:
                intervals = {p: (ranges[p][0], ranges[p][-1]) for p in equation.parents}
                try:
                    equation.expression.bounds(intervals)
                except ModelError as error:
                    raise ModelError(f"In the equation of {name}: {error}") from None
            if name in declared:
                ranges[name] = declared[name]
            else:
                ranges[name], work = self._reachable(name, equation, ranges, budget)
                budget -= work
        return {name: ranges[name] for name in self.variables}

    def _reachable(self, name: str, equation: Equation, ranges: Mapping[str, Range], budget: int) -> tuple[Range, int]:
        """The values that the equation takes over all values of its parents, and the work it took."""
        expression = equation.expression
        if isinstance(expression, Name):
            return ranges[expression.name], 0
        known = equation.facts
        if expression is not None and known is not None and known.read_once and not known.divides:
            # No name occurs twice, so sets of values are exact.
            sets = {p: _TRUTH if ranges[p] == BINARY else frozenset(ranges[p]) for p in equation.parents}
            values = expression.possible(sets, VALUES_BUDGET)
            if values is not None:
                return BINARY if values == _TRUTH else tuple(sorted(values)), known.nodes
        combinations = prod(len(ranges[p]) for p in equation.parents)
        nodes = 50 if known is None else known.nodes
        if combinations * nodes > budget:
            if expression is not None and expression.boolean:
                return BINARY, 0
            raise ModelError(
                f"The range of {name} cannot be inferred from {combinations} combinations of its parents; "
                f"declare it, for instance '{name} in 0..10 = ...'."
            )
        found: set[int] = set()
        for grid in grids([ranges[p] for p in equation.parents]):
            try:
                values_here = equation.array(dict(zip(equation.parents, grid, strict=True)))
            except ModelError as error:
                raise ModelError(f"In the equation of {name}: {error}") from None
            found.update(np.unique(values_here).tolist())
        if len(found) > MAX_RANGE:
            raise ModelError(f"The equation of {name} takes more than {MAX_RANGE} values.")
        return tuple(sorted(found)), combinations * nodes

    # -- structure -----------------------------------------------------------------------------

    @property
    def endogenous(self) -> tuple[str, ...]:
        """Every variable that is not exogenous: these can be causes."""
        context_only = set(self.exogenous)
        return tuple(name for name in self.variables if name not in context_only)

    def parents(self, name: str) -> tuple[str, ...]:
        """The variables that the equation of `name` reads; none for a root."""
        self.check_known(name)
        equation = self.equations.get(name)
        return () if equation is None else equation.parents

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """`names` and every variable that they follow from."""
        found: set[str] = set()
        stack = list(names)
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                stack.extend(self.parents(name))
        return found

    def descendants(self, names: Iterable[str]) -> set[str]:
        """`names` and every variable that follows from them."""
        found = set(names)
        for name in self.order:
            equation = self.equations.get(name)
            if equation is not None and not found.isdisjoint(equation.parents):
                found.add(name)
        return found

    def check_known(self, name: str) -> None:
        if name not in self.ranges:
            raise ModelError(f"Unknown variable '{name}'{suggest(name, self.variables)}.")

    # -- evaluation ----------------------------------------------------------------------------

    def check_context(self, context: Mapping[str, int]) -> dict[str, int]:
        """Return the context as plain integers, or say in one sentence what is wrong with it."""
        values: dict[str, int] = {}
        for name, value in context.items():
            self.check_known(name)
            if name in self.equations:
                raise ModelError(f"The context sets {name}, which has an equation; pass do={{'{name}': ...}} instead.")
            values[name] = self.check_value(name, value)
        missing = [name for name in self.roots if name not in values]
        if missing:
            shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            raise ModelError(f"The context must set every root; missing: {shown}.")
        return values

    def check_value(self, name: str, value: object) -> int:
        """Return `value` as an integer of the variable's range."""
        self.check_known(name)
        if not isinstance(value, (bool, int, np.integer, np.bool_)) or int(value) not in self._range_sets[name]:
            raise ModelError(f"{name} must be in {format_range(self.ranges[name])}; got {value!r}.")
        return int(value)

    @cached_property
    def _range_sets(self) -> dict[str, frozenset[int]]:
        shared: dict[Range, frozenset[int]] = {}
        return {name: shared.setdefault(values, frozenset(values)) for name, values in self.ranges.items()}

    def evaluate(self, context: Mapping[str, int], do: Mapping[str, int] | None = None) -> dict[str, int]:
        r"""The value of every variable in `context`, under the intervention `do`.

        >>> Model.from_text("A\nB = not A").evaluate({"A": 0})
        {'A': 0, 'B': 1}
        """
        roots = self.check_context(context)
        fixed = {name: self.check_value(name, value) for name, value in (do or {}).items()}
        return self.solve(roots, fixed)

    def solve(self, roots: Mapping[str, int], fixed: Mapping[str, int]) -> dict[str, int]:
        """`evaluate` without checking its arguments again: for solvers, which call it very often."""
        values: dict[str, int] = {}
        for name in self.order:
            if name in fixed:
                values[name] = fixed[name]
            elif name in roots:
                values[name] = roots[name]
            else:
                values[name] = self._equation_value(name, values)
        return {name: values[name] for name in self.variables}

    def _equation_value(self, name: str, env: Mapping[str, int]) -> int:
        equation = self.equations[name]
        try:
            value = equation.value(env)
        except ModelError as error:
            raise ModelError(f"In the equation of {name}: {error}") from None
        if value not in self._range_sets[name]:
            at = ", ".join(f"{p}={env[p]}" for p in equation.parents[:8])
            raise ModelError(
                f"The equation of {name} gives {value} at {at}, outside {format_range(self.ranges[name])}."
            )
        return value

    def equation_value(self, name: str, env: Mapping[str, int]) -> int:
        """What the equation of `name` gives when its parents have the values in `env`."""
        return self._equation_value(name, env)

    def evaluate_many(
        self, contexts: Mapping[str, Any], do: Mapping[str, Any] | None = None, *, only: Iterable[str] | None = None
    ) -> dict[str, Array]:
        r"""`evaluate` for arrays of values that broadcast against each other.

        With `only`, just these variables and what they follow from are computed.

        >>> out = Model.from_text("A\nB = not A").evaluate_many({"A": np.array([0, 1])})
        >>> out["B"].tolist()
        [1, 0]
        """
        fixed = {name: self._check_array(name, values) for name, values in (do or {}).items()}
        wanted = set(self.variables) if only is None else self._needed(only, fixed)
        roots = {name: self._check_array(name, values) for name, values in contexts.items() if name in wanted}
        for name in contexts:
            self.check_known(name)
            if name in self.equations:
                raise ModelError(f"The contexts set {name}, which has an equation; pass it in do instead.")
        env: dict[str, Array] = {}
        for name in self.order:
            if name not in wanted:
                continue
            if name in fixed:
                env[name] = fixed[name]
            elif name in roots:
                env[name] = roots[name]
            elif name not in self.equations:
                raise ModelError(f"The contexts must set every root; missing: {name}.")
            else:
                env[name] = self._equation_array(name, env)
        return env

    def _needed(self, only: Iterable[str], fixed: Mapping[str, Array]) -> set[str]:
        found: set[str] = set()
        stack = list(only)
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                if name not in fixed:
                    stack.extend(self.parents(name))
        return found

    def _equation_array(self, name: str, env: Mapping[str, Array]) -> Array:
        try:
            values = self.equations[name].array(env)
        except ModelError as error:
            raise ModelError(f"In the equation of {name}: {error}") from None
        self._check_inside(name, values)
        return values

    def _check_array(self, name: str, values: Any) -> Array:
        self.check_known(name)
        array = np.asarray(values)
        if array.dtype.kind not in "biu":
            raise ModelError(f"{name} must be given as integers; got an array of {array.dtype}.")
        array = array.astype(np.int64, copy=False)
        self._check_inside(name, array)
        return array

    def _check_inside(self, name: str, array: Array) -> None:
        values = self.ranges[name]
        if not array.size:
            return
        low, high = int(array.min()), int(array.max())
        contiguous = values[-1] - values[0] + 1 == len(values)
        if low >= values[0] and high <= values[-1] and (contiguous or bool(np.isin(array, values).all())):
            return
        wrong = array.ravel()[~np.isin(array.ravel(), values)][0]
        raise ModelError(f"{name} must be in {format_range(values)}; got {int(wrong)}.")

    # -- contexts ------------------------------------------------------------------------------

    @property
    def context_count(self) -> int:
        """How many contexts there are: the product of the roots' ranges."""
        return prod(len(self.ranges[name]) for name in self.roots)

    def contexts(self) -> Iterator[dict[str, int]]:
        """Every context, the last root varying fastest."""
        for values in product(*(self.ranges[name] for name in self.roots)):
            yield dict(zip(self.roots, values, strict=True))

    # -- text ----------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Model text that `Model.from_text` reads back to an equal model."""
        for name, equation in self.equations.items():
            if equation.expression is None:
                raise ModelError(
                    f"The equation of {name} is a Python function and has no text; build the model from text."
                )
        return str(self)

    def __str__(self) -> str:
        exogenous = set(self.exogenous)
        lines = []
        for name in self.variables:
            equation = self.equations.get(name)
            parts = ["exogenous " if name in exogenous else "", name]
            if name in self.labels:
                parts.append(f' "{self.labels[name]}"')
            if name in self._declared and (equation is not None or self.ranges[name] != BINARY):
                parts.append(f" in {format_range(self.ranges[name])}")
            if equation is not None:
                body = equation.expression
                shown = str(body) if body is not None else f"<function of {', '.join(equation.parents)}>"
                parts.append(f" = {shown}")
            lines.append("".join(parts))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Model of {len(self.variables)} variables, {len(self.roots)} of them roots>"

    def _key(self) -> tuple[Any, ...]:
        return (self.variables, dict(self.ranges), dict(self.equations), self.exogenous, dict(self.labels))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and (self is other or self._key() == other._key())

    def __hash__(self) -> int:
        return hash((self.variables, self.exogenous))


def format_range(values: Sequence[int]) -> str:
    """`{0, 1}`, or `0..10` for three or more values in a row.

    >>> format_range((0, 1)), format_range((0, 1, 2))
    ('{0, 1}', '0..2')
    """
    if len(values) > 2 and values[-1] - values[0] + 1 == len(values):
        return f"{values[0]}..{values[-1]}"
    return "{" + ", ".join(map(str, values)) + "}"


def grids(ranges: Sequence[Range], chunk: int = 1 << 18) -> Iterator[list[Array]]:
    """The product of some ranges as columns of arrays, in chunks, the last one varying fastest."""
    sizes = [len(values) for values in ranges]
    tables = [np.asarray(values, dtype=np.int64) for values in ranges]
    total = prod(sizes)
    for start in range(0, total, chunk):
        index = np.arange(start, min(total, start + chunk))
        columns: list[Array] = []
        for table, size in zip(reversed(tables), reversed(sizes), strict=True):
            index, place = np.divmod(index, size)
            columns.append(table[place])
        columns.reverse()
        yield columns


def _check_range(name: str, values: Iterable[int]) -> Range:
    if not isinstance(name, str) or not name:
        raise ModelError(f"A variable's name must be a non-empty string; got {name!r}.")
    try:
        given = list(values)
    except TypeError:
        raise ModelError(f"The range of {name} must be a collection of integers; got {values!r}.") from None
    if len(given) > MAX_RANGE:
        raise ModelError(f"The range of {name} has {len(given)} values; at most {MAX_RANGE} are allowed.")
    for value in given:
        if not isinstance(value, (bool, int, np.integer, np.bool_)):
            raise ModelError(f"The range of {name} must hold integers; got {value!r}.")
    distinct = tuple(sorted({int(value) for value in given}))
    if not distinct:
        raise ModelError(f"The range of {name} is empty; give it at least one value.")
    return distinct


def _topological(variables: Sequence[str], equations: Mapping[str, Equation]) -> tuple[str, ...]:
    """Variables with parents before children; the cycle is named if there is one."""
    order: list[str] = []
    done: set[str] = set()
    on_path: dict[str, None] = {}
    for start in variables:
        if start in done:
            continue
        stack: list[tuple[str, Iterator[str]]] = [(start, _parents(start, equations))]
        on_path[start] = None
        while stack:
            name, parents = stack[-1]
            for parent in parents:
                if parent in on_path:
                    path = list(on_path)
                    cycle = [*path[path.index(parent) :], parent]
                    shown = cycle if len(cycle) <= 9 else [*cycle[:4], "…", *cycle[-4:]]
                    raise ModelError(f"The equations form a cycle: {' <- '.join(shown)}; a model must be acyclic.")
                if parent not in done:
                    stack.append((parent, _parents(parent, equations)))
                    on_path[parent] = None
                    break
            else:
                stack.pop()
                del on_path[name]
                done.add(name)
                order.append(name)
    return tuple(order)


def _parents(name: str, equations: Mapping[str, Equation]) -> Iterator[str]:
    equation = equations.get(name)
    return iter(()) if equation is None else iter(equation.parents)
