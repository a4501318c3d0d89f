"""All minimal causes, one after another, from a procedure that finds any cause.

    report every variable one change of which alone undoes the effect, in long models (see `single_changes.py`)
    repeat
        find some set X of candidates that meets AC2, not containing a cause already found
        while a strict part of X meets AC2: X := that part
        report X; from now on rule out everything that contains X

Each round costs a few calls of the procedure, so the first causes come at once however many there
are. This is minimal-model enumeration; compare Liffiton, Previti, Malik and Marques-Silva, "Fast,
flexible MUS enumeration", Constraints 21 (2016).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from ..answer import Assignment, Cause, Query, Verdict, Witness
from ..definitions import Search
from ..normality import Broken
from . import single_changes
from .base import Solver
from .circuit import Circuit, Sat, TooManyClausesError, World
from .normality_clauses import NormalityClauses

# Best witnesses of one cause that are compared with those of others; a cause seldom has more than one.
MOST_BEST = 32


class Encoding(ABC):
    """AC2 of a definition as clauses, for any event: `chosen[V]` is true if `V` belongs to it.

    `changes_alone` says that a variable one change of which alone undoes the effect is a cause by this definition;
    `actual_values_suffice` that AC2 is met wherever it is by modified HP, where others are held at their actual values.
    """

    changes_alone = False
    actual_values_suffice = False

    def __init__(self, search: Search, candidates: Sequence[str]) -> None:
        self.search, self.query, self.candidates = search, search.query, tuple(candidates)
        self.circuit = Circuit(search.check_time)
        self.chosen = {name: self.circuit.new() for name in self.candidates}
        self.waived = self.circuit.new()  # assumed to look again at events that were ruled out
        self.normality: NormalityClauses | None = None
        self.as_normal: list[int] = []  # assumptions under which a witness stays as normal as the best one
        self.encode()
        self.sat = Sat(search, self.circuit)
        self.sat.prefer(-literal for literal in self.chosen.values())

    @abstractmethod
    def encode(self) -> None:
        """Write AC2a for the chosen variables into the circuit."""

    @abstractmethod
    def solve(self, assumptions: Sequence[int], *, sufficiency: bool = True) -> bool:
        """Find a choice that meets AC2a and, if asked, AC2b."""

    def weights(self) -> list[int]:
        """Return the literals that a degree of responsibility counts; none where no source defines a degree."""
        return []

    @abstractmethod
    def read(self, names: Sequence[str]) -> Witness:
        """Read the witness off the last solution, for the event of these variables."""

    @classmethod
    def adopt(cls, query: Query, witness: Witness) -> Witness:
        """Write a witness of modified HP as one of this definition, if `actual_values_suffice`."""
        return witness

    def require_undone(self, world: World) -> None:
        """Require that the effect is gone in this world, as a witness must have it (see `Query.undone`)."""
        query, circuit = self.query, self.circuit
        circuit.add([-circuit.formula(query.effect, world)])
        if query.contrast is not None:
            circuit.add([circuit.formula(query.contrast, world)])
        if query.normality is not None:
            self.normality = NormalityClauses(circuit, query, world)

    def best_witnesses(self, names: Sequence[str], most: int = MOST_BEST) -> list[tuple[Witness, Broken]]:
        """Find witnesses that the event of these variables meets AC2, one for each best set of broken rules."""
        self.as_normal = []
        event = self.exactly(names)
        if self.normality is None:
            return [(self.improve(names, self.read(names)), frozenset())] if self.solve(event) else []
        found: dict[Broken, Witness] = {}
        while len(found) < most and self.solve([*event, *([self.normality.unlike(found)] if found else [])]):
            broken = self.normality.broken(self.sat)
            witness = self.read(names)
            while (better := self.normality.better(broken)) is not None and self.solve([*event, *better]):
                broken = self.normality.broken(self.sat)
                witness = self.read(names)
            self.as_normal = self.normality.at_least(broken)
            found[broken] = self.improve(names, witness)
            if self.query.normality is not None and self.query.normality.order == "count":
                break
        return [(witness, broken) for broken, witness in found.items()]

    def improve(self, names: Sequence[str], witness: Witness) -> Witness:
        """Look for a witness that reads better and is as normal."""
        return witness

    def witness(self, names: Sequence[str]) -> Witness | None:
        """Find a best witness that the event of these variables meets AC2, None if it does not."""
        return next((witness for witness, _ in self.best_witnesses(names, most=1)), None)

    def close(self) -> None:
        self.sat.close()

    def chosen_names(self) -> tuple[str, ...]:
        """Return the event of the last solution."""
        return tuple(name for name, literal in self.chosen.items() if self.sat.true(literal))

    def exactly(self, names: Iterable[str]) -> list[int]:
        """Assume that these variables are the event."""
        inside = set(names)
        return [literal if name in inside else -literal for name, literal in self.chosen.items()]

    def within(self, names: Iterable[str]) -> list[int]:
        """Assume that the event is among these variables."""
        inside = set(names)
        return [-literal for name, literal in self.chosen.items() if name not in inside]

    def forbid(self, names: Iterable[str]) -> None:
        """Rule out every event that contains all of these variables."""
        self.circuit.add([*(-self.chosen[name] for name in names), self.waived])

    def shrink(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], Witness]:
        """Do as `minimise` does, and find a witness of the minimal part."""
        names = self.minimise(names)
        witness = self.witness(names)
        assert witness is not None  # the event was just found to meet AC2
        return names, witness

    def minimise(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Go down from an event that meets AC2 to a minimal part of it; rule out all that contains that part."""
        self.forbid(names)
        while self.solve([*self.within(names), -self.waived]):
            names = self.chosen_names()
            self.forbid(names)
        return names


