"""An engine without processes, for tests of what engines run rather than of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from actcause.parallel import Outcome


class InProcess:
    """Runs tasks one after the other, here; what `fails` says is raised is raised."""

    workers = 1

    def __init__(self, fails: Callable[[Any], str | None] = lambda task: None) -> None:
        self.fails = fails
        self.begun: list[str] = []

    def run(self, function: Any, tasks: Sequence[Any], *, retries: int = 2, isolated: bool = False) -> Iterator[Any]:
        assert isolated
        for task in tasks:
            self.begun.append(task.name)
            sentence = self.fails(task)
            yield Outcome(None if sentence else function(task), sentence, 1)

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass
