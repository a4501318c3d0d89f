"""Definitions with a "for all" in them, by counterexample-guided search.

Original and updated HP and direct sufficiency say: *there is* a choice (of contingency,
of witness) such that the effect goes away when the event is changed, and *for all* moves of an
opponent the effect stays when it is not. Two SAT solvers play this out:

    repeat
        the proposer finds a choice that undoes the effect and survives all moves seen so far
        if there is none: the answer is no
        the opponent, who knows the choice, looks for a move under which the effect fails
        if there is none: the choice is a witness
        add a copy of the model, played under that move, in which the effect must hold

A move is not a counterexample to one choice only: the copy says what it does to every choice, so few
rounds are needed. After Janota, Klieber, Marques-Silva and Clarke, "Solving QBF with counterexample
guided refinement", Artificial Intelligence 234 (2016).
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from ..definitions import Search
from .circuit import FALSE, Circuit, Domain, Sat, World, constant
from .minimal_causes import Encoding


class ProposerAndOpponent(Encoding):
    """An encoding whose choices have to survive every move of an opponent."""

    def __init__(self, search: Search, candidates: Sequence[str]) -> None:
        self.query, model = search.query, search.query.model
        wanted = self.bearing_on(self.query.watched_variables)
        self.order = [name for name in model.order if name in wanted]
        # What bears on the effect: an opponent, who is about sufficiency, needs no more.
        bearing = self.bearing_on(self.query.effect_variables)
        self.bearing = [name for name in self.order if name in bearing]
        self.exogenous = frozenset(model.exogenous)
        super().__init__(search, candidates)

    def bearing_on(self, names: Iterable[str]) -> set[str]:
        """Return the variables that bear on these, and these."""
        return self.query.model.ancestors(names)

    @abstractmethod
    def opponent(self, circuit: Circuit) -> World:
        """Return the worlds that the opponent can reach, given the proposer's last choice."""

    @abstractmethod
    def move(self, values: Mapping[str, int]) -> Any:
        """Return what the opponent did to reach these values, as far as it can be done against any choice."""

    @abstractmethod
    def respond(self, name: str, move: Any, follows: Domain) -> Domain:
        """Return the domain of a variable, for any choice, under a move of the opponent."""

    def solve(self, assumptions: Sequence[int], *, sufficiency: bool = True) -> bool:
        while self.sat.solve(assumptions):
            if not sufficiency:
                return True
            move = self._counter_move()
            if move is None:
                return True
            self._survive(move)
        return False

    def follows(self, circuit: Circuit, name: str, world: World) -> Domain:
        """Return what the variable would be by its equation, or by the context if it is a root."""
        model = self.query.model
        if name in model.equations:
            return circuit.equation(model, name, world)
        return constant(self.query.actual[name])

    def in_event(self, name: str) -> int:
        return self.chosen.get(name, FALSE)

    def _counter_move(self) -> Any | None:
        circuit = Circuit(self.search.check_time)
        world = self.opponent(circuit)
        circuit.add([-circuit.formula(self.query.effect, world)])
        with closing(Sat(self.search, circuit)) as sat:
            if not sat.solve():
                return None
            return self.move({name: sat.value(domain) for name, domain in world.items()})

    def _survive(self, move: Any) -> None:
        world: World = {}
        for name in self.bearing:
            self.search.check_time()
            follows = self.follows(self.circuit, name, world)
            world[name] = follows if name in self.exogenous else self.respond(name, move, follows)
        self.circuit.add([self.circuit.formula(self.query.effect, world)])


def either(circuit: Circuit, follows: Domain, value: int) -> Domain:
    """Make a domain that follows an equation or has one given value."""
    if list(follows) == [value]:
        return follows
    domain = circuit.free(sorted({value, *follows}))
    circuit.same_if(1, domain, follows, except_for=value)
    return domain


def true_names(sat: Sat, literals: Mapping[str, int]) -> frozenset[str]:
    """Return the names whose literal is true in the last solution."""
    return frozenset(name for name, literal in literals.items() if sat.true(literal))


def require(circuit: Circuit, condition: Iterable[int], left: Domain, right: Domain) -> None:
    """Require that `left` is `right` where all literals of `condition` hold."""
    blocked = [-literal for literal in condition]
    if FALSE in (-literal for literal in blocked):
        return
    for value, literal in left.items():
        circuit.add([*blocked, -literal, right.get(value, FALSE)])
