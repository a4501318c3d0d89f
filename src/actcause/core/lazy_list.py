"""A list whose entries are searched for as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, overload

from .answer import Status

T = TypeVar("T")


class LazyList(Sequence[T]):
    """Entries of a search, and how it ended; `len`, `[-1]` and `status` read it to its end."""

    def __init__(self, search: Iterator[T | Status], statistics: Mapping[str, int]) -> None:
        self.statistics, self._search = statistics, search
        self._found: list[T] = []
        self._status: Status | None = None

    def _read(self, count: int | None) -> list[T]:
        while self._status is None and (count is None or len(self._found) < count):
            step = next(self._search, Status.COMPLETE)
            if isinstance(step, Status):
                self._status = step
            else:
                self._found.append(step)
        return self._found

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            ends = (index.start, index.stop)
            forward = (index.step or 1) > 0 and all(end is None or end >= 0 for end in ends)
            return self._read(index.stop if forward else None)[index]
        return self._read(index + 1 if index >= 0 else None)[index]

    def __iter__(self) -> Iterator[T]:
        position = 0
        while len(found := self._read(position + 1)) > position:
            yield found[position]
            position += 1

    def __len__(self) -> int:
        return len(self._read(None))

    def __bool__(self) -> bool:
        return bool(self._read(1))

    @property
    def status(self) -> Status:
        """How the search ended; asking runs it to its end."""
        self._read(None)
        assert self._status is not None
        return self._status

    def _describe(self, if_none: str) -> str:
        """Write the first few entries, each in a sentence."""
        shown = self[:5]
        more = len(self._read(6)) > 5
        return "\n".join(map(str, shown)) + ("\n… and more." if more else "") if shown else if_none
