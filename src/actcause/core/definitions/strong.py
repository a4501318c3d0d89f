"""Strong sufficiency with contrastive necessity (after Beckers): the event settles a whole network of variables."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ..answer import Assignment, Witness
from ..expression import StepBudget
from ..ranges import grids
from .base import Definition, actual_values, rest, settings, subsets
from .search import Search

FEW = 32  # settings that are evaluated one by one; more go by arrays, thousands at once
AT_ONCE = 1 << 12
VERY_MANY = 1 << 16  # past these, what can occur is put together from what can occur in the parts
PAIRS = 1 << 20  # of values that are put together for one equation


class Strong(Definition):
    """For one witness `W` and one network `N`: `(X=x, W=w*)` suffices along `N`, and some `(X=x', W=w*)` along no part.

    `N` contains the effect's variables, unless they are in `X` or `W`. To *suffice along* `N` is to give the
    variables of `N`, left to their equations, one and the same value each, and the effect with them, whatever
    values all other variables are set to. (x', w*) must do so along no `N'` inside `N`.

    Beckers, "Causal Sufficiency and Actual Causation", Journal of Philosophical Logic 50, 2021, and "Causal
    Explanations and XAI", CLeaR 2022. That necessity is asked along every part of the network is our reading.
    """

    name = "strong"
    title = "Strong sufficiency (Beckers)"
    citation = "Beckers, Causal Sufficiency and Actual Causation, JPL 50 (2021)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        """Yield, for each `W`, `N` and `x'`, one world in which what `x'` settles is as it says and the effect is gone.

        Such a world exists exactly if (x', w*) suffices along no `N'` inside `N`: `settle` finds the largest `N'`
        that has one value each. If the effect's variables are all in it, that world is the only one; if one of
        them is not, it can be other than it was. (Where the effect is not one value of one variable, being other
        need not undo it, and we ask for the world in which it does.) The contrast's variables follow their equations.
        """
        query = search.query
        own = query.effect_variables
        for held in subsets(rest(search, event)):
            frozen = actual_values(search, held)
            if all(name in frozen for name in own):
                continue
            outside = [name for name in rest(search, event) if name not in frozen and name not in own]
            # A root left to itself keeps its actual value, which `held` already covers.
            for network in subsets([name for name in outside if name in query.model.equations]):
                for changed in settings(query.model, event):
                    settled = settle(search, {**frozen, **changed}, network)
                    free = [name for name in outside if name not in {*settled, *query.contrasted_variables}]
                    for others in settings(query.model, free):
                        if search.undoes({**others, **frozen, **changed}):
                            yield Witness(changed, frozen, others, network)
                            if query.normality is None:
                                break

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        """Check that the event settles the network; its values are then the actual ones, and the effect holds."""
        fixed = {**event, **witness.frozen}
        own = [name for name in rest(search, fixed) if name in search.query.effect_variables]
        return settle(search, fixed, witness.network).keys() == {*own, *witness.network}


def settle(search: Search, fixed: Assignment, network: tuple[str, ...]) -> dict[str, int]:
    """Return the largest part of the network, effect included, that `fixed` gives one value each, with these values.

    If two parts have one value each whatever is done to the rest, so has their union: let both follow their
    equations, and what one part does is just one of the settings that the other was shown to bear. So there is a
    largest part. A variable belongs to it exactly if its equation gives one value for all values of those parents
    that are neither fixed nor in it, and going through the network from parents to children finds them all.
    """
    query = search.query
    model = query.model
    known = {**actual_values(search, model.exogenous), **fixed}
    settled: dict[str, int] = {}
    for name in model.order:
        if name in known or (name not in network and name not in query.effect_variables):
            continue
        if name not in model.equations:
            settled[name] = query.actual[name]
            continue
        given = {**known, **settled}
        free = [parent for parent in model.parents(name) if parent not in given]
        values = find_two_values(search, name, given, free)
        if len(values) == 1:
            settled[name] = values.pop()
    return settled


def find_two_values(search: Search, name: str, given: Assignment, free: Sequence[str]) -> set[int]:
    """Return what an equation gives for all settings of its open parents, ended at the second value."""
    model = search.query.model
    equation, ranges = model.equations[name], [model.ranges[parent] for parent in free]
    if prod(map(len, ranges)) > VERY_MANY and (found := find_possible_values(search, name, given, free)) is not None:
        return set(sorted(found)[:2])
    if prod(map(len, ranges)) > FEW and (equation.expression is not None or equation.vectorized):
        return _find_by_arrays(search, name, given, free)
    values: set[int] = set()
    for setting in settings(model, free):
        search.step()
        values.add(model.equation_value(name, {**given, **setting}))
        if len(values) > 1:
            break
    return values


def find_possible_values(search: Search, name: str, given: Assignment, free: Sequence[str]) -> frozenset[int] | None:
    """Return all that an equation gives for all settings of its open parents, if no name occurs twice in it."""
    model = search.query.model
    equation = model.equations[name]
    if equation.expression is None or equation.facts is None or equation.facts.divides or not equation.facts.read_once:
        return None
    search.step()
    open_parents = set(free)
    sets = {
        parent: frozenset(model.ranges[parent] if parent in open_parents else (given[parent],))
        for parent in equation.parents
    }
    return equation.expression.possible(sets, StepBudget(PAIRS, at_once=PAIRS, free=0))


def _find_by_arrays(search: Search, name: str, given: Assignment, free: Sequence[str]) -> set[int]:
    """Do as `find_two_values` does with arrays: in the same order, counting as many evaluations."""
    model = search.query.model
    known = {parent: np.asarray(value) for parent, value in given.items()}
    values: set[int] = set()
    for columns in grids([model.ranges[parent] for parent in free], AT_ONCE):
        world = {**known, **dict(zip(free, columns, strict=True))}
        found = np.broadcast_to(model.evaluate_equation(name, world), columns[0].shape)
        values = values or {int(found[0])}
        other = np.flatnonzero(found != next(iter(values)))[:1]
        search.step(count=int(other[0]) + 1 if len(other) else len(found))
        if len(other):
            return values | {int(found[other[0]])}
    return values
