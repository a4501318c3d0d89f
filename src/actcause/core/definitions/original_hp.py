"""Original Halpern-Pearl (2001): a contingency under which the event makes the difference."""

from collections.abc import Iterator

from ..answer import Assignment, Witness
from .base import Definition, actual_values, rest, settings, subsets
from .search import Search


class OriginalHP(Definition):
    """AC2a: for some `W`, `w'` and `x'`, `[X=x', W=w']` undoes the effect.

    AC2b: with the event back in place, the effect holds under `[X=x, W=w', Z'=z*]` for every `Z'`
    among the variables outside `W`.

    Halpern and Pearl, "Causes and Explanations: A Structural-Model Approach. Part I: Causes", UAI 2001.
    """

    name = "original-hp"
    title = "Halpern-Pearl, original (2001)"
    citation = "Halpern and Pearl, Causes and Explanations Part I, UAI (2001)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        return contingencies(search, event)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        outside = [name for name in rest(search, event) if name not in witness.frozen]
        return all(
            search.holds({**event, **witness.frozen, **actual_values(search, restored)})
            for restored in subsets(outside)
        )


def contingencies(search: Search, event: Assignment) -> Iterator[Witness]:
    """Yield every way to set some variables outside the event, and the event, so that the effect goes away."""
    model = search.query.model
    for held in subsets(rest(search, event)):
        for frozen in settings(model, held):
            for changed in settings(model, event):
                if search.undoes({**frozen, **changed}):
                    yield Witness(changed, frozen)
