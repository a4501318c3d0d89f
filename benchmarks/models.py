"""The models that are measured: rock throwers, trees of gates, votes, random gates."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Scenario:
    """A model's text, what happened in it, and the effect to be explained."""

    text: str
    context: Mapping[str, int]
    effect: str


# -- rock throwers ---------------------------------------------------------------------------------


def rock_throwers(throwers: int) -> Scenario:
    """All throw; each hits unless one before him did. The text grows with the square of the number.

    >>> print(rock_throwers(3).text)
    T1
    T2
    T3
    H1 = T1
    H2 = T2 and not H1
    H3 = T3 and not H1 and not H2
    BS = H1 or H2 or H3
    """
    hits = [" and not ".join([f"T{i}", *(f"H{j}" for j in range(1, i))]) for i in range(1, throwers + 1)]
    return _shatter(hits)


def rock_throwers_linear(throwers: int) -> Scenario:
    """Ask the same in a text of linear size: the first thrower's hit preempts every other one.

    >>> print(rock_throwers_linear(3).text.splitlines()[-3:])
    ['H2 = T2 and not H1', 'H3 = T3 and not H1', 'BS = H1 or H2 or H3']
    """
    return _shatter(["T1", *(f"T{i} and not H1" for i in range(2, throwers + 1))])


def _shatter(hits: Sequence[str]) -> Scenario:
    throws = [f"T{i}" for i in range(1, len(hits) + 1)]
    names = [f"H{i}" for i in range(1, len(hits) + 1)]
    lines = [*throws, *(f"{name} = {hit}" for name, hit in zip(names, hits, strict=True)), f"BS = {' or '.join(names)}"]
    return Scenario("\n".join(lines), dict.fromkeys(throws, 1), "BS == 1")


