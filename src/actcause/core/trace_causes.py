"""Chains of a model unrolled in time: from a value at a step back to the inputs and first values behind it.

A value follows from the states and inputs of the step before, or of its own step if it is no state. Each such link is a
question about one step, in which the states before are roots: which of them, and of the inputs, belong to a cause?
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..errors import QueryError, quote
from .chain import Chain, trace_back
from .equation import Equation
from .expression import Name
from .find import causes, get_definition
from .model import Model
from .query import Assignment
from .renaming import rename_variables
from .steps import at_step, hint_name, split_step


def trace_causes(model: Model, *, context: Assignment, event: str, definition: str = "modified-hp") -> Chain:
    r"""Trace the value of a variable at a step, such as `alarm@7`, back to inputs and first values.

    `step` of the chain is that of the event. A link at a step says which states and inputs at that step were in a cause
    of a state's next value, or, for an event that is no state, of the event itself.

    >>> tank = Model.from_text("valve\nlevel in 0..9 = 3\nlevel' = min(9, level + valve)\nalarm = level > 4")
    >>> model = tank.unrolled(3)
    >>> context = {"valve@0": 1, "valve@1": 0, "valve@2": 1, "valve@3": 0}
    >>> print(trace_causes(model, context=context, event="alarm@3"))
    alarm at step 3 (alarm 0 to 1): because of level at step 3.
    level: because of valve at steps 0 to 2.
    """
    get_definition(definition)
    base, step = split_step(event) if isinstance(event, str) else (event, None)
    if step is None or event not in model.ranges:
        hint = hint_name(event, model.ranges) if isinstance(event, str) else ""
        wrong = "{parameter} must name a variable at a step, such as 'alarm@7'; got {got}{hint}"
        raise QueryError(wrong, parameter="event", got=quote(event), hint=hint or ".")
    actual = model.evaluate(context)
    slices = _Slices(model, definition)
    in_state = base in slices.states
    before = actual[at_step(base, step - 1)] if step else actual[event]
    change = {base: (before, actual[event])} if before != actual[event] else {}
    if in_state and step == 0:
        return Chain(base, 0, (), (), (base,), change)

    def find(now: int, outcome: str) -> tuple[str, ...]:
        later = outcome in slices.states
        roots = slices.later.roots if later else slices.now.roots
        values = tuple(actual[_shift(root, now)] for root in roots)
        return slices.find(outcome, values)

    last = step - 1 if in_state else step
    chain = trace_back(find, base, last, inputs=slices.inputs, change=change)
    return replace(chain, step=step)


def _shift(name: str, steps: int) -> str:
    base, step = split_step(name)
    return name if step is None else at_step(base, step + steps)


class _Slices:
    """One step of an unrolled model, with the states before as roots; and the values of one step."""

    def __init__(self, model: Model, definition: str) -> None:
        self.definition = definition
        first = [name for name in model.variables if split_step(name)[1] in (None, 0)]
        second = [name for name in model.variables if split_step(name)[1] == 1]
        self.states = {
            split_step(name)[0]
            for name in first
            if (after := model.equations.get(_shift(name, 1))) is not None and not _is_same(model, name, after)
        }
        roots = [name for name in first if name not in model.equations]
        self.inputs = {split_step(name)[0] for name in roots if split_step(name)[0] not in self.states}
        self.now = self._build(model, first)
        self.later = self._build(model, [*first, *second])
        self.find = lru_cache(maxsize=None)(self._find)  # controllers come back to the same states

    def _build(self, model: Model, names: list[str]) -> Model:
        free = {at_step(state, 0) for state in self.states}
        equations = {name: model.equations[name] for name in names if name in model.equations and name not in free}
        kept = set(names)
        exogenous = [name for name in model.exogenous if name in kept]
        return Model({name: model.ranges[name] for name in names}, equations, exogenous=exogenous)

    def _find(self, outcome: str, values: tuple[int, ...]) -> tuple[str, ...]:
        """Find the states and inputs that belong to a cause of the outcome's value, given the roots of the slice."""
        later = outcome in self.states
        model = self.later if later else self.now
        name = at_step(outcome, int(later))
        if name not in model.equations:
            return (outcome,)
        context = dict(zip(model.roots, values, strict=True))
        effect = f"{name} == {model.evaluate(context)[name]}"
        roots = {root for root in model.roots if split_step(root)[1] in (None, 0)}
        found = causes(model, context=context, effect=effect, definition=self.definition)
        events = [set(cause.event) for cause in found if set(cause.event) <= roots]
        return tuple(split_step(root)[0] for root in model.roots if any(root in event for event in events))


def _is_same(model: Model, name: str, after: Equation) -> bool:
    """Return whether a variable follows at step 1 by the equation that it has at step 0."""
    before = model.equations.get(name)
    if before is None or tuple(_shift(parent, 1) for parent in before.parents) != after.parents:
        return False
    if before.expression is None or after.expression is None:
        return before.function is after.function
    names = {parent: Name(_shift(parent, 1)) for parent in before.parents}
    return rename_variables(before.expression, names) == after.expression
