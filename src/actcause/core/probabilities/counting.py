"""Counting worlds without listing contexts: exact probabilities where the roots are independent and many.

Equations are split into steps of few inputs, and steps are taken so that little has to be remembered at a time: the
values, in each world, of what later steps still read. Contexts that agree on these are added up. A vote of a hundred
takes a hundred steps of a few hundred sums, not 2**100 contexts. This is variable elimination along one path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from typing import NamedTuple

from ..arithmetic import ARITHMETIC, Call, Negative, OperatorChain
from ..definitions import Deadline
from ..equation import Equation
from ..expression import Expression, Name, height
from ..facts import facts
from ..logic import And, Compare, IfElse, Not, Or
from ..model import Model
from ..query import Assignment
from ..root_probabilities import Distribution

MOST_STATES = 20_000  # remembered at a time
DEEPEST = 100  # an expression that is deeper is one step
Values = Mapping[str, int]
Joint = dict[tuple[tuple[int, ...], ...], Fraction]


class TooManyStatesError(Exception):
    """Counting would have to remember too much; the caller samples instead."""


class CountingStep(NamedTuple):
    """How one value follows from others."""

    name: str
    reads: tuple[str, ...]
    compute: Callable[[Values], int]


class CountingProgram:
    """The steps that lead from roots to formulas."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.steps: dict[str, CountingStep] = {}
        self._temporary = 0

    def add_formula(self, formula: Expression) -> str:
        """Add the steps of a formula, and of all that it follows from; return the name of its value."""
        target = self._add(Equation.from_expression(formula), None)
        stack = [name for step in self.steps.values() for name in step.reads]
        while stack:
            name = stack.pop()
            if name not in self.steps:
                if name in self.model.equations:
                    before = set(self.steps)
                    self._add(self.model.equations[name], name)
                    stack += [read for new in self.steps.keys() - before for read in self.steps[new].reads]
                else:
                    self.steps[name] = CountingStep(name, (), lambda values: 0)
        return target

    def _add(self, equation: Equation, name: str | None) -> str:
        expression = equation.expression
        if expression is None or facts(expression).divides or height(expression) > DEEPEST:
            return self._put(name, equation.parents, equation.value)
        return self._add_expression(expression, name)

    def _add_expression(self, expression: Expression, name: str | None) -> str:
        """Add the steps of an expression: long chains and connectives one operand after another."""
        if isinstance(expression, (And, Or)):
            decides = int(expression.decides)
            parts = [self._read(operand) for operand in expression.operands]
            so_far = self._put(None if len(parts) > 1 else name, (parts[0],), partial(_truth, parts[0]))
            for place, part in enumerate(parts[1:], start=2):
                last = name if place == len(parts) else None
                so_far = self._put(last, (so_far, part), partial(_connect, so_far, part, decides))
            return so_far
        if isinstance(expression, OperatorChain):
            so_far = self._read(expression.first)
            for place, (symbol, operand) in enumerate(expression.steps, start=1):
                part = self._read(operand)
                last = name if place == len(expression.steps) else None
                so_far = self._put(last, (so_far, part), partial(_calculate, so_far, part, symbol))
            return so_far
        children = expression.children()
        if not children or len(facts(expression).names) <= 2:
            return self._put(name, expression.names(), expression.value)
        # Whatever else a node does, it does to the values of its children.
        parts = [self._read(child) for child in children]
        return self._put(name, dict.fromkeys(parts), _over(expression, parts).value)

    def _read(self, expression: Expression) -> str:
        return expression.name if isinstance(expression, Name) else self._add_expression(expression, None)

    def _put(self, name: str | None, reads: Iterable[str], compute: Callable[[Values], int]) -> str:
        if name is None:
            self._temporary += 1
            name = f"#{self._temporary}"
        self.steps[name] = CountingStep(name, tuple(reads), compute)
        return name

    def order_steps(self, targets: Sequence[str]) -> list[CountingStep]:
        """Order the steps so that what is large is finished before what is small is begun."""
        sizes: dict[str, int] = {}
        for name in self._walk(targets, lambda step: step.reads):
            sizes[name] = 1 + sum(sizes[read] for read in self.steps[name].reads)
        largest_first = self._walk(targets, lambda step: sorted(step.reads, key=lambda read: -sizes[read]))
        return [self.steps[name] for name in largest_first]

    def _walk(self, targets: Sequence[str], reads: Callable[[CountingStep], Sequence[str]]) -> list[str]:
        """List steps after what they read."""
        listed: dict[str, None] = {}
        stack = [(target, False) for target in reversed(targets)]
        while stack:
            name, finished = stack.pop()
            if name in listed:
                continue
            if finished:
                listed[name] = None
                continue
            stack.append((name, True))
            stack += [(read, False) for read in reversed(reads(self.steps[name])) if read not in listed]
        return list(listed)


