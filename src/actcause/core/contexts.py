"""Sets of contexts, with probabilities or without: what one knows when one does not know the context.

A `ContextTable` holds contexts as columns, so that the model is evaluated in all of them at once.
Probabilities are whole numbers over one denominator, so that every share of them is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np

from ..errors import QueryError, TooLargeError, blaming, quote
from .counting import MAX_CELLS, format_count
from .expression import Array, Expression
from .model import Model
from .query import Assignment
from .ranges import pick_rows
from .root_probabilities import LARGEST_INT64, Distribution, read_amounts, read_roots
from .text import parse_event, parse_formula

SUCH = (
    "a list of contexts such as [{{'L': 1, 'MD': 0}}], of (context, probability) pairs, a formula such as 'L == 1', "
    "a probability for each root such as {{'L': 0.3, 'MD': 0.5}}, or None for all contexts"
)


@dataclass(frozen=True, eq=False)
class ContextTable:
    """Some contexts of a model: a column for each root, a row for each context.

    `amounts` are the contexts' probabilities, times what they sum to; None where no probabilities are known.
    """

    model: Model
    columns: Mapping[str, Array]
    amounts: Array | None = None

    def __len__(self) -> int:
        return self.size

    @cached_property
    def size(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 1

    @cached_property
    def values(self) -> dict[str, Array]:
        """Every variable in every context."""
        values = self.model.evaluate_many(self.columns)
        return {name: np.broadcast_to(column, (self.size,)) for name, column in values.items()}

    @cached_property
    def total(self) -> int:
        return 0 if self.amounts is None else int(self.amounts.sum())

    def context(self, row: int) -> dict[str, int]:
        return {name: int(column[row]) for name, column in self.columns.items()}

    def share(self, mask: Array) -> Fraction:
        """Return the probability of the contexts in `mask`."""
        assert self.amounts is not None
        return Fraction(int(self.amounts[mask].sum()), self.total)

    def holds(self, formula: Expression, do: Mapping[str, Any] | None = None) -> Array:
        """Return in which contexts a formula holds, under an intervention."""
        values = self.values if do is None else self.model.evaluate_many(self.columns, do, only=formula.names())
        truth: Array = formula.array(values, np.asarray(True)) != 0
        return np.broadcast_to(truth, (self.size,))

    def agrees(self, event: Assignment) -> Array:
        """Return in which contexts the event happens."""
        mask = np.ones(self.size, dtype=bool)
        for name, value in event.items():
            mask &= self.values[name] == value
        return mask

    def keep(self, mask: Array) -> ContextTable:
        """Return the table of some of the contexts."""
        columns = {name: column[mask] for name, column in self.columns.items()}
        return ContextTable(self.model, columns, None if self.amounts is None else self.amounts[mask])


def read_contexts(model: Model, given: Any, parameter: str = "contexts") -> ContextTable:
    r"""Read contexts as a user may give them.

    >>> model = Model.from_text("L\nMD\nFF = L or MD")
    >>> len(read_contexts(model, None)), len(read_contexts(model, "L == 1")), len(read_contexts(model, ["L=1, MD=0"]))
    (4, 2, 1)
    """
    if isinstance(given, ContextTable):
        return given
    if given is None:
        return product_table(model, {name: model.ranges[name] for name in model.roots})
    if isinstance(given, (str, Expression)):
        return _read_where(model, given, parameter)
    if isinstance(given, Mapping):
        if given and all(isinstance(column, np.ndarray) for column in given.values()):
            return _read_columns(model, given, parameter)
        return build_weighted_product(model, read_roots(model, given, parameter))
    if isinstance(given, Iterable):
        listed = list(given)
        if listed and all(isinstance(entry, Mapping | str) for entry in listed):
            return _merge_rows(model, _columns_of(model, listed, parameter), None)
        if listed and all(_is_pair(entry) for entry in listed):
            amounts = read_amounts([amount for _, amount in listed], parameter)
            columns = _columns_of(model, [context for context, _ in listed], parameter)
            possible = amounts > 0  # what has no probability is not possible
            return _merge_rows(model, {name: column[possible] for name, column in columns.items()}, amounts[possible])
    raise QueryError(f"{{parameter}} must be {SUCH}; got {{got}}.", parameter=parameter, got=quote(given))


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2


def _read_where(model: Model, given: str | Expression, parameter: str) -> ContextTable:
    with blaming(parameter):
        formula = parse_formula(given, model.ranges) if isinstance(given, str) else given
        model.check_formula(formula)
    table = read_contexts(model, None, parameter)
    kept = table.keep(table.holds(formula))
    if not len(kept):
        raise QueryError("No context satisfies '{given}'.", parameter=parameter, given=formula)
    return kept


def _read_columns(model: Model, given: Mapping[str, Array], parameter: str) -> ContextTable:
    missing = [name for name in model.roots if name not in given]
    if missing:
        wrong = "{parameter} must have a column for every root; missing: {name}."
        raise QueryError(wrong, parameter=parameter, name=missing[0])
    if len({column.shape for column in given.values()}) != 1 or next(iter(given.values())).ndim != 1:
        wrong = "The columns of {parameter} must be one-dimensional and of one length."
        raise QueryError(wrong, parameter=parameter)
    if not next(iter(given.values())).size:
        raise QueryError("{parameter} is empty; give it at least one context.", parameter=parameter)
    model.evaluate_many(given, only=model.roots)  # refuses columns of other names, types and values
    return _merge_rows(model, {name: given[name].astype(np.int64) for name in model.roots}, None)


def _columns_of(model: Model, listed: Sequence[Any], parameter: str) -> dict[str, Array]:
    rows = []
    for entry in listed:
        with blaming(parameter):
            context = parse_event(entry, model.ranges) if isinstance(entry, str) else entry
            rows.append(model.check_context(context))
    return {name: np.asarray([row[name] for row in rows], dtype=np.int64) for name in model.roots}


def _merge_rows(model: Model, columns: dict[str, Array], amounts: Array | None) -> ContextTable:
    """Build a table in which no context stands twice, in the order of their first places."""
    if not columns:
        return ContextTable(model, columns, None if amounts is None else amounts.sum(keepdims=True))
    rows = np.stack(list(columns.values()), axis=1)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return ContextTable(model, columns, amounts)
    order = np.argsort(first)
    if amounts is not None:
        merged = np.zeros(len(first), dtype=amounts.dtype)
        np.add.at(merged, inverse.ravel(), amounts)
        amounts = merged[order]
    kept = first[order]
    return ContextTable(model, {name: column[kept] for name, column in columns.items()}, amounts)


def build_weighted_product(model: Model, roots: Mapping[str, Distribution]) -> ContextTable:
    """Build the table of all contexts that have a probability, with these, from independent roots."""
    supports = {name: tuple(value for value, share in chances.items() if share) for name, chances in roots.items()}
    table = product_table(model, supports)
    denominators = {name: lcm(*(share.denominator for share in chances.values())) for name, chances in roots.items()}
    kind = np.int64 if prod(denominators.values()) < LARGEST_INT64 else object
    amounts: Array = np.ones(len(table), dtype=kind)
    for name, chances in roots.items():
        factors = np.asarray([int(chances[value] * denominators[name]) for value in supports[name]], dtype=kind)
        order = np.argsort(supports[name])
        places = order[np.searchsorted(supports[name], table.columns[name], sorter=order)]
        amounts = amounts * factors[places]
    return ContextTable(model, table.columns, amounts)


def product_table(model: Model, values: Mapping[str, Sequence[int]]) -> ContextTable:
    """Build the table of every combination of some values of the roots, the last one varying fastest."""
    count = prod(len(some) for some in values.values())
    if count * len(model.variables) > MAX_CELLS:
        raise TooLargeError(
            "There are {count} contexts of {size} variables; at most {most} can be held. "
            "List those that are possible; {contexts} takes them.",
            count=format_count(count),
            size=len(model.variables),
            most=MAX_CELLS // len(model.variables),
        )
    tables = [np.asarray(some, dtype=np.int64) for some in values.values()]
    return ContextTable(model, dict(zip(values, pick_rows(tables, np.arange(count)), strict=True)))
