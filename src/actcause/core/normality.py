"""Normality: rules that normally hold, and which of two worlds is the more normal one.

Halpern and Hitchcock, "Graded Causation and Defaults", British Journal for the Philosophy of Science 66, 2015; Halpern,
"Actual Causality", MIT Press 2016, Chapter 3. A witness counts if its world is at least as normal as the actual one,
and causes are ranked by their best witnesses.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from ..errors import QueryError, blaming
from .expression import Expression, Name
from .facts import Facts, facts
from .renaming import rename_variables
from .steps import at_step
from .text import parse_formula

ORDERS = ("inclusion", "count")
Broken = frozenset[int]  # the rules that a world breaks, by their places
T = TypeVar("T")


@dataclass(frozen=True)
class Rule:
    """Something that normally holds, and how much it weighs where broken rules are counted."""

    formula: Expression
    weight: Fraction = Fraction(1)

    @cached_property
    def facts(self) -> Facts:
        """The facts about the formula, collected once, since there may be many rules."""
        return facts(self.formula)

    def __str__(self) -> str:
        return str(self.formula) if self.weight == 1 else f"{self.weight}: {self.formula}"


@dataclass(frozen=True)
class Normality:
    """Rules that normally hold, with an order of worlds by the rules that they break.

    With `order="inclusion"` a world is at least as normal as another if it breaks no rule that the other keeps; two
    worlds may be incomparable. With `order="count"` the weights of the broken rules are summed, 1 for each rule
    unless it says otherwise. A rule is a formula, with its weight before a colon or as a pair.

    >>> Normality(["BT == 0", "2: A == B"], order="count").to_json()
    {'rules': ['BT == 0', '2: A == B'], 'order': 'count'}
    """

    rules: tuple[Rule, ...]
    order: str = "inclusion"

    def __init__(
        self, rules: str | Iterable[str | Rule | tuple[str | Expression, Any]], order: str = "inclusion"
    ) -> None:
        if order not in ORDERS:
            wrong = "The order of normality must be one of {known}; got {got!r}."
            raise QueryError(wrong, parameter="normality_order", known=", ".join(ORDERS), got=order)
        given = [rules] if isinstance(rules, str) else list(rules)
        if not given:
            raise QueryError("{parameter} needs at least one rule, such as 'BT == 0'.", parameter="normality")
        object.__setattr__(self, "rules", tuple(map(_read_rule, given)))
        object.__setattr__(self, "order", order)
        if order == "inclusion" and any(rule.weight != 1 for rule in self.rules):
            wrong = "Weights of rules are only counted with {normality_order:count}."
            raise QueryError(wrong, parameter="normality")

    def spread(self, known: Container[str]) -> Normality:
        """Replace a rule that names variables in time without a step by one rule for each step.

        >>> [str(rule) for rule in Normality("valve == 0").spread({"valve@0", "valve@1"}).rules]
        ['valve@0 == 0', 'valve@1 == 0']
        """
        rules: list[Rule] = []
        for rule in self.rules:
            loose = [name for name in rule.facts.names if name not in known and at_step(name, 0) in known]
            step = 0
            while loose and all(at_step(name, step) in known for name in loose):
                names = {name: Name(at_step(name, step) if name in loose else name) for name in rule.facts.names}
                rules.append(Rule(rename_variables(rule.formula, names), rule.weight))
                step += 1
            if not loose:
                rules.append(rule)
        return self if tuple(rules) == self.rules else Normality(rules, self.order)

    def find_broken(self, values: Mapping[str, int]) -> Broken:
        """Find the rules that a world breaks."""
        return frozenset(place for place, rule in enumerate(self.rules) if not rule.formula.value(values))

    def weigh(self, broken: Iterable[int]) -> Fraction:
        """Sum the weights of broken rules."""
        return sum((self.rules[place].weight for place in broken), Fraction(0))

    def at_least(self, broken: Broken, other: Broken) -> bool:
        """Return whether a world that breaks `broken` is at least as normal as one that breaks `other`."""
        return broken <= other if self.order == "inclusion" else self.weigh(broken) <= self.weigh(other)

    def best(self, worlds: Iterable[Broken]) -> tuple[Broken, ...]:
        """Keep the most normal worlds: those that no other world betters; by `count` only one of them."""
        found = list(dict.fromkeys(worlds))
        if self.order == "count":
            return (min(found, key=self.weigh),) if found else ()
        return tuple(one for one in found if not any(other < one for other in found))

    def write(self, broken: Iterable[int]) -> tuple[str, ...]:
        """Write broken rules as the user gave them."""
        return tuple(str(self.rules[place].formula) for place in sorted(broken))

    def rank(self, items: Sequence[T], best: Sequence[tuple[Broken, ...]]) -> list[list[T]]:
        """Sort items into ranks by their best worlds; items that no other betters are in the first, and so on."""
        unranked = list(range(len(items)))
        ranks = []
        while unranked:
            top = [one for one in unranked if not any(self._betters(best[other], best[one]) for other in unranked)]
            ranks.append([items[one] for one in top])
            unranked = [one for one in unranked if one not in top]
        return ranks

    def _betters(self, ours: tuple[Broken, ...], theirs: tuple[Broken, ...]) -> bool:
        return self._covers(ours, theirs) and not self._covers(theirs, ours)

    def _covers(self, ours: tuple[Broken, ...], theirs: tuple[Broken, ...]) -> bool:
        return all(any(self.at_least(one, other) for one in ours) for other in theirs)

    def to_json(self) -> dict[str, Any]:
        return {"rules": [str(rule) for rule in self.rules], "order": self.order}


def as_normality(given: Normality | str | Iterable[Any]) -> Normality:
    """Read rules where a `Normality` is expected; they are then ordered by inclusion."""
    if isinstance(given, Normality):
        return given
    if not isinstance(given, Iterable):
        raise QueryError("{parameter} must be a Normality, or rules; got {got!r}.", parameter="normality", got=given)
    return Normality(given)


def _read_rule(given: Any) -> Rule:
    if isinstance(given, Rule):
        return given
    weight: Any = 1
    if isinstance(given, tuple) and len(given) == 2:
        given, weight = given
    elif isinstance(given, str) and ":" in given:
        weight, given = given.split(":", 1)
    if not isinstance(given, (str, Expression)):
        raise QueryError("A rule must be a formula such as 'A == B'; got {got!r}.", parameter="normality", got=given)
    try:
        exact = Fraction(weight.strip() if isinstance(weight, str) else weight).limit_denominator(10**6)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0:
        wrong = "The weight of a rule must be a positive number, as in '2: A == B'; got {got!r}."
        raise QueryError(wrong, parameter="normality", got=weight)
    if isinstance(given, Expression):
        return Rule(given, exact)
    with blaming("normality"):
        return Rule(parse_formula(given), exact)
