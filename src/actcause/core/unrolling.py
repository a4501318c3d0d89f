"""Time: a model of one step, put behind itself as often as there are steps.

In a model of one step `x` is a variable and `x'` its next value. Unrolled, the line of `x` says what `x@0` is and that
of `x'` what `x@1`, `x@2`, … are; a variable without a next value follows its own line at every step:

    at step 0:      x@0 = line of x, with y for y@0
    at step t + 1:  x@t+1 = line of x', with y for y@t and y' for y@t+1; without one, the line of x, with y for y@t+1

A variable has one range at all steps, found once: the declared one, or the values that its lines reach in any number
of steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import ModelError, QueryError, quote
from .equation import Equation
from .expression import Name
from .ranges import Range, RangeInference, format_range
from .renaming import rename_variables
from .steps import AT, PRIME, at_step

MAX_UNROLLED = 200_000  # variables of all steps together
ROUNDS = 200  # of steps after which a range that still grows is taken to grow for ever


@dataclass(frozen=True)
class StepModel:
    """The parts of a model of one step; `ranges` are those of this step, and `declared` says which were given."""

    variables: tuple[str, ...]
    ranges: Mapping[str, Range]
    equations: Mapping[str, Equation]
    exogenous: tuple[str, ...]
    labels: Mapping[str, str]
    order: tuple[str, ...]
    declared: frozenset[str]


@dataclass(frozen=True)
class UnrolledModel(StepModel):
    """The parts of an unrolled model; `unsound` is a line whose equation can leave its range, and how."""

    unsound: tuple[str, str] | None


def unroll(model: StepModel, steps: int, constant: Iterable[str] = ()) -> UnrolledModel:
    """Unroll a model of one step; roots that are `constant` stay one variable for all steps."""
    held = _check_constant(model, constant)
    bases = [name for name in model.variables if not name.endswith(PRIME)]
    _check_lines(model, bases)
    _check_steps(steps, len(bases))
    ranges = _find_ranges(model)
    inference = RangeInference()
    inference.ranges = {name: ranges[_base(name)] for name in model.variables}
    return _Unrolling(model, bases, held, ranges, inference).build(steps)


def _base(name: str) -> str:
    return name.removesuffix(PRIME)


def _check_steps(steps: object, count: int) -> None:
    most = MAX_UNROLLED // count - 1
    if not isinstance(steps, int) or isinstance(steps, bool) or not 0 <= steps <= most:
        wrong = "{parameter} must be a whole number from 0 to {most} for {count} variables; got {got}."
        raise QueryError(wrong, parameter="steps", most=most, count=count, got=quote(steps))


def _check_constant(model: StepModel, constant: Iterable[str]) -> frozenset[str]:
    held = frozenset(constant)
    for name in held:
        if name not in model.ranges or name in model.equations or name + PRIME in model.ranges:
            wrong = "{parameter} must name roots without a next value; got {got}."
            raise QueryError(wrong, parameter="constant", got=quote(name))
    return held


def _check_lines(model: StepModel, bases: Sequence[str]) -> None:
    """Refuse a model that is not one of one step."""
    primed = [name for name in model.variables if name.endswith(PRIME)]
    timed = next((name for name in model.variables if AT in name), None)
    if timed is not None:
        raise ModelError(f"The model has the variable {timed}, so it is unrolled already.", variable=timed)
    if not primed:
        example = bases[-1] if bases else "x"
        raise ModelError(f'The model has no next values, so it has no time; give it some, such as "{example}\' = ...".')
    for name in primed:
        if _base(name).endswith(PRIME):
            wrong = f"{name} has more than one prime; a step has only a next value, {_base(name)}."
            raise ModelError(wrong, variable=name)
        if _base(name) not in model.ranges:
            wrong = f"{name} is the next value of {_base(name)}, which is not declared; declare its first value."
            raise ModelError(wrong, variable=name)
    for name in bases:
        for parent in model.equations[name].parents if name in model.equations else ():
            if parent.endswith(PRIME):
                wrong = f"The equation of {name} reads {parent}, a value of the next step; only next values can"
                raise ModelError(f"{wrong}, so write it as the equation of {name}'.", variable=name)


def _find_ranges(model: StepModel) -> dict[str, Range]:
    """Find the range that each variable has at all steps: as declared, or whatever its lines reach in time."""
    ranges = {name: model.ranges[name] for name in model.variables if not name.endswith(PRIME)}
    fixed: dict[str, str] = {}
    for name in model.variables:
        base = _base(name)
        if name in model.declared:
            if base in fixed and model.ranges[name] != ranges[base]:
                shown = format_range(ranges[base]), format_range(model.ranges[name])
                wrong = f"{fixed[base]} is in {shown[0]}, and {name} in {shown[1]}; give both one range."
                raise ModelError(wrong, variable=fixed[base])
            fixed.setdefault(base, name)
            ranges[base] = model.ranges[name]
    _grow(model, ranges, fixed)
    return ranges


def _grow(model: StepModel, ranges: dict[str, Range], fixed: Mapping[str, str]) -> None:
    """Add to the ranges that are not fixed what the equations reach, until nothing is new."""
    growing = [name for name in model.order if name in model.equations and _base(name) not in fixed]
    inference = RangeInference()
    kept = []  # the inference knows ranges by their identity, so none may be freed
    changed = ""
    for _ in range(ROUNDS if growing else 0):
        inference.ranges = {name: ranges[_base(name)] for name in model.variables}
        before, changed = changed, ""
        for name in growing:
            try:
                inference.add(name, model.equations[name], None)
            except ModelError as error:
                if not before:
                    raise
                raise _grows(before, ranges[before]) from error
            reached, base = inference.ranges[name], _base(name)
            if set(reached) - set(ranges[base]):
                changed = changed or base
                kept.append(ranges[base])
                ranges[base] = tuple(sorted({*ranges[base], *reached}))
            for one in (base, base + PRIME):
                if one in model.ranges:
                    inference.ranges[one] = ranges[base]
        if not changed:
            return
    if growing:
        raise _grows(changed, ranges[changed])


def _grows(name: str, values: Range) -> ModelError:
    return ModelError(
        f"The values of {name} grow with time, to {values[0]}..{values[-1]} and on; "
        f"declare its range, for instance '{name} in 0..10', and keep its equation inside with min and max.",
        variable=name,
    )


@dataclass(frozen=True)
class _Unrolling:
    """A model of one step with the range of each variable, ready to be written out."""

    model: StepModel
    bases: Sequence[str]
    held: frozenset[str]
    ranges: Mapping[str, Range]
    inference: RangeInference

    def build(self, steps: int) -> UnrolledModel:
        """Write every line for every step."""
        model = self.model
        variables: list[str] = []
        ranges: dict[str, Range] = {}
        equations: dict[str, Equation] = {}
        exogenous: list[str] = []
        labels: dict[str, str] = {}
        declared: list[str] = []
        order: list[str] = []
        spoken = self._find_spoken()
        first_order = [name for name in model.order if not name.endswith(PRIME)]
        # A next value reads this step only by its primes, so next values come before what follows from them.
        next_order = [_base(name) for name in model.order if name.endswith(PRIME)]
        next_order += [name for name in first_order if name + PRIME not in model.ranges and name not in self.held]
        before: dict[str, Name] = {}
        for step in range(steps + 1):
            now = {name: before[name] if step and name in self.held else self._name(name, step) for name in self.bases}
            for name in self.bases:
                if step and name in self.held:
                    continue
                timed = now[name].name
                line = name + PRIME if step and name + PRIME in model.ranges else name
                variables.append(timed)
                ranges[timed] = self.ranges[name]
                if line in model.exogenous:
                    exogenous.append(timed)
                if (label := model.labels.get(name, model.labels.get(name + PRIME))) is not None:
                    labels[timed] = label
                if line in spoken:
                    declared.append(timed)
                if line in model.equations:
                    names = now if line == name else before | {one + PRIME: now[one] for one in self.bases}
                    equations[timed] = _rename(model.equations[line], names)
            order += [now[name].name for name in (next_order if step else first_order)]
            before = now
        parts = (tuple(variables), ranges, equations, tuple(exogenous), labels, tuple(order), frozenset(declared))
        return UnrolledModel(*parts, unsound=self._find_unsound())

    def _name(self, name: str, step: int) -> Name:
        return Name(name if name in self.held else at_step(name, step))

    def _find_spoken(self) -> set[str]:
        """Find the lines that need a range in model text: where the equation alone would give another."""
        spoken = set()
        for name in self.model.variables:
            equation, values = self.model.equations.get(name), self.ranges[_base(name)]
            if equation is None or name in self.model.declared or self._infer(name, equation) != values:
                spoken.add(name)
        return spoken

    def _infer(self, name: str, equation: Equation) -> Range | None:
        known = dict(self.inference.ranges)
        try:
            self.inference.add(name, equation, None)
            return self.inference.ranges[name]
        except ModelError:
            return None
        finally:
            self.inference.ranges = known

    def _find_unsound(self) -> tuple[str, str] | None:
        """Find an equation that can give a value outside the range; once for each line, not for each step."""
        given = {_base(name) for name in self.model.declared}
        for name, equation in self.model.equations.items():
            if _base(name) in given:
                remedy = f"keep {name} inside with min and max, or widen the range of {_base(name)}"
                problem = self.inference.outside(name, equation, remedy)
                if problem is not None:
                    return name, problem
        return None


def _rename(equation: Equation, names: Mapping[str, Name]) -> Equation:
    parents = tuple([names[parent].name for parent in equation.parents])
    expression = None if equation.expression is None else rename_variables(equation.expression, names)
    facts = None if equation.facts is None else equation.facts._replace(names=parents)
    return replace(equation, parents=parents, expression=expression, facts=facts)
