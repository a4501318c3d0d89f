"""The first ten explanations of an effect over 10,000 contexts of models with 50 variables.

Contexts are drawn at random. Of the *random gates* about half bear on the effect; in *joined gates* all 50 variables
do. Several models of each kind are asked, and the slowest is shown; none was left out. An answer counts as right if
every explanation brings the effect about in all contexts, and `ac.causes`, in some of the contexts in which it happens,
names a cause with a conjunct of it.

    python benchmarks/run.py explanations
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import actcause as ac
from measure import Figure, time_best
from models import joined_gates, random_gates

TITLE = "Explanations relative to many contexts (modified HP)"
BAR = 10.0
KINDS = {"random gates": random_gates, "joined gates": joined_gates}


@dataclass(frozen=True)
class Arguments:
    """Sizes, the models' seeds, how many explanations are asked for, and in how many contexts each is checked."""

    variables: int = 50
    contexts: int = 10_000
    seeds: tuple[int, ...] = tuple(range(8))
    explanations: int = 10
    checked: int = 3
    seconds: float = 60.0


TINY = Arguments(variables=12, contexts=60, seeds=(0, 2), explanations=4)


@dataclass(frozen=True)
class Question:
    """A model, contexts of it, and an effect."""

    text: str
    effect: str
    contexts: dict[str, np.ndarray]

    def ask(self, count: int, seconds: float) -> tuple[list[ac.Explanation], bool]:
        """Ask for the first explanations, from the text on; say whether the time was enough."""
        model = ac.Model.from_text(self.text)
        found = ac.explanations(model, contexts=self.contexts, effect=self.effect, max_seconds=seconds)
        listed = found[:count]
        return listed, len(listed) == count or found.status is ac.Status.COMPLETE

    def is_right(self, found: ac.Explanation, checked: int) -> bool:
        """Check an explanation by other means."""
        model = ac.Model.from_text(self.text)
        target = model.variables[-1]
        if not model.evaluate_many(self.contexts, dict(found.event))[target].all():
            return False
        values = model.evaluate_many(self.contexts)
        happens = values[target] == 1
        for name, value in found.event.items():
            happens = happens & (values[name] == value)
        rows = np.flatnonzero(happens)
        return len(rows) > 0 and all(self._is_part(model, found, int(row)) for row in rows[:checked])

    def _is_part(self, model: ac.Model, found: ac.Explanation, row: int) -> bool:
        context = {name: int(column[row]) for name, column in self.contexts.items()}
        listed = ac.causes(model, context=context, effect=self.effect)
        return any(found.event.keys() & cause.event.keys() for cause in listed)


def question(kind: str, seed: int, arguments: Arguments) -> Question:
    scenario = KINDS[kind](arguments.variables, seed)
    model = ac.Model.from_text(scenario.text)
    rng = np.random.default_rng(seed)
    contexts = {name: rng.integers(0, 2, arguments.contexts) for name in model.roots}
    return Question(scenario.text, f"{model.variables[-1]} == 1", contexts)


def run(arguments: Arguments) -> Iterator[Figure]:
    for kind in KINDS:
        slowest, total, right, complete = 0.0, 0, True, True
        for seed in arguments.seeds:
            asked = question(kind, seed, arguments)
            spent, (found, enough) = time_best(partial(asked.ask, arguments.explanations, arguments.seconds))
            slowest, total, complete = max(slowest, spent), total + len(found), complete and enough
            right = right and all(asked.is_right(explanation, arguments.checked) for explanation in found)
        yield Figure(
            "explanations",
            f"{arguments.variables} variables, {arguments.contexts:,} contexts, {kind}: "
            f"first {arguments.explanations} explanations, slowest of {len(arguments.seeds)} models",
            slowest if complete else None,
            limit=arguments.seconds,
            bar=BAR,
            answer=f"{total} explanations",
            right=right,
        )
