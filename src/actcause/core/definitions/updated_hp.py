"""Updated Halpern-Pearl (2005): contingencies may depart from what happened, within limits."""

from collections.abc import Iterator

from ..answer import Assignment, Witness
from .base import Definition, actual_values, rest, subsets
from .original_hp import contingencies
from .search import Search


class UpdatedHP(Definition):
    """AC2a: for some `W`, `w'` and `x'`, `[X=x', W=w']` undoes the effect.

    AC2b: with the event back in place, the effect holds under `[X=x, W'=w', Z'=z*]` for *every* `W'`
    inside `W` and every `Z'` among the variables outside `W`.

    Halpern and Pearl, "Causes and Explanations: A Structural-Model Approach. Part I: Causes",
    British Journal for the Philosophy of Science 56, 2005.
    """

    name = "updated-hp"
    title = "Halpern-Pearl, updated (2005)"
    citation = "Halpern and Pearl, Causes and Explanations Part I, BJPS 56 (2005)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        return contingencies(search, event)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        outside = [name for name in rest(search, event) if name not in witness.frozen]
        return all(
            search.holds({**event, **{name: witness.frozen[name] for name in kept}, **actual_values(search, restored)})
            for kept in subsets(list(witness.frozen))
            for restored in subsets(outside)
        )
