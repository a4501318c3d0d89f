"""Outcomes of one class as one problem: each seen from its own place, with the others around it.

A learner explains one outcome. Outcomes of one class (the blocks of `break`) behave alike, so their views are stacked
as rows of one training: the outcome itself comes first (`own`), then all other factors in their order. Seen like this,
outcomes of other classes (paddle and ball) often have the same shape too, and are trained side by side as replicas of
one computation. Features that never change are not explained; an outcome that never changes needs no training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np

from ..data import Recording, Transitions, concatenate
from ..data.layout import Layout

Array = np.ndarray[Any, Any]
OWN = "own"  # the slot of the outcome's own factor
MOST_OUTPUTS = 12  # numbers that outcomes are repeated to, so that several have as many


@dataclass(frozen=True)
class OutcomeClass:
    """Outcomes that are learned as one, and those of their features that change in some row."""

    members: tuple[str, ...]
    changing: tuple[str, ...]
    repeats: int = 1  # times that each is given, to have as many numbers as those trained beside it

    @property
    def title(self) -> str:
        """Name them in a note."""
        return ", ".join(self.members)


def find_classes(recording: Recording) -> tuple[list[OutcomeClass], tuple[str, ...]]:
    """Group the outcomes by class; return these groups, and the outcomes that never change.

    >>> from actcause.data import collect_recording
    >>> groups, still = find_classes(collect_recording("push", frames=2000))
    >>> [(group.members, group.changing) for group in groups], still
    ([(('pusher',), ('x', 'y')), (('block',), ('x', 'y')), (('target',), ('on',))], ('obstacle1', 'obstacle2', 'obstacle3'))
    """  # noqa: E501
    classes = recording.classes
    names = list(dict.fromkeys(classes[outcome] for outcome in recording.outcomes))
    groups, still = [], []
    for name in names:
        members = tuple(outcome for outcome in recording.outcomes if classes[outcome] == name)
        changing = [_find_changing(recording, outcome) for outcome in members]
        features = tuple(f for f in recording.features[members[0]] if any(f in each for each in changing))
        moving = tuple(outcome for outcome, each in zip(members, changing, strict=True) if each)
        still += [outcome for outcome in members if outcome not in moving]
        if moving:
            groups.append(OutcomeClass(moving, features))
    return groups, tuple(still)


def find_shape(recording: Recording, group: OutcomeClass) -> tuple[Any, ...] | None:
    """Say what groups that are trained side by side have in common; None for one that is trained alone."""
    own = group.members[0]
    if recording.categorical:
        return None
    order = order_factors(recording, own)
    kinds = [recording.classes[recording.factors[position]] for position in order[1:]]
    first = [kinds.index(kind) for kind in kinds]
    others = [name for name in recording.factors if name != own]
    shared = [f for f in recording.features[own] if any(f in recording.features[other] for other in others)]
    return (tuple(first), len(shared))


def match_outputs(groups: Sequence[OutcomeClass]) -> list[OutcomeClass]:
    """Repeat features so that groups that are trained side by side have as many numbers to explain."""
    wanted = lcm(*(len(group.changing) for group in groups))
    return [OutcomeClass(group.members, group.changing, wanted // len(group.changing)) for group in groups]


def order_factors(recording: Recording, outcome: str) -> list[int]:
    """Return the positions of the factors as one outcome sees them: itself, then the others."""
    own = recording.index(outcome)
    return [own, *(position for position in range(len(recording.factors)) if position != own)]


def name_slots(recording: Recording, group: OutcomeClass) -> dict[str, str]:
    """Name what stands in each slot, for notes: the factor, or its class where several outcomes share the slot."""
    factors = [recording.factors[position] for position in order_factors(recording, group.members[0])]
    single = len(group.members) == 1
    named = {f"slot{k}": name if single else recording.classes[name] for k, name in enumerate(factors) if k}
    return {OWN: factors[0] if single else recording.classes[factors[0]], **named}


def view_group(recording: Recording, group: OutcomeClass) -> Transitions:
    """Stack the views of a group's outcomes, each from its own place."""
    parts = [view_outcome(recording, group, outcome) for outcome in group.members if len(recording.rows_of(outcome))]
    return parts[0] if len(parts) == 1 else concatenate(parts)


def view_outcome(recording: Recording, group: OutcomeClass, outcome: str) -> Transitions:
    """See one outcome from its own place: the slots `own`, `slot1`, ..., and its changes as what is explained."""
    rows, order = recording.rows_of(outcome), order_factors(recording, outcome)
    slots = [OWN, *(f"slot{k}" for k in range(1, len(order)))]
    factors = [recording.factors[position] for position in order]
    named = {slot: recording.features[factor] for slot, factor in zip(slots, factors, strict=True)}
    state = recording.state[rows][:, order]
    categorical = [
        f"{slot}.{feature}"
        for slot, factor in zip(slots, factors, strict=True)
        for feature in named[slot]
        if f"{factor}.{feature}" in recording.categorical
    ]
    targets, names = [], []
    for feature in group.changing:
        place = recording.features[outcome].index(feature)
        after = recording.next_state[rows, order[0], place]
        if f"{outcome}.{feature}" in recording.categorical:
            categorical.append(f"next.{feature}~0")
            targets.append(after)
        else:
            targets.append(after - state[:, 0, place])
        names.append(feature)
    outcome_names = [f"{name}~{k}" for k in range(group.repeats) for name in names]
    kinds = [recording.classes[factor] for factor in factors]
    metadata = {key: value for key, value in recording.metadata.items() if key in ("places", "periods", "categories")}
    return Transitions.of(
        Layout.build(slots, named, own=OWN, outcome_features=outcome_names),
        state=state,
        outcome=np.stack(targets * group.repeats, axis=1),
        mask=None if recording.mask is None else recording.mask[rows][:, order],
        episode=recording.episode[rows],
        metadata={
            **metadata,
            "classes": {slot: OWN if slot == OWN else kind for slot, kind in zip(slots, kinds, strict=True)},
            **({"categorical": categorical} if categorical else {}),
        },
    )


def _find_changing(recording: Recording, outcome: str) -> tuple[str, ...]:
    rows, place = recording.rows_of(outcome), recording.index(outcome)
    differs = (recording.state[rows, place] != recording.next_state[rows, place]).any(axis=0)
    return tuple(name for name, changes in zip(recording.features[outcome], differs, strict=False) if changes)
