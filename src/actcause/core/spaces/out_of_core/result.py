"""All pairs of least cost of a space that is never held whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from math import log2, prod
from typing import Any, BinaryIO

import numpy as np

from ....errors import QueryError
from ....parallel import Engine, values
from ...answer import Status
from ...expression import Array
from ..preimages import Partitions, Row
from .part import RETRIES, Known, Part, first_masks, mask_type, solved
from .problem import Problem

WRITTEN_BITS = 1 << 20  # of the number of pairs, if it is to be written in digits
SHOWN_STATES = 1_000_000


@dataclass(frozen=True, eq=False)
class VastPartitions:
    """What `Partitions` says, of a space whose states are looked at part by part.

    `masks` says how many states the first pair gives which mask, `ways` how many states have how many masks to choose
    from, `undecided` the last of these states (contexts by number) with their masks. Single states and the first ones
    are worked out when they are asked for, from what is frequent (`known`).
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
        """A mask as the paper writes it: one digit a variable, in order."""
        return "".join("1" if mask >> i & 1 else "0" for i in range(len(self.variables)))

    def binaries(self, context: Mapping[str, int]) -> tuple[str, ...]:
        """The binaries that the state of a context is given in some minimal pair: its functional actual causes."""
        self._check()
        number = self.problem.number(context)
        part = Part(self.problem, number, number + 1, None, (), self.known, None)
        return solved(part).binaries(0)

    def first_masks(self, workers: Engine) -> Iterator[Array]:
        """The mask of each state in the first pair, one part of the states after another."""
        self._check()
        parts = (replace(part, known=self.known) for part in self.parts)
        return values(workers.run(first_masks, parts, retries=RETRIES))

    def to_json(self, max_pairs: int = 64, max_states: int | None = None) -> dict[str, Any]:
        """The document of `Partitions`; `count` is None if it is too long, and `ways` has it as a product of powers."""
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
                f"At most {SHOWN_STATES:,} states of a pair are printed; "
                f"use --max-states, or --out FILE.npy for all of them."
            )
        rows, numbers = self._first(states)
        base = [row.to_json() for row in rows]
        pairs = []
        for chosen in islice(self._choices(), most):
            given = {number: {"binary": self.binary(mask)} for number, mask in chosen.items()}
            pairs.append([row | given.get(number, {}) for row, number in zip(base, numbers, strict=True)])
        return pairs

    def _first(self, states: int) -> tuple[list[Row], list[int]]:
        """The first states as the first pair has them, and the numbers of their contexts."""
        rows: list[Row] = []
        numbers: list[int] = []
        for part in self.parts:
            wanted = part.numbers[: states - len(rows)]
            if len(wanted):
                rows += solved(replace(part, open=part.packed(wanted), known=self.known)).first()
                numbers += wanted.tolist()
            if len(rows) == states:
                break
        return rows, numbers

    def _choices(self) -> Iterator[dict[int, int]]:
        """What the undecided states are given in one pair after another, the last of them changing fastest."""
        numbers = [number for number, _ in self.undecided]
        for chosen in product(*(choices for _, choices in self.undecided)):
            yield dict(zip(numbers, chosen, strict=True))

    def _check(self) -> None:
        if self.cost is None:
            raise QueryError(f"There is no pair to show: {self.status.sentence}")


def write(found: Partitions | VastPartitions, file: BinaryIO, workers: Engine) -> None:
    """The first pair as a .npy file: the mask of each state in the order of contexts, bit 0 the first variable."""
    if isinstance(found, Partitions):
        states, parts = len(found.space), iter([found.first().masks])
    else:
        states, parts = found.states, found.first_masks(workers)
    kind = mask_type(len(found.variables))
    np.lib.format.write_array_header_2_0(file, {"descr": kind.str, "fortran_order": False, "shape": (states,)})
    for masks in parts:
        file.write(masks.astype(kind).tobytes())
