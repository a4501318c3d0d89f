"""One state of a space: how many changes of some variables change its outcome, and which state is next to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations

import numpy as np

from ..counting import Check, never
from ..definitions.functional import enough
from ..expression import Array, Expression
from ..model import Model
from ..ranges import grids
from .state_space import StateSpace

FAR = 1 << 40  # one more variable that differs counts more than any distance


@dataclass(frozen=True)
class NecessityCheck:
    """How many changes of some variables change the outcome while others are held; `example` is one of them."""

    count: int
    total: int
    held: dict[str, int]
    example: dict[str, int] | None
    gives: int | None
    holds: bool


def check_necessity(
    model: Model,
    outcome: Expression,
    states: StateSpace,
    index: int,
    names: Sequence[str],
    alpha: Fraction | None = None,
    check: Check = never,
) -> NecessityCheck:
    r"""Find the first set of held variables with which enough settings of `names` change the outcome, else the best.

    `states` is the space of this model and outcome; `check` is called now and then, and what it raises ends the count.

    >>> from actcause.core.text import parse_formula
    >>> model = Model.from_text("A\nB\nC = A and B")
    >>> states = StateSpace.from_model(model, "C")
    >>> check_necessity(model, parse_formula("C"), states, states.find({"A": 1, "B": 1}), ["A"])
    NecessityCheck(count=1, total=2, held={}, example={'A': 0}, gives=0, holds=True)
    """
    values = {name: int(column[index]) for name, column in states.contexts.items()} | states.state(index)
    context = {name: np.asarray([values[name]]) for name in model.roots}
    between = model.descendants(names) & set(states.variables) & model.ancestors(outcome.names())
    ordered = [name for name in states.variables if name in between - set(names)]
    best: NecessityCheck | None = None
    for held in chain.from_iterable(combinations(ordered, size) for size in range(len(ordered) + 1)):
        frozen = {name: values[name] for name in held}
        found = _count_changes(model, outcome, names, context, frozen, states.outcome_of(index), alpha, check)
        if best is None or found.count > best.count:
            best = found
        if best.holds:
            break
    assert best is not None
    return best


def _count_changes(
    model: Model,
    outcome: Expression,
    names: Sequence[str],
    context: Mapping[str, Array],
    frozen: dict[str, int],
    actual: int,
    alpha: Fraction | None,
    check: Check,
) -> NecessityCheck:
    """Try all settings of `names` with others held."""
    count = total = 0
    example: dict[str, int] | None = None
    gives = None
    for columns in grids([model.ranges[name] for name in names]):
        check()
        changed = dict(zip(names, columns, strict=True))
        env = model.evaluate_many(context, {**frozen, **changed}, only=outcome.names())
        results = np.broadcast_to(outcome.array(env, np.asarray(True)), columns[0].shape)
        undone = np.flatnonzero(results != actual)
        total += len(results)
        count += len(undone)
        if example is None and len(undone):
            row = int(undone[0])
            example = {name: int(column[row]) for name, column in changed.items()}
            gives = int(results[row])
    return NecessityCheck(count, total, frozen, example, gives, enough(count, total, alpha))


def find_neighbour(states: StateSpace, masks: Array, index: int) -> int | None:
    r"""Find the nearest state with another mask: fewest variables differ, then their values differ least.

    None where all states have the mask of this one.

    >>> states = StateSpace.from_model(Model.from_text("A in 0..3\nB = A > 1"), "B")
    >>> find_neighbour(states, np.array([0, 0, 1, 1]), 0)
    2
    """
    candidates = np.flatnonzero(masks != masks[index])
    if not len(candidates):
        return None
    score = np.zeros(len(candidates), dtype=np.int64)
    for code in states.codes:
        apart = np.abs(code[candidates].astype(np.int64) - int(code[index]))
        score += apart + (apart > 0) * FAR
    return int(candidates[np.argmin(score)])
