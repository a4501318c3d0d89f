"""What is added up: with what probability, or in how many contexts, the facts hold that a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..contexts import ContextTable
from ..definitions import Deadline
from ..estimate import Estimate, estimate
from ..explanations.causal_contexts import COUNTERFACTUAL
from ..expression import Array, Expression, Name, Number
from ..find import is_cause
from ..logic import And, Compare
from ..model import Model
from ..query import Assignment
from .counting import count_worlds
from .prior import IndependentRoots, Prior

Probability = Fraction | Estimate | None
Rows = dict[tuple[bool, ...], Fraction | int]
ALWAYS = Number(1)

# The columns of a row of `Tally`.
EVIDENCE, EVENT, INSTEAD, EFFECT, SUFFICES, FAILS, BOTH = range(7)


@dataclass(frozen=True)
class ProbabilityQuery:
    """What is asked: the event, what might have been instead, the effect, and what else is known."""

    prior: Prior
    event: Assignment
    instead: Assignment
    effect: Expression
    evidence: Expression | None

    @property
    def model(self) -> Model:
        return self.prior.model

    @cached_property
    def mattering(self) -> frozenset[str]:
        """Everything that bears on the answer."""
        known = () if self.evidence is None else self.evidence.names()
        return frozenset(self.model.ancestors([*self.event, *self.effect.names(), *known]))


class Tally:
    """How often what happened: a mass for each combination of what is asked about a context."""

    def __init__(self, rows: Rows, samples: int | None) -> None:
        self.rows, self.samples = rows, samples

    def measure_given(self, target: int, condition: dict[int, bool], confidence: float) -> Probability:
        """Return the probability that all of `target` holds, given a condition; None if that never happens."""
        matching = {
            row: mass for row, mass in self.rows.items() if all(row[i] == want for i, want in condition.items())
        }
        total = sum(matching.values())
        hits = sum(mass for row, mass in matching.items() if row[target])
        if self.samples is not None:
            return estimate(int(hits), int(total), confidence)
        return Fraction(hits) / Fraction(total) if total else None


def _masks(table: ContextTable, query: ProbabilityQuery) -> list[Array]:
    """Find out what holds in which contexts, a column of `Tally` each."""
    suffices = table.holds(query.effect, query.event)
    fails = ~table.holds(query.effect, query.instead)
    return [
        np.ones(len(table), dtype=bool) if query.evidence is None else table.holds(query.evidence),
        table.agrees(query.event),
        table.agrees(query.instead),
        table.holds(query.effect),
        suffices,
        fails,
        suffices & fails,
    ]


def tally_contexts(table: ContextTable, query: ProbabilityQuery) -> Rows:
    """Add up the contexts of a table."""
    assert table.amounts is not None
    masks = _masks(table, query)
    keys = np.zeros(len(table), dtype=np.int64)
    for place, mask in enumerate(masks):
        keys |= mask.astype(np.int64) << place
    return {
        tuple(bool(int(key) >> place & 1) for place in range(len(masks))): int(table.amounts[keys == key].sum())
        for key in np.unique(keys)
    }


def tally_worlds(query: ProbabilityQuery, prior: IndependentRoots, deadline: Deadline) -> Rows:
    """Count worlds: the actual one, and those under the event and what might have been instead."""
    formulas = [query.evidence or ALWAYS, _all(query.event), _all(query.instead), query.effect]
    joint = count_worlds(query.model, prior.roots, formulas, [{}, query.event, query.instead], deadline)
    rows: Rows = {}
    for (evidence, event, instead, effect), mass in joint.items():
        suffices, fails = bool(effect[1]), not effect[2]
        row = (
            bool(evidence[0]),
            bool(event[0]),
            bool(instead[0]),
            bool(effect[0]),
            suffices,
            fails,
            suffices and fails,
        )
        rows[row] = rows.get(row, 0) + mass
    return rows


def _all(event: Assignment) -> Expression:
    """Write an event as a formula."""
    return And(tuple(Compare(Name(name), "==", Number(value)) for name, value in event.items()))


class Cases:
    """The contexts in which event, effect and evidence happened, those that agree on all that matters together."""

    def __init__(self, table: ContextTable, query: ProbabilityQuery) -> None:
        self.table, self.query = table, query
        masks = _masks(table, query)
        self.evidence, self.undone = masks[EVIDENCE], masks[FAILS]
        self.groups: dict[int, Array] = {}
        rows = np.flatnonzero(masks[EVIDENCE] & masks[EVENT] & masks[EFFECT])
        if not len(rows):
            return
        model = table.model
        above = model.ancestors([*query.effect.names(), *query.event])
        columns = [table.columns[name][rows] for name in model.roots if name in above]
        key = np.stack([np.zeros_like(rows), *columns], axis=1)
        _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(inverse.ravel(), kind="stable")
        parts = np.split(rows[order], np.cumsum(np.bincount(inverse.ravel()))[:-1])
        self.groups = {int(rows[start]): part for start, part in zip(first, parts, strict=True)}

    def count_causes(self, arguments: dict[str, Any], deadline: Deadline) -> tuple[int, int, int]:
        """Add up the contexts in which the event is a cause, those left when time ran out, and all with evidence."""
        query, amounts = self.query, self.table.amounts
        assert amounts is not None
        # Where changing one variable undoes the effect it is a cause, by these definitions.
        evident = len(query.event) == 1 and arguments["definition"] in COUNTERFACTUAL
        yes = unknown = 0
        for row, same in self.groups.items():
            holds: bool | None = True
            if not (evident and self.undone[row]):
                question = arguments | {
                    "context": self.table.context(row),
                    "effect": query.effect,
                    "event": query.event,
                }
                holds = is_cause(query.model, max_seconds=deadline.remaining, **question).holds
            amount = int(amounts[same].sum())
            yes += amount if holds else 0
            unknown += amount if holds is None else 0
        return yes, unknown, int(amounts[self.evidence].sum())
