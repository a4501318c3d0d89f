"""What every definition has in common: the general framework of the paper's Definition 3.1.

A definition says two things about an event in a context: by which interventions it is *necessary*
(AC2a), and when such an intervention also counts as resting on a *sufficient* event (AC2b). AC1
(it happened) and AC3 (no smaller event does) are the same for all of them. The methods here are the
meaning, written to be read; `solvers/exhaustive.py` runs them as they stand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, ClassVar, TypeVar

from ..answer import Assignment, Witness
from ..model import Model

if TYPE_CHECKING:
    from .search import Search

T = TypeVar("T")


class Definition(ABC):
    """A definition of actual cause."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]

    @abstractmethod
    def witnesses(self, search: Search, event: Assignment) -> Iterator[Witness]:
        """Yield the interventions under which the effect goes away (AC2a), simplest first."""

    @abstractmethod
    def sufficient(self, search: Search, event: Assignment, witness: Witness) -> bool:
        """Return whether the event is sufficient under the conditions of this witness (AC2b)."""


def subsets(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield all subsets, small ones first."""
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def settings(model: Model, names: Iterable[str]) -> Iterator[dict[str, int]]:
    """Yield all assignments of the given variables."""
    listed = list(names)
    for values in product(*(model.ranges[name] for name in listed)):
        yield dict(zip(listed, values, strict=True))


def actual_values(search: Search, names: Iterable[str]) -> dict[str, int]:
    """Return what these variables actually were."""
    actual = search.query.actual
    return {name: actual[name] for name in names}


def rest(search: Search, event: Assignment) -> list[str]:
    """Return the endogenous variables outside the event that bear on the effect."""
    return [name for name in search.query.relevant if name not in event]
