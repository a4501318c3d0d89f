"""Connections: a slow or greedy client loses its own, and the others are answered."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from running import run

from actcause.page.server import connections

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = 30_000_000


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer /slow after a while, /large at length, and everything else at once."""
    if scope["path"] == "/slow":
        await asyncio.sleep(0.8)
    body = bytes(LARGE) if scope["path"] == "/large" else b"here"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.4)
    monkeypatch.setattr(connections, "TAKE_SECONDS", 0.4)


def served(test: Callable[[int], Awaitable[Any]], most: int = 100) -> Any:
    """What `test` says of a server at the port that it is given."""

    async def life() -> Any:
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            application, http=connections.Connection, limit_concurrency=most, lifespan="off", log_level="critical"
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            return await test(listening.getsockname()[1])
        finally:
            server.should_exit = True
            await serving

    return run(life())


async def opened(port: int, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    return reader, writer


async def rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """All that comes until the other side hangs up."""
    parts = []
    try:
        async with asyncio.timeout(10):
            while part := await reader.read(1 << 20):
                parts.append(part)
    except ConnectionResetError:
        pass
    writer.close()
    return b"".join(parts)


async def answered(port: int, sent: bytes) -> bytes:
    reader, writer = await opened(port, sent)
    answer = await reader.readuntil(b"here")
    writer.close()
    return answer


@pytest.mark.parametrize("sent", [b"", b"GET / HT", WHOLE[:-2]])
def test_a_head_that_does_not_come_whole_ends_its_connection(sent: bytes) -> None:
    async def test(port: int) -> bytes:
        return await rest(*await opened(port, sent))

    assert served(test) == b""


def test_a_byte_now_and_then_buys_no_time() -> None:
    async def test(port: int) -> float:
        reader, writer = await opened(port)
        begun = time.monotonic()
        ended = asyncio.ensure_future(rest(reader, writer))
        for letter in WHOLE:
            writer.write(bytes([letter]))
            if (await asyncio.wait([ended], timeout=0.1))[0]:
                break
        return time.monotonic() - begun

    assert served(test) < 3


def test_the_time_for_a_head_begins_again_with_the_next_request() -> None:
    async def test(port: int) -> tuple[bytes, bytes]:
        reader, writer = await opened(port, WHOLE)
        first = await reader.readuntil(b"here")
        await asyncio.sleep(0.6)  # longer than a head may take: between requests the connection may rest
        writer.write(WHOLE)
        await reader.readuntil(b"here")
        writer.write(WHOLE[:10])
        return first, await rest(reader, writer)

    first, after = served(test)
    assert first.startswith(b"HTTP/1.1 200")
    assert after == b""


def test_an_answer_may_take_longer_than_a_head() -> None:
    async def test(port: int) -> bytes:
        return await answered(port, WHOLE.replace(b"/ ", b"/slow "))

    assert served(test).startswith(b"HTTP/1.1 200")


def test_an_answer_that_nobody_takes_is_dropped() -> None:
    async def test(port: int) -> int:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(client, WHOLE.replace(b"/ ", b"/large "))
            await asyncio.sleep(1.5)
            taken = 0
            try:
                while part := await asyncio.get_running_loop().sock_recv(client, 1 << 20):
                    taken += len(part)
            except ConnectionResetError:
                pass
            return taken

    assert served(test) < LARGE


def test_a_connection_too_many_is_refused_and_there_is_room_again_later() -> None:
    async def test(port: int) -> tuple[bytes, bytes]:
        waiting = [await opened(port, b"GET") for _ in range(3)]
        await asyncio.sleep(0.1)
        refused = await rest(*await opened(port))
        for each in waiting:
            await rest(*each)
        return refused, await answered(port, WHOLE)

    refused, later = served(test, most=3)
    assert refused.startswith(b"HTTP/1.1 503")
    assert later.startswith(b"HTTP/1.1 200")
