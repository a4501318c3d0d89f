"""The fast exact solver for whole state spaces: which binaries, at least cost, for all states together.

Enumerating partitions is never needed. What one state is given matters to another only inside a
*group*: the states that agree on a binary's variables. A group stands for one outcome; where all its
states have the same outcome anyway, it binds nobody. So:

    for sizes 1, 2, ...: list the admissible binaries of this size of every state that has none yet
        whose group is of one outcome (a *safe* choice: nothing larger can be part of a minimum)
    states without a mixed group among their choices are free: any of their safe choices will do
    the others fall into components that share mixed groups; each is solved by itself, exactly:
        by dynamic programming, which also counts (`dynamic_program.py`), else by MaxSAT (`maxsat.py`)

Below `alpha_sufficiency` 1/2 no group is mixed and all states are free: one pass, linear in the states.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .dynamic_program import SAFE, Check, DynamicProgram, Option
from .maxsat import MaxSat
from .weighted_clauses import Remaining

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Component:
    """Competing states and the way in which they were solved."""

    states: list[int]
    solved: DynamicProgram | MaxSat


@dataclass(frozen=True, eq=False)
class Solution:
    """All minima: the ties of the free states, and the components.

    `ties` holds (mask, which free states may be given it); a free state in none of them gets the empty
    mask. `cost` is None if there is no valid choice, `count` if the minima could not be counted.
    """

    size: int
    ties: list[tuple[int, Array]]
    components: list[Component]
    cost: int | None
    count: int | None

    def base(self) -> Array:
        """Return one minimum: a mask for each state."""
        chosen = np.zeros(self.size, dtype=np.int64)
        for mask, states in reversed(self.ties):
            chosen[states] = mask
        for component in self.components:
            chosen[component.states] = component.solved.first()
        return chosen

    def __iter__(self) -> Iterator[Array]:
        """Yield every minimum, lazily: all choices of the components, times all ties of the free states."""
        if self.cost is None:
            return
        undecided = self._open_choices()
        for chosen in self._component_choices(0, self.base()):
            yield from _odometer(chosen, undecided)

    def _component_choices(self, index: int, chosen: Array) -> Iterator[Array]:
        if index == len(self.components):
            yield chosen
            return
        component = self.components[index]
        for masks in component.solved:
            following = chosen.copy()
            following[component.states] = masks
            yield from self._component_choices(index + 1, following)

    def _open_choices(self) -> list[tuple[int, list[int]]]:
        """Return the free states that have a choice, each with its masks."""
        indices = np.flatnonzero(_multiplicity(self.size, self.ties) > 1)
        if not len(indices):
            return []
        table = np.stack([states[indices] for _, states in self.ties])
        masks = [mask for mask, _ in self.ties]
        return [
            (int(index), [masks[row] for row in np.flatnonzero(table[:, column])])
            for column, index in enumerate(indices)
        ]

    def masks_of(self, state: int) -> list[int]:
        """Return the masks that a state is given in some minimum."""
        for component in self.components:
            if state in component.states:
                return component.solved.masks_of(component.states.index(state))
        return [mask for mask, states in self.ties if states[state]] or [0]


def assign(
    outcomes: Array,
    masks: Callable[[int], Sequence[int]],
    width: int,
    admissible: Callable[[int], Array],
    groups: Callable[[int], tuple[Array, int]],
    *,
    weights: Array | None,
    competing: bool,
    check: Check,
    remaining: Remaining,
) -> Solution:
    """Solve the assignment for the states with these outcomes.

    `masks(n)` lists the masks with `n` of the `width` variables; `admissible(mask)` and `groups(mask)` say
    for every state whether it may have the mask, and which states agree on it. With `competing` false
    every group is of one outcome and need not be looked at.
    """
    size = len(outcomes)
    amounts = np.ones(size, dtype=np.int64) if weights is None else weights
    level = np.zeros(size, dtype=np.int64)  # the size of the smallest safe choice, once there is one
    active = np.ones(size, dtype=bool)
    safe: list[tuple[int, Array]] = []
    mixed: list[tuple[int, Array, Array]] = []  # mask, states, their groups
    group_count = 0
    for count in range(1, width + 1):
        if not active.any():
            break
        settled = np.zeros(size, dtype=bool)
        for mask in masks(count):
            check()
            allowed = admissible(mask) & active
            if competing and allowed.any():
                states = np.flatnonzero(allowed)
                key = groups(mask)[0][states]
                clashing = _clashing(key, outcomes[states])
                mixed.append((mask, states[clashing], key[clashing] + group_count))
                group_count += int(key.max()) + 1
                allowed[states[clashing]] = False
            if allowed.any():
                safe.append((mask, allowed))
                settled |= allowed
        level[settled] = count
        active &= ~settled
    bound = np.zeros(size, dtype=bool)
    for _, states, _ in mixed:
        bound[states] = True
    components = [
        _solve_component(states, safe, mixed, outcomes, amounts, check, remaining)
        for states in _components(bound, mixed)
    ]
    ties = [(mask, states & ~bound) for mask, states in safe]
    costs = [component.solved.cost for component in components]
    cost = None if None in costs else int((level * amounts)[~bound].sum()) + sum(c for c in costs if c is not None)
    return Solution(size, ties, components, cost, _count(size, ties, components))


def _clashing(key: Array, outcomes: Array) -> Array:
    """Tell which entries lie in a group with more than one outcome."""
    width = int(key.max()) + 1
    low = np.full(width, np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(width, -1, dtype=np.int32)
    np.minimum.at(low, key, outcomes)
    np.maximum.at(high, key, outcomes)
    return np.asarray((low != high)[key])


def _components(bound: Array, mixed: list[tuple[int, Array, Array]]) -> list[Array]:
    """Split the competing states by shared groups: the smallest index spreads until nothing changes."""
    if not bound.any():
        return []
    states = np.concatenate([entry[1] for entry in mixed])
    unique, groups = np.unique(np.concatenate([entry[2] for entry in mixed]), return_inverse=True)
    part = np.arange(len(bound))
    while True:
        smallest = np.full(len(unique), len(bound))
        np.minimum.at(smallest, groups, part[states])
        following = part.copy()
        np.minimum.at(following, states, smallest[groups])
        following = following[following]
        if (following == part).all():
            break
        part = following
    competing = np.flatnonzero(bound)
    order = competing[np.argsort(part[competing], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(part[order])) + 1)


def _solve_component(
    states: Array,
    safe: list[tuple[int, Array]],
    mixed: list[tuple[int, Array, Array]],
    outcomes: Array,
    amounts: Array,
    check: Check,
    remaining: Remaining,
) -> Component:
    """Solve one component, ordered so that small groups close soon."""
    options: dict[int, list[Option]] = {state: [] for state in states.tolist()}
    sizes: Counter[int] = Counter()
    for mask, members, groups in mixed:
        check()
        inside = np.isin(members, states) if len(states) < len(amounts) else slice(None)
        for state, group in zip(members[inside].tolist(), groups[inside].tolist(), strict=True):
            options[state].append(Option(mask, mask.bit_count(), group))
            sizes[group] += 1
    for mask, allowed in safe:
        check()
        for state in states[allowed[states]].tolist():
            options[state].append(Option(mask, mask.bit_count(), SAFE))
    order = sorted(options, key=lambda s: sorted((sizes[o.group], o.group) for o in options[s] if o.group != SAFE))
    problem = (
        [options[state] for state in order],
        [int(outcomes[state]) for state in order],
        [int(amounts[state]) for state in order],
    )
    program = DynamicProgram(*problem)
    if program.solve(check):
        return Component(order, program)
    labelling = MaxSat(*problem)
    labelling.solve(check, remaining)
    return Component(order, labelling)


def _multiplicity(size: int, ties: list[tuple[int, Array]]) -> Array:
    many = np.zeros(size, dtype=np.int64)
    for _, states in ties:
        many += states
    return many


def _count(size: int, ties: list[tuple[int, Array]], components: list[Component]) -> int | None:
    """Count the minima exactly: ties multiply, and so do components."""
    many = _multiplicity(size, ties)
    values, repeats = np.unique(many[many > 1], return_counts=True)
    count: int = prod(int(value) ** int(times) for value, times in zip(values, repeats, strict=True))
    for component in components:
        if component.solved.count is None:
            return None
        count *= component.solved.count
    return count


def _odometer(chosen: Array, undecided: list[tuple[int, list[int]]]) -> Iterator[Array]:
    """Yield all combinations of the undecided states' masks, the last one changing fastest."""
    digits = [0] * len(undecided)
    while True:
        yield chosen.copy()
        for place in range(len(digits) - 1, -1, -1):
            index, masks = undecided[place]
            digits[place] = (digits[place] + 1) % len(masks)
            chosen[index] = masks[digits[place]]
            if digits[place]:
                break
        else:
            return
