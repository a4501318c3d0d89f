"""But-for: had it been otherwise, the effect would not have happened."""

from collections.abc import Iterator

from ..answer import Assignment, Witness
from .base import Definition, settings
from .search import Search


class ButFor(Definition):
    """`X=x` is a but-for cause if some `X=x'`, different in every variable and set alone, undoes the effect.

    For one variable this is the textbook test. For several it is our reading: a variable that kept its
    value would be held fixed, and but-for holds nothing.

    Hume 1748; Lewis, "Causation", Journal of Philosophy 70, 1973; the *sine qua non* of the law.
    """

    name = "but-for"
    title = "But-for"
    citation = "Lewis, Causation, Journal of Philosophy 70 (1973)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        for changed in settings(search.query.model, event):
            if all(changed[name] != value for name, value in event.items()) and search.undoes(changed):
                yield Witness(changed)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        return True
