"""Refusals as people see them: a page in a sentence or two, where a browser asked for one."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from starlette.requests import Request
from starlette.responses import Response

from .services import Refused

TITLES = {401: "This explorer needs its token", 403: "This request was not let in", 404: "Nothing is here"}
STYLE = (
    "body{font:1.1rem/1.6 system-ui,sans-serif;max-width:38rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}"
    "input,button{font:inherit;padding:.3rem .6rem}input{width:20rem;max-width:100%}"
)
DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{DIGEST}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
# The form goes to the address that was asked for, so that a link with a question in it still opens that question.
ASK_TOKEN = (
    "<p>The address that <code>actcause serve</code> printed when it started ends in it: open that address, or paste "
    'the token here.</p><form><label>Token <input name="token" type="password" autocomplete="off" autofocus required>'
    "</label> <button>Open</button></form>"
)
GO_HOME = '<p><a href="/">Open the explorer</a></p>'


def wants_page(request: Request) -> bool:
    """Tell whether a browser asked for something to show, not the page for data."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def write_page(refused: Refused) -> Response:
    """Write a refusal as a page of its own, which needs no other file."""
    title = TITLES.get(refused.status, "This could not be answered")
    rest = ASK_TOKEN if refused.status == 401 else f"<p>{escape(refused.message)}</p>{GO_HOME}"
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{STYLE}</style><h1>{title}</h1>{rest}</html>"
    )
    return Response(body, refused.status, {"content-security-policy": POLICY}, "text/html")
