"""Functional actual causes of one observed state, found from the whole state space.

An event is a functional actual cause at a state if some binary-subset pair of least cost gives the
state exactly the event's variables. Below `alpha_sufficiency` 1/2 states do not compete, so the
observed one is enough; from 1/2 on, all contexts are looked at together.

A contrast and normality belong to the question, which is about the observed state: they are asked of its necessity, and
nothing is asked of the other states besides what the definition asks.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np

from ...errors import TooLargeError
from ..answer import Assignment, Cause, Query, Status, Verdict, Witness
from ..definitions import OutOfBudget, Search
from ..definitions.functional import enough
from ..expression import Array
from ..normality import Broken
from ..query import find_pinned_value
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
            space = StateSpace.from_model(query.model, outcome, context=observed, check=self._check)
        except TooLargeError:
            raise OutOfBudget(Status.TOO_LARGE) from None
        if query.contrast is None and query.normality is None:
            return space
        return space.with_judge(space.find_context(query.context), self._necessary_here)

    def _necessary_here(self, names: tuple[str, ...]) -> bool:
        """Decide whether these variables are necessary in the observed state, for what the question asks."""
        assert self._search is not None
        return self.necessary(self._search, {name: self.query.actual[name] for name in names}) is not None

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
        """Find a best witness of alpha-necessity: variables to hold, and a change of the event that then matters."""
        return next((witness for witness, _ in self.best_witnesses(search, event)), None)

    def best_witnesses(self, search: Search, event: Assignment) -> list[tuple[Witness, Broken]]:
        """List a witness for each best set of broken rules; the first witness where nothing is said to be normal."""
        model, query = self.query.model, self.query
        names = list(event)
        between = model.descendants(names) & set(query.relevant) - {*names, *query.effect_variables}
        ordered = [name for name in query.relevant if name in between]
        ranges = [model.ranges[name] for name in names]
        found: dict[Broken, Witness] = {}
        for held in chain.from_iterable(combinations(ordered, size) for size in range(len(ordered) + 1)):
            frozen = {name: query.actual[name] for name in held}
            undoing = total = 0
            here: dict[Broken, Witness] = {}
            for columns in grids(ranges):
                search.step(count=len(columns[0]))
                changed = dict(zip(names, columns, strict=True))
                undone, worlds = self._worlds({**frozen, **changed}, columns[0].shape)
                total += len(undone)
                undoing += int(undone.sum())
                for broken, row in worlds.items():
                    witness = Witness({name: int(column[row]) for name, column in changed.items()}, frozen)
                    here.setdefault(broken, witness)
            if here and enough(undoing, total, query.alpha_necessity):
                if query.normality is None:
                    return [(witness, broken) for broken, witness in here.items()]
                for broken, witness in here.items():
                    found.setdefault(broken, witness)
        return [] if query.normality is None else [(found[broken], broken) for broken in query.normality.best(found)]

    def _worlds(self, do: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[Array, dict[Broken, int]]:
        """Tell in which of many worlds the effect is gone, as asked; and one world for each set of broken rules."""
        query, everywhere = self.query, np.asarray(True)
        context = {name: np.asarray([value]) for name, value in query.context.items()}
        env = query.model.evaluate_many(context, do, only=query.watched_variables)
        undone = np.broadcast_to(query.effect.array(env, everywhere) == 0, shape)
        if query.contrast is not None:
            undone = undone & (query.contrast.array(env, everywhere) != 0)
        if query.normality is None:
            return undone, {frozenset(): int(np.flatnonzero(undone)[0])} if undone.any() else {}
        rules = query.normality.rules
        kept = np.stack([np.broadcast_to(rule.formula.array(env, everywhere) != 0, shape) for rule in rules], axis=1)
        kinds, kind_of = np.unique(kept, axis=0, return_inverse=True)
        broken = [frozenset(np.flatnonzero(~kind).tolist()) for kind in kinds]
        normal = np.asarray([query.normality.at_least(each, query.actually_broken) for each in broken])
        undone = undone & normal[kind_of.ravel()]
        worlds: dict[Broken, int] = {}
        for kind in np.unique(kind_of.ravel()[undone]).tolist():
            worlds[broken[kind]] = int(np.flatnonzero(undone & (kind_of.ravel() == kind))[0])
        return undone, worlds

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
            best = self.best_witnesses(search, event) if event else []
            if best:
                yield Cause(event, best[0][0], self.query, tuple(broken for _, broken in best))
