"""Connections: a slow or greedy client loses its own, and the others are answered."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from running import jump, run, until

from actcause.page.server.connections import HEAD_SECONDS, SPARE, TAKE_SECONDS, Connection

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = 30_000_000


class Server:
    """A server that answers /slow once it is told to, /large at length, and everything else at once."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.told = asyncio.Event()
        self.asked: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        if scope["path"] == "/slow":
            await self.told.wait()
        body = bytes(LARGE) if scope["path"] == "/large" else b"here"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})

    async def open(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        self.writers.append(writer)
        return reader, writer


def serve(test: Callable[[Server], Awaitable[Any]], most: int = 100, http: Any = Connection) -> Any:
    """What `test` says of a server."""

    async def live() -> Any:
        listening = socket.create_server(("127.0.0.1", 0))
        asked = Server(listening.getsockname()[1])
        config = uvicorn.Config(
            asked.answer,
            http=http,
            limit_concurrency=most + SPARE,
            timeout_keep_alive=int(3 * HEAD_SECONDS),
            interface="asgi3",
            lifespan="off",
            log_level="critical",
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await until(lambda: server.started)
            return await test(asked)
        finally:
            for writer in asked.writers:
                writer.transport.abort()
            server.should_exit = True
            await serving

    return run(live())


async def read_rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """All that comes until the other side hangs up."""
    parts = []
    try:
        while part := await reader.read(1 << 20):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", WHOLE[:-2]])
def test_a_head_that_does_not_come_whole_ends_its_connection(sent: bytes) -> None:
    async def test(server: Server) -> bytes:
        client = await server.open(sent)
        answered = await server.open(WHOLE)  # once it is, the server knows of the first one
        await answered[0].readuntil(b"here")
        await jump(HEAD_SECONDS + 1)
        return await read_rest(*client)

    assert serve(test) == b""


def test_uvicorn_itself_waits_for_a_head_for_ever() -> None:
    async def test(server: Server) -> bytes:
        reader, writer = await server.open(WHOLE[:10])
        answered = await server.open(WHOLE)
        await answered[0].readuntil(b"here")
        await jump(100 * HEAD_SECONDS)
        writer.write(WHOLE[10:])
        return await reader.readuntil(b"here")

    assert serve(test, http="h11").startswith(b"HTTP/1.1 200")


def test_a_byte_now_and_then_buys_no_time() -> None:
    async def test(server: Server) -> int:
        reader, writer = await server.open()
        ended = asyncio.ensure_future(read_rest(reader, writer))
        sent = 0
        while not ended.done():
            writer.write(WHOLE[sent : sent + 1])
            sent += 1
            await jump(HEAD_SECONDS / 8)
        assert await ended == b""
        return sent

    assert serve(test) < len(WHOLE)


def test_the_time_for_a_head_begins_again_with_the_next_request() -> None:
    async def test(server: Server) -> bytes:
        reader, writer = await server.open(WHOLE)
        await reader.readuntil(b"here")
        await jump(2 * HEAD_SECONDS)  # between requests the connection may rest
        writer.write(WHOLE)
        await reader.readuntil(b"here")
        writer.write(WHOLE[:10])
        await jump(2 * HEAD_SECONDS)
        return await read_rest(reader, writer)

    assert serve(test) == b""


def test_an_answer_may_take_longer_than_a_head() -> None:
    async def test(server: Server) -> bytes:
        reader, _ = await server.open(WHOLE.replace(b"/ ", b"/slow "))
        await until(lambda: server.asked)
        await jump(2 * HEAD_SECONDS)
        server.told.set()
        return await reader.readuntil(b"here")

    assert serve(test).startswith(b"HTTP/1.1 200")


def test_an_answer_that_nobody_takes_is_dropped() -> None:
    async def test(server: Server) -> int:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(client, WHOLE.replace(b"/ ", b"/large "))
            await until(lambda: server.asked)
            await jump(TAKE_SECONDS + 1)
            taken = 0
            try:
                while part := await loop.sock_recv(client, 1 << 20):
                    taken += len(part)
            except ConnectionResetError:
                pass
            return taken

    assert serve(test) < LARGE


def test_idle_connections_make_room_for_one_that_asks() -> None:
    async def test(server: Server) -> tuple[bytes, list[bytes]]:
        idle = [await server.open(sent) for sent in (b"", b"GET", WHOLE[:-2], b"GET", b"")]
        reader, _ = await server.open(WHOLE)
        answer = await reader.readuntil(b"here")
        return answer, [await read_rest(*client) for client in idle[:3]]

    answer, ended = serve(test, most=3)  # there have been six, and the first three are gone
    assert answer.startswith(b"HTTP/1.1 200")
    assert ended == [b""] * 3


def test_idle_connections_go_before_bodies_that_are_on_their_way() -> None:
    sending = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"

    async def test(server: Server) -> bytes:
        reader, writer = await server.open(sending.replace(b"/ ", b"/slow "))
        await until(lambda: server.asked)
        idle = [await server.open() for _ in range(4)]
        await read_rest(*idle[0])
        writer.write(b"x" * 9)
        server.told.set()
        return await reader.readuntil(b"here")

    assert serve(test, most=3).startswith(b"HTTP/1.1 200")


def test_a_connection_too_many_is_refused_while_all_others_are_answered() -> None:
    async def test(server: Server) -> tuple[bytes, bytes]:
        busy = [await server.open(WHOLE.replace(b"/ ", b"/slow ")) for _ in range(3)]
        await until(lambda: len(server.asked) == 3)
        refused = await read_rest(*await server.open())
        server.told.set()
        for reader, _ in busy:
            await reader.readuntil(b"here")
        reader, _ = await server.open(WHOLE)
        return refused, await reader.readuntil(b"here")

    refused, later = serve(test, most=3)
    assert refused.startswith(b"HTTP/1.1 503")
    assert later.startswith(b"HTTP/1.1 200")
