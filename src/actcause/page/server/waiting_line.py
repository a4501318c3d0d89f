"""The line of questions that wait for a process: the newest goes first, and one that had a turn goes last.

So a question that has just come waits for none that came before it, however many there are; and one that was cut short
is not refused for that, but asked again when nothing new is there.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Process = TypeVar("Process")


def _make_future() -> asyncio.Future[Process]:
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False)
class Place(Generic[Process]):
    """A question's place in the line: when it came, whether it had a turn, and the process that it will be given."""

    came: float
    tried: bool = False
    process: asyncio.Future[Process] = field(default_factory=_make_future)


class WaitingLine(Generic[Process]):
    """Questions that wait: `new` ones, the newest last, and those that were `tried`, the first that gave way first."""

    def __init__(self) -> None:
        self.new: list[Place[Process]] = []
        self.tried: list[Place[Process]] = []

    def join(self, came: float, tried: bool) -> Place[Process]:
        """Take a place."""
        place: Place[Process] = Place(came, tried)
        (self.tried if tried else self.new).append(place)
        self.new.sort(key=lambda each: each.came)  # one whose process had died comes back
        return place

    def leave(self, place: Place[Process]) -> None:
        for line in (self.new, self.tried):
            if place in line:
                line.remove(place)

    def shorten(self, most: int) -> None:
        """Cancel the oldest places if there are too many, so that a newcomer is not refused for them."""
        while len(self.new) + len(self.tried) > most:
            (self.tried or self.new).pop(0).process.cancel()

    def call_next(self, *, spare: bool, newest: float) -> Place[Process] | None:
        """Call who is next; a process that is not to spare goes only to one that came after the newest so far."""
        if self.new and (spare or self.new[-1].came > newest):
            return self.new.pop()
        return self.tried.pop(0) if spare and self.tried else None
