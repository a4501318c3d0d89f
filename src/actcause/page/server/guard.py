"""The guard at the door: who may ask, how much they may send, and what every answer carries.

Other users of this machine can connect as well as its owner, so every visitor brings the token: once in the address,
then in a cookie. A page on another site can make a browser send requests to this machine, with that cookie, and can
give its own name this machine's address; so only requests that name this machine as the host are answered, and from
other sites nothing but a click on a link to the page.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
import traceback
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .refusal_pages import wants_page, write_page
from .services import Refused
from .settings import HOST, LOOPBACK, Settings

COOKIE = "actcause"  # followed by the port: cookies are shared by all ports of a host
UPLOADS = "/api/data/files/"
BODY_SECONDS = 10.0
SLOWEST = 64 << 10  # bytes a second of an upload, once those seconds are over
MOST_PATH = 2000
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


def error_response(refused: Refused) -> Response:
    """Write an error as all look; in ASCII, so that whatever was sent can be shown."""
    body = json.dumps({"error": refused.message, "line": refused.line, "parameter": refused.parameter})
    return Response(body, refused.status, media_type="application/json")


def split_host(given: str) -> str:
    """Split the name of a host from its port; nothing where it is not written as one.

    >>> split_host("[::1]:8000"), split_host("localhost"), split_host("[127.0.0.1].evil.example")
    ('::1', 'localhost', '')
    """
    found = HOST.fullmatch(given.lower())
    return "" if found is None else found["number"] or found["name"]


class Guard:
    """Wraps the application; every request passes through here."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._entry = settings.entry
        self._cookie = f"{COOKIE}-{settings.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers.update({name: value for name, value in HEADERS.items() if name not in headers})
            await send(message)

        request = Request(scope)
        try:
            self._check_path(request)
            self._check_host(request)
            self._check_origin(request)
            if (answer := self._check_token(request)) is None:
                await self._app(scope, await self._bound_body(request, receive), send_guarded)
        except Refused as refused:  # what is left of the body is not waited for
            answer = write_page(refused) if wants_page(request) else error_response(refused)
            answer.headers["connection"] = "close"
        except Exception:
            traceback.print_exc(file=sys.stderr)
            message = "Something went wrong; the server's own output has the details."
            answer = error_response(Refused(message, status=500))
        if answer is not None and not begun:
            await answer(scope, receive, send_guarded)

    # -- who may ask ---------------------------------------------------------------------------

    def _check_path(self, request: Request) -> None:
        path = request.scope["path"]
        if len(path) > MOST_PATH or not path.isprintable():
            raise Refused("There is nothing at this address.", status=404)

    def _check_host(self, request: Request) -> None:
        # Not Starlette's TrustedHostMiddleware: it refuses in plain text, without a remedy, which a test wants here
        # (`test_a_foreign_name_that_points_here_is_refused`).
        name = split_host(request.headers.get("host", ""))
        known = (*LOOPBACK, self._settings.host.lower(), self._settings.allowed_host)
        if not name or not (self._settings.any_host or name in known):  # of any host, another has no cookie of ours
            raise Refused("This server answers only requests for 127.0.0.1 or localhost.", status=403)

    def _check_origin(self, request: Request) -> None:
        origin = request.headers.get("origin")
        foreign = origin is not None and _split(origin) != (request.headers.get("host") or None)
        elsewhere = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign or (elsewhere and not _is_link(request)):
            raise Refused("Requests from other sites are not answered.", status=403)

    def _check_token(self, request: Request) -> Response | None:
        """Refuse a request without the token; one that brings it in its address is sent on with a cookie."""
        token = self._settings.token
        if token is None:
            return None
        if _is_same(request.query_params.get("token", ""), token) or self._use_entry(request):
            pairs = request.query_params.multi_items()
            rest = urlencode([pair for pair in pairs if pair[0] not in ("token", "entry")])
            location = "/" + quote(request.scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")
            answer = RedirectResponse(location, status_code=303)
            # Lax, not strict: with the latter a link on another site would open without the cookie.
            answer.set_cookie(self._cookie, quote(token, safe=""), httponly=True, samesite="lax")
            return answer
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        in_header = scheme.lower() == "bearer" and _is_same(bearer.strip(), token)
        if in_header or _is_same(request.cookies.get(self._cookie, ""), quote(token, safe="")):
            return None
        raise Refused("This server needs its token: open the address that it printed when it started.", status=401)

    def _use_entry(self, request: Request) -> bool:
        """Let in, once, the browser that the server itself opens."""
        entry = self._entry
        if entry is None or not _is_same(request.query_params.get("entry", ""), entry):
            return False
        self._entry = None
        return True

    # -- how much they may send ----------------------------------------------------------------

    async def _bound_body(self, request: Request, receive: Receive) -> Receive:
        """Read the body whole if it is small enough; pass an upload on piece by piece."""
        limits = self._settings.limits
        streamed = request.method == "PUT" and request.scope["path"].startswith(UPLOADS)
        most = limits.upload if streamed else limits.body
        declared = request.headers.get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > most:
            raise _too_large(most)
        pieces = _limit(receive, most, SLOWEST if streamed else None)
        if streamed:
            return pieces
        body = bytearray()
        more = True
        while more:
            message = await pieces()
            if message["type"] != "http.request":
                raise Refused("The request ended before its body did.", status=400)
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return _replay(bytes(body), receive)


def _too_large(most: int) -> Refused:
    return Refused(f"This is larger than the {most:,} bytes that are accepted.", status=413)


def _limit(receive: Receive, most: int, slowest: int | None) -> Receive:
    """Receive at most so many bytes, in `BODY_SECONDS`, or as many more as bytes at the `slowest` speed take."""
    size = 0
    begun = asyncio.get_running_loop().time()
    whole = False

    async def read() -> Message:
        nonlocal size, whole
        seconds = BODY_SECONDS + (size / slowest if slowest else 0)
        try:
            async with asyncio.timeout_at(None if whole else begun + seconds):
                message = await receive()
        except TimeoutError:
            raise Refused("The body of the request took too long to arrive.", status=408) from None
        whole = not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > most:
            raise _too_large(most)
        return message

    return read


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receive a body that has been read already, then whatever comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return messages.pop() if messages else await receive()

    return read


def _is_link(request: Request) -> bool:
    """Tell whether somebody clicked a link to the page: it opens in a tab of its own, and shows no data by itself."""
    kind = (request.headers.get("sec-fetch-mode"), request.headers.get("sec-fetch-dest"))
    return request.method == "GET" and kind == ("navigate", "document") and not request.scope["path"].startswith("/api")


def _split(address: str) -> str:
    """Split host and port off the address of a site.

    >>> _split("http://localhost:8000"), _split("null"), _split("http://[")
    ('localhost:8000', '', '')
    """
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8", "replace"))
