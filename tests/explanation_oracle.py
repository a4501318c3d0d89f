"""Explanations and sufficient causes by their own words, trying everything. Short, slow, and to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from actcause import DEFINITIONS, Model, Query
from actcause.core.definitions import OutOfBudget, Search
from actcause.core.expression import Expression
from actcause.core.solvers import Exhaustive
from strategies import models, random_expression

Context = dict[str, int]
Event = dict[str, int]


def parts_of_causes(model: Model, context: Context, effect: Expression, definition: str) -> set[str]:
    """Return every variable that is in some cause of the effect: a minimal set that meets AC2."""
    query = Query(model, context, effect, definition)
    if not query.happened:
        return set()
    search, oracle = Search(query, max_steps=60_000), Exhaustive(DEFINITIONS[definition])
    causes: list[set[str]] = []
    for size in range(1, len(query.relevant) + 1):
        for names in combinations(query.relevant, size):
            if not any(cause <= set(names) for cause in causes):
                event = {name: query.actual[name] for name in names}
                if oracle.witness(search, event) is not None:
                    causes.append(set(names))
    return set().union(*causes)


class Oracle:
    """EX1 to EX4, and SC1 to SC4, as they stand."""

    def __init__(self, model: Model, contexts: Sequence[Context], effect: Expression, definition: str) -> None:
        self.model, self.contexts, self.effect = model, contexts, effect
        self.worlds = [model.evaluate(context) for context in contexts]
        self.parts = [parts_of_causes(model, context, effect, definition) for context in contexts]

    def happens(self, event: Event) -> list[int]:
        """Return the contexts in which the event and the effect happen."""
        return [
            index
            for index, world in enumerate(self.worlds)
            if self.effect.value(world) and all(world[name] == value for name, value in event.items())
        ]

    def causal(self, event: Event, among: Iterable[int]) -> list[int]:
        return [index for index in among if any(name in self.parts[index] for name in event)]

    def sufficient(self, event: Event) -> bool:
        return all(self.effect.value(self.model.evaluate(context, do=event)) for context in self.contexts)

    def ex1(self, event: Event) -> bool:
        happens = self.happens(event)
        return self.causal(event, happens) == happens and self.sufficient(event)

    def is_explanation(self, event: Event) -> bool:
        return bool(self.happens(event)) and self.ex1(event) and not any(map(self.ex1, strict_parts(event)))

    def explanations(self) -> list[Event]:
        return [event for event in events(self.model, self.effect) if self.is_explanation(event)]

    def sc(self, event: Event, context: int) -> bool:
        """Return whether SC1 to SC3 hold in a context."""
        return context in self.happens(event) and bool(self.causal(event, [context])) and self.sufficient(event)

    def sufficient_causes(self, context: int) -> list[Event]:
        return [
            event
            for event in events(self.model, self.effect)
            if self.sc(event, context) and not any(self.sc(part, context) for part in strict_parts(event))
        ]


def partial_goodness(oracle: Oracle, weights: Sequence[int], event: Event) -> Fraction | None:
    """Return the goodness of a partial explanation, None if the event is none."""
    happens = oracle.happens(event)
    causal = oracle.causal(event, happens)
    kept = [
        index
        for index, context in enumerate(oracle.contexts)
        if oracle.effect.value(oracle.model.evaluate(context, do=event)) and (index not in happens or index in causal)
    ]
    relative = Oracle.__new__(Oracle)
    relative.model, relative.effect = oracle.model, oracle.effect
    relative.contexts = [oracle.contexts[index] for index in kept]
    relative.worlds = [oracle.worlds[index] for index in kept]
    relative.parts = [oracle.parts[index] for index in kept]
    if not relative.is_explanation(event):
        return None
    return Fraction(sum(weights[index] for index in causal), sum(weights[index] for index in happens))


def events(model: Model, effect: Expression) -> Iterator[Event]:
    """Yield every event of variables outside the effect."""
    names = [name for name in model.endogenous if name not in effect.names()]
    for size in range(1, len(names) + 1):
        for some in combinations(names, size):
            for values in product(*(model.ranges[name] for name in some)):
                yield dict(zip(some, values, strict=True))


def strict_parts(event: Event) -> Iterator[Event]:
    for size in range(1, len(event)):
        for names in combinations(event, size):
            yield {name: event[name] for name in names}


# -- random situations -----------------------------------------------------------------------------


@st.composite
def situations(draw: st.DrawFn, max_endogenous: int = 4) -> tuple[Model, list[dict[str, int]], Expression]:
    """A random model, some of its contexts, and an effect that happens in one of them."""
    model = draw(models(max_endogenous=max_endogenous))
    rng = draw(st.randoms(use_true_random=True))
    every = list(model.contexts())
    contexts = rng.sample(every, rng.randint(1, min(len(every), 8)))
    return model, contexts, random_effect(rng, model, contexts)


def random_effect(rng: Random, model: Model, contexts: list[dict[str, int]]) -> Expression:
    following = [name for name in model.variables if name in model.equations] or list(model.endogenous)
    for _ in range(10):
        effect = random_expression(rng, rng.sample(following, 1), rng.randint(1, 2), arithmetic=False)
        if any(effect.value(model.evaluate(context)) for context in contexts):
            return effect
    assume(False)
    raise AssertionError


def as_sets(found: Any) -> set[frozenset[tuple[str, int]]]:
    return {frozenset(getattr(entry, "event", entry).items()) for entry in found}


def oracle_of(model: Model, contexts: list[dict[str, int]], effect: Expression, definition: str) -> Oracle:
    try:
        return Oracle(model, contexts, effect, definition)
    except OutOfBudget:
        assume(False)
        raise
