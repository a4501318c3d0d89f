"""Facts about an expression that one pass over its nodes collects; nothing is evaluated."""

from __future__ import annotations

from typing import NamedTuple

from .arithmetic import Call, Negative, OperatorChain
from .expression import Expression, Name
from .logic import Not


class Facts(NamedTuple):
    """What one pass over an expression collects."""

    names: tuple[str, ...]  # every name once, in reading order
    read_once: bool  # whether no name occurs twice
    arithmetic: bool  # whether a value could be large
    divides: bool  # whether evaluation can fail
    nodes: int


def facts(expression: Expression) -> Facts:
    """Collect the facts about an expression in one pass; large models have millions of nodes."""
    names: list[str] = []
    arithmetic = division = False
    nodes = 0
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        nodes += 1
        kind = type(node)
        if kind is Name:
            names.append(node.name)  # type: ignore[attr-defined]
        elif kind is Not:
            stack.append(node.operand)  # type: ignore[attr-defined]
        else:
            if kind is OperatorChain:
                arithmetic = True
                division = division or any(symbol in ("//", "%") for symbol, _ in node.steps)  # type: ignore[attr-defined]
            elif kind is Negative or kind is Call:
                arithmetic = True
            stack.extend(reversed(node.children()))
    unique = tuple(dict.fromkeys(names))
    return Facts(unique, len(unique) == len(names), arithmetic, division, nodes)
