"""Start the explorer: its folders, its socket, its token, and the address that visitors are given."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from ...errors import QueryError
from .. import serve
from .settings import GIB, HOST, LOOPBACK, Limits, Settings, home

PORT = 8000
MEMORY, QUOTA = Limits.memory / GIB, Limits.quota / GIB
LEAST_MEMORY, MOST_GIB = 1.0, 1e9
LEAST_TOKEN = 8


def explore(
    data: str | PathLike[str] | None = None,
    runs: str | PathLike[str] | None = None,
    *,
    host: str = LOOPBACK[0],
    port: int = PORT,
    token: str | None = None,
    open_to_all: bool = False,
    allow_host: str | None = None,
    memory: float = MEMORY,
    quota: float = QUOTA,
    ready: Callable[[str], None] = print,
    show: Callable[[str], None] | None = None,
) -> None:
    """Serve the explorer until interrupted; `ready` is called with its address once it answers.

    `data` is the folder of recordings and `runs` that of trained runs, by default folders of the user's own; neither
    may grow beyond `quota` GiB. `memory` is how many GiB a question, and a job such as a training, may take. Port 0 is
    any free one. Visitors must bring the token, which the address holds; without one, one is made up. With
    `open_to_all` there is none, and every user of this machine is let in. Requests must name this machine as their
    host, or `allow_host`, the name of a proxy in front of it. `show` is called with an address for a browser of this
    machine, which works once: other users can see which addresses programs are started with.
    """
    folders = _find_folder("data", data, "recordings"), _find_folder("runs", runs, "runs")
    if token is not None and len(token) < LEAST_TOKEN:
        wrong = f"{{parameter}} must have at least {LEAST_TOKEN} characters; leave it out and one is made up."
        raise QueryError(wrong, parameter="token")
    if open_to_all and (token is not None or host not in LOOPBACK):
        why = "a token is given" if token is not None else f"other machines can reach {host}"
        raise QueryError("{parameter} lets everybody in, but {why}; leave it out.", parameter="open_to_all", why=why)
    limits = Limits(memory=_read_gib("memory", memory, LEAST_MEMORY), quota=_read_gib("quota", quota))
    if allow_host is not None:
        named = HOST.fullmatch(allow_host.lower())
        if named is None:
            raise QueryError(
                "{parameter} must be the name of a host, such as explorer.example.org.", parameter="allow_host"
            )
        allow_host = named["number"] or named["name"]
    if not open_to_all:
        token = token or secrets.token_urlsafe(24)
    entry = secrets.token_urlsafe(24) if token and show is not None else None
    with _listen(host, port) as listening:
        port = listening.getsockname()[1]
        address = _address(host, port)

        def announce() -> None:
            ready(address + (f"?token={quote(token)}" if token else ""))
            if show is not None:
                show(address + (f"?entry={entry}" if entry else ""))

        settings = Settings(
            *folders, host, port, token, entry, any_host=host not in LOOPBACK, allowed_host=allow_host, limits=limits
        )
        serve(settings, listening, announce)


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


def _read_gib(parameter: str, given: float, least: float = 0.0) -> int:
    """Return a limit in bytes; 0 GiB is none."""
    if given and not least <= given < MOST_GIB:
        at_least = f", at least {least:g}" if least else ""
        wrong = f"{{parameter}} must be a number of GiB{at_least}, or 0 for no limit. Got {{given}}."
        raise QueryError(wrong, parameter=parameter, given=given)
    return int(given * GIB) or sys.maxsize


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except (OSError, UnicodeError) as error:
        wrong = "Cannot listen on {address}: there is no such address; choose another {parameter}."
        raise QueryError(wrong, parameter="host", address=host) from error
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        foreign = getattr(error, "errno", None) in (errno.EADDRNOTAVAIL, errno.ENETUNREACH)
        remedy = "this machine has no such address; choose another {parameter}"
        if not foreign:
            remedy = f"{os.strerror(getattr(error, 'errno', 0) or errno.EINVAL)}; choose another {{parameter}}"
            remedy += ", or 0 for any free one" if port else ""
        raise QueryError(
            f"Cannot listen on {{address}}, port {{number}}: {remedy}.",
            parameter="host" if foreign or not port else "port",
            address=host,
            number=port,
        ) from None


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
