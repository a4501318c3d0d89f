"""The command `serve`: the explorer, a page in the browser."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from ..io.console import print_json
from . import options
from .options import option

PORT = 8000

with suppress(ModuleNotFoundError):  # the command line says what to install
    HostOption = Annotated[str, option("--host ADDRESS", "Where to listen; anything but this machine needs a token.")]
    PortOption = Annotated[int, option("--port N", "0 for any free one.", min=0, max=65535)]
    TokenOption = Annotated[str | None, option("--token TEXT", "What visitors must know.", default="one is made up")]
    RecordingsOption = Annotated[
        Path | None, option("--data DIR", "The folder of recordings.", default="one of your own")
    ]
    RunsOption = Annotated[Path | None, option("--runs DIR", "The folder of trained runs.", default="one of your own")]
    OpenOption = Annotated[bool, option("--open/--no-open", "Open the page in the browser.")]


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    token: TokenOption = None,
    data: RecordingsOption = None,
    runs: RunsOption = None,
    browser: OpenOption = True,
    as_json: options.JsonOption = False,
) -> None:
    """Open the explorer: ask what caused what, and see it, in the browser. Ctrl-C ends it.

    It needs no network and listens to this machine only. On another --host every visitor must bring
    the token that is printed, since they can train models and read the recordings.
    """
    from ..page.server.start import explore

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            print(f"The explorer is at {url}\nCtrl-C ends it.")
        sys.stdout.flush()
        if browser and not as_json:
            _show(url)

    with suppress(KeyboardInterrupt):
        explore(data, runs, host=host, port=port, token=token, ready=announce)


def _show(url: str) -> None:
    """Open the page; a machine without a browser is left in peace."""
    threading.Thread(target=lambda: webbrowser.open(url), daemon=True).start()


COMMANDS: Mapping[Callable[..., int | None], tuple[str, ...]] = {
    serve: (
        "actcause serve",
        "actcause serve --port 0 --no-open",
        "actcause serve --data recordings --runs runs",
        "actcause serve --host 0.0.0.0 --token 'a long secret'",
    )
}