# -- binary trees ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A complete binary tree of gates: node 1 is the root, `2i` and `2i + 1` are the children of `i`.

    `gates[i - 1]` is the gate of inner node `i`; `leaves` are the values of the leaves, left to right.
    """

    gates: tuple[str, ...]
    leaves: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.gates) + len(self.leaves)

    @property
    def leaf_nodes(self) -> range:
        return range(len(self.leaves), self.size + 1)

    @cached_property
    def values(self) -> list[int]:
        """The value of every node, by number; the first entry is not used."""
        values = [0] * len(self.leaves) + list(self.leaves)
        for node in range(len(self.gates), 0, -1):
            values[node] = self.apply(node, values[2 * node], values[2 * node + 1])
        return values

    def apply(self, node: int, left: int, right: int) -> int:
        return left & right if self.gates[node - 1] == "and" else left | right

    @property
    def scenario(self) -> Scenario:
        leaves = [f"N{node}" for node in self.leaf_nodes]
        inner = [f"N{i} = N{2 * i} {self.gates[i - 1]} N{2 * i + 1}" for i in range(len(self.gates), 0, -1)]
        context = dict(zip(leaves, self.leaves, strict=True))
        return Scenario("\n".join([*leaves, *inner]), context, f"N1 == {self.values[1]}")

    def event(self, nodes: Sequence[int]) -> dict[str, int]:
        """Set these nodes to their actual values."""
        return {f"N{node}": self.values[node] for node in nodes}


def plain_tree(depth: int, gate: str = "or", rest: int = 1, exceptions: Sequence[int] = ()) -> Tree:
    """All gates alike and all leaves at `rest`, but for the leaves at some positions.

    >>> plain_tree(2, "or", rest=0, exceptions=[3]).values[1:]
    [1, 0, 1, 0, 0, 0, 1]
    """
    leaves = [rest] * 2**depth
    for position in exceptions:
        leaves[position] = 1 - rest
    return Tree((gate,) * (2**depth - 1), tuple(leaves))


def cut(count: int) -> list[int]:
    """`count` nodes of a binary tree, one of them on every way from the root to a leaf.

    >>> cut(3)
    [3, 4, 5]
    """
    nodes = [1]
    while len(nodes) < count:
        node = nodes.pop(0)
        nodes += [2 * node, 2 * node + 1]
    return nodes


def mixed_tree(depth: int, count: int, seed: int) -> tuple[Tree, list[int]]:
    """Random gates under a cut of `count` nodes that are all 1, and OR above it; with a cause of `count` leaves.

    Values are drawn from the root down. Under the cut no OR has two children that are 1, so that each
    node of the cut hangs on single leaves.
    """
    rng = random.Random(seed)
    top = cut(count)
    above = set(range(1, max(top) + 1)) - {node for start in top for node in _below(start, max(top))}
    values, gates = {1: 1}, []
    for node in range(1, 2**depth):
        if node in above:
            gate, children = "or", (1, 1)
        elif values[node]:
            gate, children = rng.choice([("and", (1, 1)), ("or", (1, 0)), ("or", (0, 1))])
        else:
            gate, children = rng.choice([("or", (0, 0)), ("and", (0, 1)), ("and", (1, 0)), ("and", (0, 0))])
        gates.append(gate)
        values[2 * node], values[2 * node + 1] = children
    tree = Tree(tuple(gates), tuple(values[node] for node in range(2**depth, 2 ** (depth + 1))))
    return tree, [_leaf_under(tree, node, rng) for node in top]


def _below(node: int, last: int) -> list[int]:
    """List a node and its descendants with numbers up to `last`."""
    if node > last:
        return []
    return [node, *_below(2 * node, last), *_below(2 * node + 1, last)]


def _leaf_under(tree: Tree, node: int, rng: random.Random) -> int:
    while node <= len(tree.gates):
        node = rng.choice([child for child in (2 * node, 2 * node + 1) if tree.values[child]])
    return node


# -- votes and random gates ------------------------------------------------------------------------


def voting(voters: int) -> Scenario:
    """All vote for, and a strict majority carries it.

    >>> print(voting(3).text.splitlines()[-1])
    W = V1 + V2 + V3 >= 2
    """
    names = [f"V{i}" for i in range(1, voters + 1)]
    text = "\n".join([*names, f"W = {' + '.join(names)} >= {voters // 2 + 1}"])
    return Scenario(text, dict.fromkeys(names, 1), "W == 1")


def random_gates(variables: int, seed: int) -> Scenario:
    """Make a third of the variables roots, each other one a random gate of two that come shortly before it."""
    rng = random.Random(seed)
    roots = max(2, variables // 3)
    lines = [f"X{i}" for i in range(1, roots + 1)]
    for i in range(roots + 1, variables + 1):
        left, right = (f"({rng.choice(['', 'not '])}X{j})" for j in rng.sample(range(i - roots, i), 2))
        lines.append(f"X{i} = {left} {rng.choice(['and', 'or', '!='])} {right}")
    context = {f"X{i}": rng.randint(0, 1) for i in range(1, roots + 1)}
    return Scenario("\n".join(lines), context, f"X{variables}")


def joined_gates(variables: int, seed: int) -> Scenario:
    """Make half of the variables roots, the others random gates of two or three, so that all bear on the last one."""
    rng = random.Random(seed)
    names = [f"R{i}" for i in range(variables // 2)]
    lines, unread = list(names), list(names)
    for i in range(variables - len(names)):
        last = i == variables - variables // 2 - 1
        parents = rng.sample(unread, len(unread) if last else min(rng.choice([2, 2, 3]), len(unread)))
        if not last and rng.random() < 0.4:
            parents.append(rng.choice(names))
        parents = list(dict.fromkeys(parents))
        if len(parents) < 2:
            parents.append(rng.choice([name for name in names if name not in parents]))
        gate = rng.choice([" and ", " or "])
        literals = [("not " if rng.random() < 0.15 else "") + parent for parent in parents]
        names.append(f"G{i}")
        lines.append(f"G{i} = {gate.join(literals)}")
        unread = [*(name for name in unread if name not in parents), f"G{i}"]
    return Scenario("\n".join(lines), dict.fromkeys((name for name in names if name[0] == "R"), 1), names[-1])
