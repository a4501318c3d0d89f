"""Functional actual cause: necessity and sufficiency as shares, and invariance over all states.

Chuck, Vaidyanathan, Giguere, Zhang, Jensen and Niekum, "Automated Discovery of Functional Actual
Causes in Complex Environments", arXiv 2404.10883, Definition 4.7 and Appendix E. What stands here is the
part that concerns one state; which binary a state gets depends on all states together, and is found
in `preimages.py`.
"""

from collections.abc import Iterator
from fractions import Fraction

from ..answer import Assignment, Witness
from .base import Definition, actual_values, settings, subsets
from .direct import state_variables
from .search import Search


class Functional(Definition):
    """AC2a: for one witness `W`, enough of all `x'` undo the outcome. AC2b: few enough of the others do."""

    name = "functional"
    title = "Functional actual cause"
    citation = "Chuck et al., Automated Discovery of Functional Actual Causes, arXiv 2404.10883 (2024)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        model = search.query.model
        for held in subsets(state_variables(search, event)):
            frozen = actual_values(search, held)
            every = list(settings(model, event))
            undoing = [changed for changed in every if search.undoes({**frozen, **changed})]
            if undoing and enough(len(undoing), len(every), search.query.alpha_necessity):
                yield from (Witness(changed, frozen) for changed in undoing)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        others = list(settings(search.query.model, state_variables(search, event)))
        undoing = sum(not search.holds({**other, **event}) for other in others)
        return few(undoing, len(others), search.query.alpha_sufficiency)


def enough(count: int, total: int, alpha: Fraction | None) -> bool:
    """Decide alpha-necessity: at least the share `alpha`, and at least one."""
    return count > 0 and (alpha is None or count * alpha.denominator >= alpha.numerator * total)


def few(count: int, total: int, alpha: Fraction | None) -> bool:
    """Decide alpha-sufficiency: at most the share `alpha`; None asks for nothing."""
    return alpha is None or count * alpha.denominator <= alpha.numerator * total
