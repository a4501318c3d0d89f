"""Assignment by dynamic programming, for components in which few groups are open at a time.

The states are taken one after another. What the past means to the future is only which outcome each
*open* group stands for, a group being open from its first state to its last. So for each position and
each labelling of the open groups, the least cost of the states still to come is computed once, and
with it the number of ways to reach it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

LARGEST_TABLE = 200_000
MOST_OPEN = 24
SAFE = -1

Labels = tuple[tuple[int, int], ...]  # (group, the outcome it stands for), sorted
Check = Callable[[], None]


class Option(NamedTuple):
    """A mask that a state may be given: its size, and the mixed group it would bind (or SAFE)."""

    mask: int
    size: int
    group: int


class DynamicProgram:
    """States that compete, in order, each with its options, its outcome and its weight."""

    def __init__(self, options: Sequence[Sequence[Option]], outcomes: Sequence[int], weights: Sequence[int]) -> None:
        self.options, self.outcomes, self.weights = options, outcomes, weights
        self._last = {
            option.group: index for index, choices in enumerate(options) for option in choices if option.group != SAFE
        }
        self._layers: list[dict[Labels, tuple[int, int]]] = []
        self.cost: int | None = None
        self.count: int | None = 0

    def solve(self, check: Check) -> bool:
        """Fill the table; False, at once or halfway, if it would be too large."""
        if self._most_open() > MOST_OPEN:
            return False
        reached: list[list[Labels]] = [[()]]
        entries = 0
        for index in range(len(self.options)):
            check()
            following = {after for labels in reached[-1] for _, after in self._moves(index, labels)}
            entries += len(following)
            if entries > LARGEST_TABLE:
                return False
            reached.append(list(following))
        layer: dict[Labels, tuple[int, int]] = dict.fromkeys(reached[-1], (0, 1))
        layers = [layer]
        for index in range(len(self.options) - 1, -1, -1):
            layer = self._backwards(index, reached[index], layer)
            layers.append(layer)
        self._layers = layers[::-1]
        if () in layer:
            self.cost, self.count = layer[()]
        return True

    def _backwards(
        self, index: int, reached: Sequence[Labels], after: dict[Labels, tuple[int, int]]
    ) -> dict[Labels, tuple[int, int]]:
        """Find the least cost from this position on, and how often it is met, from the same for the next one."""
        layer: dict[Labels, tuple[int, int]] = {}
        for labels in reached:
            costs: Counter[int] = Counter()
            for option, following in self._moves(index, labels):
                if following in after:
                    cost, ways = after[following]
                    costs[cost + option.size * self.weights[index]] += ways
            if costs:
                least = min(costs)
                layer[labels] = (least, costs[least])
        return layer

    def _most_open(self) -> int:
        first: dict[int, int] = {}
        for index, choices in enumerate(self.options):
            for option in choices:
                if option.group != SAFE:
                    first.setdefault(option.group, index)
        change = Counter(first.values())
        change.subtract(Counter(self._last.values()))
        most = now = 0
        for index in range(len(self.options)):
            now += change[index]
            most = max(most, now)
        return most

    def _moves(self, index: int, labels: Labels) -> Iterator[tuple[Option, Labels]]:
        """Return the options of a state under the labels given so far, with the labels that remain of use."""
        outcome = self.outcomes[index]
        known = dict(labels)
        kept = tuple(label for label in labels if self._last[label[0]] > index)
        for option in self.options[index]:
            group = option.group
            if group == SAFE or known.get(group) == outcome or (group not in known and self._last[group] == index):
                yield option, kept
            elif group not in known:
                yield option, tuple(sorted((*kept, (group, outcome))))

    def _best(self, index: int, labels: Labels) -> Iterator[tuple[Option, Labels]]:
        """Return the options that some minimum takes here."""
        least = self._layers[index][labels][0]
        for option, after in self._moves(index, labels):
            rest = self._layers[index + 1].get(after)
            if rest is not None and rest[0] + option.size * self.weights[index] == least:
                yield option, after

    def first(self) -> list[int]:
        """Return the masks of one minimum."""
        return next(iter(self))

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the masks of every minimum, one after another."""
        if self.cost is None:
            return
        stack: list[tuple[int, Labels, list[int]]] = [(0, (), [])]
        while stack:
            index, labels, chosen = stack.pop()
            if index == len(self.options):
                yield chosen
                continue
            following = [(index + 1, after, [*chosen, option.mask]) for option, after in self._best(index, labels)]
            stack.extend(reversed(following))

    def masks_of(self, position: int) -> list[int]:
        """Return the masks that the state at this position is given in some minimum."""
        reach: set[Labels] = {()}
        for index in range(position):
            reach = {after for labels in reach for _, after in self._best(index, labels)}
        return list(dict.fromkeys(option.mask for labels in reach for option, _ in self._best(position, labels)))

    def histogram(self, check: Check) -> Counter[int] | None:
        """Count the valid choices of each cost; None if too many would have to be told apart."""
        layer: dict[Labels, Counter[int]] = {(): Counter({0: 1})}
        for index in range(len(self.options)):
            check()
            following: dict[Labels, Counter[int]] = {}
            for labels, costs in layer.items():
                for option, after in self._moves(index, labels):
                    into = following.setdefault(after, Counter())
                    for cost, ways in costs.items():
                        into[cost + option.size * self.weights[index]] += ways
            layer = following
            if sum(map(len, layer.values())) > LARGEST_TABLE:
                return None
        return sum(layer.values(), Counter())
