"""Direct sufficiency with necessity (Beckers): the event and its witness settle the effect by themselves."""

from collections.abc import Iterator, Sequence

from ..answer import Assignment, Witness
from .base import Definition, actual_values, rest, settings, subsets
from .search import Search


class Direct(Definition):
    """For one witness `W` at its actual values: `(X=x, W)` fixes the effect, and some `(X=x', W)` does not.

    To *fix* is to hold whatever values all other state variables are given.

    Beckers, "Causal Sufficiency and Actual Causation", Journal of Philosophical Logic 50, 2021.
    """

    name = "direct"
    title = "Direct sufficiency (Beckers)"
    citation = "Beckers, Causal Sufficiency and Actual Causation, JPL 50 (2021)"

    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        for held in subsets(state_variables(search, event)):
            yield from undoing_witnesses(search, event, held)

    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        fixed = {**event, **witness.frozen}
        return fixes_effect(search, fixed, [name for name in state_variables(search, event) if name not in fixed])


def state_variables(search: Search, event: Assignment) -> list[str]:
    """Return the state variables outside the event: everything relevant but the effect's own variables."""
    own = search.query.effect_variables
    return [name for name in rest(search, event) if name not in own]


def undoing_witnesses(search: Search, event: Assignment, held: Sequence[str]) -> Iterator[Witness]:
    """Find one way to undo the effect for each `x'` that, with `held` at its actual values, leaves it open.

    The contrast's variables follow their equations, as those of the effect do: what is to be brought about is not set.
    Where worlds are more or less normal, all ways are found.
    """
    query = search.query
    frozen = actual_values(search, held)
    free = [name for name in state_variables(search, event) if name not in {*frozen, *query.contrasted_variables}]
    for changed in settings(query.model, event):
        for others in settings(query.model, free):
            if search.undoes({**others, **frozen, **changed}):
                yield Witness(changed, frozen, others)
                if query.normality is None:
                    break


def fixes_effect(search: Search, fixed: Assignment, free: Sequence[str]) -> bool:
    """Return whether the effect holds under `fixed` for all values of the variables of `free`."""
    return all(search.holds({**others, **fixed}) for others in settings(search.query.model, free))
