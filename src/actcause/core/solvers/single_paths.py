"""Witnesses along a single path, found by going down the model once: for long models, as those unrolled in time.

An event mostly bears on a distant effect through one chain of variables, each of which is a parent of the next. All
other parents of the chain are set by hand, so that each variable of it is a function of the one before. What there is
to know of the chain up to a variable is then small:

    can be    the values that the variable can have with the event in place, whatever an opponent restores
    becomes   the value that it has with the event changed; or that it is open

    for each variable between the event and the effect, parents first
        for each parent that is reached, each of its states, each way to set the other parents
            note the state that follows, and how it was come to, unless it becomes what it can be anyway
        keep the most promising states
    try the chains that end with the effect undone, by the definition's own conditions

A chain that passes is a witness. Where none does nothing is known: other witnesses need several paths at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from ..answer import Assignment, Query, Witness
from ..counting import bits
from ..definitions import Search
from ..definitions.strong import Strong, find_possible_values, settle
from ..expression import Array
from .slices import slice_between
from .survival import survives

MOST_ALIKE = 4  # states that are kept of a variable for each value that it becomes
MOST_STATES = 256  # that are kept of a variable in all
MOST_CELLS = 1 << 12  # of the table of one equation; in larger ones the other parents stay as they were
MOST_TAKEN_BACK = 1 << 7  # settings of the other parents, each of which the opponent may take back in part
MOST_HELD = 1 << 12  # settings, for each choice of those that are held; past it only a few choices are looked at
MOST_PARENTS = 16  # that a chain may come from, of one variable
MOST_CHAINS = 16  # that are tried
MOST_OPENED = 4  # states from which one goes on with all other parents open, where the table would be too large
MOST_REPLAYS = 1 << 12  # settings of open parents among which one looks for a world in which the effect is gone
LOOK_BACK = 8  # links among which one looks for a variable that is on the chain already
OPEN = -1


class PathState(NamedTuple):
    """What is known of a variable: places in its range, those that it can be as bits."""

    can_be: int
    becomes: int


class Link(NamedTuple):
    """A variable of a chain in a state, and what was set by hand to come to it."""

    name: str
    state: PathState
    given: Assignment
    before: Link | None


class ValueTable(NamedTuple):
    """What an equation gives, as places in a range: a row for each value of a parent, a column for each setting."""

    results: Array
    others: Sequence[str]
    settings: Sequence[tuple[int, ...]]  # of the other parents, their actual values first


Step = tuple[PathState, int, Assignment]  # a state that follows, the place of the one before, and what was set by hand


def is_about_one_variable(query: Query, event: Assignment) -> bool:
    """Return whether a question is simple enough for chains: about one variable, and an effect of one other."""
    own = query.effect_variables
    return len(event) == len(own) == len(query.watched_variables) == 1 and own[0] not in event


def _undoes(query: Query, state: PathState) -> bool:
    """Return whether the effect stays in all that its one variable can be, and is gone where that becomes otherwise."""
    (name,) = query.effect_variables
    values = query.model.ranges[name]
    become = values if state.becomes == OPEN else (values[state.becomes],)
    stays = all(query.effect.value({name: values[place]}) for place in bits(state.can_be))
    return stays and any(query.undone({**query.actual, name: value}) for value in become)


class PathSearch(ABC):
    """Looks for chains from an event of one variable to an effect of one."""

    def __init__(self, search: Search, event: str) -> None:
        self.search, self.query, self.event = search, search.query, event
        self.model, self.actual = self.query.model, self.query.actual
        self.slice = slice_between(self.query, (event,))
        self.exogenous = frozenset(self.model.exogenous)
        (self.effect,) = self.query.effect_variables

    most_settings = MOST_CELLS  # of the other parents of one equation

    @abstractmethod
    def choose(self, name: str) -> Sequence[int]:
        """Return what another parent of a variable of the chain may be set to, its actual value first."""

    @abstractmethod
    def follow(self, name: str, parent: str, table: ValueTable, states: Sequence[PathState]) -> Iterator[Step]:
        """Yield the states of a variable that follow from those of a parent."""

    @abstractmethod
    def read(self, chain: Sequence[Link], given: dict[str, int]) -> Witness | None:
        """Read a witness off a chain; None if the definition does not take it for one."""

    def find(self) -> Witness | None:
        """Find a witness along a single path."""
        for link in islice(self._go_down(), MOST_CHAINS):
            chain = [link]
            while chain[-1].before is not None:
                chain.append(chain[-1].before)
            given = _gather(chain)
            witness = None if given is None else self.read(chain[::-1], given)
            if witness is not None:
                return witness
        return None

    def value(self, name: str, place: int) -> int:
        return self.model.ranges[name][place]

    def place(self, name: str) -> int:
        """Return the place of a variable's actual value in its range."""
        return self.model.ranges[name].index(self.actual[name])

    def _go_down(self) -> list[Link]:
        """Find chains from the event to the effect, the most promising first."""
        own = self.place(self.event)
        others = [place for place in range(len(self.model.ranges[self.event])) if place != own]
        reached = {
            self.event: [Link(self.event, PathState(1 << own, place), {}, None) for place in others[:MOST_STATES]]
        }
        for name in self.slice.order:
            if name in self.slice.between and name != self.event and name in self.model.equations:
                self.search.check_time()
                links: dict[PathState, Link] = {}
                for parent in islice((p for p in self.model.parents(name) if p in reached), MOST_PARENTS):
                    self._extend(name, parent, reached[parent], links)
                if name == self.effect:
                    return [links[state] for state in _keep_least(links)]
                if links:
                    reached[name] = [links[state] for state in _keep_least(links, MOST_ALIKE)[:MOST_STATES]]
        return []

    def _extend(self, name: str, parent: str, before: list[Link], links: dict[PathState, Link]) -> None:
        table = self._tabulate(name, parent)
        if table is None:
            return
        for state, place, given in self.follow(name, parent, table, [link.state for link in before]):
            if state in links or (name == self.effect and not _undoes(self.query, state)):
                continue
            if _fits(before[place], given):
                links[state] = Link(name, state, given, before[place])

    def _tabulate(self, name: str, parent: str) -> ValueTable | None:
        model = self.model
        equation, values = model.equations[name], model.ranges[parent]
        others = [other for other in equation.parents if other != parent]
        options = [self.choose(other) for other in others]
        count = prod(map(len, options))
        if count > self.most_settings or len(values) * count > MOST_CELLS:
            options = [some[:1] for some in options]
        settings = list(product(*options))
        env = {other: np.asarray([[row[place] for row in settings]]) for place, other in enumerate(others)}
        try:
            results = equation.array({parent: np.asarray(values)[:, None], **env})
        except ModelError:
            return None
        places = np.searchsorted(np.asarray(model.ranges[name]), results)
        return ValueTable(np.broadcast_to(places, (len(values), len(settings))), others, settings)


