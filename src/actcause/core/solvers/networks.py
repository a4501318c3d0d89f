"""Strong sufficiency by SAT: the *for all* of the definition is about single equations, so it needs no opponent.

Each variable outside the event is held, or in the network, or open. Three worlds are written side by side:

    as it was   event and held variables have their actual values, so have those of the network; the rest is open.
                The event suffices along the network exactly if the equation of each of its variables then gives
                nothing but the actual value (parents first: each settles the next).
    changed     the event has other values. The largest part of the network that this settles is found the same
                way: a variable of the network is settled if its equation gives one value, else it is open.
    replayed    one world among these, in which the effect is gone: what is settled has its value, the variables of
                the effect and the contrast follow their equations, what is open has any value.

What does not follow from the event is held or open: a network of such variables has the same values however the event
is, as if they were held. So only variables between the event and the effect need their equations. In a long model it
is asked of the first of them, parents first, whether the changed event can affect them: where it cannot, the two
worlds are the same from there on.

Bigger networks only make necessity harder, since they have more parts: the proposer keeps them as small as
sufficiency lets it. `definitions/strong.py` has the argument why the largest settled part is all that counts.
"""

from collections.abc import Sequence
from contextlib import closing

from ..answer import Query, Witness
from ..definitions import Search
from .circuit import FALSE, TRUE, Sat, World, at_most_one, constant
from .counterexamples import require, true_names
from .minimal_causes import Encoding
from .possible_values import Possible, PossibleValues
from .slices import slice_between

# Past this many variables that are set by hand, witnesses are given as found.
SHORTEN_UP_TO = 64
LONG = 1_000  # variables between event and effect from which on it is asked which of them the event can affect
MOST_PROBES, CONFLICTS_OF_A_PROBE = 64, 2_000


