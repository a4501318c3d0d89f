"""Invariant preimages, binary-subset pairs, their cost, and the properties P1, P2 and P3.

A *binary-subset pair* gives every state of a space one binary, that is, one set of variables. The
states with the same binary form an *invariant preimage*: among them, those that agree on the binary's
variables agree on the outcome. `partition` finds all pairs of least cost.

Chuck et al., "Automated Discovery of Functional Actual Causes in Complex Environments", arXiv 2404.10883,
Definitions 4.1 and 4.5, Section 5, Algorithm 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import QueryError
from ...parallel import Engine
from ..answer import Status
from ..definitions import Deadline, OutOfBudget
from ..expression import Array
from ..query import as_share
from ..solvers.assignment import Solution, assign
from .state_space import StateSpace
from .valid_pairs import ListedPairs, count_pairs_by_cost, run_algorithm_0

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Row:
    """One state of a pair: its values, its outcome, and the binary it is given."""

    state: Mapping[str, int]
    outcome: int
    binary: str

    def to_json(self) -> dict[str, Any]:
        return {"state": dict(self.state), "outcome": self.outcome, "binary": self.binary}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.state, self.outcome, self.binary))


@dataclass(frozen=True, eq=False)
class Preimage:
    """The states that are given one binary.

    `members` are the indices of the states; `cost` is their number (or weight) times the binary's length.
    """

    space: StateSpace
    mask: int
    members: Array

    @property
    def binary(self) -> str:
        return self.space.binary(self.mask)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the outcome depends on here: the functional actual cause of each member."""
        return self.space.names(self.mask)

    @property
    def cost(self) -> int:
        return self.weight * self.mask.bit_count()

    @property
    def weight(self) -> int:
        weights = self.space.weights
        return len(self.members) if weights is None else int(weights[self.members].sum())

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[dict[str, int]]:
        return (self.space.state(int(index)) for index in self.members)

    @cached_property
    def completely_invariant(self) -> bool:
        """Whether every state that agrees with a member on the variables is a member (Definition C.2)."""
        key, width = self.space.groups(self.mask)
        touched = np.zeros(width, dtype=bool)
        touched[key[self.members]] = True
        return int(touched[key].sum()) == len(self.members)

    def __repr__(self) -> str:
        return f"<Preimage {self.binary} of {len(self)} states>"


@dataclass(frozen=True)
class Check:
    """What a check of P1, P2 and P3 found; true if nothing is wrong. States are given as indices.

    `invariance` lists pairs of states with the same binary that agree on its variables and not on the
    outcome; `necessity` states whose binary is not admissible there; `excess` how far the cost is above
    the least possible.
    """

    invariance: tuple[tuple[int, int], ...]
    necessity: tuple[int, ...]
    excess: int

    def __bool__(self) -> bool:
        return not (self.invariance or self.necessity or self.excess)


@dataclass(frozen=True, eq=False)
class Pair:
    """A binary-subset pair: `masks[i]` is the binary of state `i` (bit 0 is the first variable)."""

    partitions: Partitions
    masks: Array

    @property
    def space(self) -> StateSpace:
        return self.partitions.space

    @property
    def cost(self) -> int:
        return sum(preimage.cost for preimage in self.preimages)

    @cached_property
    def preimages(self) -> tuple[Preimage, ...]:
        """The parts, by binary."""
        return tuple(
            Preimage(self.space, int(mask), np.flatnonzero(self.masks == mask))
            for mask in sorted(set(np.unique(self.masks).tolist()), key=self.space.binary)
        )

    def __len__(self) -> int:
        return len(self.masks)

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Row:
        space = self.space
        return Row(space.state(index), space.outcome_of(index), space.binary(int(self.masks[index])))

    def check(self) -> Check:
        """Check invariance (P1), necessity (P2) and minimality (P3), naming the offending states."""
        space, settings = self.space, self.partitions
        clashes: list[tuple[int, int]] = []
        wrong: list[int] = []
        for preimage in self.preimages:
            members = preimage.members
            if preimage.mask:
                clashes += _clashes(space, preimage)
                allowed = space.admissible(preimage.mask, settings.alpha_sufficiency, settings.alpha_necessity)
                wrong += members[~allowed[members]].tolist()
            else:
                wrong += [int(i) for i in members if self.partitions.binaries(int(i)) != ("0" * len(space.variables),)]
        return Check(tuple(clashes), tuple(wrong), self.cost - (settings.cost or 0))

    def to_json(self) -> list[dict[str, Any]]:
        return [row.to_json() for row in self]


def _clashes(space: StateSpace, preimage: Preimage) -> list[tuple[int, int]]:
    key = space.groups(preimage.mask)[0][preimage.members]
    first: dict[int, int] = {}
    clashes = []
    for member, group in zip(preimage.members.tolist(), key.tolist(), strict=True):
        other = first.setdefault(group, member)
        if space.outcomes[other] != space.outcomes[member]:
            clashes.append((other, member))
    return clashes


