"""Normality as clauses: a world at least as normal as the actual one, and one more normal than the last.

Each rule is a literal of the witness's world. By inclusion, what the actual world keeps must be kept: a unit clause for
each such rule. By count, the weights of broken rules are summed, rule by rule, with one literal for each sum that can
be reached and is not too large.
"""

from collections.abc import Iterable
from fractions import Fraction

from ..answer import Query
from ..normality import Broken
from .circuit import FALSE, TRUE, Circuit, Sat, TooManyClausesError, World

MOST_SUMS = 1 << 18


class NormalityClauses:
    """The rules of a question in one world of a circuit."""

    def __init__(self, circuit: Circuit, query: Query, world: World) -> None:
        assert query.normality is not None
        self.circuit, self.normality = circuit, query.normality
        self.kept = [circuit.formula(rule.formula, world) for rule in self.normality.rules]
        if self.normality.order == "inclusion":
            for literal in self._others(query.actually_broken):
                circuit.add([literal])
            self._sums: dict[Fraction, int] = {}
        else:
            self._sums = self._sum(self.normality.weigh(query.actually_broken))

    def broken(self, sat: Sat) -> Broken:
        """Return the rules that are broken in the last solution."""
        return frozenset(place for place, literal in enumerate(self.kept) if not sat.true(literal))

    def at_least(self, broken: Broken) -> list[int]:
        """Assume a world at least as normal as one that breaks these rules."""
        if self.normality.order == "inclusion":
            return self._others(broken)
        most = self.normality.weigh(broken)
        return [-literal for total, literal in self._sums.items() if total > most]

    def better(self, broken: Broken) -> list[int]:
        """Assume a more normal world than one that breaks these rules."""
        if self.normality.order == "inclusion":
            return [*self._others(broken), self.unlike([broken])]
        least = self.normality.weigh(broken)
        return [-literal for total, literal in self._sums.items() if total >= least]

    def unlike(self, found: Iterable[Broken]) -> int:
        """Return a literal under which, of each of these sets of rules, at least one is kept."""
        chosen = self.circuit.new()
        for broken in found:
            self.circuit.add([-chosen, *(self.kept[place] for place in sorted(broken))])
        return chosen

    def _others(self, broken: Broken) -> list[int]:
        return [literal for place, literal in enumerate(self.kept) if place not in broken]

    def _sum(self, most: Fraction) -> dict[Fraction, int]:
        """Write the sum of the broken rules' weights, which must not exceed `most`."""
        circuit = self.circuit
        sums = {Fraction(0): TRUE}
        written = 0
        for rule, kept in zip(self.normality.rules, self.kept, strict=True):
            reached: dict[Fraction, list[int]] = {}
            for total, literal in sums.items():
                reached.setdefault(total, []).append(circuit.conjunction([literal, kept]))
                if total + rule.weight <= most:
                    reached.setdefault(total + rule.weight, []).append(circuit.conjunction([literal, -kept]))
                else:
                    circuit.add([-literal, kept])
            sums = {total: circuit.disjunction(ways) for total, ways in reached.items() if set(ways) != {FALSE}}
            written += len(sums)
            if written > MOST_SUMS:
                raise TooManyClausesError
        return sums