class ContingencyPaths(PathSearch):
    """Chains of original and updated Halpern-Pearl: the other parents have any values, in force or taken back."""

    def __init__(self, search: Search, event: str, *, taking_back: bool) -> None:
        super().__init__(search, event)
        self.taking_back = taking_back
        if taking_back:
            self.most_settings = MOST_TAKEN_BACK
        bearing = self.model.ancestors((self.effect,)) - {event} if taking_back else set[str]()
        self._children = Counter(parent for name in bearing for parent in self.model.parents(name))

    def choose(self, name: str) -> Sequence[int]:
        own = self.actual[name]
        # What bears on something else too would do so wherever only a part of the contingency is taken back.
        if name in self.exogenous or (self.taking_back and self._children[name] > 1):
            return (own,)
        return (own, *(value for value in self.model.ranges[name] if value != own))

    def follow(self, name: str, parent: str, table: ValueTable, states: Sequence[PathState]) -> Iterator[Step]:
        actual = 1 << self.place(name)
        columns = [tuple(column) for column in table.results.T.tolist()]
        seen = set()
        for setting, results in zip(table.settings, columns, strict=True):
            opposed = self._oppose(table, setting, columns) if self.taking_back else frozenset((results,))
            if (results, opposed) in seen:
                continue
            self.search.check_time()
            seen.add((results, opposed))
            given = dict(zip(table.others, setting, strict=True))
            for place, state in enumerate(states):
                can_be = actual
                for before in bits(state.can_be):
                    for against in opposed:
                        can_be |= 1 << against[before]
                becomes = results[state.becomes]
                if not can_be >> becomes & 1:
                    yield PathState(can_be, becomes), place, given

    def _oppose(
        self, table: ValueTable, setting: tuple[int, ...], columns: Sequence[tuple[int, ...]]
    ) -> frozenset[tuple[int, ...]]:
        """Return what the equation gives where any of the other parents are taken back to what they were."""
        numbers = {row: number for number, row in enumerate(table.settings)}
        ways = ({value, self.actual[other]} for other, value in zip(table.others, setting, strict=True))
        return frozenset(columns[numbers[row]] for row in product(*ways))

    def read(self, chain: Sequence[Link], given: dict[str, int]) -> Witness | None:
        changed = {self.event: self.value(self.event, chain[0].state.becomes)}
        moved = {name for name, value in given.items() if value != self.actual[name]}
        affected = self.model.descendants({self.event, *moved})
        frozen = {name: given[name] for name in self.model.order if name in given and name in affected}
        witness = Witness(changed, {name: value for name, value in frozen.items() if name not in self.exogenous})
        stands = self.search.undoes(witness.intervention) and survives(
            self.search, (self.event,), witness, taking_back=self.taking_back
        )
        return witness if stands else None


