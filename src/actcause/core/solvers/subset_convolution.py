"""Weighted clauses over few exclusive sets, solved exactly by convolution over all subsets of the sets.

Labels of groups are such a program: each group stands for one outcome at most, and a state, a clause, is covered if one
of its groups stands for its outcome. So clauses fall into classes, one for each outcome, and a class looks at nothing
but *which* groups stand for its outcome. With g groups and f_c(S) the weight of the clauses of class c that the groups
of S leave broken, the least weight is

    min { f_1(S_1) + ... + f_k(S_k) : S_1, ..., S_k part the groups }

f_c is one sum over subsets, 2**g numbers; two functions are joined by a (min, +) convolution over subsets, 3**g sums
(Bjoerklund, Husfeldt, Kaski and Koivisto, "Fourier meets Moebius: fast subset convolution", STOC 2007, has this and
faster ways where the numbers are small). For g = 20 that is 3.5 billion sums of bytes, a second or two in long vectors,
where solvers that search find no proof in an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

MOST_SETS = 20
MOST_CLASSES = 12
# Numbers are cut off where two of them still fit; a least weight below is exact.
KINDS = ((np.uint8, 127), (np.uint16, 32_767))


class Classes(NamedTuple):
    """A program in classes: of each, its clauses as the sets they look at (bits), with weights."""

    sets: int
    clauses: list[list[tuple[int, int]]]
    variables: list[dict[int, int]]  # of each class: which variable of a set it looks at
    free: frozenset[int]  # variables in no exclusive set, true at no cost
    broken: int  # the weight of clauses that nothing covers


def least_weight(
    variables: int,
    soft: Sequence[tuple[Sequence[int], int]],
    exclusive: Sequence[Sequence[int]],
    check: Callable[[], None],
) -> tuple[int, frozenset[int]] | None:
    """Find the least weight of broken clauses, and the true variables; None if the program has not this form."""
    classes = _read(variables, soft, exclusive)
    if classes is None:
        return None
    for kind, cut in KINDS:
        found = _solve(classes, kind, cut, check)
        if found is not None:
            weight, shares = found
            true = set(classes.free)
            for mapping, share in zip(classes.variables, shares, strict=True):
                true |= {variable for place, variable in mapping.items() if share >> place & 1}
            return weight + classes.broken, frozenset(true)
    return None


def _read(
    variables: int, soft: Sequence[tuple[Sequence[int], int]], exclusive: Sequence[Sequence[int]]
) -> Classes | None:
    if not 2 <= len(exclusive) <= MOST_SETS:
        return None
    place = {variable: number for number, members in enumerate(exclusive) for variable in members}
    free = frozenset(variable for variable in range(1, variables + 1) if variable not in place)
    parent = list(range(variables + 1))

    def root(variable: int) -> int:
        while parent[variable] != variable:
            parent[variable] = variable = parent[parent[variable]]
        return variable

    wanted = [(clause, weight) for clause, weight in soft if free.isdisjoint(clause)]
    broken = sum(weight for clause, weight in wanted if not clause)
    wanted = [(clause, weight) for clause, weight in wanted if clause]
    for clause, _ in wanted:
        for variable in clause:
            parent[root(variable)] = root(clause[0])
    number: dict[int, int] = {}
    mappings: list[dict[int, int]] = []
    for variable, at in place.items():
        home = number.setdefault(root(variable), len(number))
        if home == len(mappings):
            mappings.append({})
        if at in mappings[home]:
            return None  # two labels of one set in one class
        mappings[home][at] = variable
    sizes: list[list[tuple[int, int]]] = [[] for _ in mappings]
    for clause, weight in wanted:
        bits = 0
        for variable in clause:
            bits |= 1 << place[variable]
        sizes[number[root(clause[0])]].append((bits, weight))
    asking = [index for index, clauses in enumerate(sizes) if clauses]
    if not 1 <= len(asking) <= MOST_CLASSES:
        return None
    return Classes(len(exclusive), [sizes[i] for i in asking], [mappings[i] for i in asking], free, broken)


def _solve(classes: Classes, kind: Any, cut: int, check: Callable[[], None]) -> tuple[int, list[int]] | None:
    """Join the classes two at a time; None if the numbers are too large for this kind."""
    every = (1 << classes.sets) - 1
    level = [_count_uncovered(classes.sets, clauses, kind, cut) for clauses in classes.clauses]
    steps: list[list[Array]] = [level]
    while len(level) > 2:
        joined = []
        for first, second in zip(level[::2], level[1::2], strict=False):
            joined.append(np.minimum(convolve(first, second, classes.sets, check), cut).astype(kind))
        level = joined + ([level[-1]] if len(level) % 2 else [])
        steps.append(level)
    total = level[0].astype(np.int64)
    if len(level) == 2:
        total = total + level[1][::-1]  # the other class has all other sets
        best = int(total.argmin())
    else:
        best = every
    least = int(total[best])
    if least >= cut:
        return None
    shares = [best, every ^ best][: len(level)]
    for finer in reversed(steps[:-1]):
        parts: list[int] = []
        for index, share in enumerate(shares):
            pair = finer[2 * index : 2 * index + 2]
            parts += [share] if len(pair) == 1 else _split(pair[0], pair[1], share)
        shares = parts
    return least, shares


def _count_uncovered(sets: int, clauses: Sequence[tuple[int, int]], kind: Any, cut: int) -> Array:
    """Tabulate, for all subsets of the sets, the weight of the clauses that they leave broken."""
    every = (1 << sets) - 1
    inside = np.zeros(1 << sets, dtype=np.int64)  # first: the weight of the clauses with exactly these sets
    for bits, weight in clauses:
        inside[bits] += weight
    for place in range(sets):
        pairs = inside.reshape(-1, 2, 1 << place)
        pairs[:, 1] += pairs[:, 0]
    # A clause is broken by S if all its sets are outside S.
    uncovered: Array = np.minimum(inside[every ^ np.arange(1 << sets)], cut).astype(kind)
    return uncovered


@lru_cache(maxsize=4)
def _disjoint_pairs(bits: int) -> tuple[Array, Array, Array]:
    """List all pairs of disjoint subsets of so many bits by their union, and where each union begins."""
    first: list[int] = []
    second: list[int] = []
    starts: list[int] = []
    for union in range(1 << bits):
        starts.append(len(first))
        part = union
        while True:
            first.append(part)
            second.append(union ^ part)
            if not part:
                break
            part = (part - 1) & union
    return np.asarray(first), np.asarray(second), np.asarray(starts)


def convolve(first: Array, second: Array, bits: int, check: Callable[[], None]) -> Array:
    """Find, for each set, the least sum of `first` of a part and `second` of the rest.

    >>> convolve(np.asarray([5, 1, 4, 0]), np.asarray([3, 2, 0, 0]), 2, lambda: None).tolist()
    [8, 4, 5, 1]
    """
    low = bits // 2
    lower = _disjoint_pairs(low)
    ours = np.ascontiguousarray(first.reshape(-1, 1 << low)[:, lower[0]])  # long rows: all pairs of low parts at once
    theirs = np.ascontiguousarray(second.reshape(-1, 1 << low)[:, lower[1]])
    joined = np.empty_like(first).reshape(-1, 1 << low)
    row, best = np.empty_like(ours[0]), np.empty_like(ours[0])
    upper = _disjoint_pairs(bits - low)
    ends = [*upper[2][1:].tolist(), len(upper[0])]
    for union, (start, end) in enumerate(zip(upper[2].tolist(), ends, strict=True)):
        check()
        np.add(ours[upper[0][start]], theirs[upper[1][start]], out=best)
        for one, other in zip(upper[0][start + 1 : end].tolist(), upper[1][start + 1 : end].tolist(), strict=True):
            np.add(ours[one], theirs[other], out=row)
            np.minimum(best, row, out=best)
        joined[union] = np.minimum.reduceat(best, lower[2])
    return joined.reshape(-1)


def _split(first: Array, second: Array, share: int) -> list[int]:
    """Find how two classes part a share at least cost."""
    parts = np.zeros(1, dtype=np.int64)
    for place in range(share.bit_length()):
        if share >> place & 1:
            parts = np.concatenate([parts, parts | 1 << place])
    best = int(parts[(first[parts].astype(np.int64) + second[share ^ parts]).argmin()])
    return [best, share ^ best]
