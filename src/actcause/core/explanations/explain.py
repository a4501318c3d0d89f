"""The verbs `explanations` and `is_explanation`: what explains an effect, given what one knows.

Someone who does not know the context takes a set K of contexts to be possible. `X=x` explains the effect to them if

    EX1   in every context of K in which X=x and the effect happen, some conjunct of X=x is part of a cause,
          and in every context of K setting X to x brings the effect about;
    EX2   no strict part of X=x does;
    EX3   X=x and the effect happen in some context of K.

It is trivial (EX4 fails) if the effect happens in no context of K without X=x: then it was known already.

Halpern, "Actual Causality", MIT Press 2016, Section 7.1, after Halpern and Pearl, "Causes and Explanations: A
Structural-Model Approach. Part II: Explanations", British Journal for the Philosophy of Science 56, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import QueryError
from ..answer import Assignment, Status
from ..contexts import read_contexts
from ..definitions import Deadline, OutOfBudget
from ..expression import Array, Expression
from ..find import Share, get_definition
from ..model import Model
from ..query import as_share, check_limit
from .answer import CONDITIONS, Explanation, ExplanationQuery, Explanations, ExplanationVerdict
from .causal_contexts import CausalContexts
from .search import Conjunct, MinimalEvents, Requirements, find_smaller
from .sufficient_contexts import ListedContexts


def explanations(
    model: Model,
    *,
    contexts: Any = None,
    effect: str | Expression,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    max_explanations: int | None = None,
    max_seconds: float | None = None,
) -> Explanations:
    r"""Find all minimal explanations of an effect relative to contexts, lazily.

    `contexts` are those that are possible: a list of them; a list of (context, probability) pairs; numpy columns, one
    for each root; a formula, for all contexts in which it holds; a probability for each root; or None, for all.

    >>> model = Model.from_text("L\nMD\nFF = L and MD")
    >>> [dict(found.event) for found in explanations(model, contexts="L == 1", effect="FF == 1")]
    [{'MD': 1}]
    """
    query = make_explanation_query(model, contexts, effect, definition, alpha_sufficiency, alpha_necessity)
    check_limit("max_explanations", max_explanations)
    statistics = {"proposals": 0, "contexts_asked": 0}
    search = _search(query, Deadline(max_seconds), statistics, max_explanations)
    return Explanations(query, search, statistics)


def is_explanation(
    model: Model,
    *,
    contexts: Any = None,
    effect: str | Expression,
    event: Assignment | str,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    max_seconds: float | None = None,
) -> ExplanationVerdict:
    r"""Judge one event: does it explain the effect, relative to contexts?

    >>> model = Model.from_text("L\nMD\nFF = L and MD")
    >>> print(is_explanation(model, effect="FF == 1", event={"L": 1}))
    L=1 is not an explanation of FF=1: EX1 fails, since in the context L=0 and MD=0 setting it would not have brought FF=1 about.
    """  # noqa: E501 - a sentence is one line
    query = make_explanation_query(model, contexts, effect, definition, alpha_sufficiency, alpha_necessity)
    checked = query.within(0).check_event(event)
    return Knowledge(query, Deadline(max_seconds)).judge(checked)


def make_explanation_query(
    model: Model,
    contexts: Any,
    effect: str | Expression,
    definition: str,
    alpha_sufficiency: Share,
    alpha_necessity: Share,
) -> ExplanationQuery:
    """Check the parts of a question and put them together."""
    if not isinstance(model, Model):
        wrong = "The model must be a Model; got {kind}. Use Model.from_text."
        raise QueryError(wrong, parameter="model", kind=type(model).__name__)
    table = read_contexts(model, contexts)
    name = get_definition(definition).name
    shares = (as_share("alpha_sufficiency", alpha_sufficiency), as_share("alpha_necessity", alpha_necessity))
    drafted = ExplanationQuery(table, effect, name, *shares)  # type: ignore[arg-type]
    checked = drafted.within(0)  # reads the effect and checks the model
    return ExplanationQuery(table, checked.effect, name, *shares)


class Knowledge:
    """What is known: the contexts, those in which the effect happens, and what was found out about causes there."""

    def __init__(self, query: ExplanationQuery, deadline: Deadline) -> None:
        self.query, self.deadline = query, deadline
        self.table = query.contexts
        self.holding = self.table.holds(query.effect)
        self.happened = self.table.keep(self.holding)
        if len(self.happened):
            causal = CausalContexts(self.happened, query.arguments, deadline)
            sufficient = ListedContexts(self.table, query.effect)
            self.requirements = Requirements(self.happened, causal, sufficient, query.effect, deadline)

    def conjuncts(self) -> list[Conjunct]:
        """List what an explanation may say: whatever happens together with the effect, of other variables."""
        own = set(self.query.effect.names())
        return [
            (name, int(value))
            for name in self.table.model.endogenous
            if name not in own
            for value in np.unique(self.happened.values[name])
        ]

    def describe(self, event: Assignment, goodness: Fraction = Fraction(1), *, full: bool = True) -> Explanation:
        """Say what there is to say about an explanation."""
        causal, rows = self.requirements.causal, self.requirements.rows(event)
        row = next(int(row) for row in rows if any(causal.is_part(name, int(row)) for name in event))
        cause = next(cause for name in event if (cause := causal.cause_with(name, row)) is not None)
        weighted = self.table.amounts is not None
        return Explanation(
            event,
            cause,
            happens=len(rows),
            effects=len(self.happened),
            contexts=len(self.table),
            trivial=len(rows) == len(self.happened),
            full=full,
            probability=self.share(rows) if weighted else None,
            goodness=goodness if weighted else None,
        )

    def share(self, some: Array, among: Array | None = None) -> Fraction:
        """Return the probability of some contexts in which the effect happens, given others or all of these."""
        amounts = self.happened.amounts
        assert amounts is not None
        total = int(amounts.sum() if among is None else amounts[among].sum())
        return Fraction(int(amounts[some].sum()), total) if total else Fraction(0)

    def judge(self, event: dict[str, int]) -> ExplanationVerdict:
        """Decide whether an event is an explanation, condition by condition."""
        conditions: dict[str, bool | None] = dict.fromkeys(CONDITIONS)
        found: dict[str, Any] = {}
        rows = np.flatnonzero(self.happened.agrees(event)) if len(self.happened) else np.zeros(0, dtype=np.int64)
        conditions["EX3"] = len(rows) > 0
        conditions["EX4"] = len(rows) < len(self.happened)
        status = Status.COMPLETE
        if conditions["EX3"]:
            try:
                self._judge_possible(event, rows, conditions, found)
            except OutOfBudget as ended:
                status = ended.status
            finally:
                self.requirements.close()
        return ExplanationVerdict(self.query, event, conditions, status=status, **found)

    def _judge_possible(
        self, event: dict[str, int], rows: Array, conditions: dict[str, bool | None], found: dict[str, Any]
    ) -> None:
        requirements = self.requirements
        failing = requirements.insufficient(event)
        uncaused = list(requirements.causal.without_part(event, rows)) if self.table.amounts is not None else None
        if uncaused is None:
            first = next(requirements.causal.without_part(event, rows), None)
            uncaused = [] if first is None else [first]
        else:
            found["goodness"] = 1 - self.share(np.asarray(uncaused, dtype=np.int64), rows)
        conditions["EX1a"], conditions["EX1b"] = not uncaused, not failing
        if failing or uncaused:
            found["counterexample"] = failing[0] if failing else self.happened.context(uncaused[0])
            return
        found["smaller"] = find_smaller(requirements, event)
        conditions["EX2"] = found["smaller"] is None
        if conditions["EX2"]:
            found["explanation"] = self.describe(event)


def _search(
    query: ExplanationQuery, deadline: Deadline, statistics: dict[str, int], most: int | None
) -> Iterator[Explanation | Status]:
    knowledge = Knowledge(query, deadline)
    conjuncts = knowledge.conjuncts() if len(knowledge.happened) else []
    if not conjuncts:
        return
    events = MinimalEvents(knowledge.requirements, conjuncts)
    try:
        for reported, event in enumerate(events):
            statistics |= {"proposals": events.proposals, "contexts_asked": knowledge.requirements.causal.questions}
            if reported == most:
                yield Status.MAX_EXPLANATIONS
                return
            yield knowledge.describe(event)
        statistics |= {"proposals": events.proposals, "contexts_asked": knowledge.requirements.causal.questions}
    except OutOfBudget as ended:
        yield ended.status
    finally:
        events.close()
        knowledge.requirements.close()
