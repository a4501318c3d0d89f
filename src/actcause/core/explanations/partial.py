"""The verb `partial_explanations`: what explains an effect in most of the contexts, and how good it is.

Relative to contexts K with probabilities, let K' be the largest part of K relative to which X=x meets EX1: K without
the contexts in which X=x and the effect happen and no conjunct of X=x is part of a cause, and without those in which
setting X to x does not bring the effect about. X=x is a partial explanation if it is an explanation relative to K'. Its
goodness is the probability of K', given that X=x and the effect happen.

Halpern, "Actual Causality", MIT Press 2016, Section 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from ...errors import QueryError
from ..answer import Assignment, Status
from ..definitions import Deadline, OutOfBudget
from ..expression import Array, Expression
from ..find import Share
from ..model import Model
from ..query import as_share, check_limit
from .answer import Explanation, ExplanationQuery, Explanations
from .explain import Knowledge, make_explanation_query


def partial_explanations(
    model: Model,
    *,
    contexts: Any,
    effect: str | Expression,
    least_goodness: Share = 0,
    definition: str = "modified-hp",
    alpha_sufficiency: Share = None,
    alpha_necessity: Share = None,
    max_explanations: int | None = None,
    max_seconds: float | None = None,
) -> Explanations:
    r"""Find partial explanations of an effect, relative to contexts with probabilities, lazily and small ones first.

    `contexts` are (context, probability) pairs, or a probability for each root. Only those are reported whose goodness
    is at least `least_goodness`. Full explanations are among them. All events are tried, so look at the first ones in
    large models.

    >>> model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    >>> found = partial_explanations(model, contexts={"ST": "1/4", "BT": "1/2"}, effect="BS == 1")
    >>> [(dict(entry.event), str(entry.goodness)) for entry in found if "BT" in entry.event][0]
    ({'BT': 1}, '3/4')
    """
    query = make_explanation_query(model, contexts, effect, definition, alpha_sufficiency, alpha_necessity)
    if query.contexts.amounts is None:
        wrong = (
            "Partial explanations need probabilities; give {parameter} as (context, probability) pairs, "
            "or as a probability for each root."
        )
        raise QueryError(wrong, parameter="contexts")
    check_limit("max_explanations", max_explanations)
    least = as_share("least_goodness", least_goodness) or Fraction(0)
    statistics = {"events": 0}
    search = _search(query, least, Deadline(max_seconds), statistics, max_explanations)
    return Explanations(query, search, statistics)


def _search(
    query: ExplanationQuery, least: Fraction, deadline: Deadline, statistics: dict[str, int], most: int | None
) -> Iterator[Explanation | Status]:
    knowledge = Knowledge(query, deadline)
    if not len(knowledge.happened):
        return
    reported = 0
    try:
        for event in _events(knowledge):
            deadline.check()
            statistics["events"] += 1
            goodness = _Part(knowledge, event).goodness()
            if goodness is None or goodness < least:
                continue
            if reported == most:
                yield Status.MAX_EXPLANATIONS
                return
            reported += 1
            yield knowledge.describe(
                event, goodness, full=goodness == 1 and not knowledge.requirements.insufficient(event)
            )
    except OutOfBudget as ended:
        yield ended.status
    finally:
        knowledge.requirements.close()


def _events(knowledge: Knowledge) -> Iterator[dict[str, int]]:
    """Yield the events that happen together with the effect somewhere, small ones first."""
    values: dict[str, list[int]] = {}
    for name, value in knowledge.conjuncts():
        values.setdefault(name, []).append(value)
    for size in range(1, len(values) + 1):
        for names in combinations(values, size):
            for chosen in product(*(values[name] for name in names)):
                yield dict(zip(names, chosen, strict=True))


class _Part:
    """An event, and the contexts relative to which it meets EX1."""

    def __init__(self, knowledge: Knowledge, event: dict[str, int]) -> None:
        self.knowledge, self.event = knowledge, event
        self.rows = knowledge.requirements.rows(event)

    def goodness(self) -> Fraction | None:
        """Return how good a partial explanation the event is, None if it is none."""
        if not len(self.rows):
            return None
        uncaused = self._find_uncaused(self.event, self.rows)
        if len(uncaused) == len(self.rows):
            return None
        knowledge = self.knowledge
        # Where the event and the effect happen, setting the event changes nothing: it is insufficient elsewhere only.
        kept = knowledge.table.holds(knowledge.query.effect, self.event).copy()
        kept[np.flatnonzero(knowledge.holding)[uncaused]] = False
        if any(self._meets_ex1(part, kept) for part in _strict_parts(self.event)):
            return None
        return 1 - knowledge.share(uncaused, self.rows)

    def _find_uncaused(self, event: Assignment, rows: Array) -> Array:
        causal = self.knowledge.requirements.causal
        return np.asarray(list(causal.without_part(event, rows)), dtype=np.int64)

    def _meets_ex1(self, event: Assignment, kept: Array) -> bool:
        """Return whether an event meets EX1 relative to some of the contexts."""
        knowledge = self.knowledge
        if not knowledge.table.holds(knowledge.query.effect, event)[kept].all():
            return False
        rows = knowledge.requirements.rows(event)
        rows = rows[kept[knowledge.holding][rows]]
        return next(knowledge.requirements.causal.without_part(event, rows), None) is None


def _strict_parts(event: Assignment) -> Iterator[dict[str, int]]:
    for size in range(1, len(event)):
        for names in combinations(event, size):
            yield {name: event[name] for name in names}
