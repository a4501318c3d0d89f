"""The search through a whole space: size by size, first what is frequent, then every part of the states."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from ....errors import QueryError
from ....parallel import Engine, engine, values
from ...answer import Status
from ...definitions import Deadline, OutOfBudget
from ...expression import Array, Expression
from ...model import Model
from ...query import as_share
from .frequent_outcomes import CountTask, FrequentOutcomes, count_outcomes, count_tasks, join_counts, most_values
from .part import RETRIES, TAIL, Known, Part, PartResult, assign_masks, select_contexts
from .problem import Problem
from .result import OutOfCorePartitions

CELLS = 1 << 22  # states times variables of a part
MOST_ROWS = 1 << 23  # of all that is frequent together; what does not fit is tried out in each state instead

T = TypeVar("T")
R = TypeVar("R")
OnProgress = Callable[[str], None]


def partitions(
    model: Model,
    outcome: str | Expression,
    *,
    alpha_sufficiency: float | Fraction | str | None,
    alpha_necessity: float | Fraction | str | None = None,
    where: str | Expression | None = None,
    max_seconds: float | None = None,
    workers: Engine | None = None,
    on_progress: OnProgress | None = None,
) -> OutOfCorePartitions:
    """Partition a state space of any size, part by part; `on_progress` is called with what is being done.

    >>> from actcause import examples
    >>> pusher = examples.load("pusher-1d")
    >>> answer = partitions(pusher.model, "Y", alpha_sufficiency=0.2, alpha_necessity=0.01)
    >>> answer.cost, answer.binaries({"P": 499, "X": 200})
    (2003, ('10',))
    """
    shares = as_share("alpha_sufficiency", alpha_sufficiency), as_share("alpha_necessity", alpha_necessity)
    problem = Problem.of(model, outcome, where, *shares)
    with engine() if workers is None else nullcontext(workers) as chosen:
        return _Search(problem, chosen, Deadline(max_seconds), on_progress).run()


@dataclass
class _Totals:
    """What is known of all states so far; `open` holds the parts of which some states have no mask yet."""

    states: int
    open: list[Part]
    masks: Counter[int]
    ways: Counter[int]
    undecided: list[tuple[int, tuple[int, ...]]]

    def add(self, result: PartResult) -> None:
        self.masks += result.masks
        self.ways += result.ways
        self.undecided = sorted([*self.undecided, *result.undecided])[-TAIL:]


class _Search:
    def __init__(self, problem: Problem, workers: Engine, deadline: Deadline, on_progress: OnProgress | None) -> None:
        self.problem, self.workers, self.deadline, self.on_progress = problem, workers, deadline, on_progress
        self.known: dict[tuple[str, ...], FrequentOutcomes] = {}

    def run(self) -> OutOfCorePartitions:
        parts = list(self._parts())
        try:
            parts = self._select(parts)
            totals = _Totals(sum(map(_states, parts)), parts, Counter(), Counter(), [])
            if not totals.states:
                wrong = "No context satisfies '{given}'; nothing is left to partition."
                raise QueryError(wrong, parameter="where", given=self.problem.where)
            for size in range(1, len(self.problem.variables) + 1):
                if not totals.open:
                    break
                self._assign(size, totals)
        except OutOfBudget as ended:
            states = sum(map(_states, parts))
            return OutOfCorePartitions(self.problem, ended.status, states, {}, {}, (), self.known, tuple(parts))
        totals.masks[0] += sum(map(_states, totals.open))  # nothing is necessary there
        choices = dict(+totals.masks), dict(totals.ways), tuple(totals.undecided)
        return OutOfCorePartitions(self.problem, Status.COMPLETE, totals.states, *choices, self.known, tuple(parts))

    def _parts(self) -> Iterator[Part]:
        contexts = self.problem.model.context_count
        height = max(1, CELLS // len(self.problem.model.variables))
        for start in range(0, contexts, height):
            yield Part(self.problem, start, min(contexts, start + height), None, (), {}, None)

    def _select(self, parts: list[Part]) -> list[Part]:
        """Leave out the contexts that do not satisfy the restriction."""
        if self.problem.where is None:
            return parts
        narrowed: list[Part] = []
        for part, selected in zip(parts, self._run(select_contexts, parts), strict=True):
            self._report(f"selecting contexts, part {len(narrowed) + 1} of {len(parts)}")
            narrowed.append(replace(part, open=selected))
        return [part for part in narrowed if _states(part)]

    def _assign(self, size: int, totals: _Totals) -> None:
        """Give the masks of one size to all states that may have them and have no smaller one."""
        masks, needed = self._masks(size)
        if not masks:
            return
        known: Known = {kept: self.known[kept] for kept in needed if kept in self.known}
        waiting = totals.open

        def tasks() -> Iterator[Part]:
            for part in waiting:
                yield replace(part, masks=masks, known=known, seconds=self.deadline.remaining)

        unfinished = []
        for number, (part, result) in enumerate(zip(waiting, self._run(assign_masks, tasks()), strict=True), 1):
            self._report(f"sets of {size}, part {number} of {len(waiting)}")
            if result is None:
                raise OutOfBudget(Status.OUT_OF_TIME)
            totals.add(result)
            if result.left:
                unfinished.append(replace(part, open=result.open))
        totals.open = unfinished

    def _masks(self, size: int) -> tuple[tuple[int, ...], set[tuple[str, ...]]]:
        """Return the masks of a size that are sufficient somewhere, and what must be kept to judge them."""
        problem = self.problem
        chosen = list(combinations(range(len(problem.variables)), size))
        named = {sum(1 << i for i in each): {problem.variables[i] for i in each} for each in chosen}
        sufficient = {mask: problem.find_kept(names) for mask, names in named.items()}
        self._count(set(sufficient.values()))
        masks = tuple(mask for mask, kept in sufficient.items() if self._can_suffice(kept))
        necessary = set()
        for mask in masks:
            changed = named[mask] & problem.influential & set(problem.inputs)
            if changed:
                necessary.add(problem.find_kept(set(problem.inputs) - changed))
        self._count(necessary)
        return masks, necessary | {sufficient[mask] for mask in masks}

    def _can_suffice(self, kept: tuple[str, ...]) -> bool:
        """Return whether holding this can be sufficient for any outcome."""
        frequent = self.known.get(kept)
        if frequent is None:
            return True
        share, highest = self.problem.sufficiency, int(frequent.counts.max(initial=0))
        return highest >= frequent.total - share.numerator * frequent.total // share.denominator

    def _count(self, wanted: set[tuple[str, ...]]) -> None:
        """Find what is frequent with each of these kept, the smallest first, as long as there is room."""
        problem = self.problem
        sizes = {kept: problem.assignments(kept) * most_values(problem, kept) for kept in wanted}
        for kept in sorted(wanted, key=lambda kept: (sizes[kept], kept)):
            room = MOST_ROWS - sum(frequent.values.size for frequent in self.known.values())
            if kept in self.known or not problem.find_varied(kept) or sizes[kept] > room:
                continue
            tasks = list(count_tasks(problem, kept, self.deadline))
            self.known[kept] = join_counts(self._run_counts(tasks, kept), problem, kept)

    def _run_counts(
        self, tasks: list[CountTask], kept: tuple[str, ...]
    ) -> Iterator[tuple[CountTask, tuple[Array, Array]]]:
        names = ", ".join(kept) or "nothing"
        for number, counts in enumerate(self._run(count_outcomes, tasks)):
            self._report(f"outcomes with {names} held, part {number + 1} of {len(tasks)}")
            if counts is None:
                raise OutOfBudget(Status.OUT_OF_TIME)
            yield tasks[number], counts

    def _run(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        return values(self.workers.run(function, tasks, retries=RETRIES))

    def _report(self, what: str) -> None:
        self.deadline.check()
        if self.on_progress is not None:
            self.on_progress(what)


def _states(part: Part) -> int:
    """Count the open states of a part."""
    return part.stop - part.start if part.open is None else int.from_bytes(part.open, "big").bit_count()
