"""The command `serve`: the explorer, a page in the browser."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from ..errors import QueryError
from ..io.console import print_json
from ..questions import source as sources

PORT = 8000

with suppress(ModuleNotFoundError):  # the command line says what to install
    import typer

    HostOption = Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; anything but this machine needs a token."),
    ]
    PortOption = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 for any free one.")]
    TokenOption = Annotated[
        str | None,
        typer.Option("--token", metavar="TEXT", help="What visitors must know.", show_default="one is made up"),
    ]
    RecordingsOption = Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The folder of recordings.", show_default="one of your own"),
    ]
    RunsOption = Annotated[
        Path | None,
        typer.Option("--runs", metavar="DIR", help="The folder of trained runs.", show_default="one of your own"),
    ]
    OpenOption = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    token: TokenOption = None,
    data: RecordingsOption = None,
    runs: RunsOption = None,
    browser: OpenOption = True,
    as_json: sources.JsonOption = False,
) -> None:
    """Open the explorer: ask what caused what, and see it, in the browser. Ctrl-C ends it.

    It needs no network and listens to this machine only. On another --host every visitor must bring
    the token that is printed, since they can train models and read the recordings.
    """
    from ..page import serve as run
    from ..page.server.settings import LOOPBACK, Settings

    folders = _folder("--data", data, "recordings"), _folder("--runs", runs, "runs")
    if token is not None and len(token) < 8:
        raise QueryError("--token must have at least 8 characters; leave it out and one is made up.")
    if token is None and host not in LOOPBACK:
        token = secrets.token_urlsafe(24)
    with _listening(host, port) as listening:
        port = listening.getsockname()[1]
        url = _address(host, port) + (f"?token={token}" if token else "")

        def ready() -> None:
            if as_json:
                print_json({"url": url})
            else:
                print(f"The explorer is at {url}\nCtrl-C ends it.")
            sys.stdout.flush()
            if browser and not as_json:
                _show(url)

        with suppress(KeyboardInterrupt):
            run(Settings(*folders, host, port, token), listening, ready)


def _folder(option: str, given: Path | None, name: str) -> Path:
    """Return the folder that the user named, which must be there, or one of our own."""
    from ..page.server.settings import home

    if given is not None:
        if not given.is_dir():
            raise QueryError(f"{option}: there is no folder '{given}'; make it first.")
        return given.resolve()
    folder = home() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QueryError(f"'{folder}' cannot be made ({error.strerror}); give a folder with {option}.") from None
    return folder


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=512)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else "there is no such address"
        remedy = "choose another --port, or 0 for any free one" if port else "choose another --host"
        raise QueryError(f"Cannot listen on {host}, port {port}: {reason}; {remedy}.") from None


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _show(url: str) -> None:
    """Open the page; a machine without a browser is left in peace."""
    threading.Thread(target=lambda: webbrowser.open(url), daemon=True).start()


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    serve: (
        "actcause serve",
        "actcause serve --port 0 --no-open",
        "actcause serve --data recordings --runs runs",
        "actcause serve --host 0.0.0.0 --token 'a long secret'",
    ),
}
