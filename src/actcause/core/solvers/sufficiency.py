"""Direct sufficiency as a game of two players (see `counterexamples.py`).

The proposer chooses the event, the witness `W` held at its actual values, and the event's changed values. The opponent
gives any values to all other state variables.
"""

from collections.abc import Iterable, Mapping, Sequence

from ..answer import Witness
from .circuit import FALSE, Circuit, Domain, World, constant
from .counterexamples import ProposerAndOpponent, require, true_names


class DirectEncoding(ProposerAndOpponent):
    """Every state variable outside the event and the witness is the opponent's.

    Only the variables of the effect and the contrast follow their equations, so nothing bears on them but what these
    read.
    """

    def bearing_on(self, names: Iterable[str]) -> set[str]:
        model, following = self.query.model, set(self.query.contrasted_variables)
        bearing = set(names)
        for name in reversed(model.order):
            if name in bearing and name in following:
                bearing.update(model.parents(name))
        return bearing

    def follows(self, circuit: Circuit, name: str, world: World) -> Domain:
        if name in self.query.contrasted_variables:
            return super().follows(circuit, name, world)
        return constant(self.query.actual[name])  # exogenous, or set by one of the players

    def encode(self) -> None:
        circuit, query = self.circuit, self.query
        model = query.model
        own = set(query.effect_variables)
        self.held: dict[str, int] = {}
        self.world: World = {}
        for name in self.order:
            self.search.check_time()
            event = self.in_event(name)
            follows = self.follows(circuit, name, self.world)
            if name in self.exogenous or (name in own and event == FALSE):
                self.world[name] = follows
                continue
            domain = self.world[name] = circuit.free(model.ranges[name])
            if name in own:
                require(circuit, [-event], domain, follows)
                continue
            held = self.held[name] = circuit.new()
            require(circuit, [held], domain, constant(query.actual[name]))
            circuit.add([-event, -held])
            if name in query.contrasted_variables:
                require(circuit, [-event, -held], domain, follows)
        self.require_undone(self.world)

    def opponent(self, circuit: Circuit) -> World:
        actual = self.query.actual
        fixed = true_names(self.sat, self.chosen) | true_names(self.sat, self.held)
        world: World = {}
        for name in self.bearing:
            if name in fixed:
                world[name] = constant(actual[name])
            elif name in self.held:
                world[name] = circuit.free(self.query.model.ranges[name])
            else:
                world[name] = self.follows(circuit, name, world)
        return world

    def move(self, values: Mapping[str, int]) -> dict[str, int]:
        return {name: values[name] for name in self.held if name in values}

    def respond(self, name: str, move: Mapping[str, int], follows: Domain) -> Domain:
        circuit, event = self.circuit, self.in_event(name)
        actual = self.query.actual[name]
        if name not in self.held:  # a variable of the effect
            if event == FALSE:
                return follows
            domain = circuit.free(self.query.model.ranges[name])
            require(circuit, [event], domain, constant(actual))
            require(circuit, [-event], domain, follows)
            return domain
        fixed = circuit.disjunction([event, self.held[name]])
        return circuit.merge([(actual, fixed), (move[name], -fixed)])

    def read(self, names: Sequence[str]) -> Witness:
        actual = self.query.actual
        held = true_names(self.sat, self.held)
        values = {name: self.sat.value(self.world[name]) for name in self.order}
        return Witness(
            changed={name: values.get(name, actual[name]) for name in names},
            frozen={name: actual[name] for name in self.order if name in held},
            others={
                name: values[name]
                for name in self.held
                if name not in held and name not in names and name not in self.query.contrasted_variables
            },
        )