class SatSolver(Solver):
    """A solver on top of one kind of encoding, with another solver for equations too large to write as clauses."""

    def __init__(self, encoding: type[Encoding], fallback: Callable[[], Solver]) -> None:
        self._kind = encoding
        self._encoding: Encoding | None = None
        self._fallback = fallback

    def judge(self, search: Search, event: Assignment) -> Verdict:
        try:
            return super().judge(search, event)
        except TooManyClausesError:
            return self._fallback().judge(search, event)
        finally:
            self.close()

    def close(self) -> None:
        if self._encoding is not None:
            self._encoding.close()
            self._encoding = None

    def _encode(self, search: Search, event: Assignment) -> Encoding:
        """Return the encoding for this event, which AC2 and AC3 share."""
        encoding = self._encoding
        if encoding is None or encoding.search is not search or encoding.candidates != tuple(event):
            encoding = self._encoding = self._kind(search, tuple(event))
        return encoding

    def _may_change_alone(self, query: Query) -> bool:
        """Return whether a search for single changes pays: in a long model."""
        many = self._kind.changes_alone and len(query.candidates) >= single_changes.MANY
        return many and single_changes.is_worth_while(query)

    def _change_alone(self, search: Search, event: Assignment) -> Witness | None:
        """Find a change of the one variable of an event that undoes the effect by itself, in a long model."""
        if len(event) > 1 or not self._may_change_alone(search.query):
            return None
        found = next(single_changes.find_single_changes(search, set(event)), None)
        return None if found is None else self._kind.adopt(search.query, Witness(dict([found])))

    def necessary(self, search: Search, event: Assignment) -> Witness | None:
        if (alone := self._change_alone(search, event)) is not None:
            return alone
        encoding = self._encode(search, event)
        possible = encoding.solve(encoding.exactly(event), sufficiency=False)
        return encoding.read(tuple(event)) if possible else None

    def witness(self, search: Search, event: Assignment) -> Witness | None:
        return self._change_alone(search, event) or self._encode(search, event).witness(tuple(event))

    def smaller(self, search: Search, event: Assignment) -> Assignment | None:
        if len(event) == 1:
            return None
        encoding = self._encode(search, event)
        encoding.forbid(event)
        if not encoding.solve([-encoding.waived]):
            return None
        names = encoding.minimise(encoding.chosen_names())
        return {name: event[name] for name in names}

    def causes(self, search: Search) -> Iterator[Cause]:
        query = search.query
        if not query.happened or not query.candidates:
            return
        reported: set[frozenset[str]] = set()
        try:
            for names, best in self._minimal(search):
                reported.add(frozenset(names))
                event = {name: query.actual[name] for name in names}
                yield Cause(event, best[0][0], query, tuple(broken for _, broken in best))
        except TooManyClausesError:
            yield from (cause for cause in self._fallback().causes(search) if frozenset(cause.event) not in reported)

    def _minimal(self, search: Search) -> Iterator[tuple[tuple[str, ...], list[tuple[Witness, Broken]]]]:
        query = search.query
        alone: list[tuple[str, ...]] = []
        if self._may_change_alone(query):
            for name, value in single_changes.find_single_changes(search):
                alone.append((name,))
                yield (name,), [(self._kind.adopt(query, Witness({name: value})), frozenset())]
        with closing(self._kind(search, query.candidates)) as encoding:
            for names in alone:
                encoding.forbid(names)
            while encoding.solve([-encoding.waived]):
                names = encoding.minimise(encoding.chosen_names())
                yield names, encoding.best_witnesses(names)
