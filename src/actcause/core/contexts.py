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
from .query import Assignment, as_share
from .ranges import pick_rows
from .steps import split_step
from .text import parse_event, parse_formula

LARGEST_INT64 = 1 << 62
LARGEST_DENOMINATOR = 10**60  # past it, numbers with a point are read by their digits
TOLERANCE = Fraction(1, 10**6)
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


Distribution = Mapping[int, Fraction]


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


# -- probabilities ---------------------------------------------------------------------------------


def read_amounts(given: Sequence[Any], parameter: str) -> Array:
    """Read probabilities that sum to 1, or counts, as whole numbers in the same proportions.

    >>> read_amounts(["1/2", 0.25, 0.25], "prior").tolist(), read_amounts([3, 1], "prior").tolist()
    ([2, 1, 1], [3, 1])
    """
    if all(isinstance(amount, int | np.integer) and not isinstance(amount, bool) for amount in given):
        counts = [int(amount) for amount in given]
        if min(counts) < 0 or not any(counts):
            raise QueryError("The weights of {parameter} must be counts, not all of them 0.", parameter=parameter)
        return as_integers(counts)
    shares = [read_share(amount, parameter, "A probability of {parameter}") for amount in given]
    denominator = lcm(*(share.denominator for share in shares))
    if denominator > LARGEST_DENOMINATOR:
        shares = [Fraction(repr(float(amount))) if isinstance(amount, float) else Fraction(amount) for amount in given]
        denominator = lcm(*(share.denominator for share in shares))
    if abs(sum(shares, Fraction(0)) - 1) > TOLERANCE:
        wrong = "The probabilities of {parameter} must sum to 1; got {total:g}."
        raise QueryError(wrong, parameter=parameter, total=float(sum(shares)))
    return as_integers([int(share * denominator) for share in shares])


def read_share(given: Any, parameter: str, what: str) -> Fraction:
    """Read a probability; one that is given as a fraction stays what it is, however long."""
    checked = as_share(parameter, given, what)
    if checked is None:
        raise QueryError(f"{what} must be a number between 0 and 1; got None.", parameter=parameter)
    exact = isinstance(given, Fraction) or (isinstance(given, str) and "/" in given)
    return Fraction(given) if exact else checked


def as_integers(numbers: Sequence[int]) -> Array:
    """Hold whole numbers in an array whose sums are exact."""
    return np.asarray(numbers, dtype=np.int64 if sum(numbers) < LARGEST_INT64 else object)


def parse_prior(text: str, parameter: str = "prior") -> dict[str, Any]:
    """Read the probabilities of independent roots from text: `A=0.3` for a binary root, `B:2=1/4` for one value.

    >>> parse_prior("A=0.3, B:0=3/4, B:2=1/4")
    {'A': '0.3', 'B': {0: '3/4', 2: '1/4'}}
    """
    found: dict[str, Any] = {}
    for part in (part.strip() for part in text.split(",")):
        key, equals, share = (piece.strip() for piece in part.partition("="))
        name, colon, value = (piece.strip() for piece in key.partition(":"))
        twice = name in found and not (colon and isinstance(found[name], dict) and int(value) not in found[name])
        if not (name and equals and share) or (colon and not value.lstrip("-").isdigit()) or twice:
            wrong = "{parameter} must be 'uniform', or written as 'A=0.3, B:0=1/4, B:1=3/4', each once; got {got}."
            raise QueryError(wrong, parameter=parameter, got=quote(part))
        if colon:
            found.setdefault(name, {})[int(value)] = share
        else:
            found[name] = share
    return found


def read_prior_text(model: Model, text: str) -> dict[str, Any]:
    r"""Read a prior as the command line takes it: the probabilities of independent roots, or the word `uniform`.

    >>> read_prior_text(Model.from_text("A\nB = A"), "uniform")
    {'A': {0: Fraction(1, 2), 1: Fraction(1, 2)}}
    """
    if text != "uniform":
        return parse_prior(text)
    ranges = {name: model.ranges[name] for name in model.roots}
    return {name: dict.fromkeys(values, Fraction(1, len(values))) for name, values in ranges.items()}


def _spread(model: Model, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what is said of a variable in time to its root at every step, unless more is said of that."""
    bases = {name for name in given if name not in model.ranges}
    if not bases:
        return given
    spread = {root: given[split_step(root)[0]] for root in model.roots if split_step(root)[0] in bases}
    found = {split_step(root)[0] for root in spread}
    return {**spread, **{name: chances for name, chances in given.items() if name not in found}}


def read_roots(model: Model, given: Mapping[str, Any], parameter: str) -> dict[str, Distribution]:
    r"""Read independent roots: the probability of 1 for a binary root, or that of each value.

    >>> read_roots(Model.from_text("A\nB in 0..2"), {"A": 0.3, "B": {0: "1/3", 2: "2/3"}}, "prior")["A"]
    {0: Fraction(7, 10), 1: Fraction(3, 10)}
    """
    found: dict[str, Distribution] = {}
    for name, chances in _spread(model, given).items():
        model.check_known(name)
        if name in model.equations:
            wrong = "{parameter} gives a probability to {name}, which follows from its equation; give it to roots only."
            raise QueryError(wrong, parameter=parameter, name=name)
        found[name] = _read_root(model, name, chances, parameter)
    missing = [name for name in model.roots if name not in found]
    if missing:
        wrong = "{parameter} must give a probability to every root; missing: {name}."
        raise QueryError(wrong, parameter=parameter, name=missing[0])
    return {name: found[name] for name in model.roots}


def _read_root(model: Model, name: str, chances: Any, parameter: str) -> Distribution:
    if not isinstance(chances, Mapping):
        if model.ranges[name] != (0, 1):
            wrong = "{parameter} must give {name} a probability for each value, such as {such}; got {got}."
            such = {model.ranges[name][0]: 0.25, model.ranges[name][-1]: 0.75}
            raise QueryError(wrong, parameter=parameter, name=name, such=such, got=quote(chances))
        share = read_share(chances, parameter, f"The probability of {name}")
        return {0: 1 - share, 1: share}
    if not chances:
        raise QueryError("{parameter} gives {name} no values.", parameter=parameter, name=name)
    values = [model.check_value(name, value) for value in chances]
    amounts = read_amounts(list(chances.values()), parameter)
    total = int(amounts.sum())
    return {value: Fraction(int(amount), total) for value, amount in zip(values, amounts, strict=True)}


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
