"""State spaces in memory: built once, kept while they are being looked at.

A slider asks about the same space again and again with other shares, and a pointer about one state after another, so
each worker keeps the last few spaces and partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from ... import examples
from ...core.answer import Status
from ...core.counting import format_count
from ...core.definitions import Deadline, OutOfBudget
from ...core.expression import Array, Expression
from ...core.model import Model
from ...core.query import as_share
from ...core.spaces.preimages import Partitions, partition
from ...core.spaces.state_space import StateSpace
from ...core.text import parse_formula
from ...errors import ModelError, ParseError, QueryError, TooLargeError

SECONDS = 8.0  # for a partition; the worker's own limit is above that
MOST_CELLS = 8_000_000  # states times variables
MOST_KEPT = 8  # counts, each of all states
MOST_WALKS = 4  # pairs of shares of one space
MOST_PAIRS = 10_000  # that can be stepped through, fewer where the pairs are long
MOST_COPIED = 1_000_000_000  # states of all the pairs stepped through together


@dataclass(frozen=True)
class SpaceQuestion:
    """A question about a state space; an empty `where` keeps every state, a share of None asks for nothing."""

    text: str
    outcome: str
    where: str
    sufficiency: Fraction | None
    necessity: Fraction | None

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> SpaceQuestion:
        """Read the question of a request; what it leaves open is the example's own."""
        example = examples.load(payload["example"]) if payload.get("example") else None
        text = payload.get("text") or (example.model_text if example else "")
        if not text.strip():
            raise QueryError("There is no model; choose an example, or write one.")
        return cls(
            text,
            payload.get("outcome") or (example.outcome if example else Model.from_text(text).variables[-1]),
            payload.get("where") or "",
            _read_share("alpha_sufficiency", payload, example),
            _read_share("alpha_necessity", payload, example),
        )

    def load_space(self) -> Space:
        """Load the space that is asked about; its time begins anew."""
        space = _build_space(self.text, self.outcome, self.where)
        space.clock.start()
        return space

    def load_pairs(self) -> PairWalk:
        """Load the pairs of least cost."""
        return self.load_space().load_pairs(self.sufficiency, self.necessity)


def _read_share(name: str, payload: Mapping[str, Any], example: examples.Example | None) -> Fraction | None:
    given = payload.get(name)
    if given is None:
        given = getattr(example, name, None)
    return None if given == "none" else as_share(name, given)


class Clock:
    """A deadline that begins anew with each question about a space that is kept."""

    def __init__(self) -> None:
        self.start()

    def start(self, seconds: float | None = None) -> None:
        self.deadline = Deadline(SECONDS if seconds is None else seconds)

    def check(self) -> None:
        self.deadline.check()


@dataclass(frozen=True, eq=False)
class Space:
    """A model's states by one outcome, and what has been counted and searched on them so far.

    The pairs are kept here and nowhere else: they look at these states, and so at this clock.
    """

    model: Model
    formula: Expression
    states: StateSpace
    clock: Clock
    _undoing: dict[int, tuple[Array, Array | int]] = field(default_factory=dict)
    _pairs: dict[tuple[Fraction | None, Fraction | None], PairWalk] = field(default_factory=dict)

    def load_pairs(self, sufficiency: Fraction | None, necessity: Fraction | None) -> PairWalk:
        """Find the pairs of least cost, or take those that were found before."""
        shares = sufficiency, necessity
        if shares not in self._pairs:
            found = _find_pairs(self.states, *shares)
            if len(self._pairs) >= MOST_WALKS:
                self._pairs.clear()
            self._pairs[shares] = found
        return self._pairs[shares]

    def count_undoing(self, mask: int, index: int) -> tuple[int, int]:
        """Count the changes of the other variables that change this state's outcome with `mask` held, of how many."""
        if mask not in self._undoing:
            if len(self._undoing) >= MOST_KEPT:
                self._undoing.clear()
            self._undoing[mask] = self.states.undoing(mask)
        count, total = self._undoing[mask]
        return int(count[index]), int(total if isinstance(total, int) else total[index])

    def context_of(self, index: int) -> dict[str, int]:
        return {name: int(column[index]) for name, column in self.states.contexts.items()}

    def find(self, context: Mapping[str, int]) -> int:
        """Find the state that a context produces."""
        return self.states.find_context(self.model.check_context(context))


