"""What was recorded of a model in time, step by step, as the context of a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import QueryError, quote, suggest
from .model import Model
from .ranges import brief_range
from .steps import at_step, find_last_step, split_step
from .text import write_list

Values = tuple[int | None, ...]
COUNTER = "step"  # in a file, a column of this name counts the rows from 0
CLOCKS = ("t", "time", "timestep", "steps", "tick", "index", "")  # and what people call it


@dataclass(frozen=True)
class Trace:
    r"""A recorded trace: for each variable its values at steps 0, 1, and so on; None where nothing was recorded.

    A number in the place of a column is the value at every step; a name with its step sets this one value.

    >>> model = Model.from_text("valve\nlevel in 0..9 = 5\nlevel' = min(level + valve, 9)")
    >>> trace = Trace({"valve": [1, 0, 1], "level": [5, 6, 6]})
    >>> trace.context(model.unrolled(trace.steps))
    {'valve@0': 1, 'valve@1': 0, 'valve@2': 1}
    >>> Trace({"valve": 0, "valve@1": 1}).context(model.unrolled(2))
    {'valve@0': 0, 'valve@1': 1, 'valve@2': 0}
    """

    columns: Mapping[str, Values | int]

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            wrong = "{parameter} must map names to their values at each step, such as {{'valve': [1, 0]}}; got {got}."
            raise QueryError(wrong, parameter="trace", got=quote(self.columns))
        columns = {str(name): _read_column(str(name), given) for name, given in self.columns.items()}
        lengths = {len(column): name for name, column in columns.items() if isinstance(column, tuple)}
        if len(lengths) > 1:
            (length, name), (other, second) = list(lengths.items())[:2]
            wrong = "{parameter} has {length} values of {name} and {other} of {second}; give as many of each."
            raise QueryError(wrong, parameter="trace", length=length, name=name, other=other, second=second)
        if 0 in lengths:
            raise QueryError("{parameter} has no steps; give it at least one.", parameter="trace")
        object.__setattr__(self, "columns", columns)

    @property
    def steps(self) -> int | None:
        """The last step with values; None where every value is said of all steps."""
        last = find_last_step(self.columns)
        lengths = [len(column) - 1 for column in self.columns.values() if isinstance(column, tuple)]
        return lengths[0] if lengths else last

    def context(self, model: Model) -> dict[str, int]:
        """Fill the roots of an unrolled model, and hold every other recorded value against its equation."""
        cells = self._spread(model)
        missing = [name for name in model.roots if cells.get(name) is None]
        if missing:
            raise self._missing(missing, model)
        context = {name: cells[name] for name in model.roots}
        recorded = {name: value for name, value in cells.items() if value is not None and name in model.equations}
        if recorded:
            self._check(model, model.solve(context, {}), recorded)
        return context

    def _spread(self, model: Model) -> dict[str, int]:
        """Name every recorded value with its step, as far as the model goes."""
        last: dict[str, int] = {}  # by variable
        for name in model.variables:
            base, step = split_step(name)
            last[base] = -1 if step is None else max(step, last.get(base, 0))
        cells: dict[str, int] = {}
        for name in sorted(self.columns, key=lambda name: split_step(name)[1] is not None):  # single values come last
            column = self.columns[name]
            base, step = split_step(name)
            if base not in last or (step is not None and last[base] < 0):
                raise _unknown(name, last)
            if step is not None:
                if step <= last[base]:
                    _set_value(cells, model, name, column)
            elif last[base] < 0:  # one variable for all steps
                values = {column} if isinstance(column, int) else set(column)
                if len(values) > 1:
                    wrong = "{parameter} must have one value of {name} at all steps; got {got}."
                    raise QueryError(wrong, parameter="trace", name=name, got=write_list([*map(str, values)]))
                _set_value(cells, model, name, values.pop())
            elif isinstance(column, int):
                for number in range(last[base] + 1):
                    _set_value(cells, model, at_step(base, number), column)
            else:
                for number, value in enumerate(column[: last[base] + 1]):
                    _set_value(cells, model, at_step(base, number), value)
        return cells

    def _missing(self, names: Sequence[str], model: Model) -> QueryError:
        base, step = split_step(names[0])
        with_steps = Counter(split_step(root)[0] for root in model.roots)
        first = [name for name in names if with_steps[split_step(name)[0]] == 1 and split_step(name)[1] is not None]
        if names[0] in first:  # first values: later ones follow from equations
            several = "follows" if len(first) == 1 else "follow"
            more = f" and {len(first) - 4} more" if len(first) > 4 else ""
            wrong = "{parameter} has no value of {names}{more}, which {several} from nothing; give {each} one."
            each = "it" if len(first) == 1 else "each"
            shown = ", ".join(first[:4])
            return QueryError(wrong, parameter="trace", names=shown, more=more, several=several, each=each)
        if step is None or not any(split_step(given)[0] == base for given in self.columns):
            wrong = "{parameter} has no value of {name}, which follows from nothing; give it one at every step."
        elif self.steps is not None and step > self.steps:
            wrong = "{parameter} has no value of {name} at step {step}: it ends at step {last}."
        else:
            wrong = "{parameter} has no value of {name} at step {step}, which follows from nothing; give it one."
        return QueryError(wrong, parameter="trace", name=base, step=step, last=self.steps)

    def _check(self, model: Model, values: Mapping[str, int], recorded: Mapping[str, int]) -> None:
        """Refuse a trace that contradicts an equation; report the first contradiction."""
        name = next((name for name in model.order if name in recorded and recorded[name] != values[name]), None)
        if name is None:
            return
        base, step = split_step(name)
        equation = model.equations[name]
        given = ", ".join(f"{parent}={values[parent]}" for parent in equation.parents[:6])
        text = "" if equation.expression is None else f" = {equation.expression}"
        wrong = (
            "{parameter} has {base}={got} at step {step}, but the equation {name}{text} gives {expected}{at}; "
            "correct one of them, or leave {base} out."
        )
        parts = {"base": base, "got": recorded[name], "step": step, "name": name, "text": text[:120]}
        parts |= {"expected": values[name], "at": f" at {given}" if given else ""}
        raise QueryError(wrong, parameter="trace", **parts)


def _read_column(name: str, given: object) -> Values | int:
    if isinstance(given, (bool, int, np.integer, np.bool_)):
        return int(given)
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        wrong = "{parameter} must have whole numbers of {name}; got {got}."
        raise QueryError(wrong, parameter="trace", name=name, got=quote(given))
    if split_step(name)[1] is not None:
        wrong = "{parameter} must have one whole number for {name}; got {got}."
        raise QueryError(wrong, parameter="trace", name=name, got=quote(given))
    return tuple(_read_value(name, step, value) for step, value in enumerate(given))


def _read_value(name: str, step: int, value: object) -> int | None:
    if value is None or isinstance(value, (bool, int, np.integer, np.bool_)):
        return None if value is None else int(value)
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return None
        if float(value).is_integer():
            return int(value)
    wrong = "{parameter} must have whole numbers of {name}; got {got} at step {step}."
    raise QueryError(wrong, parameter="trace", name=name, got=quote(value), step=step)


def _set_value(cells: dict[str, int], model: Model, name: str, value: object) -> None:
    if value is None or name not in model.ranges:
        return
    assert isinstance(value, int)
    if value not in model.ranges[name]:
        base, step = split_step(name)
        wrong = "{parameter} must have {name} in {range}; got {got} at step {step}."
        shown = brief_range(model.ranges[name])
        raise QueryError(wrong, parameter="trace", name=base, range=shown, got=value, step=step)
    cells[name] = value


def _unknown(name: str, known: Mapping[str, int]) -> QueryError:
    hint = suggest(split_step(name)[0], known)
    if not hint:
        counts = name.lower() in CLOCKS
        hint = f"; leave it out, or call it '{COUNTER}' if it counts steps." if counts else "; leave it out."
    wrong = "{parameter} has {name}, which is no variable of the model{hint}"
    return QueryError(wrong, parameter="trace", name=name or "a column without a name", hint=hint)
