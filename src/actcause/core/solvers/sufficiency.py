"""Direct and strong sufficiency as a game of two players (see `counterexamples.py`).

The proposer chooses the event, the witness `W` held at its actual values, for `strong` the network
`N` left to its equations, and the event's changed values. The opponent gives any values to all other
state variables.
"""

from collections.abc import Mapping, Sequence

from ..answer import Witness
from .circuit import FALSE, Circuit, Domain, World, at_most_one, constant
from .counterexamples import ProposerAndOpponent, require, true_names


class _Sufficiency(ProposerAndOpponent):
    networks: bool

    def encode(self) -> None:
        circuit, query = self.circuit, self.query
        model = query.model
        own = set(query.effect_variables)
        self.held: dict[str, int] = {}
        self.network: dict[str, int] = {}
        self.world: World = {}
        for name in self.order:
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
            roles = [event, held]
            require(circuit, [held], domain, constant(query.actual[name]))
            if self.networks and name in model.equations:
                network = self.network[name] = circuit.new()
                roles.append(network)
                require(circuit, [network], domain, follows)
            circuit.clauses += at_most_one([role for role in roles if role != FALSE], circuit.new)
        circuit.add([-circuit.formula(query.effect, self.world)])

    def opponent(self, circuit: Circuit) -> World:
        actual = self.query.actual
        fixed = true_names(self.sat, self.chosen) | true_names(self.sat, self.held)
        following = true_names(self.sat, self.network)
        world: World = {}
        for name in self.order:
            if name in fixed:
                world[name] = constant(actual[name])
            elif name in self.held and name not in following:
                world[name] = circuit.free(self.query.model.ranges[name])
            else:
                world[name] = self.follows(circuit, name, world)
        return world

    def move(self, values: Mapping[str, int]) -> dict[str, int]:
        return {name: values[name] for name in self.held}

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
        network = self.network.get(name, FALSE)
        if network == FALSE:
            return circuit.merge([(actual, fixed), (move[name], -fixed)])
        domain = circuit.free(self.query.model.ranges[name])
        require(circuit, [fixed], domain, constant(actual))
        require(circuit, [network], domain, follows)
        require(circuit, [-fixed, -network], domain, constant(move[name]))
        return domain

    def weights(self) -> list[int]:
        """Return the variables of the event, and those that are held."""
        return [*self.chosen.values(), *self.held.values()]

    def read(self, names: Sequence[str]) -> Witness:
        actual = self.query.actual
        held, network = true_names(self.sat, self.held), true_names(self.sat, self.network)
        values = {name: self.sat.value(self.world[name]) for name in self.order}
        return Witness(
            changed={name: values.get(name, actual[name]) for name in names},
            frozen={name: actual[name] for name in self.order if name in held},
            others={
                name: values[name]
                for name in self.held
                if name not in held and name not in network and name not in names
            },
            network=tuple(name for name in self.order if name in network),
        )


class DirectEncoding(_Sufficiency):
    """Every state variable outside the event and the witness is the opponent's."""

    networks = False


class StrongEncoding(_Sufficiency):
    """A network of variables follows its equations."""

    networks = True
