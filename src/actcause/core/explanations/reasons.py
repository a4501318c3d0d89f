"""Why a formula has its truth value in a world: a few variables whose values alone settle it.

An AND is false because of one of its inputs; the others do not matter. Followed from the formula up to the roots, this
leaves a small part of a large model, so what is learned from one world holds in many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..equation import Equation
from ..expression import Expression, StepBudget
from ..model import Model
from ..query import Assignment

STEPS = 4_096  # spent on one expression
MOST_NAMES = 64  # an expression that reads more is taken whole


class Reasons(NamedTuple):
    """What settles a formula: variables that have their values by equation or as roots, and those set otherwise."""

    follow: frozenset[str]
    set: frozenset[str]


class ReasonFinder:
    """Finds reasons in the worlds of one model."""

    def __init__(self, model: Model, formula: Expression) -> None:
        self.model = model
        self.formula = Equation.from_expression(formula)
        self._ranges = {name: frozenset(values) for name, values in model.ranges.items()}

    def find(self, context: Assignment, event: Assignment, world: Mapping[str, int]) -> Reasons:
        """Find what settles the formula in the world that setting an event in a context gives."""
        model = self.model
        follow: set[str] = set()
        against: set[str] = set()
        stack = self._list_needed(self.formula, world, truth=True)
        while stack:
            name = stack.pop()
            if name in follow or name in against:
                continue
            equation = model.equations.get(name)
            value = context[name] if equation is None else model.equation_value(name, world)
            if name in event and value != event[name]:
                against.add(name)
                continue
            follow.add(name)
            if equation is not None:
                stack += self._list_needed(equation, world)
        return Reasons(frozenset(follow), frozenset(against))

    def _list_needed(self, equation: Equation, world: Mapping[str, int], *, truth: bool = False) -> list[str]:
        """List parents whose values alone give the equation its value, or a formula its truth."""
        expression, known = equation.expression, equation.facts
        if expression is None or known is None or known.divides or len(equation.parents) > MOST_NAMES:
            return list(equation.parents)
        given = {name: frozenset((world[name],)) for name in equation.parents}
        value = expression.value(world)
        needed = []
        for name in equation.parents:
            reached = expression.possible({**given, name: self._ranges[name]}, _budget())
            if reached is not None and (reached == {value} or (truth and set(map(bool, reached)) == {bool(value)})):
                given[name] = self._ranges[name]
            else:
                needed.append(name)
        return needed


def _budget() -> StepBudget:
    return StepBudget(STEPS, at_once=STEPS, free=16)
