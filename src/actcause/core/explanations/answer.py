"""What is said of explanations: the question, an explanation, all of them, and the verdict on one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...errors import Naming, name_in_python
from ..answer import Assignment, Cause, LazyList, Query, Status, VerdictByConditions
from ..contexts import ContextTable
from ..expression import Expression
from ..text import open_with_event, write_assignments, write_event

CONDITIONS = ("EX1a", "EX1b", "EX2", "EX3", "EX4")


@dataclass(frozen=True, eq=False)
class ExplanationQuery:
    """What is asked: relative to these contexts, what explains the effect, by this definition of a cause?"""

    contexts: ContextTable
    effect: Expression
    definition: str
    alpha_sufficiency: Fraction | None = None
    alpha_necessity: Fraction | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what the question shares with questions about one context."""
        shares = {"alpha_sufficiency": self.alpha_sufficiency, "alpha_necessity": self.alpha_necessity}
        return {"model": self.contexts.model, "effect": self.effect, "definition": self.definition, **shares}

    def within(self, row: int) -> Query:
        """Put the question about causes in one of the contexts."""
        return Query(context=self.contexts.context(row), **self.arguments)

    @property
    def happens_somewhere(self) -> bool:
        """Return whether the effect happens in any of the contexts."""
        return bool(self.contexts.holds(self.effect).any())

    def to_json(self) -> dict[str, Any]:
        return {"definition": self.definition, "effect": str(self.effect), "contexts": len(self.contexts)}


@dataclass(frozen=True)
class Explanation:
    """An event that explains an effect, relative to contexts.

    `happens` counts the contexts in which the event and the effect happen, `effects` those in which the effect does;
    `cause` is a cause with a conjunct of the event in one of the former. `trivial` explanations were known already:
    the effect never happens without them. `full` is false for partial explanations. `probability` is that of the event
    where the effect happens, and `goodness` that of the contexts for which this is a full explanation where both
    happen; they are None without probabilities.
    """

    event: Assignment
    cause: Cause
    happens: int
    effects: int
    contexts: int
    trivial: bool
    full: bool = True
    probability: Fraction | None = None
    goodness: Fraction | None = None

    @property
    def sentence(self) -> str:
        query, one = self.cause.query, len(self.event) == 1
        effect, it, them = query.effect_text, "it" if one else "one of them", "it" if one else "them"
        if not self.full:
            kind, known = "a partial explanation", ""
            why = f"where they happen together, {it} is part of a cause with probability {self.goodness}"
        else:
            kind = "a trivial explanation" if self.trivial else "an explanation"
            known = f" {effect} never happens without {them}." if self.trivial else ""
            where = f"the {self.happens:,} contexts" if self.happens > 1 else "the one context"
            why = (
                f"setting {them} brings {effect} about in {_count(self.contexts)}, and {it} is part of a cause "
                f"in {where} in which {'both' if one else 'all'} happen"
            )
        return f"{open_with_event(self.event, query.model.labels)} {kind} of {effect}: {why}.{known}"

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        return {
            "event": dict(self.event),
            "trivial": self.trivial,
            "full": self.full,
            "happens": self.happens,
            "effects": self.effects,
            "probability": None if self.probability is None else str(self.probability),
            "goodness": None if self.goodness is None else str(self.goodness),
            "instance": {"context": dict(self.cause.query.context), "cause": self.cause.to_json()},
            "sentence": self.sentence,
        }


def _count(contexts: int) -> str:
    return {1: "the only one", 2: "both contexts"}.get(contexts, f"all {contexts:,} contexts")


class Explanations(LazyList[Explanation]):
    """All minimal explanations, found as they are read; `len`, `[-1]` and `status` read them all."""

    def __init__(
        self, query: ExplanationQuery, search: Iterator[Explanation | Status], statistics: Mapping[str, int]
    ) -> None:
        super().__init__(search, statistics)
        self.query = query

    @property
    def sentence(self) -> str:
        """The first few explanations, each in a sentence."""
        effect = self.query.within(0).effect_text
        if not self.query.happens_somewhere:
            return self._describe(f"There is nothing to explain: {effect} happens in none of these contexts.")
        return self._describe(f"Nothing explains {effect}, relative to these contexts.")

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Explanations by {self.query.definition}: {len(self._found)} found so far>"

    def to_json(self) -> dict[str, Any]:
        found = [explanation.to_json() for explanation in self]
        return {**self.query.to_json(), "explanations": found, "status": self.status.value}


@dataclass(frozen=True)
class ExplanationVerdict(VerdictByConditions):
    """Whether one event is an explanation: the conditions one by one, and a context that breaks one of them.

    `EX1a`: part of a cause wherever it and the effect happen; `EX1b`: sufficient in every context; `EX2`: no part of it
    meets both; `EX3`: possible together with the effect; `EX4`: not trivial, which an explanation need not be. A
    condition is None where an earlier one already failed or the time ran out.
    """

    ORDER = ("EX3", "EX1b", "EX1a", "EX2")

    query: ExplanationQuery
    event: Assignment
    conditions: Mapping[str, bool | None]
    explanation: Explanation | None = None
    counterexample: Assignment | None = None
    smaller: Assignment | None = None
    goodness: Fraction | None = None
    status: Status = Status.COMPLETE
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def describe(self, naming: Naming = name_in_python) -> str:
        """Write the sentence, with parameters in a front end's words."""
        if self.explanation is not None and self.holds:
            return self.explanation.sentence
        query = self.query.within(0)
        if self.holds is None:
            event, ending = write_event(self.event, query.model.labels), self.status.describe(naming)
            return f"It is not known whether {event} an explanation of {query.effect_text}. {ending}"
        what = open_with_event(self.event, query.model.labels)
        return f"{what} not an explanation of {query.effect_text}: {self._why_not(query.effect_text)}."

    def _why_not(self, effect: str) -> str:
        where = "" if self.counterexample is None else f"in the context {write_assignments(self.counterexample)}"
        it, they = ("it", "it") if len(self.event) == 1 else ("them", "they")
        if self.failed == "EX3":
            return f"EX3 fails, since {they} and {effect} happen together in none of the contexts"
        if self.failed == "EX1b":
            return f"EX1 fails, since {where} setting {it} would not have brought {effect} about"
        if self.failed == "EX1a":
            return f"EX1 fails, since {where} nothing of {it} is part of a cause of {effect}"
        smaller = f": {write_assignments(self.smaller)} is enough" if self.smaller else ""
        return f"EX2 fails, since it is not minimal{smaller}"

    def to_json(self) -> dict[str, Any]:
        return self._to_json(
            counterexample=self.counterexample,
            smaller=self.smaller,
            goodness=None if self.goodness is None else str(self.goodness),
            explanations=[self.explanation.to_json()] if self.holds and self.explanation else [],
        )