def _over(expression: Expression, parts: Sequence[str]) -> Expression:
    """Write the top of an expression over the names of its children's values."""
    names = tuple(map(Name, parts))
    match expression:
        case Not():
            return Not(*names)
        case Negative():
            return Negative(*names)
        case Compare(_, symbol, _):
            return Compare(names[0], symbol, names[1])
        case IfElse():
            return IfElse(*names)
        case Call(function, _):
            return Call(function, names)
        case _:
            raise AssertionError(expression)


def _truth(part: str, values: Values) -> int:
    return int(values[part] != 0)


def _connect(left: str, right: str, decides: int, values: Values) -> int:
    truths = (values[left] != 0, values[right] != 0)
    return int(any(truths) if decides else all(truths))


def _calculate(left: str, right: str, symbol: str, values: Values) -> int:
    return ARITHMETIC[symbol](values[left], values[right])


def count_worlds(
    model: Model,
    roots: Mapping[str, Distribution],
    formulas: Sequence[Expression],
    interventions: Sequence[Assignment],
    deadline: Deadline,
) -> Joint:
    """Find the joint distribution of formulas in several worlds, each under an intervention of its own.

    A key holds, for each formula, its values in all worlds.
    """
    program = CountingProgram(model)
    targets = [program.add_formula(formula) for formula in formulas]
    steps = program.order_steps(targets)
    last_use = {read: place for place, step in enumerate(steps) for read in step.reads}
    last_use |= dict.fromkeys(targets, len(steps))
    live: list[str] = []
    states: dict[tuple[tuple[int, ...], ...], int] = {(): 1}
    total = 1
    for place, step in enumerate(steps):
        deadline.check()
        choices: list[tuple[int | None, int]] = [(None, 1)]
        if step.name in roots:
            denominator = lcm(*(share.denominator for share in roots[step.name].values()))
            total *= denominator
            choices = [(value, int(share * denominator)) for value, share in roots[step.name].items() if share]
        entering = last_use.get(step.name, -1) > place
        keep = [index for index, name in enumerate(live) if last_use[name] > place]
        states = _advance(states, step, choices, live, keep, interventions, entering)
        live = [live[index] for index in keep] + ([step.name] if entering else [])
        if len(states) > MOST_STATES:
            raise TooManyStatesError
    order = [live.index(target) for target in targets]
    joint: dict[tuple[tuple[int, ...], ...], int] = {}
    for state, amount in states.items():
        key = tuple(state[index] for index in order)
        joint[key] = joint.get(key, 0) + amount
    return {key: Fraction(amount, total) for key, amount in joint.items()}


def _advance(
    states: dict[tuple[tuple[int, ...], ...], int],
    step: CountingStep,
    choices: Sequence[tuple[int | None, int]],
    live: Sequence[str],
    keep: Sequence[int],
    interventions: Sequence[Assignment],
    entering: bool,
) -> dict[tuple[tuple[int, ...], ...], int]:
    """Take one step from every state, and add up those that are alike from here on."""
    after: dict[tuple[tuple[int, ...], ...], int] = {}
    places = [(read, live.index(read)) for read in step.reads]
    for state, amount in states.items():
        kept = tuple(state[index] for index in keep)
        for value, factor in choices:
            worlds = []
            for world, do in enumerate(interventions):
                if step.name in do:
                    worlds.append(do[step.name])
                elif value is not None:
                    worlds.append(value)
                else:
                    worlds.append(step.compute({read: state[index][world] for read, index in places}))
            key = (*kept, tuple(worlds)) if entering else kept
            after[key] = after.get(key, 0) + amount * factor
    return after
