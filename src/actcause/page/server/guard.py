"""The guard at the door: who may ask, how much they may send, and what every answer carries.

A page on another site can make a browser send requests to this machine, and can give its own name this
machine's address; so a server without a token answers only requests that name this machine as the host
and do not come from another site.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from .services import Refused
from .settings import LOOPBACK, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "actcause"
UPLOADS = "/api/data/files/"
BODY_SECONDS = 10.0
SLOWEST = 64 << 10  # bytes a second of an upload, once those seconds are over
MOST_PATH = 2000
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def error_body(message: str, line: int | None = None) -> bytes:
    """What every error looks like; ASCII, so that whatever was sent can be shown."""
    return json.dumps({"error": message, "line": line}).encode()


class Guard:
    """Wraps the application; every request passes through here."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *HEADERS, (b"cache-control", b"no-cache")]
            await send(message)

        try:
            headers = {name.lower(): value for name, value in scope["headers"]}
            self._check_path(scope)
            self._check_host(headers)
            self._check_origin(headers)
            if await self._let_in(scope, headers, guarded):
                await self._app(scope, await self._bounded(scope, headers, receive), guarded)
        except Refused as refused:
            if not begun:  # what is left of the body is not waited for
                await _answer(guarded, refused.status, refused.message, [(b"connection", b"close")])
        except Exception:
            traceback.print_exc(file=sys.stderr)
            if not begun:
                await _answer(guarded, 500, "Something went wrong; the server's own output has the details.")

    # -- who may ask ---------------------------------------------------------------------------

    def _check_path(self, scope: Scope) -> None:
        path = scope["path"]
        if len(path) > MOST_PATH or not path.isprintable():
            raise Refused("There is nothing at this address.", status=404)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        if self._settings.token is not None:
            return  # another name has no cookie of ours
        host = _host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in (*LOOPBACK, self._settings.host):
            raise Refused("This server answers only requests for 127.0.0.1 or localhost.", status=403)

    def _check_origin(self, headers: dict[bytes, bytes]) -> None:
        origin = headers.get(b"origin")
        host = headers.get(b"host", b"").decode("latin-1")
        foreign = origin is not None and _net_location(origin.decode("latin-1")) != host
        if foreign or headers.get(b"sec-fetch-site") == b"cross-site":
            raise Refused("Requests from other sites are not answered.", status=403)

    async def _let_in(self, scope: Scope, headers: dict[bytes, bytes], send: Send) -> bool:
        """Whether the request may go on; one that brings the token in its address is sent on with a cookie."""
        token = self._settings.token
        if token is None:
            return True
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=None)
        given = dict(query).get("token")
        if given is not None and _same(given, token):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            location = "/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")
            cookie = f"{COOKIE}={quote(token, safe='')}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(
                send, 303, "", [(b"location", location.encode("latin-1")), (b"set-cookie", cookie.encode("latin-1"))]
            )
            return False
        scheme, _, bearer = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer" and _same(bearer.strip(), token):
            return True
        if _same(_cookie(headers.get(b"cookie", b"").decode("latin-1")), quote(token, safe="")):
            return True
        raise Refused("This server needs its token: open the address that it printed when it started.", status=401)

    # -- how much they may send ----------------------------------------------------------------

    async def _bounded(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """The body, read whole if it is small enough; an upload is passed on piece by piece."""
        limits = self._settings.limits
        streamed = scope["method"] == "PUT" and scope["path"].startswith(UPLOADS)
        most = limits.upload if streamed else limits.body
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > most:
            raise _too_large(most)
        if streamed:
            return _counted(receive, most)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise Refused("The request ended before its body did.", status=400)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _too_large(most)
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            raise _too_slow() from None
        return _replayed(b"".join(parts), receive)


def _too_large(most: int) -> Refused:
    return Refused(f"This is larger than the {most:,} bytes that are accepted.", status=413)


def _too_slow() -> Refused:
    return Refused("The body of the request took too long to arrive.", status=408)


def _counted(receive: Receive, most: int) -> Receive:
    size = 0
    begun = asyncio.get_running_loop().time()
    whole = False

    async def read() -> Message:
        nonlocal size, whole
        try:
            async with asyncio.timeout_at(None if whole else begun + BODY_SECONDS + size / SLOWEST):
                message = await receive()
        except TimeoutError:
            raise _too_slow() from None
        whole = not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > most:
            raise _too_large(most)
        return message

    return read


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def read() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return read


def _host_name(host: str) -> str:
    """The name in a Host header, without its port and its brackets.

    >>> _host_name("[::1]:8000"), _host_name("localhost:8000"), _host_name("evil.example")
    ('::1', 'localhost', 'evil.example')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and ":" in host else host


def _net_location(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8", "replace"))


async def _answer(send: Send, status: int, message: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    body = error_body(message) if message else b""
    kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *(headers or ())]})
    await send({"type": "http.response.body", "body": body})
