"""Strong sufficiency with necessity (Beckers): direct sufficiency along a network of variables."""

from collections.abc import Iterator

from ..answer import Assignment, Witness
from .base import Definition, subsets
from .direct import fixes_effect, state_variables, undoing_witnesses
from .search import Search


class Strong(Definition):
    """As `direct`, except that a set `N` of variables is left to their equations.

    For one witness `W` at its actual values and one network `N`: `(X=x, W)` fixes the effect whatever
    values the state variables outside `N` are given, and some `(X=x', W)` does not.

    Beckers, "Causal Sufficiency and Actual Causation", Journal of Philosophical Logic 50, 2021.
    """

    name = "strong"
    title = "Strong sufficiency (Beckers)"
    citation = "Beckers, Causal Sufficiency and Actual Causation, JPL 50 (2021)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        equations = search.query.model.equations
        outside = state_variables(search, event)
        for held in subsets(outside):
            # A root left to itself keeps its actual value, which `held` already covers.
            for network in subsets([name for name in outside if name not in held and name in equations]):
                yield from undoing_witnesses(search, event, held, network)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        return fixes_effect(search, {**event, **witness.frozen}, witness.others)
