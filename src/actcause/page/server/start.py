"""Start the explorer: its folders, its socket, its token, and the address that visitors are given."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ...errors import QueryError
from .. import serve
from .settings import LOOPBACK, Settings, home

PORT = 8000
LEAST_TOKEN = 8


def explore(
    data: str | PathLike[str] | None = None,
    runs: str | PathLike[str] | None = None,
    *,
    host: str = LOOPBACK[0],
    port: int = PORT,
    token: str | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve the explorer until interrupted; `ready` is called with its address once it answers.

    `data` is the folder of recordings and `runs` that of trained runs, by default folders of the user's own. Port 0
    is any free one. Visitors of another host than this machine must bring the token; without one, one is made up.
    """
    folders = _find_folder("data", data, "recordings"), _find_folder("runs", runs, "runs")
    if token is not None and len(token) < LEAST_TOKEN:
        wrong = f"{{parameter}} must have at least {LEAST_TOKEN} characters; leave it out and one is made up."
        raise QueryError(wrong, parameter="token")
    if token is None and host not in LOOPBACK:
        token = secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        port = listening.getsockname()[1]
        url = _address(host, port) + (f"?token={token}" if token else "")
        serve(Settings(*folders, host, port, token), listening, lambda: ready(url))


def _find_folder(parameter: str, given: str | PathLike[str] | None, name: str) -> Path:
    """Return the folder that the user named, which must be there, or one of the user's own."""
    if given is not None:
        if not Path(given).is_dir():
            wrong = "{parameter}: there is no folder '{given}'; make it first."
            raise QueryError(wrong, parameter=parameter, given=given)
        return Path(given).resolve()
    folder = home() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        wrong = "'{folder}' cannot be made ({reason}); give a folder with {parameter}."
        raise QueryError(wrong, parameter=parameter, folder=folder, reason=error.strerror) from None
    return folder


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=512)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else "there is no such address"
        remedy = "choose another {port}, or 0 for any free one" if port else "choose another {host}"
        wrong, blamed = (
            f"Cannot listen on {{address}}, port {{number}}: {{reason}}; {remedy}.",
            "port" if port else "host",
        )
        raise QueryError(wrong, parameter=blamed, address=host, number=port, reason=reason) from None


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
