"""OR trees: one leaf among thousands, and the first of 458,329 causes.

An OR tree of depth 12 has 8,191 nodes. With one leaf on, that leaf is a cause of the root; with all of
them on, it is none. An OR tree of depth 5 with all leaves on has 458,329 minimal causes of its root, one
for each cut: they are found one after another, so the first ten need not wait for the rest.

    python benchmarks/run.py or_tree
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from time import perf_counter

import actcause as ac
from measure import Figure, Other
from models import Tree, plain_tree

TITLE = "OR trees (modified HP)"
HP2SAT = Other("HP2SAT, its best", 1.7, reported=True)


@dataclass(frozen=True)
class Arguments:
    """Depths of the two trees, and how many causes to read."""

    depth: int = 12
    all_causes_depth: int = 5
    causes: tuple[int, ...] = (10, 1_000)


TINY = Arguments(depth=4, all_causes_depth=3, causes=(1, 25))


def causes_of_or_tree(depth: int) -> int:
    """How many cuts there are, the root not counted.

    >>> causes_of_or_tree(5)
    458329
    """
    cuts = 1
    for _ in range(depth):
        cuts = cuts * cuts + 1
    return cuts - 1


def run(arguments: Arguments) -> Iterator[Figure]:
    yield leaf(plain_tree(arguments.depth, "or", rest=0, exceptions=[-1]), "is the one leaf that is on a cause?", True)
    yield leaf(plain_tree(arguments.depth, "or"), "all leaves on, is one of them a cause?", False)
    for count in arguments.causes:
        yield first(plain_tree(arguments.all_causes_depth, "or"), count, causes_of_or_tree(arguments.all_causes_depth))


def leaf(tree: Tree, what: str, expected: bool) -> Figure:
    scenario = tree.scenario
    event = tree.event(tree.leaf_nodes[-1:])
    runs = []
    for _ in range(3):
        start = perf_counter()
        model = ac.Model.from_text(scenario.text)
        parsed = perf_counter()
        verdict = ac.is_cause(model, context=scenario.context, effect=scenario.effect, event=event)
        runs.append((perf_counter() - start, parsed - start))
    total, parsing = min(runs)
    return Figure(
        "or_tree",
        f"{tree.size:,} nodes: {what} Parsing and query",
        total,
        bar=1.0,
        answer="yes" if verdict else "no",
        right=verdict.holds is expected,
        parts={"parsing": parsing, "query": total - parsing},
        others=(HP2SAT,),
    )


def first(tree: Tree, count: int, total: int) -> Figure:
    scenario = tree.scenario
    start = perf_counter()
    model = ac.Model.from_text(scenario.text)
    answer = ac.causes(model, context=scenario.context, effect=scenario.effect)
    found = list(islice(answer, count))
    seconds = perf_counter() - start
    calls = answer.statistics["solver_calls"]
    distinct = {frozenset(cause.event) for cause in found}
    return Figure(
        "or_tree",
        f"depth {tree.size.bit_length() - 1}: the first {count:,} of {total:,} causes",
        seconds,
        answer=f"{calls:,} solver calls",
        right=len(distinct) == count and all(is_cut(event) for event in distinct),
    )


def is_cut(event: frozenset[str]) -> bool:
    """Whether the nodes lie on every way from the root to a leaf, no two on the same."""
    nodes = {int(name[1:]) for name in event}
    while nodes != {1}:
        lowest = max(nodes)
        sibling, parent = lowest ^ 1, lowest // 2
        if sibling not in nodes or parent in nodes:
            return False
        nodes = nodes - {lowest, sibling} | {parent}
    return True
