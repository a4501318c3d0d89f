"""Original and updated Halpern-Pearl in long models: one event, on the slice between it and the effect.

The game of `counterexamples.py` takes many rounds where a model has thousands of variables in a row. Here the question
is answered without an opponent, from both sides; what neither side can tell is left to the game.

    No    The opponent is given one fixed way to play: restore every variable that has its actual value where the event
          is changed, and take nothing back. If no contingency stands that, there is none. The two worlds, with the
          event changed and with it in place, must differ all the way from the event to the effect. So, parents first,
          it is asked of each variable whether they can differ there; where they cannot, what follows is the same.
    Yes   Every variable gets the set of values that it can have, each by itself, whatever the opponent does: more
          than he can bring about. A contingency under which the effect stays all the same is tried against him.

What does not follow from the event may be set as one likes in a contingency, so only the slice is written as clauses.
By updated Halpern-Pearl the opponent can do more, so a no by the original definition is a no by the updated one.
"""

from collections.abc import Sequence
from contextlib import closing
from itertools import count

from ..answer import Assignment, Witness
from ..definitions import Search
from .circuit import FALSE, TRUE, Circuit, Sat, World, constant
from .counterexamples import require, true_names
from .minimal_causes import Encoding
from .possible_values import Possible, PossibleValues
from .slices import read_in_slice, slice_between
from .survival import survives

# Variables next to the event of which it is asked one by one whether the worlds can differ there.
MOST_PROBES = 64
CONFLICTS_OF_A_PROBE = 2_000
FIRST_CONFLICTS = 4_000  # until the other side is looked at; then twice as many


