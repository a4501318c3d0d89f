"""The verbs `sufficient_causes` and `is_sufficient_cause`: what caused the effect and would have, whatever the context.

`X=x` is a sufficient cause of the effect in a context, relative to a set K of contexts, if

    SC1   X=x and the effect happen in the context;
    SC2   some conjunct of X=x is part of a cause of the effect there;
    SC3   in every context of K, setting X to x brings the effect about;
    SC4   no strict part of X=x meets SC1 to SC3.

Halpern, "Actual Causality", MIT Press 2016, Section 2.6, where K is the set of all contexts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import Naming, name_in_python
from ..answer import Assignment, Cause, LazyList, Query, Status, VerdictByConditions
from ..contexts import ContextTable, read_contexts
from ..counting import format_count
from ..definitions import Deadline, OutOfBudget, Search
from ..expression import Expression
from ..find import Share, make_query
from ..model import Model
from ..query import check_limit
from ..solvers import TooManyClausesError
from ..text import open_with_event, write_assignments, write_event
from .causal_contexts import CausalContexts
from .search import MinimalEvents, Requirements, find_smaller
from .sufficient_contexts import AllContexts, ListedContexts, SufficientContexts

CONDITIONS = ("SC1", "SC2", "SC3", "SC4")
LISTED = 1 << 16  # contexts that are listed; among more, a solver looks for one that breaks SC3


@dataclass(frozen=True)
class SufficientCause:
    """An event that would have brought the effect about in `contexts` contexts, with a cause that it has a part of."""

    event: Assignment
    cause: Cause
    contexts: int

    @property
    def sentence(self) -> str:
        query, one = self.cause.query, len(self.event) == 1
        opening = open_with_event(self.event, query.model.labels)
        where = "in this context" if self.contexts == 1 else f"in each of {format_count(self.contexts)} contexts"
        them, it = ("it", "it") if one else ("them", "one of them")
        return (
            f"{opening} a sufficient cause of {query.effect_text}: setting {them} brings it about {where}, "
            f"and {it} is part of a cause here."
        )

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        return {"event": dict(self.event), "cause": self.cause.to_json(), "sentence": self.sentence}


class SufficientCauses(LazyList[SufficientCause]):
    """All sufficient causes in a context, found as they are read; `len`, `[-1]` and `status` read them all."""

    def __init__(self, query: Query, search: Iterator[SufficientCause | Status], statistics: Mapping[str, int]) -> None:
        super().__init__(search, statistics)
        self.query = query

    @property
    def sentence(self) -> str:
        """The first few sufficient causes, each in a sentence."""
        return self._describe(f"{self.query.effect_text} has no sufficient cause in this context.")

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        found = [cause.to_json() for cause in self]
        return {**self.query.to_json(), "sufficient_causes": found, "status": self.status.value}


@dataclass(frozen=True)
class SufficiencyVerdict(VerdictByConditions):
    """Whether one event is a sufficient cause: the conditions one by one, and a context that breaks SC3."""

    ORDER = CONDITIONS

    query: Query
    event: Assignment
    conditions: Mapping[str, bool | None]
    found: SufficientCause | None = None
    counterexample: Assignment | None = None
    smaller: Assignment | None = None
    status: Status = Status.COMPLETE
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        if self.found is not None:
            return self.found.sentence
        labels, effect = self.query.model.labels, self.query.effect_text
        if self.holds is None:
            event, ending = write_event(self.event, labels), self.status.describe(naming)
            return f"It is not known whether {event} a sufficient cause of {effect}. {ending}"
        return f"{open_with_event(self.event, labels)} not a sufficient cause of {effect}: {self._why_not(effect)}."

    def _why_not(self, effect: str) -> str:
        if self.failed == "SC1":
            return f"SC1 fails, since it and {effect} do not both happen in this context"
        if self.failed == "SC2":
            return f"SC2 fails, since nothing of it is part of a cause of {effect} here"
        if self.failed == "SC3":
            assert self.counterexample is not None
            where = write_assignments(self.counterexample) if self.counterexample else "this model"
            return f"SC3 fails, since in the context {where} setting it would not have brought {effect} about"
        assert self.smaller is not None
        return f"SC4 fails, since it is not minimal: {write_assignments(self.smaller)} is enough"

    def to_json(self) -> dict[str, Any]:
        return self._to_json(
            counterexample=self.counterexample,
            smaller=self.smaller,
            sufficient_causes=[] if self.found is None else [self.found.to_json()],
        )


def sufficient_causes(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    contexts: Any = None,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    max_causes: int | None = None,
    max_seconds: float | None = None,
) -> SufficientCauses:
    r"""Find all sufficient causes of an effect in a context, lazily.

    `contexts` are those in which the event has to bring the effect about: all of the model's, or what `explanations`
    takes.

    >>> model = Model.from_text("L\nMD\nFF = L and MD")
    >>> [dict(found.event) for found in sufficient_causes(model, context="L=1, MD=1", effect="FF")]
    [{'L': 1, 'MD': 1}]
    """
    query = make_query(model, context, effect, definition, alpha_sufficiency, alpha_necessity)
    check_limit("max_causes", max_causes)
    statistics = {"proposals": 0}
    case = _Case(query, contexts, Deadline(max_seconds))
    return SufficientCauses(query, case.search(statistics, max_causes), statistics)


def is_sufficient_cause(
    model: Model,
    *,
    context: Assignment | str,
    effect: str | Expression,
    event: Assignment | str,
    contexts: Any = None,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    max_seconds: float | None = None,
) -> SufficiencyVerdict:
    r"""Judge one event: is it a sufficient cause of the effect?

    >>> model = Model.from_text("L\nMD\nFF = L or MD")
    >>> print(is_sufficient_cause(model, context="L=1, MD=1", effect="FF", event="L=1"))
    L=1 is a sufficient cause of FF=1: setting it brings it about in each of 4 contexts, and it is part of a cause here.
    """
    query = make_query(model, context, effect, definition, alpha_sufficiency, alpha_necessity)
    return _Case(query, contexts, Deadline(max_seconds)).judge(query.check_event(event))


class _Case:
    """One context, the causes in it, and the contexts in which its sufficient causes bring the effect about."""

    def __init__(self, query: Query, contexts: Any, deadline: Deadline) -> None:
        self.query, self.contexts, self.deadline = query, contexts, deadline
        model = query.model
        self.table: ContextTable | None = None
        if contexts is not None or model.context_count <= LISTED:
            self.table = read_contexts(model, contexts)
        self.count = model.context_count if self.table is None else len(self.table)

    def _require(self, names: tuple[str, ...]) -> Requirements:
        """Put together what an event of some of these variables has to meet."""
        query = self.query
        columns = {name: np.asarray([value]) for name, value in query.context.items()}
        here = ContextTable(query.model, columns)
        arguments = {part: value for part, value in query.arguments.items() if part != "context"}
        causal = CausalContexts(here, arguments, self.deadline)
        return Requirements(here, causal, self._sufficient(names), query.effect, self.deadline)

    def _sufficient(self, names: tuple[str, ...]) -> SufficientContexts:
        if self.table is None:
            try:
                return AllContexts(self.query, names, Search(self.query, max_seconds=self.deadline.remaining))
            except TooManyClausesError:
                self.table = read_contexts(self.query.model, None)
        return ListedContexts(self.table, self.query.effect)

    def _describe(self, requirements: Requirements, event: Assignment) -> SufficientCause:
        found = (requirements.causal.cause_with(name, 0) for name in event)
        return SufficientCause(event, next(cause for cause in found if cause is not None), self.count)

    def search(self, statistics: dict[str, int], most: int | None) -> Iterator[SufficientCause | Status]:
        query = self.query
        own = set(query.effect_variables)
        names = tuple(name for name in query.model.endogenous if name not in own)
        if not query.happened or not names:
            return
        requirements = self._require(names)
        events = MinimalEvents(requirements, [(name, query.actual[name]) for name in names])
        try:
            for reported, event in enumerate(events):
                statistics["proposals"] = events.proposals
                if reported == most:
                    yield Status.MAX_CAUSES
                    return
                yield self._describe(requirements, event)
        except OutOfBudget as ended:
            yield ended.status
        finally:
            events.close()
            requirements.close()

    def judge(self, event: dict[str, int]) -> SufficiencyVerdict:
        query = self.query
        conditions: dict[str, bool | None] = dict.fromkeys(CONDITIONS)
        conditions["SC1"] = query.happened and all(query.actual[name] == value for name, value in event.items())
        found: dict[str, Any] = {}
        if conditions["SC1"]:
            requirements = self._require(tuple(event))
            try:
                self._judge_actual(requirements, event, conditions, found)
            except OutOfBudget as ended:
                found["status"] = ended.status
            finally:
                requirements.close()
        return SufficiencyVerdict(query, event, conditions, **found)

    def _judge_actual(
        self,
        requirements: Requirements,
        event: dict[str, int],
        conditions: dict[str, bool | None],
        found: dict[str, Any],
    ) -> None:
        conditions["SC2"] = any(requirements.causal.is_part(name, 0) for name in event)
        failing = requirements.insufficient(event)
        conditions["SC3"] = not failing
        if failing:
            found["counterexample"] = failing[0]
        if not (conditions["SC2"] and conditions["SC3"]):
            return
        found["smaller"] = find_smaller(requirements, event)
        conditions["SC4"] = found["smaller"] is None
        if conditions["SC4"]:
            found["found"] = self._describe(requirements, event)
