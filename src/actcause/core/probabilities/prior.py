"""Where contexts come from: independent roots, a table with probabilities, or a sampler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from ...errors import QueryError, quote
from ..contexts import ContextTable, build_weighted_product, read_contexts
from ..counting import MAX_CELLS
from ..expression import Array
from ..model import Model
from ..root_probabilities import Distribution, read_prior_text, read_roots

MOST_CONTEXTS = 1 << 20  # that are enumerated
SUCH = (
    "a probability for each root such as {{'A': 0.3, 'B': 0.5}}, a list of (context, probability) pairs, "
    "or a function that takes a random generator and returns a context"
)
Sampler = Callable[[np.random.Generator], Mapping[str, int]]


class Prior(ABC):
    """A distribution over the contexts of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @abstractmethod
    def enumerate(self, roots: Collection[str]) -> ContextTable | None:
        """List the contexts with their probabilities, as far as these roots matter; None if that cannot be done."""

    @abstractmethod
    def sample(self, count: int, rng: np.random.Generator) -> ContextTable:
        """Draw contexts, each with how often it was drawn."""


class IndependentRoots(Prior):
    """Every root has its value by itself."""

    def __init__(self, model: Model, roots: Mapping[str, Distribution]) -> None:
        super().__init__(model)
        self.roots = roots

    def enumerate(self, roots: Collection[str]) -> ContextTable | None:
        sure: dict[str, Distribution] = {name: {self.model.ranges[name][0]: Fraction(1)} for name in self.model.roots}
        mattering = {name: chances for name, chances in self.roots.items() if name in roots}
        count = prod(sum(share > 0 for share in chances.values()) for chances in mattering.values())
        if count > min(MOST_CONTEXTS, MAX_CELLS // len(self.model.variables)):
            return None
        return build_weighted_product(self.model, {**sure, **mattering})

    def sample(self, count: int, rng: np.random.Generator) -> ContextTable:
        columns: dict[str, Array] = {}
        for name, chances in self.roots.items():
            shares = np.asarray([float(share) for share in chances.values()])
            columns[name] = rng.choice(np.asarray(list(chances)), size=count, p=shares / shares.sum())
        return count_rows(self.model, columns, count)


class ListedPrior(Prior):
    """The contexts of a table."""

    def __init__(self, table: ContextTable) -> None:
        super().__init__(table.model)
        self.table = table

    def enumerate(self, roots: Collection[str]) -> ContextTable | None:
        return self.table

    def sample(self, count: int, rng: np.random.Generator) -> ContextTable:
        assert self.table.amounts is not None
        shares = np.asarray([float(Fraction(int(amount), self.table.total)) for amount in self.table.amounts])
        rows = rng.choice(len(self.table), size=count, p=shares / shares.sum())
        return count_rows(self.model, {name: column[rows] for name, column in self.table.columns.items()}, count)


class SampledPrior(Prior):
    """Whatever a function draws."""

    def __init__(self, model: Model, sampler: Sampler) -> None:
        super().__init__(model)
        self.sampler = sampler

    def enumerate(self, roots: Collection[str]) -> ContextTable | None:
        return None

    def sample(self, count: int, rng: np.random.Generator) -> ContextTable:
        contexts = [self.model.check_context(self.sampler(rng)) for _ in range(count)]
        columns = {name: np.asarray([context[name] for context in contexts]) for name in self.model.roots}
        return count_rows(self.model, columns, count)


def count_rows(model: Model, columns: Mapping[str, Array], count: int) -> ContextTable:
    """Build a table of the different contexts among some, each with how often it occurs."""
    if not columns:
        return ContextTable(model, {}, np.asarray([count]))
    rows, counts = np.unique(np.stack(list(columns.values()), axis=1), axis=0, return_counts=True)
    return ContextTable(model, {name: rows[:, place] for place, name in enumerate(columns)}, counts)


def read_prior(model: Model, given: Any) -> Prior:
    """Read a distribution as a user may give it."""
    if callable(given):
        return SampledPrior(model, given)
    if isinstance(given, str):
        given = read_prior_text(model, given)
    if isinstance(given, Mapping) and not any(isinstance(column, np.ndarray) for column in given.values()):
        return IndependentRoots(model, read_roots(model, given, "prior"))
    table = None if given is None else read_contexts(model, given, "prior")
    if table is None or table.amounts is None:
        raise QueryError(f"{{parameter}} must be {SUCH}; got {{got}}.", parameter="prior", got=quote(given))
    return ListedPrior(table)


def list_contexts(model: Model, given: Any) -> list[tuple[dict[str, int], Fraction]]:
    r"""List every context that a distribution lets happen, with its probability, as `blame` takes them.

    >>> list_contexts(Model.from_text("A\nB\nC = A or B"), {"A": 1, "B": "1/4"})
    [({'A': 1, 'B': 0}, Fraction(3, 4)), ({'A': 1, 'B': 1}, Fraction(1, 4))]
    """
    table = read_prior(model, given).enumerate(model.roots)
    if table is None or table.amounts is None:
        raise QueryError(
            "There are more contexts than can be listed one by one; give {parameter} as a table of the likely ones.",
            parameter="prior",
        )
    every = ((table.context(row), Fraction(int(table.amounts[row]), table.total)) for row in range(len(table)))
    return [(context, share) for context, share in every if share]
