"""Functional actual causes of one observed state, found from the whole state space.

An event is a functional actual cause at a state if some binary-subset pair of least cost gives the
state exactly the event's variables. Below `alpha_sufficiency` 1/2 states do not compete, so the
observed one is enough; from 1/2 on, all contexts are looked at together.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from ...errors import TooLargeError
from ..answer import Assignment, Cause, Query, Status, Verdict, Witness, find_pinned_value
from ..definitions import OutOfBudget, Search
from ..definitions.functional import enough
from ..ranges import grids
from ..solvers import Solver
from ..solvers.base import meets_ac1
from .preimages import HALF, partition
from .state_space import StateSpace


class FunctionalSolver(Solver):
    """Judges and finds functional actual causes; `oracle` uses the paper's Algorithm 0."""

    def __init__(self, query: Query, *, oracle: bool = False) -> None:
        self.query = query
        self._search: Search | None = None
        self.oracle = oracle

    @cached_property
    def space(self) -> StateSpace:
        query = self.query
        pinned = find_pinned_value(query.effect, query.model)
        outcome = query.effect if pinned is None else pinned[0]
        alone = query.alpha_sufficiency is not None and query.alpha_sufficiency < HALF
        try:
            observed = query.context if alone else None
            return StateSpace.from_model(query.model, outcome, context=observed, check=self._check)
        except TooLargeError:
            raise OutOfBudget(Status.TOO_LARGE) from None

    @cached_property
    def index(self) -> int:
        return self.space.find_context(self.query.context)

    def _check(self) -> None:
        if self._search is not None:
            self._search.check_time()

    def _binaries(self, search: Search) -> list[int]:
        """Return the masks that the observed state is given in some minimal pair."""
        query = self.query
        search.step("solver_calls")
        try:
            partitions = partition(
                self.space,
                alpha_sufficiency=query.alpha_sufficiency,
                alpha_necessity=query.alpha_necessity,
                solver="algorithm-0" if self.oracle else "auto",
                max_seconds=search.remaining,
            )
        except TooLargeError:
            raise OutOfBudget(Status.TOO_LARGE) from None
        if partitions.status is not Status.COMPLETE:
            raise OutOfBudget(partitions.status)
        return [self.space.mask_of(binary) for binary in partitions.binaries(self.index)]

    def judge(self, search: Search, event: Assignment) -> Verdict:
        query, self._search = self.query, search
        conditions: dict[str, bool | None] = dict.fromkeys(("AC1", "AC2a", "AC2b", "AC3"))
        witness: Witness | None = None
        smaller: Assignment | None = None
        status = Status.COMPLETE
        try:
            conditions["AC1"] = meets_ac1(query, event)
            if conditions["AC1"]:
                witness = self.necessary(search, event)
                in_state = set(event) <= set(self.space.variables)
                conditions["AC2a"] = witness is not None
                if not in_state:
                    conditions["AC2b"] = conditions["AC3"] = False
                else:
                    mask, masks = self.space.mask(event), self._binaries(search)
                    sufficient = self.space.sufficient(mask, query.alpha_sufficiency)
                    conditions["AC2b"] = bool(sufficient[self.index])
                    conditions["AC3"] = mask in masks
                    inside = next((m for m in masks if m and m != mask and m & mask == m), None)
                    smaller = None if inside is None else {name: event[name] for name in self.space.names(inside)}
        except OutOfBudget as ended:
            status = ended.status
        return Verdict(query, event, conditions, witness, status, smaller, search.statistics)

    def necessary(self, search: Search, event: Assignment) -> Witness | None:
        """Find a witness of alpha-necessity: variables to hold, and a change of the event that then matters."""
        model, query = self.query.model, self.query
        names = list(event)
        between = model.descendants(names) & set(query.candidates) - set(names)
        ordered = [name for name in query.candidates if name in between]
        ranges = [model.ranges[name] for name in names]
        context = {name: np.asarray([value]) for name, value in query.context.items()}
        for held in chain.from_iterable(combinations(ordered, size) for size in range(len(ordered) + 1)):
            frozen = {name: query.actual[name] for name in held}
            undoing = total = 0
            first: dict[str, int] | None = None
            for columns in grids(ranges):
                search.step(count=len(columns[0]))
                changed = dict(zip(names, columns, strict=True))
                env = model.evaluate_many(context, {**frozen, **changed}, only=query.effect_variables)
                gone = np.broadcast_to(query.effect.array(env, np.asarray(True)) == 0, columns[0].shape)
                total += len(gone)
                undoing += int(gone.sum())
                if first is None and gone.any():
                    row = int(np.flatnonzero(gone)[0])
                    first = {name: int(column[row]) for name, column in changed.items()}
            if first is not None and enough(undoing, total, query.alpha_necessity):
                return Witness(first, frozen)
        return None

    def witness(self, search: Search, event: Assignment) -> Witness | None:
        return self.necessary(search, event) if self.judge(search, event) else None

    def smaller(self, search: Search, event: Assignment) -> Assignment | None:
        return self.judge(search, event).smaller

    def causes(self, search: Search) -> Iterator[Cause]:
        self._search = search
        if not self.query.happened:
            return
        for mask in self._binaries(search):
            event = {name: self.query.actual[name] for name in self.space.names(mask)}
            witness = self.necessary(search, event) if event else None
            if witness is not None:
                yield Cause(event, witness, self.query)