class SlicedContingency(Encoding):
    """A contingency for exactly this event; `decided` says whether `solve` told for certain."""

    def __init__(self, search: Search, candidates: Sequence[str], *, taking_back: bool) -> None:
        self.taking_back = taking_back
        self.slice = slice_between(search.query, candidates)
        self.exogenous = frozenset(search.query.model.exogenous)
        super().__init__(search, candidates)

    def encode(self) -> None:
        circuit, query = self.circuit, self.query
        bearing = query.model.ancestors(query.effect_variables)
        self.held: dict[str, int] = {}
        self.world: World = {}
        self.played: World = {}  # with the event in place, against the fixed opponent
        self.differs: dict[str, int] = {}
        self._probes = 0
        self.opposed = circuit.new()  # the fixed opponent plays
        circuit.clauses += [[literal] for literal in self.chosen.values()]
        with closing(Sat(self.search, circuit)) as probes:
            for name in self.slice.order:
                self.search.check_time()
                self._change(name)
                if name in bearing:
                    self._play(name)
                    self._probe(name, probes)
        apart = [self.differs[name] for name in query.effect_variables]
        circuit.add([-self.opposed, *apart])
        self.refuted = all(literal == FALSE for literal in apart)
        self.settled = circuit.new()  # the effect stays whatever values can occur
        if not self.refuted:
            circuit.add([-self.opposed, circuit.formula(query.effect, self.played)])
            self.require_undone(self.world)
            possible = PossibleValues(circuit).formula(query.effect, self._possible())
            circuit.add([-self.settled, -possible.get(0, FALSE)])

    def _change(self, name: str) -> None:
        """Write a variable where the event is changed."""
        circuit, query = self.circuit, self.query
        actual, values = constant(query.actual[name]), query.model.ranges[name]
        if name in self.exogenous:
            self.world[name] = actual
        elif name in self.chosen:
            self.world[name] = circuit.free(values)
        else:
            held, domain = circuit.new(), circuit.free(values)
            self.held[name], self.world[name] = held, domain
            follows = actual if name in self.slice.border else circuit.equation(query.model, name, self.world)
            require(circuit, [-held], domain, follows)

    def _play(self, name: str) -> None:
        """Write a variable where the event is in place and the opponent restores what he can."""
        circuit, query = self.circuit, self.query
        changed, actual = self.world[name], query.actual[name]
        parents = query.model.parents(name)
        if name in self.slice.border or (name not in self.chosen and not self._may_differ(parents)):
            self.played[name], self.differs[name] = changed, FALSE
            return
        differs = self.differs[name] = circuit.new()
        if name in self.chosen:
            domain = constant(actual)
        else:
            domain = circuit.free(query.model.ranges[name])
            restored = changed.get(actual, FALSE)
            follows = circuit.equation(query.model, name, self.played)
            require(circuit, [-differs], domain, changed)
            require(circuit, [differs], domain, follows)
            circuit.add([-differs, *(self.differs[parent] for parent in parents)])
            circuit.add([-differs, -self.held[name]])
            circuit.add([-differs, -restored])
            same = [(follows.get(value, FALSE), literal) for value, literal in changed.items()]
            for follow, literal in same:  # where nothing was restored, differing is what the equation says
                circuit.add([self.held[name], restored, differs, -literal, follow])
        for value, literal in domain.items():
            circuit.add([-differs, -literal, -changed.get(value, FALSE)])
        self.played[name] = domain

    def _may_differ(self, names: Sequence[str]) -> bool:
        return any(self.differs.get(name, FALSE) != FALSE for name in names)

    def _probe(self, name: str, probes: Sat) -> None:
        """Find out whether the worlds can differ here, for the first few variables."""
        if self.differs[name] == FALSE or name in self.chosen or self._probes >= MOST_PROBES:
            return
        self._probes += 1
        if probes.try_to_solve([self.differs[name]], CONFLICTS_OF_A_PROBE) is False:
            self.played[name], self.differs[name] = self.world[name], FALSE

    def _possible(self) -> dict[str, Possible]:
        """Return what each variable can be, by itself, with the event in place."""
        circuit, query = self.circuit, self.query
        possible = PossibleValues(circuit)
        world: dict[str, Possible] = {}
        for name in self.slice.order:
            actual = query.actual[name]
            if name not in self.played:
                continue
            self.search.check_time()
            if name in self.exogenous or name in self.chosen:
                world[name] = constant(actual)
            elif name in self.slice.border:
                taken_back = {actual: TRUE} if self.taking_back else {}
                world[name] = {**self.world[name], **taken_back}
            else:
                world[name] = self._outside(name, possible.equation(query.model, name, world))
        return world

    def _outside(self, name: str, follows: Possible) -> Possible:
        circuit, held, actual = self.circuit, self.held[name], self.query.actual[name]
        result: Possible = {}
        for value, kept in self.world[name].items():
            can = follows.get(value, FALSE)
            inside = circuit.disjunction([kept, can]) if self.taking_back else kept
            literal = circuit.disjunction(
                [
                    circuit.conjunction([held, inside]),
                    circuit.conjunction([-held, TRUE if value == actual else can]),
                ]
            )
            if literal != FALSE:
                result[value] = literal
        return result

    def solve(self, assumptions: Sequence[int], *, sufficiency: bool = True) -> bool:
        return self.sat.solve([*assumptions, self.opposed] if sufficiency else assumptions)

    def decide(self, names: Sequence[str]) -> tuple[bool, Witness | None]:
        """Return whether AC2 was decided, with the witness if it is met; look from both sides in turn."""
        if self.refuted:
            return True, None
        for conflicts in (FIRST_CONFLICTS << doubling for doubling in count()):
            settled = self.sat.try_to_solve([self.opposed, self.settled], conflicts)
            if settled:
                witness = self.read(names)
                stands = survives(self.search, names, witness, taking_back=self.taking_back)
                return stands, witness if stands else None
            opposed = self.sat.try_to_solve([self.opposed], conflicts)
            if opposed is False:
                return True, None
            if settled is False and opposed:
                break
        return False, None

    def read(self, names: Sequence[str]) -> Witness:
        values = {name: self.sat.value(domain) for name, domain in self.world.items()}
        return read_in_slice(self.search, self.slice, names, values, true_names(self.sat, self.held))


def undo_by_hand(search: Search, event: Assignment) -> Witness | None:
    """Find a contingency that undoes the effect, whatever the event does then: AC2a asks for no more.

    Whether the effect is undone is for the variables that it and the contrast name, and those outside the event can be
    set. None if there is no way.
    """
    query, circuit = search.query, Circuit(search.check_time)
    model, named = query.model, query.contrasted_variables
    outside = {name for name in model.exogenous if name not in event}
    world = {
        name: constant(query.actual[name]) if name in outside else circuit.free(model.ranges[name]) for name in named
    }
    circuit.add([-circuit.formula(query.effect, world)])
    if query.contrast is not None:
        circuit.add([circuit.formula(query.contrast, world)])
    with closing(Sat(search, circuit)) as sat:
        if not sat.solve():
            return None
        values = {name: sat.value(domain) for name, domain in world.items()}
    changed = {name: values.get(name, query.actual[name]) for name in event}
    return Witness(changed, {name: values[name] for name in named if name not in event and name not in outside})
