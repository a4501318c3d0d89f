"""Algorithm 0 of the paper: try every binary-subset pair. The oracle for whole state spaces.

    for every way to give each state one of the binaries that are necessary and sufficient there
        if states with the same binary that agree on its variables agree on the outcome
            its cost is the sum of the binaries' lengths
    return all pairs of least cost, and how many pairs have which cost

A partition of the states together with a different binary for each part is the same thing as a
function from states to binaries, so that is what is enumerated. A state at which no binary is
admissible gets the empty one.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

Pair = tuple[int, ...]


def algorithm0(
    admissible: Sequence[Sequence[int]],
    outcomes: Sequence[int],
    group: Callable[[int, int], Hashable],
    weights: Sequence[int] | None = None,
) -> tuple[int | None, list[Pair], Counter[int]]:
    """Find the least cost, all pairs of that cost, and the number of valid pairs by cost.

    `admissible[s]` lists the masks allowed at state `s`; `group(s, mask)` is equal for states that agree
    on the variables of the mask.

    >>> algorithm0([[1, 2], [1]], [0, 1], lambda state, mask: mask)
    (2, [(2, 1)], Counter({2: 1}))
    """
    amounts = [1] * len(outcomes) if weights is None else weights
    histogram: Counter[int] = Counter()
    best: int | None = None
    minima: list[Pair] = []
    for pair in _valid(admissible, outcomes, group):
        cost = sum(mask.bit_count() * amount for mask, amount in zip(pair, amounts, strict=True))
        histogram[cost] += 1
        if best is None or cost < best:
            best, minima = cost, []
        if cost == best:
            minima.append(pair)
    return best, minima, histogram


def _valid(
    admissible: Sequence[Sequence[int]], outcomes: Sequence[int], group: Callable[[int, int], Hashable]
) -> Iterator[Pair]:
    """Yield all pairs that satisfy invariance, one state after another."""
    options = [list(masks) or [0] for masks in admissible]
    chosen: list[int] = []
    says: dict[tuple[int, Hashable], int] = {}  # the outcome that each group in use stands for

    def extend(state: int) -> Iterator[Pair]:
        if state == len(options):
            yield tuple(chosen)
            return
        for mask in options[state]:
            key = (mask, group(state, mask))
            new = mask != 0 and key not in says
            if mask and says.setdefault(key, outcomes[state]) != outcomes[state]:
                continue
            chosen.append(mask)
            yield from extend(state + 1)
            chosen.pop()
            if new:
                del says[key]

    return extend(0)
