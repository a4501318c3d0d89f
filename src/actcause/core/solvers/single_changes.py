"""Variables one change of which alone undoes the effect, found by evaluating many changes at once.

Such a variable is a minimal cause by `but-for` and by all three definitions of Halpern and Pearl: nothing need be held,
and without a contingency AC2b asks no more than that the effect happened. In a long chain of equations, such as a model
unrolled over a thousand steps, evaluating is quick where a search by clauses is not:

    for the candidates, the last in the order of equations first, a few thousand changed values at a time
        evaluate the equations from the first changed variable on, skipping those that no change reaches
        report the candidates for which the effect is gone
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ...errors import ModelError
from ..definitions import Search
from ..expression import Array, Expression
from ..facts import facts
from ..query import Query
from ..steps import AT, split_step

MANY = 1_000  # candidates in time from which on this is worth while
ROWS = 4_096  # changed values that are evaluated at once
FIRST_ROWS = 64  # so that the first causes come at once
MOST_VALUES = 64  # of a variable; those of a wider range are left to the other search


def is_worth_while(query: Query) -> bool:
    """Return whether a question is about a long model in time; the best witnesses of normality take another search."""
    if query.normality is not None:
        return False
    return sum(AT in name and split_step(name)[1] is not None for name in query.candidates) >= MANY


def find_single_changes(search: Search, names: Collection[str] | None = None) -> Iterator[tuple[str, int]]:
    """Yield candidates with a value that undoes the effect by itself; an equation that fails ends it.

    With `names`, only these are tried.
    """
    query = search.query
    candidates = set(query.candidates if names is None else names)
    places = {name: place for place, name in enumerate(query.model.order)}
    changes = (
        (name, value)
        for name in reversed(query.model.order)
        if name in candidates and len(query.model.ranges[name]) <= MOST_VALUES
        for value in query.model.ranges[name]
        if value != query.actual[name]
    )
    rows, found = FIRST_ROWS, set[str]()
    try:
        while chunk := [change for _, change in zip(range(rows), changes, strict=False)]:
            search.step(count=len(chunk))
            for (name, value), undone in zip(chunk, _find_undoing(query, chunk, places, search), strict=True):
                if undone and name not in found:
                    found.add(name)
                    yield name, value
            rows = min(2 * rows, ROWS)
    except ModelError:
        return


def _find_undoing(query: Query, chunk: list[tuple[str, int]], places: dict[str, int], search: Search) -> list[bool]:
    """Evaluate each change by itself, and return which undo the effect."""
    model, actual = query.model, query.actual
    own: dict[str, list[int]] = {}  # the rows in which a variable is changed by hand
    for row, (name, _) in enumerate(chunk):
        own.setdefault(name, []).append(row)
    changed: dict[str, Array] = {}  # what differs from what happened, in some row
    wanted = model.ancestors(query.contrasted_variables)
    for name in model.order[min(places[name] for name in own) :]:
        if name not in wanted:
            continue
        equation = model.equations.get(name)
        values: Array | None = None
        if equation is not None and any(parent in changed for parent in equation.parents):
            env = {parent: changed.get(parent, np.asarray(actual[parent])) for parent in equation.parents}
            values = np.broadcast_to(model.evaluate_equation(name, env), (len(chunk),))
        if name in own:
            values = np.full(len(chunk), actual[name]) if values is None else values.copy()
            values[own[name]] = [chunk[row][1] for row in own[name]]
        if values is not None and (values != actual[name]).any():
            changed[name] = values
        if len(changed) % 256 == 255:
            search.check_time()
    undone = ~_find_holding(query, query.effect, changed, len(chunk))
    if query.contrast is not None:
        undone &= _find_holding(query, query.contrast, changed, len(chunk))
    return [bool(one) for one in undone]


def _find_holding(query: Query, formula: Expression, changed: dict[str, Array], rows: int) -> Array:
    """Return in which rows a formula holds."""
    summary = facts(formula)
    env = {name: changed.get(name, np.asarray(query.actual[name])) for name in summary.names}
    values = formula.array(env, np.asarray(True) if summary.divides else None)
    return np.broadcast_to(values != 0, (rows,)).copy()
