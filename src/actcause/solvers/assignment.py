"""The fast exact solver for whole state spaces: which binaries, at least cost, for all states together.

Enumerating partitions is never needed. What one state is given matters to another only inside a
*group*: the states that agree on a binary's variables. A group stands for one outcome; where all its
states have the same outcome anyway, it binds nobody. So:

    for sizes 1, 2, ...: list the admissible binaries of this size of every state that has none yet
        whose group is of one outcome (a *safe* choice: nothing larger can be part of a minimum)
    states without a mixed group among their choices are free: any of their safe choices will do
    the others fall into components that share mixed groups; each is solved by itself, exactly:
        by dynamic programming over its states, if few groups are open at a time: this also counts
        else by MaxSAT, with one variable for "this group stands for this outcome" and one soft
        clause for each state and size

Below `alpha_sufficiency` 1/2 no group is mixed and all states are free: one pass, linear in the states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LARGEST_TABLE = 400_000
SAFE = -1

Labels = tuple[tuple[int, int], ...]  # (group, the outcome it stands for), sorted

Check = Callable[[], None]


@dataclass(frozen=True)
class Option:
    """A mask that a state may be given: its size, and the mixed group it would bind (or SAFE)."""

    mask: int
    size: int
    group: int


@dataclass
class Component:
    """States that compete, with their options; group labels are outcome codes."""

    states: list[int]
    options: list[list[Option]]
    outcomes: list[int]
    weights: list[int]
    cost: int | None = None
    count: int | None = None
    _layers: list[dict[Labels, tuple[int, int]]] = field(default_factory=list)
    _sample: list[int] | None = None
    _maxsat: Any = None

    # -- dynamic programming -----------------------------------------------------------------------

    def solve(self, check: Check, remaining: Callable[[], float | None]) -> None:
        """Find the least cost, and the number of ways to reach it if that is within reach."""
        if self._by_table(check):
            return
        from .maxsat import Labelling

        self._maxsat = Labelling(self.options, self.outcomes, self.weights, check)
        self.cost, self._sample = self._maxsat.minimum(remaining)

    def _by_table(self, check: Check) -> bool:
        last = self._last_use()
        frontiers: list[list[Labels]] = [[()]]
        entries = 0
        for index in range(len(self.states)):
            check()
            reached = {after for labels in frontiers[-1] for _, after in self._moves(index, labels, last)}
            entries += len(reached)
            if entries > LARGEST_TABLE:
                return False
            frontiers.append(list(reached))
        # Backwards: for each set of labels, the least cost of the states still to come, and how often.
        layer: dict[Labels, tuple[int, int]] = dict.fromkeys(frontiers[-1], (0, 1))
        layers = [layer]
        for index in range(len(self.states) - 1, -1, -1):
            before: dict[Labels, tuple[int, int]] = {}
            for labels in frontiers[index]:
                least, ways = -1, 0
                for option, after in self._moves(index, labels, last):
                    if after not in layer:
                        continue
                    cost = layer[after][0] + option.size * self.weights[index]
                    if least < 0 or cost < least:
                        least, ways = cost, layer[after][1]
                    elif cost == least:
                        ways += layer[after][1]
                if least >= 0:
                    before[labels] = (least, ways)
            layers.append(before)
            layer = before
        self._layers = layers[::-1]
        if () in layer:
            self.cost, self.count = layer[()]
        else:
            self.cost, self.count = None, 0
        return True

    def _last_use(self) -> dict[int, int]:
        return {
            option.group: index
            for index, options in enumerate(self.options)
            for option in options
            if option.group != SAFE
        }

    def _moves(self, index: int, labels: Labels, last: dict[int, int]) -> Iterator[tuple[Option, Labels]]:
        """The options of a state under the labels given so far, with the labels that remain of use."""
        outcome = self.outcomes[index]
        known = dict(labels)
        kept = tuple(label for label in labels if last[label[0]] > index)
        for option in self.options[index]:
            if option.group == SAFE:
                yield option, kept
            elif option.group in known:
                if known[option.group] == outcome:
                    yield option, kept
            elif last[option.group] > index:
                yield option, tuple(sorted((*kept, (option.group, outcome))))
            else:
                yield option, kept

    # -- what came out -----------------------------------------------------------------------------

    def first(self) -> list[int]:
        """The masks of one minimum."""
        return next(iter(self)) if self._sample is None else self._sample

    def __iter__(self) -> Iterator[list[int]]:
        """The masks of every minimum, one after another."""
        if self.cost is None:
            return
        if self._maxsat is not None:
            yield from self._maxsat.minima(self.cost)
            return
        last = self._last_use()
        stack: list[tuple[int, Labels, list[int]]] = [(0, (), [])]
        while stack:
            index, labels, chosen = stack.pop()
            if index == len(self.states):
                yield chosen
                continue
            least = self._layers[index][labels][0]
            following = []
            for option, after in self._moves(index, labels, last):
                rest = self._layers[index + 1].get(after)
                if rest is not None and rest[0] + option.size * self.weights[index] == least:
                    following.append((index + 1, after, [*chosen, option.mask]))
            stack.extend(reversed(following))

    def masks_of(self, position: int) -> list[int]:
        """The masks that a state is given in some minimum."""
        if self._maxsat is not None:
            assert self.cost is not None
            return list(self._maxsat.masks_of(position, self.cost))
        last = self._last_use()
        reach: set[Labels] = {()}
        for index in range(position):
            reach = {after for labels in reach for _, after in self._least(index, labels, last)}
        return list(dict.fromkeys(o.mask for labels in reach for o, _ in self._least(position, labels, last)))

    def _least(self, index: int, labels: Labels, last: dict[int, int]) -> Iterator[tuple[Option, Labels]]:
        least = self._layers[index][labels][0]
        for option, after in self._moves(index, labels, last):
            rest = self._layers[index + 1].get(after)
            if rest is not None and rest[0] + option.size * self.weights[index] == least:
                yield option, after

    def histogram(self, check: Check) -> Counter[int] | None:
        """How many valid choices have which cost; None if too many would have to be told apart."""
        last = self._last_use()
        layer: dict[Labels, Counter[int]] = {(): Counter({0: 1})}
        for index in range(len(self.states)):
            check()
            following: dict[Labels, Counter[int]] = {}
            for labels, costs in layer.items():
                for option, after in self._moves(index, labels, last):
                    into = following.setdefault(after, Counter())
                    for cost, ways in costs.items():
                        into[cost + option.size * self.weights[index]] += ways
            layer = following
            if sum(map(len, layer.values())) > LARGEST_TABLE:
                return None
        return sum(layer.values(), Counter())


@dataclass
class Solution:
    """Minimal choices for all states: free ones, each with its ties, and components."""

    size: int
    ties: list[tuple[int, Array]]  # (mask, which free states may be given it)
    free: Array  # which states are free
    components: list[Component]
    cost: int | None
    count: int | None

    def base(self) -> Array:
        """One minimum: a mask for each state."""
        chosen = np.zeros(self.size, dtype=np.int64)
        for mask, states in reversed(self.ties):
            chosen[states] = mask
        for component in self.components:
            chosen[component.states] = component.first()
        return chosen

    def __iter__(self) -> Iterator[Array]:
        """Every minimum, lazily: all choices of the components, times all ties of the free states."""
        if self.cost is None:
            return
        undecided = self._undecided()
        for chosen in self._component_choices(0, self.base()):
            yield from _odometer(chosen, undecided)

    def _component_choices(self, index: int, chosen: Array) -> Iterator[Array]:
        if index == len(self.components):
            yield chosen
            return
        component = self.components[index]
        for masks in component:
            following = chosen.copy()
            following[component.states] = masks
            yield from self._component_choices(index + 1, following)

    def _undecided(self) -> list[tuple[int, list[int]]]:
        """The free states that have a choice, each with its masks."""
        many = np.zeros(self.size, dtype=np.int32)
        for _, states in self.ties:
            many += states
        indices = np.flatnonzero(many > 1)
        if not len(indices):
            return []
        table = np.stack([states[indices] for _, states in self.ties])
        masks = [mask for mask, _ in self.ties]
        return [
            (int(index), [masks[row] for row in np.flatnonzero(table[:, column])])
            for column, index in enumerate(indices)
        ]

    def masks_of(self, state: int) -> list[int]:
        """The masks that a state is given in some minimum."""
        for component in self.components:
            if state in component.states:
                return component.masks_of(component.states.index(state))
        return [mask for mask, states in self.ties if states[state]] or [0]


def _odometer(chosen: Array, undecided: list[tuple[int, list[int]]]) -> Iterator[Array]:
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


def assign(
    size: int,
    outcomes: Array,
    masks: Callable[[int], Sequence[int]],
    width: int,
    admissible: Callable[[int], Array],
    groups: Callable[[int], tuple[Array, int]],
    *,
    weights: Array | None,
    competing: bool,
    check: Check,
    remaining: Callable[[], float | None] = lambda: None,
) -> Solution:
    """Solve the assignment for `size` states.

    `masks(n)` lists the masks with `n` of the `width` variables; `admissible(mask)` and `groups(mask)` say
    for every state whether it may have the mask, and which states agree on it. With `competing` false
    every group is of one outcome and need not be looked at.
    """
    amounts = np.ones(size, dtype=np.int64) if weights is None else weights
    level = np.zeros(size, dtype=np.int8)  # the size of the smallest safe choice, once there is one
    active = np.ones(size, dtype=bool)
    ties: list[tuple[int, Array]] = []
    options: dict[int, list[Option]] = {}  # of states that have a mixed group
    safe: list[tuple[int, int, Array]] = []
    next_group = 0
    for count in range(1, width + 1):
        if not active.any():
            break
        settled = np.zeros(size, dtype=bool)
        for mask in masks(count):
            check()
            allowed = admissible(mask) & active
            if not allowed.any():
                continue
            if competing:
                index = np.flatnonzero(allowed)
                key = groups(mask)[0][index]
                mixed = _mixed(key, outcomes[index])
                for state, group in zip(index[mixed].tolist(), key[mixed].tolist(), strict=True):
                    options.setdefault(state, []).append(Option(mask, count, next_group + group))
                next_group += int(key.max()) + 1
                allowed[index[mixed]] = False
            if allowed.any():
                safe.append((mask, count, allowed))
                settled |= allowed
        level[settled] = count
        active &= ~settled
    bound = np.zeros(size, dtype=bool)
    bound[list(options)] = True
    for mask, _, states in safe:
        ties.append((mask, states & ~bound))
        for state in np.flatnonzero(states & bound).tolist():
            options[state].append(Option(mask, mask.bit_count(), SAFE))
    components = _components(options, outcomes, amounts)
    for component in components:
        component.solve(check, remaining)
    costs = [component.cost for component in components]
    total: int | None = None
    if all(cost is not None for cost in costs):
        total = int((level * amounts)[~bound].sum()) + sum(cost or 0 for cost in costs)
    return Solution(size, ties, ~bound, components, total, _count(size, ties, components))


def _mixed(key: Array, outcomes: Array) -> Array:
    """Which entries lie in a group with more than one outcome."""
    width = int(key.max()) + 1
    low = np.full(width, np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(width, -1, dtype=np.int32)
    np.minimum.at(low, key, outcomes)
    np.maximum.at(high, key, outcomes)
    return np.asarray((low != high)[key])


def _count(size: int, ties: list[tuple[int, Array]], components: list[Component]) -> int | None:
    """The exact number of minima: ties multiply, and so do components."""
    many = np.zeros(size, dtype=np.int64)
    for _, states in ties:
        many += states
    values, repeats = np.unique(many[many > 1], return_counts=True)
    count: int = prod(int(value) ** int(times) for value, times in zip(values, repeats, strict=True))
    for component in components:
        if component.count is None:
            return None
        count *= component.count
    return count


def _components(options: dict[int, list[Option]], outcomes: Array, amounts: Array) -> list[Component]:
    """Split the competing states by shared groups, and order each part so that groups close soon."""
    parent: dict[int, int] = {}

    def root(group: int) -> int:
        while parent.setdefault(group, group) != group:
            parent[group] = parent[parent[group]]
            group = parent[group]
        return group

    sizes: Counter[int] = Counter()
    for choices in options.values():
        bound = [option.group for option in choices if option.group != SAFE]
        sizes.update(bound)
        for group in bound[1:]:
            parent[root(group)] = root(bound[0])
    parts: dict[int, list[int]] = {}
    for state, choices in options.items():
        group = next(option.group for option in choices if option.group != SAFE)
        parts.setdefault(root(group), []).append(state)
    components = []
    for states in parts.values():
        states.sort(key=lambda s: sorted((sizes[o.group], o.group) for o in options[s] if o.group != SAFE))
        components.append(
            Component(
                states,
                [options[state] for state in states],
                [int(outcomes[state]) for state in states],
                [int(amounts[state]) for state in states],
            )
        )
    return components
