"""Connections that cannot hold the server up: so many at a time, each soon saying what it wants and taking its answer.

When there are too many, one that waits makes room for the newcomer: the one that has been idle longest, or, if none
is, the one whose request has been on its way longest. So those who only hold connections open lock nobody out.

A client may send the head of a request one byte an hour, or never read what it asked for. uvicorn has no option
against either: `timeout_keep_alive` begins after an answer, and `limit_concurrency` waits for a whole head
(`test_uvicorn_itself_waits_for_a_head_for_ever` in `tests/page/test_page_connections.py`). So its protocol is extended
here, by the callbacks of `asyncio.Protocol`; of uvicorn's own attributes only `cycle`, the request under way, and those
of the limit are read. Its own limit counts connections that are about to close, so it is `SPARE` higher than ours.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0  # in which the head of a request must be there, from the connection or from its first byte
SPARE = 64
TAKE_SECONDS = 60.0  # in which a client must have taken some of an answer that waits for it
FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(H11Protocol):
    """One client's connection; beyond `limit_concurrency` less `SPARE` of them, one that waits is closed."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadlines: dict[str, asyncio.TimerHandle] = {}  # by what is waited for
        self._since = 0.0  # when it was opened, or last asked something

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = asyncio.get_running_loop().time()
        if self._make_room():
            self._expect("head", HEAD_SECONDS)
        else:
            transport.write(FULL)
            transport.close()

    def _make_room(self) -> bool:
        """Close a connection that waits, if there are too many; return whether there is room for this one."""
        others = [each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()]
        if self.limit_concurrency is None or len(others) <= self.limit_concurrency - SPARE:
            return True
        waiting = [each for each in others if each is not self and each.waits_for_head is not None]
        if not waiting:
            return False
        min(waiting, key=lambda each: (not each.waits_for_head, each._since)).transport.abort()
        return True

    @property
    def waits_for_head(self) -> bool | None:
        """Whether it waits for the head of a request, or else for the rest of one; None while it is answered."""
        if self.cycle is None or self.cycle.response_complete:
            return True
        return False if self.cycle.more_body else None

    def data_received(self, data: bytes) -> None:
        if self.waits_for_head:
            self._since = asyncio.get_running_loop().time()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_expecting("head")
        else:
            self._expect("head", HEAD_SECONDS)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect("room", TAKE_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_expecting("room")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for what in list(self._deadlines):
            self._stop_expecting(what)

    def _expect(self, what: str, seconds: float) -> None:
        """End the connection unless that comes in time; to wait on does not begin anew."""
        if what not in self._deadlines:
            self._deadlines[what] = asyncio.get_running_loop().call_later(seconds, self.transport.abort)

    def _stop_expecting(self, what: str) -> None:
        if deadline := self._deadlines.pop(what, None):
            deadline.cancel()
