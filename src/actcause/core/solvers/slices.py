"""What of a model an event can bear on the effect through: a slice."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ..answer import Assignment, Query, Witness
from ..definitions import Search


class Slice(NamedTuple):
    """Variables between an event and what is watched, and those at their border; both in the order of equations."""

    between: frozenset[str]
    border: frozenset[str]
    order: tuple[str, ...]


def slice_between(query: Query, event: Iterable[str], following: Iterable[str] = ()) -> Slice:
    """Return what follows from the event and bears on what is watched, with the parents of these.

    What is watched belongs to the border if it does not follow from the event, unless it is among `following`: names
    whose equations count in any case. Exogenous variables may be at the border too.
    """
    model = query.model
    between = model.descendants(event) & model.ancestors(query.watched_variables) | set(following)
    border = {parent for name in between for parent in model.parents(name)} | set(query.watched_variables)
    border -= between
    order = tuple(name for name in model.order if name in between or name in border)
    return Slice(frozenset(between), frozenset(border), order)


def read_in_slice(
    search: Search, part: Slice, names: Sequence[str], values: Assignment, held: Collection[str]
) -> Witness:
    """Read a contingency for the event of `names`, of which `values` gives the slice only."""
    query = search.query
    changed = {name: values.get(name, query.actual[name]) for name in names}
    by_hand = {name for name in held if name in part.between or values[name] != query.actual[name]}
    frozen = {name: values[name] for name in part.order if name in by_hand}
    # What does not follow from the event must not be moved by what else was set.
    moved = search.values({**frozen, **changed})
    border = part.border.difference(query.model.exogenous, changed)
    return Witness(
        changed, frozen | {name: values[name] for name in part.order if name in border and moved[name] != values[name]}
    )
