"""Assignment by MaxSAT, for components too entangled for dynamic programming.

For each mixed group and each outcome in it, a variable says "this group stands for this outcome"; a
group stands for at most one. A state pays one (times its weight) for each size at which no choice up
to that size is open to it. Sizes are brought in one after another: as long as a state is uncovered it
is taken to cost just one more, a lower bound that is exact as soon as nobody is left uncovered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Timer
from typing import TYPE_CHECKING, Any

from ..answer import Status
from ..definitions import OutOfBudget

if TYPE_CHECKING:
    from .assignment import Option

SAFE = -1


class Labelling:
    """Which outcome each group stands for."""

    def __init__(
        self,
        options: Sequence[Sequence[Option]],
        outcomes: Sequence[int],
        weights: Sequence[int],
        check: Callable[[], None],
    ) -> None:
        self.options = [sorted(choices, key=lambda option: option.size) for choices in options]
        self.outcomes, self.weights, self.check = outcomes, weights, check
        self.label: dict[tuple[int, int], int] = {}
        self.top = 0
        by_group: dict[int, set[int]] = {}
        for choices, outcome in zip(self.options, outcomes, strict=True):
            for option in choices:
                if option.group != SAFE:
                    by_group.setdefault(option.group, set()).add(outcome)
        self.groups = by_group
        for group, kinds in by_group.items():
            for outcome in sorted(kinds):
                self.label[group, outcome] = self._new()
        self._solver: Any = None

    def _new(self) -> int:
        self.top += 1
        return self.top

    def _hard(self) -> Iterator[list[int]]:
        for group, kinds in self.groups.items():
            labels = [self.label[group, outcome] for outcome in sorted(kinds)]
            for index, first in enumerate(labels):
                for second in labels[index + 1 :]:
                    yield [-first, -second]

    def _levels(self, state: int, upto: int) -> Iterator[tuple[int, list[int]]]:
        """(size, labels of which one must hold for the state to cost no more), up to its safe size."""
        outcome = self.outcomes[state]
        choices = self.options[state]
        safe = min((option.size for option in choices if option.group == SAFE), default=None)
        for size in range(choices[0].size, min(upto, choices[-1].size) + 1):
            if safe is not None and size >= safe:
                return
            yield size, [self.label[o.group, outcome] for o in choices if o.size <= size and o.group != SAFE]

    def minimum(self, remaining: Callable[[], float | None]) -> tuple[int | None, list[int] | None]:
        """The least cost and one choice of masks that reaches it; (None, None) if there is no valid choice."""
        largest = max(choices[-1].size for choices in self.options)
        for upto in range(min(choices[0].size for choices in self.options), largest + 1):
            self.check()
            solution = self._solve(upto, upto == largest, remaining)
            if solution is None:
                return None, None
            bound, true = solution
            chosen = [self._smallest(state, true) for state in range(len(self.options))]
            if all(option is not None for option in chosen):
                cost = sum(o.size * w for o, w in zip(chosen, self.weights, strict=True) if o is not None)
                if cost == bound:
                    return cost, [option.mask for option in chosen if option is not None]
        raise AssertionError("the last round admits every size, so its bound is exact")

    def _solve(
        self, upto: int, everything: bool, remaining: Callable[[], float | None]
    ) -> tuple[int, frozenset[int]] | None:
        from pysat.examples.rc2 import RC2Stratified
        from pysat.formula import WCNF

        formula = WCNF()
        formula.nv = self.top
        formula.extend(list(self._hard()))
        base = 0
        for state, choices in enumerate(self.options):
            base += choices[0].size * self.weights[state]
            if everything and all(option.group != SAFE for option in choices):
                formula.append([self.label[o.group, self.outcomes[state]] for o in choices])
            for _, clause in self._levels(state, upto):
                formula.append(clause, weight=self.weights[state]) if clause else None
                base += 0 if clause else self.weights[state]
        seconds = remaining()
        with RC2Stratified(formula, solver="g4", adapt=True, exhaust=True, minz=True) as solver:
            timer = None if seconds is None else Timer(max(seconds, 0.01), solver.interrupt)
            if timer is not None:
                timer.start()
            try:
                model = solver.compute(expect_interrupt=timer is not None)
            finally:
                if timer is not None:
                    timer.cancel()
            if model is None:
                if timer is not None and solver.interrupted:
                    raise OutOfBudget(Status.OUT_OF_TIME)
                return None
            return base + solver.cost, frozenset(literal for literal in model if literal > 0)

    def _smallest(self, state: int, true: frozenset[int]) -> Option | None:
        outcome = self.outcomes[state]
        for option in self.options[state]:
            if option.group == SAFE or self.label[option.group, outcome] in true:
                return option
        return None

    # -- all minima ------------------------------------------------------------------------------

    def _enumerator(self, cost: int) -> Any:
        """A SAT solver whose solutions, told apart by `self._choice`, are the choices of this cost."""
        if self._solver is None:
            from pysat.card import CardEnc, EncType
            from pysat.solvers import Glucose4

            self._choice: list[dict[int, int]] = []
            clauses = list(self._hard())
            excess: list[int] = []
            slack = cost
            for state, choices in enumerate(self.options):
                chosen = {option.mask: self._new() for option in choices}
                self._choice.append(chosen)
                literals = list(chosen.values())
                clauses.append(literals)
                clauses += [[-a, -b] for i, a in enumerate(literals) for b in literals[i + 1 :]]
                slack -= choices[0].size * self.weights[state]
                for option in choices:
                    if option.group != SAFE:
                        clauses.append([-chosen[option.mask], self.label[option.group, self.outcomes[state]]])
                for size in range(choices[0].size + 1, choices[-1].size + 1):
                    above = self._new()  # the state costs at least `size`
                    clauses += [[-chosen[option.mask], above] for option in choices if option.size >= size]
                    excess += [above] * self.weights[state]
            bound = CardEnc.atmost(excess, bound=slack, top_id=self.top, encoding=EncType.totalizer) if excess else None
            self._solver = Glucose4(bootstrap_with=clauses + (bound.clauses if bound is not None else []))
        return self._solver

    def minima(self, cost: int) -> Iterator[list[int]]:
        """Every choice of masks of the least cost."""
        self._solver = None
        solver = self._enumerator(cost)
        while solver.solve():
            true = {literal for literal in solver.get_model() if literal > 0}
            masks = [next(m for m, literal in chosen.items() if literal in true) for chosen in self._choice]
            yield masks
            solver.add_clause([-chosen[m] for chosen, m in zip(self._choice, masks, strict=True)])

    def masks_of(self, position: int, cost: int) -> Iterator[int]:
        """The masks that one state is given in some minimum."""
        self._solver = None
        solver = self._enumerator(cost)
        for mask, literal in self._choice[position].items():
            if solver.solve(assumptions=[literal]):
                yield mask
