"""An order of variables in which few are open at a time: parents first, what can be closed soon before what cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import NamedTuple


class OpenVariables(NamedTuple):
    """A variable that is next, with those that are open before it and those of them all that stay open after it."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class TooWideError(Exception):
    """More is open at a time than can be remembered."""


def order_narrowly(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, int], watched: Collection[str], most: int
) -> list[OpenVariables]:
    """Order variables, given parents first, and say what is open around each; those watched stay open.

    What has no parents comes just before it is read. Of the others that may be next, the one comes after which fewest
    combinations of values are open. If more than `most` would be, `TooWideError` is raised.
    """
    place = {name: number for number, name in enumerate(parents)}
    unread = Counter(parent for names in parents.values() for parent in names)
    readers: dict[str, list[str]] = {}
    for name, own in parents.items():
        for parent in own:
            readers.setdefault(parent, []).append(name)
    late = {name for name, own in parents.items() if not own and name not in watched}
    missing = {name: sum(parent not in late for parent in own) for name, own in parents.items() if name not in late}
    ready = {name for name, count in missing.items() if not count}
    plan: list[OpenVariables] = []
    open_now: tuple[str, ...] = ()

    def close(names: Sequence[str], reader: str) -> tuple[str, ...]:
        """Return which of these stay open after one was read."""
        read = parents[reader]
        return tuple(name for name in names if name in watched or unread[name] > (name in read))

    def bring_in(name: str) -> tuple[str, ...]:
        return tuple(parent for parent in parents[name] if parent in late and parent not in open_now)

    def judge(name: str) -> tuple[int, int]:
        stay = close((*open_now, *bring_in(name), name), name)
        return prod(sizes[other] for other in stay), place[name]

    while ready:
        name = min(ready, key=judge)
        for parent in bring_in(name):
            plan.append(OpenVariables(parent, open_now, (*open_now, parent)))
            open_now = plan[-1].after
        everything = (*open_now, name)
        if prod(sizes[other] for other in everything) > most:
            raise TooWideError
        plan.append(OpenVariables(name, open_now, close(everything, name)))
        open_now = plan[-1].after
        unread.subtract(parents[name])
        ready.remove(name)
        for reader in readers.get(name, ()):
            missing[reader] -= 1
            if not missing[reader]:
                ready.add(reader)
    return plan