class NetworkPaths(PathSearch):
    """Chains of strong sufficiency: a network that the event settles, the other parents held or open."""

    def choose(self, name: str) -> Sequence[int]:
        own = self.actual[name]
        if name in self.exogenous:
            return (own,)
        return (own, *(value for value in self.model.ranges[name] if value != own))

    def follow(self, name: str, parent: str, table: ValueTable, states: Sequence[PathState]) -> Iterator[Step]:
        own, before = self.place(name), self.place(parent)
        actual = tuple(self.actual[other] for other in table.others)
        as_it_was = np.asarray(table.settings).reshape(len(table.settings), -1) == np.asarray(actual)
        for held in _choose_held(len(table.others), len(table.settings)):
            self.search.check_time()
            columns = np.flatnonzero(as_it_was[:, list(held)].all(axis=1))
            if (table.results[before, columns] != own).any():
                continue
            given = {other: was for other, was, keeps in zip(table.others, actual, held, strict=True) if keeps}
            if len(table.settings) == 1:
                given = dict(zip(table.others, actual, strict=True))
            results = table.results[:, columns]
            lowest, highest = results.min(axis=1), results.max(axis=1)
            settled = np.where(lowest == highest, lowest, OPEN).tolist()
            settled.append(int(results.flat[0]) if lowest.min() == highest.max() else OPEN)  # where the parent is open
            for place, state in enumerate(states):
                becomes = settled[state.becomes]
                if becomes != own:
                    yield PathState(1 << own, becomes), place, given

    def _extend(self, name: str, parent: str, before: list[Link], links: dict[PathState, Link]) -> None:
        super()._extend(name, parent, before, links)
        sizes = [len(self.choose(other)) for other in self.model.equations[name].parents if other != parent]
        if prod(sizes) > self.most_settings:
            self._leave_open(name, parent, before[:MOST_OPENED], links)

    def _leave_open(self, name: str, parent: str, before: list[Link], links: dict[PathState, Link]) -> None:
        """Go on with nothing held, where there are too many settings of the other parents for a table."""
        own, actual = self.place(name), self.actual
        others = [other for other in self.model.equations[name].parents if other != parent]
        held = {other: actual[other] for other in others if other in self.exogenous}
        free = [other for other in others if other not in held]
        if find_possible_values(self.search, name, {**held, parent: actual[parent]}, free) != frozenset({actual[name]}):
            return
        for link in before:
            changed = () if link.state.becomes == OPEN else (parent,)
            given = {**held, **{one: self.value(one, link.state.becomes) for one in changed}}
            can_be = find_possible_values(self.search, name, given, free if changed else [*free, parent]) or frozenset()
            becomes = self.model.ranges[name].index(min(can_be)) if len(can_be) == 1 else OPEN
            state = PathState(1 << own, becomes)
            counts = becomes != own and state not in links
            if can_be and counts and (name != self.effect or _undoes(self.query, state)):
                links[state] = Link(name, state, {}, link)

    def read(self, chain: Sequence[Link], given: dict[str, int]) -> Witness | None:
        search, model = self.search, self.model
        changed = {self.event: self.value(self.event, chain[0].state.becomes)}
        frozen = {name: given[name] for name in model.order if name in given and name not in self.exogenous}
        network = tuple(link.name for link in chain[1:-1])
        settled = settle(search, {**frozen, **changed}, network)
        known = {**settled, **frozen, **changed, **{name: self.actual[name] for name in self.exogenous}}
        free = [name for name in model.parents(self.effect) if name not in known]
        if self.effect in settled:
            free = []
        for values in islice(product(*(model.ranges[name] for name in free)), MOST_REPLAYS):
            witness = Witness(changed, frozen, dict(zip(free, values, strict=True)), network)
            if search.undoes(witness.intervention):
                event = {self.event: self.actual[self.event]}
                return witness if Strong().sufficient(search, event, witness) else None
        return None


def _choose_held(count: int, settings: int) -> Iterator[tuple[bool, ...]]:
    """List which of so many other parents are held: all choices, or, of too many, all, all but one, and none."""
    if count <= MOST_HELD.bit_length() and settings << count <= MOST_HELD:
        yield from product((True, False), repeat=count)
        return
    yield (True,) * count
    if settings > 1:
        yield from (tuple(place != one for place in range(count)) for one in range(count))
        yield (False,) * count


def _keep_least(states: Iterable[PathState], most: int | None = None) -> list[PathState]:
    """Keep the states that can be least, for each value that they become at most so many."""
    kept: dict[int, list[PathState]] = {}
    for state in sorted(states, key=_count):
        alike = kept.setdefault(state.becomes, [])
        if len(alike) != most and not any(other.can_be & ~state.can_be == 0 for other in alike):
            alike.append(state)
    return sorted((state for alike in kept.values() for state in alike), key=_count)


def _count(state: PathState) -> tuple[int, PathState]:
    return state.can_be.bit_count(), state


def _fits(link: Link | None, given: Assignment) -> bool:
    """Return whether what is set by hand is neither on the chain nor set otherwise, as far as one looks back."""
    for _ in range(LOOK_BACK):
        if link is None:
            break
        if link.name in given or any(given.get(name, value) != value for name, value in link.given.items()):
            return False
        link = link.before
    return True


def _gather(chain: Sequence[Link]) -> dict[str, int] | None:
    """Put together all that was set by hand; None if something is on the chain, or set in two ways."""
    given: dict[str, int] = {}
    for link in chain:
        for name, value in link.given.items():
            if given.setdefault(name, value) != value:
                return None
    return None if any(link.name in given for link in chain) else given
