"""Surprises of 15 variables in binary trees of 4,095: is the whole event, and nothing less, a cause?

Of each kind of tree (OR, AND, random gates) there are events that are causes and events that are not:
because they undo nothing (AC2) or because a part of them would do (AC3). What is right is computed apart,
by one pass over the tree (`tree_verdict`).

    python benchmarks/run.py cause_sets
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import actcause as ac
from measure import Figure, Other
from models import Tree, cut, mixed_tree, plain_tree

TITLE = "Cause sets of 15 candidates in trees of 4,095 variables (modified HP)"
HP2SAT = (Other("HP2SAT", 7301.0, reported=True), Other("HP2SAT's MaxSAT branch", 1.35, reported=True))


@dataclass(frozen=True)
class Arguments:
    """Depth of the trees, size of the events, and the random trees' seeds."""

    depth: int = 11
    candidates: int = 15
    seeds: tuple[int, ...] = (0, 1, 2)


TINY = Arguments(depth=5, candidates=4, seeds=(0,))


def tree_verdict(tree: Tree, event: Collection[int]) -> bool:
    """Whether the event is a cause of the root by modified Halpern-Pearl.

    Subtrees do not interact, so the values that a node can take when the event is changed and others are
    held or not are its actual one and those that its gate makes of its children's. What a set of variables
    can undo, a larger set can undo as well, so AC3 needs only events with one variable less.
    """
    return _undoes(tree, event) and not any(_undoes(tree, set(event) - {node}) for node in event)


def _undoes(tree: Tree, event: Collection[int]) -> bool:
    reached: list[set[int]] = [{value} for value in tree.values]
    for node in event:
        reached[node] = {0, 1}
    for node in range(len(tree.gates), 0, -1):
        left, right = reached[2 * node], reached[2 * node + 1]
        reached[node] = reached[node] | {tree.apply(node, a, b) for a in left for b in right}
    return len(reached[1]) == 2


def cases(arguments: Arguments) -> Iterator[tuple[str, Tree, Sequence[int]]]:
    depth, count = arguments.depth, arguments.candidates
    rng = random.Random(0)
    chosen = sorted(rng.sample(range(2**depth), count))
    leaves = [2**depth + position for position in chosen]
    yield "OR, all on: a cut of inner nodes", plain_tree(depth, "or"), cut(count)
    yield "OR, all on: a cut less one node, and a leaf", plain_tree(depth, "or"), [*cut(count)[1:], leaves[0]]
    yield "OR, all on: leaves", plain_tree(depth, "or"), leaves
    yield "OR, these leaves on", plain_tree(depth, "or", rest=0, exceptions=chosen), leaves
    yield "AND, all on: leaves", plain_tree(depth, "and"), leaves
    yield "AND, these leaves off", plain_tree(depth, "and", exceptions=chosen), leaves
    for seed in arguments.seeds:
        tree, cause = mixed_tree(depth, count, seed)
        other = rng.choice([node for node in tree.leaf_nodes if node not in cause])
        yield f"random gates {seed}: a cause of leaves", tree, cause
        yield f"random gates {seed}: one leaf another", tree, [*cause[1:], other]
        yield f"random gates {seed}: random nodes", tree, rng.sample(range(2, tree.size + 1), count)


def run(arguments: Arguments) -> Iterator[Figure]:
    for index, (what, tree, event) in enumerate(cases(arguments)):
        scenario = tree.scenario
        runs = []
        for _ in range(3):
            start = perf_counter()
            model = ac.Model.from_text(scenario.text)
            parsed = perf_counter()
            verdict = ac.is_cause(model, context=scenario.context, effect=scenario.effect, event=tree.event(event))
            runs.append((perf_counter() - start, parsed - start))
        total, parsing = min(runs)
        yield Figure(
            "cause_sets",
            what,
            total,
            bar=2.0,
            answer="yes" if verdict else f"no ({verdict.failed})",
            right=verdict.holds is tree_verdict(tree, event),
            parts={"parsing": parsing, "query": total - parsing},
            others=HP2SAT if index == 0 else (),
        )
