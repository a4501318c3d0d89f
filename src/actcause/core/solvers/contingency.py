"""Original and updated Halpern-Pearl as a game of two players (see `counterexamples.py`).

The proposer chooses the event, a set `W` of other variables with values `w'`, and the event's changed
values. The opponent restores any variables outside `W` to their actual values and, for updated HP,
takes any of `W` back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..answer import Witness
from ..definitions import Search
from .circuit import FALSE, Circuit, Domain, World, constant
from .counterexamples import ProposerAndOpponent, either, require, true_names
from .slices import read_in_slice, slice_between

SHORTEN_UP_TO = 32


class Move(NamedTuple):
    """What the opponent restores if it lies outside `W`, and takes back if it lies inside."""

    restored: frozenset[str]
    taken_back: frozenset[str]


class _Contingency(ProposerAndOpponent):
    """A contingency, `sliced` or not.

    What does not follow from the event may be set as one likes, and what is set stays in force by original HP. So there
    only the slice between the event and the effect counts, and the border of it has any values.
    """

    taking_back: bool
    changes_alone = actual_values_suffice = True  # without other values than the actual ones there is no AC2b

    def __init__(self, search: Search, candidates: Sequence[str], *, sliced: bool = False) -> None:
        self.slice = slice_between(search.query, candidates) if sliced and not self.taking_back else None
        super().__init__(search, candidates)

    def bearing_on(self, names: Iterable[str]) -> set[str]:
        bearing = super().bearing_on(names)
        return bearing if self.slice is None else bearing.intersection(self.slice.order)

    def at_border(self, name: str) -> bool:
        return self.slice is not None and name in self.slice.border

    def follows(self, circuit: Circuit, name: str, world: World) -> Domain:
        return constant(self.query.actual[name]) if self.at_border(name) else super().follows(circuit, name, world)

    def encode(self) -> None:
        circuit, query = self.circuit, self.query
        self.held: dict[str, int] = {}
        self.world: World = {}
        for name in self.order:
            self.search.check_time()
            follows = self.follows(circuit, name, self.world)
            if name in self.exogenous:
                self.world[name] = follows
                continue
            held = self.held[name] = circuit.new()
            domain = self.world[name] = circuit.free(query.model.ranges[name])
            circuit.add([-held, -self.in_event(name)])
            require(circuit, [-held, -self.in_event(name)], domain, follows)
        self.require_undone(self.world)

    def opponent(self, circuit: Circuit) -> World:
        actual = self.query.actual
        event, held = true_names(self.sat, self.chosen), true_names(self.sat, self.held)
        world: World = {}
        for name in self.bearing:
            self.search.check_time()
            if name in event:
                world[name] = constant(actual[name])
            elif name in held and not self.taking_back:
                world[name] = constant(self.sat.value(self.world[name]))
            else:
                follows = self.follows(circuit, name, world)
                if name in self.exogenous:
                    world[name] = follows
                else:
                    value = self.sat.value(self.world[name]) if name in held else actual[name]
                    world[name] = either(circuit, follows, value)
        return world

    def move(self, values: Mapping[str, int]) -> Move:
        model, actual = self.query.model, self.query.actual
        held = true_names(self.sat, self.held)
        restored, taken_back = set(), set()
        for name in self.held.keys() & values.keys():
            if name in held:
                if values[name] != self.sat.value(self.world[name]):
                    taken_back.add(name)
                if values[name] == actual[name]:
                    restored.add(name)
            elif (
                name in model.equations
                and not self.at_border(name)
                and values[name] != model.equation_value(name, values)
            ):
                restored.add(name)
        return Move(frozenset(restored), frozenset(taken_back))

    def respond(self, name: str, move: Move, follows: Domain) -> Domain:
        circuit, event, held = self.circuit, self.in_event(name), self.held[name]
        actual = constant(self.query.actual[name])
        outside = actual if name in move.restored else follows
        domain = circuit.free(self.query.model.ranges[name])
        require(circuit, [event], domain, actual)
        require(circuit, [held], domain, follows if name in move.taken_back else self.world[name])
        require(circuit, [-event, -held], domain, outside)
        return domain

    def weights(self) -> list[int]:
        """Return the variables outside the event that are given other values than their own."""
        literals = []
        for name, held in self.held.items():
            moved = self.circuit.new()
            literals.append(moved)
            self.circuit.add([-held, moved, self.world[name].get(self.query.actual[name], FALSE)])
        return literals

    def read(self, names: Sequence[str]) -> Witness:
        actual, held = self.query.actual, true_names(self.sat, self.held)
        if self.slice is not None:
            values = {name: self.sat.value(domain) for name, domain in self.world.items()}
            return read_in_slice(self.search, self.slice, names, values, held)
        changed = {name: self.sat.value(self.world[name]) if name in self.world else actual[name] for name in names}
        return Witness(changed, {name: self.sat.value(self.world[name]) for name in self.order if name in held})

    def improve(self, names: Sequence[str], witness: Witness) -> Witness:
        if len(witness.frozen) > SHORTEN_UP_TO:
            return witness
        # A contingency that changes little reads better: let go of what is not needed.
        for name in list(witness.frozen):
            if name in witness.frozen:
                keep = witness.frozen.keys() - {name}
                letting_go = [-literal for other, literal in self.held.items() if other not in keep]
                if self.solve([*self.exactly(names), *letting_go, *self.as_normal]):
                    witness = self.read(names)
        return witness


class OriginalHPEncoding(_Contingency):
    """The contingency stays in force."""

    taking_back = False


class UpdatedHPEncoding(_Contingency):
    """Any part of the contingency may be taken back."""

    taking_back = True
