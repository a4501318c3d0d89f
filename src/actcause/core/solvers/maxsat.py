"""Assignment by MaxSAT, for components too entangled for dynamic programming.

For each mixed group and each outcome in it, a variable says "this group stands for this outcome"; a
group stands for at most one. A state pays its weight for each size at which no choice up to that size
is open to it. Taking all sizes at once would be slow, and is rarely needed:

    for n = 1, 2, ...
        find the best labels of the groups of up to n variables, counting a state that they leave
        uncovered as n + 1: a lower bound for the whole
        cover what is left by larger groups, which share nothing with the smaller ones
        if that costs no more than the bound, it is a minimum
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from .circuit import at_most_one
from .dynamic_program import SAFE, Check, Option
from .weighted_clauses import Program, Remaining, minimize

OFTEN = 10_000  # states between two looks at the clock


class MaxSat:
    """States that compete, each with its options, its outcome and its weight."""

    def __init__(self, options: Sequence[Sequence[Option]], outcomes: Sequence[int], weights: Sequence[int]) -> None:
        self.options = [sorted(choices, key=lambda option: option.size) for choices in options]
        self.outcomes, self.weights = outcomes, weights
        self.cost: int | None = None
        self.count: int | None = None
        self._chosen: list[Option] = []

    def solve(self, check: Check, remaining: Remaining) -> None:
        """Find the least cost and one minimum, or no cost if there is no valid choice."""
        everyone = range(len(self.options))
        minimum = self._minimum(everyone, 0, check, remaining)
        if minimum is None:
            self.count = 0
            return
        self._chosen = [minimum[state] for state in everyone]
        self.cost = self._total(minimum)

    def first(self) -> list[int]:
        """Return the masks of one minimum."""
        return [option.mask for option in self._chosen]

    def _total(self, chosen: dict[int, Option]) -> int:
        return sum(option.size * self.weights[state] for state, option in chosen.items())

    def _minimum(
        self, states: Sequence[int], above: int, check: Check, remaining: Remaining
    ) -> dict[int, Option] | None:
        """Find a minimum for some of the states, using only options of more than `above` variables."""
        choices = {state: [o for o in self.options[state] if o.size > above] for state in states}
        if not all(choices.values()):
            return None
        largest = max(options[-1].size for options in choices.values())
        for size in range(min(options[0].size for options in choices.values()), largest + 1):
            labels = _labels(choices, self.outcomes, self.weights, size, size == largest, check, remaining)
            if labels is None:
                return None
            bound, stands_for = labels
            chosen = {}
            for state, options in choices.items():
                option = next((o for o in options if o.size <= size and self._is_open(o, state, stands_for)), None)
                if option is not None:
                    chosen[state] = option
            uncovered = [state for state in states if state not in chosen]
            if uncovered:
                rest = self._minimum(uncovered, size, check, remaining)
                if rest is None:
                    continue
                chosen |= rest
            if self._total(chosen) == bound:
                return chosen
        return None

    def _is_open(self, option: Option, state: int, stands_for: dict[int, int]) -> bool:
        return option.group == SAFE or stands_for.get(option.group) == self.outcomes[state]

    def _enumerator(self) -> tuple[Any, list[dict[int, int]]]:
        """Set up a SAT solver whose solutions are the minima, with the literal of each state's each mask."""
        from pysat.card import CardEnc, EncType
        from pysat.formula import IDPool
        from pysat.solvers import Glucose4

        assert self.cost is not None
        pool = IDPool()
        literals: list[dict[int, int]] = []
        clauses: list[list[int]] = []
        labels: dict[int, dict[int, None]] = {}  # of each group, in order
        excess: list[int] = []
        slack = self.cost
        for state, choices in enumerate(self.options):
            chosen = {option.mask: pool.id(("chosen", state, option.mask)) for option in choices}
            literals.append(chosen)
            clauses.append(list(chosen.values()))
            slack -= choices[0].size * self.weights[state]
            for option in choices:
                if option.group != SAFE:
                    label = pool.id(("label", option.group, self.outcomes[state]))
                    labels.setdefault(option.group, {})[label] = None
                    clauses.append([-chosen[option.mask], label])
            for size in range(choices[0].size + 1, choices[-1].size + 1):
                more = pool.id(("costs", state, size))
                clauses += [[-chosen[option.mask], more] for option in choices if option.size >= size]
                excess += [more] * self.weights[state]
        fresh = count(pool.top + 1)
        for exclusive in (*(list(chosen.values()) for chosen in literals), *map(list, labels.values())):
            clauses += at_most_one(exclusive, lambda: next(fresh))
        if excess:
            top = max(max(map(abs, clause)) for clause in clauses)
            clauses += CardEnc.atmost(excess, bound=slack, top_id=top, encoding=EncType.totalizer).clauses
        return Glucose4(bootstrap_with=clauses), literals

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the masks of every minimum, one after another."""
        if self.cost is None:
            return
        yield self.first()
        solver, literals = self._enumerator()
        seen = self.first()
        while True:
            solver.add_clause([-chosen[mask] for chosen, mask in zip(literals, seen, strict=True)])
            if not solver.solve():
                return
            true = {literal for literal in solver.get_model() if literal > 0}
            seen = [next(mask for mask, literal in chosen.items() if literal in true) for chosen in literals]
            yield seen

    def masks_of(self, position: int) -> list[int]:
        """Return the masks that the state at this position is given in some minimum."""
        solver, literals = self._enumerator()
        return [mask for mask, literal in literals[position].items() if solver.solve(assumptions=[literal])]


def _labels(
    choices: dict[int, list[Option]],
    outcomes: Sequence[int],
    weights: Sequence[int],
    upto: int,
    final: bool,
    check: Check,
    remaining: Remaining,
) -> tuple[int, dict[int, int]] | None:
    """Find the best labels of the groups of up to `upto` variables, and what all states cost at least with them.

    With `final` every state must be covered; None if that cannot be.
    """
    number: dict[tuple[int, int], int] = {}
    program = Program(0, [], [], [])
    bound = 0
    for position, (state, options) in enumerate(choices.items()):
        if position % OFTEN == 0:
            check()
        bound += options[0].size * weights[state]
        clause: list[int] = []
        for size in range(options[0].size, upto + 1):
            here = [option.group for option in options if option.size == size]
            if SAFE in here:
                break
            clause += [number.setdefault((group, outcomes[state]), len(number) + 1) for group in here]
            if size == upto and final:
                program.hard.append(list(clause))
            else:
                program.soft.append((list(clause), weights[state]))
    groups: dict[int, list[int]] = {}
    for (group, _), variable in number.items():
        groups.setdefault(group, []).append(variable)
    program.exclusive.extend(labels for labels in groups.values() if len(labels) > 1)
    minimum = minimize(program._replace(variables=len(number)), remaining)
    if minimum is None:
        return None
    cost, true = minimum
    return bound + cost, {group: outcome for (group, outcome), variable in number.items() if variable in true}
