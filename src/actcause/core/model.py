"""Structural causal models: variables with finite ranges, and an equation for each that is not a root.

A model is a value. It is built once, checked when built, and never changes; an intervention is an
argument of `evaluate`, not a state of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import ModelError, quote, suggest
from .declarations import guard_stack, parse_declarations
from .equation import Equation, as_equation, sort_by_parents
from .expression import Array, Expression
from .facts import facts
from .parser import Declaration, is_name
from .ranges import (
    BINARY,
    Range,
    RangeInference,
    brief_range,
    check_range,
    check_values,
    contiguous,
    find_first_outside,
    format_range,
)
from .steps import hint_name
from .unrolling import StepModel, unroll


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
        equations: Mapping[str, Callable[..., Any] | Expression | Equation] | None = None,
        *,
        exogenous: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
    ) -> None:
        for what, given in (("ranges", ranges), ("equations", equations), ("labels", labels)):
            if given is not None and not isinstance(given, Mapping):
                raise ModelError(f"The {what} must map names of variables to their {what}; got {quote(given)}.")
        if isinstance(exogenous, str):
            raise ModelError(f"exogenous must be a collection of names, such as ['{exogenous}']; got a string.")
        built = {name: as_equation(name, given) for name, given in (equations or {}).items()}
        declared = {name: check_range(name, values) for name, values in ranges.items()}
        names = dict.fromkeys((*ranges, *built))
        for name in names:
            if not isinstance(name, str) or not name:
                raise ModelError(f"A variable's name must be a non-empty string; got {quote(name)}.")
        for name, label in (labels or {}).items():
            if not isinstance(label, str) or '"' in label or "\n" in label:
                raise ModelError(
                    f"The label of {name} must be a string without line breaks and quotation marks; got {quote(label)}."
                )
        self._build(tuple(names), declared, built, tuple(exogenous), dict(labels or {}))

    @classmethod
    def from_text(cls, text: str) -> Model:
        r"""Read model text; see the page on the model text format.

        >>> str(Model.from_text("A\nB = not A"))
        'A\nB = not A'
        """
        if not isinstance(text, str):
            raise ModelError(f"Model.from_text expects a string of model text; got {type(text).__name__}.")
        with guard_stack():
            return cls.from_declarations(parse_declarations(text))

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
                raise _unknown(name, variables)
        for name in exogenous:
            if name in equations:
                raise ModelError(f"The exogenous variable {name} cannot have an equation.", variable=name)
        for name, equation in equations.items():
            for parent in equation.parents:
                if parent not in known:
                    hint = suggest(parent, variables) or "; declare it or rename the parameter."
                    wrong = f"The equation of {name} uses the unknown variable '{parent}'{hint}"
                    raise ModelError(wrong, variable=name)
        context_only = tuple(dict.fromkeys(exogenous))
        order = sort_by_parents(variables, equations)
        ranges = self._infer_ranges(variables, order, equations, declared)
        self._fill(StepModel(variables, ranges, equations, context_only, labels, order, frozenset(declared)))

    def _fill(self, parts: StepModel) -> None:
        """Fill in what has been checked."""
        fix = object.__setattr__
        fix(self, "variables", parts.variables)
        fix(self, "equations", MappingProxyType(parts.equations))
        context_only = set(parts.exogenous)
        fix(self, "exogenous", tuple(name for name in parts.variables if name in context_only))
        fix(self, "labels", MappingProxyType(parts.labels))
        fix(self, "roots", tuple(name for name in parts.variables if name not in parts.equations))
        fix(self, "order", parts.order)
        fix(self, "_declared", parts.declared)
        fix(self, "ranges", MappingProxyType(parts.ranges))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A model is immutable; pass do={{...}} to evaluate instead of setting '{name}'.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A model is immutable; '{name}' cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_text, (self.to_text(),))

    # -- ranges --------------------------------------------------------------------------------

    @staticmethod
    def _infer_ranges(
        variables: Sequence[str], order: Sequence[str], equations: Mapping[str, Equation], declared: Mapping[str, Range]
    ) -> dict[str, Range]:
        inference = RangeInference()
        for name in order:
            equation = equations.get(name)
            if equation is not None:
                inference.add(name, equation, declared.get(name))
            elif name in declared:
                inference.ranges[name] = declared[name]
            else:
                raise ModelError(f"The root {name} needs a range; give it one, for instance (0, 1).", variable=name)
        return {name: inference.ranges[name] for name in variables}

    # -- time ----------------------------------------------------------------------------------

    def unrolled(self, steps: int, *, constant: Iterable[str] = ()) -> Model:
        r"""Unroll a model of one step, in which `x'` is the next value of `x`: variables `x@0` to `x@steps`.

        The line of `x` gives its first value, that of `x'` all later ones. A variable without a next value follows its
        own line at every step; such roots are inputs, of which those that are `constant` stay one variable.

        >>> model = Model.from_text("valve\nlevel in 0..9 = 5\nlevel' = min(level + valve, 9)")
        >>> print(model.unrolled(1))
        valve@0
        level@0 in 0..9 = 5
        valve@1
        level@1 = min(level@0 + valve@0, 9)
        """
        own = (self.variables, self.ranges, self.equations, self.exogenous, self.labels, self.order, self._declared)
        parts = unroll(StepModel(*own), steps, constant)
        model = Model.__new__(Model)
        model._fill(parts)
        model.__dict__["_unsound"] = parts.unsound  # else every step would be looked at
        return model

    # -- structure -----------------------------------------------------------------------------

    @property
    def endogenous(self) -> tuple[str, ...]:
        """Every variable that is not exogenous: these can be causes."""
        context_only = set(self.exogenous)
        return tuple(name for name in self.variables if name not in context_only)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the variables that the equation of `name` reads; none for a root."""
        self.check_known(name)
        equation = self.equations.get(name)
        return () if equation is None else equation.parents

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """Return `names` and every variable that they follow from."""
        return self.reads(names, ())

    def descendants(self, names: Iterable[str]) -> set[str]:
        """Return `names` and every variable that follows from them."""
        below = set(names)
        for name in self.order:
            equation = self.equations.get(name)
            if equation is not None and not below.isdisjoint(equation.parents):
                below.add(name)
        return below

    def check_known(self, name: str) -> None:
        if name not in self.ranges:
            raise _unknown(name, self.ranges)

    # -- evaluation ----------------------------------------------------------------------------

    def check_equations(self) -> None:
        """Refuse a model in which an intervention could push an equation out of its declared range.

        `evaluate` meets such a value or does not; a search over interventions would. Equations whose
        values take too much work to look at are let through.
        """
        if self._unsound is not None:
            name, problem = self._unsound
            raise ModelError(problem, variable=name)

    @cached_property
    def _unsound(self) -> tuple[str, str] | None:
        inference = RangeInference()
        inference.ranges = dict(self.ranges)
        for name in self._declared:
            if name in self.equations:
                problem = inference.outside(name, self.equations[name])
                if problem is not None:
                    return name, problem
        return None

    def check_formula(self, formula: Expression) -> None:
        """Refuse a formula over this model that names unknown variables or whose values could overflow."""
        summary = facts(formula)
        for name in summary.names:
            self.check_known(name)
        if summary.arithmetic:
            formula.bounds({name: (self.ranges[name][0], self.ranges[name][-1]) for name in summary.names})

    def check_context(self, context: Mapping[str, int]) -> dict[str, int]:
        """Return the context as plain integers, or refuse it."""
        values: dict[str, int] = {}
        _check_mapping("context", context)
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
            raise ModelError(f"{name} must be in {brief_range(self.ranges[name])}; got {quote(value)}.")
        return int(value)

    @cached_property
    def _range_sets(self) -> dict[str, Container[int]]:
        shared: dict[int, Container[int]] = {}  # by the identity of the range
        for values in self.ranges.values():
            if id(values) not in shared:
                shared[id(values)] = range(values[0], values[-1] + 1) if contiguous(values) else frozenset(values)
        return {name: shared[id(values)] for name, values in self.ranges.items()}

    def evaluate(self, context: Mapping[str, int], do: Mapping[str, int] | None = None) -> dict[str, int]:
        r"""Compute every variable in `context`, under the intervention `do`.

        >>> Model.from_text("A\nB = not A").evaluate({"A": 0})
        {'A': 0, 'B': 1}
        """
        roots = self.check_context(context)
        do = {} if do is None else do
        _check_mapping("do", do)
        fixed = {name: self.check_value(name, value) for name, value in do.items()}
        return self.solve(roots, fixed)

    def solve(self, roots: Mapping[str, int], fixed: Mapping[str, int]) -> dict[str, int]:
        """Evaluate without checking the arguments again: for solvers, which do it very often."""
        values: dict[str, int] = {}
        for name in self.order:
            if name in fixed:
                values[name] = fixed[name]
            elif name in roots:
                values[name] = roots[name]
            else:
                values[name] = self.equation_value(name, values)
        return {name: values[name] for name in self.variables}

    def equation_value(self, name: str, env: Mapping[str, int]) -> int:
        """Compute what the equation of `name` gives when its parents have the values in `env`."""
        equation = self.equations[name]
        try:
            value = equation.value(env)
        except ModelError as error:
            raise ModelError(f"In the equation of {name}: {error}", variable=name) from None
        if value not in self._range_sets[name]:
            raise self._outside(name, value, env)
        return value

    def _outside(self, name: str, value: int, env: Mapping[str, int]) -> ModelError:
        at = ", ".join(f"{parent}={env[parent]}" for parent in self.equations[name].parents[:8])
        return ModelError(
            f"The equation of {name} gives {value}{' at ' if at else ''}{at}, "
            f"outside {brief_range(self.ranges[name])}; widen the range of {name} or change its equation.",
            variable=name,
        )

    def evaluate_many(
        self, contexts: Mapping[str, Any], do: Mapping[str, Any] | None = None, *, only: Iterable[str] | None = None
    ) -> dict[str, Array]:
        r"""Evaluate arrays of values that broadcast against each other.

        With `only`, just these variables and what they follow from are computed.

        >>> out = Model.from_text("A\nB = not A").evaluate_many({"A": np.array([0, 1])})
        >>> out["B"].tolist()
        [1, 0]
        """
        _check_mapping("contexts", contexts)
        do = {} if do is None else do
        _check_mapping("do", do)
        fixed = {name: self._check_array(name, values) for name, values in do.items()}
        wanted = set(self.variables) if only is None else self.reads(only, fixed)
        roots = {name: self._check_array(name, values) for name, values in contexts.items() if name in wanted}
        for name in contexts:
            self.check_known(name)
            if name in self.equations:
                raise ModelError(f"The contexts set {name}, which has an equation; pass it in do instead.")
        shapes = {array.shape: name for name, array in (*roots.items(), *fixed.items())}
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            given = ", ".join(f"{name} has the shape {shape}" for shape, name in islice(shapes.items(), 5))
            raise ModelError(f"The arrays must broadcast against each other; {given}.") from None
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
                env[name] = self.evaluate_equation(name, env)
        return env

    def reads(self, names: Iterable[str], given: Container[str]) -> set[str]:
        """Return `names` and all that they follow from, going no further than the variables that are given."""
        above: set[str] = set()
        stack = [names] if isinstance(names, str) else list(names)
        while stack:
            name = stack.pop()
            if name not in above:
                above.add(name)
                if name not in given:
                    stack.extend(self.parents(name))
        return above

    def evaluate_equation(self, name: str, env: Mapping[str, Array]) -> Array:
        """Compute what the equation of `name` gives for arrays of its parents; refuse values outside its range."""
        try:
            values = self.equations[name].array(env)
        except ModelError as error:
            raise ModelError(f"In the equation of {name}: {error}", variable=name) from None
        if (at := find_first_outside(values, self.ranges[name])) is not None:
            parents = self.equations[name].parents
            columns = (np.broadcast_to(env[parent], values.shape) for parent in parents)
            row = {parent: int(column.flat[at]) for parent, column in zip(parents, columns, strict=True)}
            raise self._outside(name, int(values.flat[at]), row)
        return values

    def _check_array(self, name: str, values: Any) -> Array:
        self.check_known(name)
        return check_values(name, values, self.ranges[name])

    # -- contexts ------------------------------------------------------------------------------

    @property
    def context_count(self) -> int:
        """How many contexts there are: the product of the roots' ranges."""
        return prod(len(self.ranges[name]) for name in self.roots)

    def contexts(self) -> Iterator[dict[str, int]]:
        """Yield every context, the last root varying fastest."""
        for values in product(*(self.ranges[name] for name in self.roots)):
            yield dict(zip(self.roots, values, strict=True))

    # -- text ----------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Write model text that `Model.from_text` reads back to an equal model."""
        for name in self.variables:
            if not is_name(name):
                raise ModelError(f"Model text cannot have a variable of the name {quote(name)}; rename it.")
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

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Model):
            return self is other
        if (self.variables, self.exogenous, self.labels) != (other.variables, other.exogenous, other.labels):
            return False
        # Many variables can share one long range; compare it once.
        pairs = {(id(self.ranges[name]), id(other.ranges[name])): name for name in self.variables}
        return self.equations == other.equations and all(
            self.ranges[name] == other.ranges[name] for name in pairs.values()
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.exogenous))


def _unknown(name: object, known: Collection[str]) -> ModelError:
    hint = hint_name(name, known) if isinstance(name, str) else ""
    return ModelError(f"Unknown variable {quote(name)}{hint or '.'}")


def _check_mapping(what: str, given: object) -> None:
    if not isinstance(given, Mapping):
        raise ModelError(f"{what} must map names of variables to values, such as {{'A': 1}}; got {quote(given)}.")
