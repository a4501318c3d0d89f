"""Normality as clauses: a world at least as normal as the actual one, and one more normal than the last.

Each rule is a literal of the witness's world. By inclusion, what the actual world keeps must be kept: a unit clause for
each such rule. By count, the weights of broken rules are summed, rule by rule, with one literal for each sum that can
be reached and is not too large.
"""

from collections.abc import Iterable
from math import lcm

from ..normality import Broken
from ..query import Query
from .circuit import FALSE, TRUE, Circuit, Sat, TooManyClausesError, World

MOST_SUMS = 1 << 18


class NormalityClauses:
    """The rules of a question in one world of a circuit."""

    def __init__(self, circuit: Circuit, query: Query, world: World) -> None:
        assert query.normality is not None
        self.circuit, self.normality = circuit, query.normality
        rules, actually = self.normality.rules, query.actually_broken
        self.kept = []
        for place, rule in enumerate(rules):
            if all(len(world[name]) == 1 for name in rule.facts.names):  # it cannot change
                self.kept.append(FALSE if place in actually else TRUE)
            else:
                write = circuit.formula if rule.facts.divides else circuit.truth
                self.kept.append(write(rule.formula, world))
        self._sums: dict[int, int] = {}
        if self.normality.order == "inclusion":
            for literal in self._others(actually):
                circuit.add([literal])
        else:
            unit = lcm(*(rule.weight.denominator for rule in rules))
            self._weights = [rule.weight.numerator * (unit // rule.weight.denominator) for rule in rules]
            self._sums = self._sum(self._weigh(actually))

    def broken(self, sat: Sat) -> Broken:
        """Return the rules that are broken in the last solution."""
        return frozenset(place for place, literal in enumerate(self.kept) if not sat.true(literal))

    def at_least(self, broken: Broken) -> list[int]:
        """Assume a world at least as normal as one that breaks these rules."""
        if self.normality.order == "inclusion":
            return self._others(broken)
        most = self._weigh(broken)
        return [-literal for total, literal in self._sums.items() if total > most]

    def better(self, broken: Broken) -> list[int] | None:
        """Assume a more normal world than one that breaks these rules; None if there can be none."""
        if self.normality.order == "inclusion":
            if all(self.kept[place] == FALSE for place in broken):
                return None
            return [*self._others(broken), self.unlike([broken])]
        least = self._weigh(broken)
        if min(self._sums, default=0) >= least:
            return None
        return [-literal for total, literal in self._sums.items() if total >= least]

    def unlike(self, found: Iterable[Broken]) -> int:
        """Return a literal under which, of each of these sets of rules, at least one is kept."""
        chosen = self.circuit.new()
        for broken in found:
            self.circuit.add([-chosen, *(self.kept[place] for place in sorted(broken))])
        return chosen

    def _others(self, broken: Broken) -> list[int]:
        return [literal for place, literal in enumerate(self.kept) if place not in broken and literal != TRUE]

    def _weigh(self, broken: Broken) -> int:
        return sum(self._weights[place] for place in broken)

    def _sum(self, most: int) -> dict[int, int]:
        """Write the sum of the broken rules' weights, which must not exceed `most`."""
        circuit = self.circuit
        sums = {self._weigh(frozenset(place for place, literal in enumerate(self.kept) if literal == FALSE)): TRUE}
        written = 0
        for weight, kept in zip(self._weights, self.kept, strict=True):
            if kept in (TRUE, FALSE):
                continue
            if min(sums) + weight > most:
                circuit.add([kept])
                continue
            reached: dict[int, list[int]] = {}
            for total, literal in sums.items():
                reached.setdefault(total, []).append(circuit.conjunction([literal, kept]))
                if total + weight <= most:
                    reached.setdefault(total + weight, []).append(circuit.conjunction([literal, -kept]))
                else:
                    circuit.add([-literal, kept])
            sums = {total: circuit.disjunction(ways) for total, ways in reached.items()}
            written += len(sums)
            if written > MOST_SUMS:
                raise TooManyClausesError
        return sums
