"""Modified Halpern-Pearl (2015): but-for, while some variables stay as they actually were."""

from collections.abc import Iterator

from ..answer import Assignment, Witness
from .base import Definition, actual_values, rest, settings, subsets
from .search import Search


class ModifiedHP(Definition):
    """AC2: for some `W` and some `x'`, `[X=x', W=w*]` undoes the effect, `w*` being the actual values.

    Halpern, "A Modification of the Halpern-Pearl Definition of Causality", IJCAI 2015.
    AC2b is granted by AC1, since nothing but the event departs from what actually happened.
    """

    name = "modified-hp"
    title = "Halpern-Pearl, modified (2015)"
    citation = "Halpern, A Modification of the Halpern-Pearl Definition of Causality, IJCAI (2015)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        for held in subsets(rest(search, event)):
            frozen = actual_values(search, held)
            for changed in settings(search.query.model, event):
                if search.undoes({**frozen, **changed}):
                    yield Witness(changed, frozen)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        return True
