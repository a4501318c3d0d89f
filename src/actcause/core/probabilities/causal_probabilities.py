"""The verb `probabilities`: how probable it is that an event was necessary, sufficient, or a cause.

With a distribution over contexts, X=x, another value x' and an effect,

    PN    the probability that the effect would have failed under X=x', where X=x and the effect happened;
    PS    the probability that X=x would have brought the effect about, where X=x' and the effect did not happen;
    PNS   the probability that the effect happens under X=x and fails under X=x'.

Pearl, "Probabilities of Causation: Three Counterfactual Interpretations and Their Identification", Synthese 121, 1999;
"Causality", Chapter 9. Evidence is a further condition of all three. The probability that X=x was an actual cause, by
any definition and given the evidence, adds up the contexts in which it is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import QueryError, blaming, quote
from ..contexts import ContextTable
from ..definitions import Deadline, OutOfBudget
from ..estimate import Estimate, estimate
from ..expression import Expression
from ..find import Share, get_definition
from ..model import Model
from ..query import Assignment, Query
from ..text import parse_event, parse_formula
from .counting import TooManyStatesError
from .prior import IndependentRoots, read_prior
from .tally import (
    BOTH,
    EFFECT,
    EVENT,
    EVIDENCE,
    FAILS,
    INSTEAD,
    SUFFICES,
    Cases,
    Probability,
    ProbabilityQuery,
    Rows,
    Tally,
    tally_contexts,
    tally_worlds,
)

MOST_QUESTIONS = 20_000  # contexts in which a solver is asked; of more, samples are taken


@dataclass(frozen=True, eq=False)
class Probabilities:
    """PN, PS, PNS, and the probability of having been a cause.

    Each is an exact `Fraction`; None where its condition never happens; or, where contexts can be neither enumerated
    nor counted, an `Estimate` with an interval.
    """

    query: ProbabilityQuery
    samples: int
    seed: int
    confidence: float
    _deadline: Deadline = field(repr=False)

    @cached_property
    def pn(self) -> Probability:
        """The probability of necessity."""
        return self._tally.measure_given(FAILS, {EVIDENCE: True, EVENT: True, EFFECT: True}, self.confidence)

    @cached_property
    def ps(self) -> Probability:
        """The probability of sufficiency."""
        return self._tally.measure_given(SUFFICES, {EVIDENCE: True, INSTEAD: True, EFFECT: False}, self.confidence)

    @cached_property
    def pns(self) -> Probability:
        """The probability of necessity and sufficiency."""
        return self._tally.measure_given(BOTH, {EVIDENCE: True}, self.confidence)

    @property
    def exact(self) -> bool:
        """Whether PN, PS and PNS are exact."""
        return self._tally.samples is None

    def cause(
        self, definition: str = "modified-hp", *, alpha_sufficiency: Share = None, alpha_necessity: Share = None
    ) -> Probability:
        """Find the probability that the event was an actual cause of the effect, given the evidence."""
        arguments = {
            "definition": get_definition(definition).name,
            "alpha_sufficiency": alpha_sufficiency,
            "alpha_necessity": alpha_necessity,
        }
        _ = self._tally  # refuses evidence that never happens
        exact = isinstance(self._source, ContextTable)
        cases = Cases(self._source if isinstance(self._source, ContextTable) else self._sample, self.query)
        if len(cases.groups) > MOST_QUESTIONS and exact:
            exact, cases = False, Cases(self._sample, self.query)
        yes, unknown, total = cases.count_causes(arguments, self._deadline)
        if exact and not unknown:
            return Fraction(yes, total)
        if exact:
            return Estimate(None, yes / total, (yes + unknown) / total, 1.0, 0)
        low, high = (estimate(hits, total, self.confidence) for hits in (yes, yes + unknown))
        return Estimate(None if unknown else low.value, low.low, high.high, self.confidence, total)

    # -- worlds ----------------------------------------------------------------------------------

    @cached_property
    def _source(self) -> ContextTable | _Counted | _Sampled:
        """Where the figures come from: listed contexts, counted worlds, or samples."""
        query = self.query
        table = query.prior.enumerate(query.mattering)
        if table is not None:
            return table
        if isinstance(query.prior, IndependentRoots):
            try:
                return _Counted(tally_worlds(query, query.prior, self._deadline))
            except (TooManyStatesError, OutOfBudget):
                return _Sampled()
        return _Sampled()

    @cached_property
    def _sample(self) -> ContextTable:
        return self.query.prior.sample(self.samples, np.random.default_rng(self.seed))

    @cached_property
    def _tally(self) -> Tally:
        source = self._source
        if isinstance(source, _Counted):
            tally = Tally(source.rows, None)
        elif isinstance(source, _Sampled):
            tally = Tally(tally_contexts(self._sample, self.query), self.samples)
        else:
            tally = Tally(tally_contexts(source, self.query), None)
        if not any(row[EVIDENCE] for row in tally.rows):
            what = "in no sample" if tally.samples is not None else "with probability 0"
            wrong = "The evidence '{given}' happens {what}; nothing can be said given it."
            raise QueryError(wrong, parameter="evidence", given=self.query.evidence, what=what)
        return tally

    # -- words -----------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> Iterator[str]:
        """Write what each probability is, in words."""
        event, instead = _write(self.query.event), _write(self.query.instead)
        effect = self.query.effect
        given = "" if self.query.evidence is None else f", given {self.query.evidence}"
        yield (
            f"PN is {show_probability(self.pn)}: where {event} and '{effect}' happened{given}, "
            f"this is how probably '{effect}' would have failed under {instead}."
        )
        yield (
            f"PS is {show_probability(self.ps)}: where {instead} happened and '{effect}' failed{given}, "
            f"this is how probably {event} would have brought it about."
        )
        yield (
            f"PNS is {show_probability(self.pns)}: this is how probably '{effect}' happens under {event} "
            f"and fails under {instead}{given}."
        )

    def __str__(self) -> str:
        return self.sentence

    def to_json(self, *definitions: str) -> dict[str, Any]:
        """Write everything, with the probability of having been a cause by these definitions."""
        query = self.query
        return {
            "event": dict(query.event),
            "instead": dict(query.instead),
            "effect": str(query.effect),
            "evidence": None if query.evidence is None else str(query.evidence),
            "exact": self.exact,
            "pn": as_json(self.pn),
            "ps": as_json(self.ps),
            "pns": as_json(self.pns),
            "cause": {name: as_json(self.cause(name)) for name in definitions},
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class _Counted:
    """What was counted without listing contexts."""

    rows: Rows


class _Sampled:
    """Nothing but samples is to be had."""


def _write(event: Assignment) -> str:
    return ", ".join(f"{name}={value}" for name, value in event.items())


def show_probability(probability: Probability) -> str:
    """Write a probability for people: long fractions as decimals."""
    if isinstance(probability, Fraction) and probability.denominator > 1000:
        return f"{float(probability):.6g}"
    return "undefined, its condition never happening" if probability is None else str(probability)


def as_json(probability: Probability) -> Any:
    """Write a fraction as text, an estimate as an object."""
    return (
        probability.to_json()
        if isinstance(probability, Estimate)
        else None
        if probability is None
        else str(probability)
    )


def probabilities(
    model: Model,
    *,
    prior: Any,
    event: Assignment | str,
    effect: str | Expression,
    instead: Assignment | str | None = None,
    evidence: str | Expression | None = None,
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
    max_seconds: float | None = None,
) -> Probabilities:
    r"""Measure how probably an event was necessary, sufficient, or a cause, given a distribution over contexts.

    `prior` is a probability for each root (that of 1, or of each value), a list of (context, probability) pairs, or a
    function that takes a numpy generator and returns a context. `instead` is what the event is compared with, for
    binary variables their other value. `evidence` is a formula. Results are exact where contexts can be enumerated or
    counted; else `samples` contexts are drawn, and results have intervals of the given confidence.

    >>> squad = Model.from_text("exogenous U\nA = U\nB = U\nDead = A or B")
    >>> found = probabilities(squad, prior={"U": 0.5}, event="A=1", effect="Dead")
    >>> str(found.pn), str(found.ps), str(found.pns), str(found.cause("modified-hp"))
    ('0', '1', '1/2', '0')
    """
    if not isinstance(model, Model):
        wrong = "The model must be a Model; got {kind}. Use Model.from_text."
        raise QueryError(wrong, parameter="model", kind=type(model).__name__)
    distribution = read_prior(model, prior)
    some = {name: model.ranges[name][0] for name in model.roots}
    checked = Query(model, some, effect)  # type: ignore[arg-type]
    chosen = checked.check_event(event)
    known = None
    if evidence is not None:
        with blaming("evidence"):
            known = parse_formula(evidence, model.ranges) if isinstance(evidence, str) else evidence
            model.check_formula(known)
    if not isinstance(samples, int) or samples < 1:
        raise QueryError("{parameter} must be at least 1; got {got}.", parameter="samples", got=quote(samples))
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        wrong = "{parameter} must be between 0 and 1; got {got}."
        raise QueryError(wrong, parameter="confidence", got=quote(confidence))
    query = ProbabilityQuery(distribution, chosen, _read_instead(checked, chosen, instead), checked.effect, known)
    return Probabilities(query, samples, seed, confidence, Deadline(max_seconds))


def _read_instead(query: Query, event: Assignment, given: Assignment | str | None) -> dict[str, int]:
    """Read what might have been instead of the event; the other value where there are two."""
    ranges = query.model.ranges
    if given is None:
        unclear = next((name for name in event if len(ranges[name]) != 2), None)
        if unclear is not None:
            wrong = "{unclear} has {count} values, so {parameter} must say what it might have been; such as '{such}'."
            such = f"{unclear}={next(value for value in ranges[unclear] if value != event[unclear])}"
            count = len(ranges[unclear])
            raise QueryError(wrong, parameter="instead", unclear=unclear, count=count, such=such)
        return {name: sum(ranges[name]) - value for name, value in event.items()}
    if isinstance(given, str):
        with blaming("instead"):
            given = parse_event(given, ranges)
    if set(given) != set(event):
        wrong = "{parameter} must set the variables of the event, {names}; got {got}."
        raise QueryError(wrong, parameter="instead", names=", ".join(event), got=quote(dict(given)))
    instead = {name: query.model.check_value(name, given[name]) for name in event}
    if instead == event:
        raise QueryError("{parameter} must differ from the event.", parameter="instead")
    return instead
