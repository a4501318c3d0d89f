"""All pairs of least cost of a space that is never held whole."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from math import log2, prod
from typing import Any

from ....errors import QueryError
from ....parallel import Engine, engine, values
from ...answer import Status
from ...expression import Array
from ..preimages import Row
from .part import RETRIES, Known, Part, find_masks, solve_part
from .problem import Problem

WRITTEN_BITS = 1 << 20  # of the number of pairs, if it is to be written in digits
SHOWN_STATES = 1_000_000


@dataclass(frozen=True, eq=False)
class OutOfCorePartitions:
    """All binary-subset pairs of least cost of a space too large for memory.

    As `Partitions`, but pairs cannot be iterated over. `masks` counts the states that the first pair gives each mask,
    `ways` the states that have a number of masks to choose from, and `undecided` lists the last of these states
    (contexts by number) with their masks. Single states are solved when they are read, from what is frequent (`known`).
    """

    problem: Problem
    status: Status
    states: int
    masks: Mapping[int, int]
    ways: Mapping[int, int]
    undecided: tuple[tuple[int, tuple[int, ...]], ...]
    known: Known
    parts: tuple[Part, ...]

    @property
    def outcome(self) -> str:
        return self.problem.outcome

    @property
    def variables(self) -> tuple[str, ...]:
        return self.problem.variables

    @property
    def cost(self) -> int | None:
        if self.status is not Status.COMPLETE:
            return None
        return sum(mask.bit_count() * states for mask, states in self.masks.items())

    @cached_property
    def count(self) -> int | None:
        """How many minimal pairs there are, exactly; with millions of ties it has millions of digits."""
        return prod(many**often for many, often in self.ways.items()) if self.cost is not None else None

    @property
    def preimages(self) -> dict[str, int]:
        """How many states the first pair gives each binary."""
        return {binary: self.masks[mask] for binary, mask in sorted((self.binary(mask), mask) for mask in self.masks)}

    def binary(self, mask: int) -> str:
        """Write a mask as the paper does: one digit a variable, in order."""
        return "".join("1" if mask >> i & 1 else "0" for i in range(len(self.variables)))

    def binaries(self, context: Mapping[str, int]) -> tuple[str, ...]:
        """List the binaries that the state of a context has in some minimal pair: its functional actual causes."""
        self._require_pair()
        number = self.problem.number(context)
        part = Part(self.problem, number, number + 1, None, (), self.known, None)
        return solve_part(part).binaries(0)

    def first_masks(self, workers: Engine | None = None) -> Iterator[Array]:
        """Yield the mask of each state in the first pair, one part of the states after another."""
        self._require_pair()
        parts = (replace(part, known=self.known) for part in self.parts)
        with engine() if workers is None else nullcontext(workers) as chosen:
            yield from values(chosen.run(find_masks, parts, retries=RETRIES))

    def to_json(self, max_pairs: int = 64, max_states: int | None = None) -> dict[str, Any]:
        """Return the document of `Partitions`; where `count` is too long it is None, and `ways` has it as powers."""
        problem = self.problem
        few = sum(often * log2(many) for many, often in self.ways.items()) <= WRITTEN_BITS
        return {
            "outcome": self.outcome,
            "variables": list(self.variables),
            "alpha_sufficiency": float(problem.sufficiency),
            "alpha_necessity": None if problem.necessity is None else float(problem.necessity),
            "states": self.states,
            "cost": self.cost,
            "count": self.count if few else None,
            **({} if few else {"ways": {str(many): often for many, often in sorted(self.ways.items())}}),
            "pairs": self._pairs(max_pairs, self.states if max_states is None else max_states),
            "status": self.status.value,
        }

    def _pairs(self, most: int, states: int) -> list[list[dict[str, Any]]]:
        if not most or self.cost is None:
            return []
        if states > SHOWN_STATES:
            raise QueryError(
                "At most {most:,} states of a pair are listed; lower {parameter}, or write all masks to a .npy file.",
                parameter="max_states",
                most=SHOWN_STATES,
            )
        rows, numbers = self._first_rows(states)
        base = [row.to_json() for row in rows]
        pairs = []
        for chosen in islice(self._choices(), most):
            binaries = {number: {"binary": self.binary(mask)} for number, mask in chosen.items()}
            pairs.append([row | binaries.get(number, {}) for row, number in zip(base, numbers, strict=True)])
        return pairs

    def _first_rows(self, states: int) -> tuple[list[Row], list[int]]:
        """Return the first states as the first pair has them, and the numbers of their contexts."""
        rows: list[Row] = []
        numbers: list[int] = []
        for part in self.parts:
            wanted = part.numbers[: states - len(rows)]
            if len(wanted):
                rows += solve_part(replace(part, open=part.pack(wanted), known=self.known)).first()
                numbers += wanted.tolist()
            if len(rows) == states:
                break
        return rows, numbers

    def _choices(self) -> Iterator[dict[int, int]]:
        """Yield what the undecided states are given in one pair after another, the last of them changing fastest."""
        numbers = [number for number, _ in self.undecided]
        for chosen in product(*(choices for _, choices in self.undecided)):
            yield dict(zip(numbers, chosen, strict=True))

    def _require_pair(self) -> None:
        if self.cost is None:
            raise QueryError("There is no pair to show: {status}", status=self.status)