@lru_cache(maxsize=2)
def _build_space(text: str, outcome: str, where: str) -> Space:
    model = Model.from_text(text)
    formula = _parse("outcome", outcome, model)
    kept = _parse("where", where, model) if where.strip() else None
    count, variables = model.context_count, len(model.variables)
    if count * variables > MOST_CELLS:
        raise TooLargeError(
            f"This model has {format_count(count)} states; a picture takes at most {MOST_CELLS // variables:,} of one "
            f"with {variables} variables. Give the roots smaller ranges."
        )
    clock = Clock()
    return Space(model, formula, StateSpace.from_model(model, formula, where=kept, check=clock.check), clock)


def _parse(parameter: str, text: str, model: Model) -> Expression:
    """Parse a formula of the model; a mistake in it is not one of the model's text, so no line is named."""
    try:
        return parse_formula(text, model.ranges)
    except ParseError as error:
        wrong = "{parameter} '{text}' cannot be read: {reason}"
        raise QueryError(wrong, parameter=parameter, text=text[:60], reason=error.reason) from None
    except ModelError as error:
        raise QueryError("{parameter}: {reason}", parameter=parameter, reason=str(error)) from None


@contextmanager
def limit_time() -> Iterator[None]:
    """Turn a budget that ran out into a sentence with the remedy."""
    try:
        yield
    except OutOfBudget:
        raise QueryError(
            f"This state space takes longer than {SECONDS:g} seconds; fill in 'Only states in which', give the "
            "variables smaller ranges, or let alpha sufficiency be below 1/2: each state is decided by itself then."
        ) from None


class PairWalk:
    """The pairs of a partition, read one after another; a step back begins again."""

    def __init__(self, partitions: Partitions) -> None:
        self.partitions = partitions
        self._restart()

    def _restart(self) -> None:
        self._pairs: Iterator[Array] = (pair.masks for pair in self.partitions)
        self._number = 0
        self._now: Array | None = None
        self._before: Array | None = None

    @cached_property
    def most(self) -> int:
        """How many of the pairs can be stepped through."""
        longest = max(1, min(MOST_PAIRS, MOST_COPIED // len(self.partitions.space)))
        return longest if self.partitions.count is None else min(longest, self.partitions.count)

    def read_pair(self, number: int) -> tuple[Array, Array | None]:
        """Read the masks of a pair, counted from 1, and those of the one before it."""
        if not 1 <= number <= self.most:
            wrong = f"The maps that can be shown are numbered 1 to {self.most:,}; got {number}."
            raise QueryError(wrong, parameter="pair")
        if number < self._number:
            self._restart()
        while self._number < number:
            following = next(self._pairs, None)
            if following is None:
                raise QueryError(f"There are only {self._number:,} best maps; got {number}.", parameter="pair")
            self._before, self._now = self._now, following
            self._number += 1
        assert self._now is not None
        return self._now, self._before


def _find_pairs(states: StateSpace, sufficiency: Fraction | None, necessity: Fraction | None) -> PairWalk:
    partitions = partition(states, alpha_sufficiency=sufficiency, alpha_necessity=necessity, max_seconds=SECONDS)
    if partitions.status is not Status.COMPLETE:
        raise OutOfBudget(partitions.status)
    if partitions.cost is None:
        raise QueryError(
            "With these shares no choice of variables fits all states: choose a larger alpha necessity, or an alpha "
            "sufficiency below 1/2."
        )
    return PairWalk(partitions)