class StrongEncoding(Encoding):
    """A network that the event settles, and that the changed event does not.

    Where everything outside the event is held as it was or follows its equation, all that follows is a network: the
    event settles it, and if the changed event undoes the effect there, it does so in the only world that it settles.
    """

    changes_alone = actual_values_suffice = True

    def __init__(self, search: Search, candidates: Sequence[str]) -> None:
        query = search.query
        self.slice = slice_between(query, candidates, query.contrasted_variables)
        self.order = self.slice.order
        super().__init__(search, candidates)
        self.sat.prefer([*(-literal for literal in self.chosen.values()), *self.held.values()])

    def encode(self) -> None:
        circuit, query = self.circuit, self.query
        own, exogenous = set(query.effect_variables), set(query.model.exogenous)
        self.sufficing = circuit.new()
        self.held: dict[str, int] = {}
        self.network: dict[str, int] = {}
        self.settled: dict[str, int] = {}
        self.world: World = {}
        self._as_it_was: dict[str, Possible] = {}
        self._changed: dict[str, Possible] = {}
        self._affected: dict[str, int] = {}
        probes = MOST_PROBES if len(self.order) >= LONG else 0
        with closing(Sat(self.search, circuit)) as sat:
            for name in self.order:
                self.search.check_time()
                if name in exogenous:
                    known = constant(query.actual[name])
                    self.world[name] = self._as_it_was[name] = self._changed[name] = known
                    continue
                self._add(name, own=name in own)
                if probes and self._affected[name] not in (TRUE, FALSE) and name not in query.contrasted_variables:
                    probes -= 1
                    self._probe(name, sat)
        circuit.add([-self.sufficing, *(self._affected.get(name, FALSE) for name in own)])
        self.require_undone(self.world)

    def _probe(self, name: str, sat: Sat) -> None:
        """Find out whether the changed event can affect a variable; where it cannot, both worlds are the same."""
        if sat.try_to_solve([self.sufficing, self._affected[name]], CONFLICTS_OF_A_PROBE) is False:
            self._affected[name], self._changed[name] = FALSE, self._as_it_was[name]

    def _may_be_affected(self, name: str) -> bool:
        parents = self.query.model.parents(name)
        return name in self.query.contrasted_variables or any(self._affected.get(p, FALSE) != FALSE for p in parents)

    def _add(self, name: str, own: bool) -> None:
        circuit, query = self.circuit, self.query
        possible, actual, values = PossibleValues(circuit), query.actual[name], query.model.ranges[name]
        event, held, follows = self.chosen.get(name, FALSE), circuit.new(), name in self.slice.between
        follows = follows and name in query.model.equations
        network = -circuit.disjunction([event, held]) if own else circuit.new() if follows else FALSE
        circuit.clauses += at_most_one([role for role in (event, held, network) if role != FALSE], circuit.new)
        self.held[name], self.network[name] = held, network

        def can_be(world: dict[str, Possible]) -> Possible:
            return possible.equation(query.model, name, world) if follows else constant(actual)

        for value, occurs in can_be(self._as_it_was).items():
            if value != actual:
                circuit.add([-self.sufficing, -network, -occurs])
        is_open = -circuit.disjunction([event, held, network])
        as_it_was = self._as_it_was[name] = {value: TRUE if value == actual else is_open for value in values}
        if event == FALSE and not self._may_be_affected(name):
            self.settled[name], self._changed[name], self._affected[name] = network, as_it_was, FALSE
            domain = self.world[name] = circuit.free(values)
            for value, literal in domain.items():
                circuit.add([-literal, as_it_was[value]])
            return

        after = can_be(self._changed)
        otherwise = circuit.disjunction([literal for value, literal in after.items() if value != actual])
        affected = self._affected[name] = circuit.conjunction([network, otherwise]) if event == FALSE else TRUE
        if affected != TRUE:
            parents = (self._affected.get(parent, FALSE) for parent in query.model.parents(name))
            circuit.add([-self.sufficing, -affected, *parents])
        settled = self.settled[name] = circuit.conjunction([network, possible.at_most_one(after)])
        domain = circuit.free(values)
        any_value = -circuit.disjunction([event, held, settled])
        occurring = self._changed[name] = {
            value: circuit.disjunction(
                [
                    any_value,
                    circuit.conjunction([event, domain[value]]),
                    held if value == actual else FALSE,
                    circuit.conjunction([settled, after.get(value, FALSE)]),
                ]
            )
            for value in values
        }
        for value, literal in domain.items():
            circuit.add([-literal, occurring[value]])
        if name in query.contrasted_variables:
            now = circuit.equation(query.model, name, self.world) if follows else constant(actual)
            require(circuit, [-event, -held], domain, now)
        self.world[name] = domain

    @classmethod
    def adopt(cls, query: Query, witness: Witness) -> Witness:
        part = slice_between(query, witness.changed, query.contrasted_variables)
        held = part.border.difference(query.model.exogenous).union(witness.frozen)
        network = part.between - held - {*witness.changed, *query.effect_variables, *query.model.exogenous}
        return Witness(
            witness.changed,
            frozen={name: query.actual[name] for name in part.order if name in held},
            network=tuple(name for name in part.order if name in network),
        )

    def solve(self, assumptions: Sequence[int], *, sufficiency: bool = True) -> bool:
        if sufficiency:
            return self.sat.solve([*assumptions, self.sufficing])
        # Where nothing need be settled, nothing is: what is open can do all that a network or the held could.
        free = [name for name in self.held if name not in self.query.contrasted_variables]
        return self.sat.solve([*assumptions, *(-role[name] for role in (self.held, self.network) for name in free)])

    def read(self, names: Sequence[str]) -> Witness:
        query, event = self.query, set(names)
        own, following = set(query.effect_variables), set(query.contrasted_variables)
        values = {**query.actual, **{name: self.sat.value(self.world[name]) for name in self.order}}
        held, settled = true_names(self.sat, self.held), true_names(self.sat, self.settled)
        network = true_names(self.sat, self.network) - own
        witness = Witness(
            changed={name: values[name] for name in names},
            frozen={name: values[name] for name in self.order if name in held},
            others={name: values[name] for name in self.held if name not in held | settled | following | event},
            network=tuple(name for name in self.order if name in network),
        )
        return self._shorten(witness)

    def _shorten(self, witness: Witness) -> Witness:
        """Leave variables of the network to their equations wherever the effect is gone all the same."""
        open_links = [name for name in witness.network if name in witness.others]
        if len(open_links) > SHORTEN_UP_TO:
            return witness
        others = dict(witness.others)
        broken = None if self.normality is None else self.normality.broken(self.sat)
        for name in open_links:
            without = {other: value for other, value in others.items() if other != name}
            if self.search.undoes({**without, **witness.frozen, **witness.changed}, than=broken):
                others = without
        return Witness(witness.changed, witness.frozen, others, witness.network)