@dataclass(frozen=True, eq=False, repr=False)
class Partitions:
    """All binary-subset pairs of least cost.

    `cost` and `count` are exact integers; `count` is None where counting is out of reach (then pairs can
    still be read one after another), and `cost` is None if there is no valid pair or the budget ran out
    (see `status`). Iterating yields one `Pair` after another.
    """

    space: StateSpace
    alpha_sufficiency: Fraction | None
    alpha_necessity: Fraction | None
    _solution: Solution | ListedPairs | None
    status: Status

    @property
    def outcome(self) -> str:
        return self.space.outcome

    @property
    def variables(self) -> tuple[str, ...]:
        return self.space.variables

    @property
    def cost(self) -> int | None:
        return None if self._solution is None else self._solution.cost

    @property
    def count(self) -> int | None:
        """How many minimal pairs there are, exactly; None if that is not known."""
        return None if self._solution is None else self._solution.count

    def __iter__(self) -> Iterator[Pair]:
        if self._solution is not None:
            yield from (Pair(self, masks) for masks in self._solution)

    @property
    def states(self) -> int:
        """How many states the space has."""
        return len(self.space)

    def first_masks(self, workers: Engine | None = None) -> Iterator[Array]:
        """Yield the mask of each state in the first pair, at once."""
        yield self.first().masks

    def first(self) -> Pair:
        """Return one minimal pair."""
        if self._solution is None or self._solution.cost is None:
            raise QueryError("There is no pair to show: {status}", status=self.status)
        return Pair(self, self._solution.base())

    def pair(self, binaries: Mapping[int, str] | list[str]) -> Pair:
        """Make a pair of your own, to be checked: one binary for each state, in the order of the space."""
        given = [binaries[index] for index in range(len(self.space))]
        return Pair(self, np.asarray([self.space.mask_of(binary) for binary in given], dtype=np.int64))

    def binaries(self, state: int | Mapping[str, int]) -> tuple[str, ...]:
        r"""List the binaries that a state is given in some minimal pair: its functional actual causes.

        >>> from actcause import Model, partitions
        >>> answer = partitions(Model.from_text("A\nB\nC = A and B"), outcome="C")
        >>> answer.binaries({"A": 0, "B": 1})
        ('10',)
        """
        index = state if isinstance(state, int) else self.space.find(state)
        if self._solution is None or self._solution.cost is None:
            return ()
        return tuple(sorted(map(self.space.binary, self._solution.masks_of(index)), reverse=True))

    def histogram(self) -> dict[int, int]:
        """Count the valid pairs of each cost, minimal or not (Figure 7b of the paper)."""
        return count_pairs_by_cost(self.space, self.alpha_sufficiency, self.alpha_necessity)

    def to_json(self, max_pairs: int = 64, max_states: int | None = None) -> dict[str, Any]:
        pairs: list[list[dict[str, Any]]] = []
        states = len(self.space) if max_states is None else min(max_states, len(self.space))
        for pair in self:
            if len(pairs) >= max_pairs:
                break
            pairs.append([pair[index].to_json() for index in range(states)])
        return {
            "outcome": self.outcome,
            "variables": list(self.variables),
            "alpha_sufficiency": None if self.alpha_sufficiency is None else float(self.alpha_sufficiency),
            "alpha_necessity": None if self.alpha_necessity is None else float(self.alpha_necessity),
            "states": self.states,
            "cost": self.cost,
            "count": self.count,
            "pairs": pairs,
            "status": self.status.value,
        }

    def __repr__(self) -> str:
        return f"<Partitions of {len(self.space)} states by {self.outcome}: cost {self.cost}, {self.status.value}>"


def partition(
    space: StateSpace,
    *,
    alpha_sufficiency: float | Fraction | str | None = None,
    alpha_necessity: float | Fraction | str | None = None,
    solver: str = "auto",
    max_seconds: float | None = None,
) -> Partitions:
    """Find all binary-subset pairs of least cost of a state space.

    `solver` is `auto`, or `algorithm-0` for the paper's exhaustive search (small spaces only).
    """
    sufficiency = as_share("alpha_sufficiency", alpha_sufficiency)
    necessity = as_share("alpha_necessity", alpha_necessity)
    if solver not in ("auto", "algorithm-0"):
        raise QueryError("{parameter} must be 'auto' or 'algorithm-0'; got {got!r}.", parameter="solver", got=solver)
    if solver == "algorithm-0":
        listed = run_algorithm_0(space, sufficiency, necessity)
        return Partitions(space, sufficiency, necessity, listed, Status.COMPLETE)
    try:
        solution = solve_space(space, sufficiency, necessity, Deadline(max_seconds))
    except OutOfBudget as ended:
        return Partitions(space, sufficiency, necessity, None, ended.status)
    return Partitions(space, sufficiency, necessity, solution, Status.COMPLETE)


def solve_space(
    space: StateSpace,
    sufficiency: Fraction | None,
    necessity: Fraction | None,
    deadline: Deadline,
    only: Sequence[int] | None = None,
) -> Solution:
    """Give all states their masks at least cost; `only` are the masks to try, all of one size, if not all."""
    size = len(space.variables) if only is None else only[0].bit_count()
    return assign(
        space.outcomes,
        space.masks if only is None else lambda count: only if count == size else (),
        size,
        lambda mask: space.admissible(mask, sufficiency, necessity, deadline.check),
        space.groups,
        weights=space.weights,
        competing=sufficiency is None or sufficiency >= HALF,
        check=deadline.check,
        remaining=lambda: deadline.remaining,
    )
