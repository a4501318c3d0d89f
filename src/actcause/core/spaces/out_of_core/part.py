"""A part of a space: some contexts in a row, with the outcomes that they are compared with."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...counting import CHUNK, Check, ModelCounts, never, number_combinations
from ...definitions import Deadline, OutOfBudget
from ...expression import Array
from ...ranges import grids
from ..mask_file import mask_type
from ..preimages import Partitions, partition, solve_space
from ..state_space import StateSpace
from .frequent_outcomes import FrequentOutcomes
from .problem import Problem

Known = Mapping[tuple[str, ...], FrequentOutcomes]  # by what is kept
RETRIES = 5  # one part that is lost would cost all others
TAIL = 64  # states with a choice that are remembered: with them alone there are 2**64 pairs to be listed


@dataclass(frozen=True, eq=False)
class Part:
    """A task: contexts `start` to `stop`, which of them are `open` (packed bits; None is all), and masks to try."""

    problem: Problem
    start: int
    stop: int
    open: bytes | None
    masks: tuple[int, ...]
    known: Known
    seconds: float | None

    @property
    def numbers(self) -> Array:
        """The numbers of the open contexts."""
        numbers = np.arange(self.start, self.stop)
        if self.open is None:
            return numbers
        chosen = np.unpackbits(np.frombuffer(self.open, dtype=np.uint8), count=len(numbers))
        return np.asarray(numbers[chosen.astype(bool)])

    def pack(self, numbers: Array) -> bytes:
        """Write contexts of the part as `open` has them."""
        chosen = np.zeros(self.stop - self.start, dtype=bool)
        chosen[numbers - self.start] = True
        return np.packbits(chosen).tobytes()


@dataclass(frozen=True)
class PartResult:
    """What became of a part: which states are still open, and how many of the others were given which mask.

    `ways` says how many states have how many masks to choose from; `undecided` are the last with more than one.
    """

    open: bytes
    left: int
    masks: Counter[int]
    ways: Counter[int]
    undecided: tuple[tuple[int, tuple[int, ...]], ...]


class PartCounts(ModelCounts):
    """Counts for a part of the contexts: what other states know of the outcome is given, not looked up in a table."""

    def __init__(
        self, problem: Problem, contexts: dict[str, Array], values: dict[str, Array], known: Known, check: Check
    ) -> None:
        super().__init__(problem.model, problem.variables, problem.formula, contexts, values, check)
        self.problem, self.known = problem, known

    def _differing_with(self, held: set[str]) -> tuple[Array, int]:
        kept = self.problem.find_kept(held)
        varied = self.problem.find_varied(kept)
        if not varied:  # all that the outcome reads is as it was, and so is the outcome
            return np.zeros(self.size, dtype=np.int64), 1
        if kept in self.known:
            sizes = [len(self.model.ranges[name]) for name in kept]
            rows, _ = number_combinations([self.encode(name) for name in kept], sizes, self.size[0])
            frequent = self.known[kept]
            return frequent.total - frequent.count(rows, self.actual), frequent.total
        return self._try_out(kept, varied)

    def _try_out(self, kept: tuple[str, ...], varied: tuple[str, ...]) -> tuple[Array, int]:
        """Set what is varied to all its values in every state: there are few where much is kept."""
        differing = np.zeros(self.size, dtype=np.int64)
        fixed = {name: self.values[name][None, :] for name in kept}
        at_once = max(1, CHUNK // self.size[0])
        for columns in grids([self.model.ranges[name] for name in varied], at_once):
            self.check()
            changed = {name: column[:, None] for name, column in zip(varied, columns, strict=True)}
            results = self.problem.results({**fixed, **changed}, (len(columns[0]), self.size[0]))
            differing += np.count_nonzero(results != self.actual, axis=0)
        return differing, self.problem.assignments(varied)


def build_space(problem: Problem, numbers: Array, known: Known, check: Check = never) -> StateSpace:
    """Build a space of the contexts with these numbers."""
    contexts = problem.columns(problem.model.roots, numbers)
    counts = PartCounts(problem, contexts, problem.model.evaluate_many(contexts), known, check)
    return StateSpace.from_counts(problem.outcome, counts, None)  # a background tells states apart that compete


def select_contexts(part: Part) -> bytes:
    """Find the contexts of a part that satisfy the restriction."""
    problem = part.problem
    assert problem.where is not None
    numbers = part.numbers
    values = problem.model.evaluate_many(problem.columns(problem.model.roots, numbers))
    kept = np.broadcast_to(problem.where.array(values, np.asarray(True)) != 0, numbers.shape)
    return part.pack(numbers[kept])


def assign_masks(part: Part) -> PartResult | None:
    """Give the part's masks to the open states that may have them; None if the time is up."""
    problem, numbers, deadline = part.problem, part.numbers, Deadline(part.seconds)
    try:
        space = build_space(problem, numbers, part.known, deadline.check)
        solution = solve_space(space, problem.sufficiency, problem.necessity, deadline, part.masks)
    except OutOfBudget:
        return None
    return _summarise(part, numbers, solution.ties)


def _summarise(part: Part, numbers: Array, ties: list[tuple[int, Array]]) -> PartResult:
    """Count what the states were given; `ties` are the masks and who may have them."""
    ways = np.zeros(len(numbers), dtype=np.int64)
    masks: Counter[int] = Counter()
    for mask, states in ties:
        masks[mask] += int(np.count_nonzero(states & (ways == 0)))
        ways += states
    last = np.flatnonzero(ways > 1)[-TAIL:]
    choices = [tuple(mask for mask, states in ties if states[index]) for index in last]
    still_open = numbers[ways == 0]
    many, often = np.unique(ways[ways > 1], return_counts=True)
    return PartResult(
        open=part.pack(still_open),
        left=len(still_open),
        masks=+masks,
        ways=Counter(dict(zip(many.tolist(), often.tolist(), strict=True))),
        undecided=tuple(zip(numbers[last].tolist(), choices, strict=True)),
    )


def solve_part(part: Part) -> Partitions:
    """Partition the open states of a part by themselves, once all that they need is known."""
    problem = part.problem
    space = build_space(problem, part.numbers, part.known)
    return partition(space, alpha_sufficiency=problem.sufficiency, alpha_necessity=problem.necessity)


def find_masks(part: Part) -> Array:
    """Find the mask of each open state in the first pair, in as few bytes as masks take."""
    return solve_part(part).first().masks.astype(mask_type(len(part.problem.variables)))
