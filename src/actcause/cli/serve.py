"""The command `serve`: the explorer, a page in the browser."""

from __future__ import annotations

import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from ..io.console import print_json, print_note
from . import options
from .options import option

PORT = 8000
MEMORY, QUOTA = 4.0, 20.0  # GiB

with suppress(ModuleNotFoundError):  # the command line says what to install
    HostOption = Annotated[str, option("--host ADDRESS", "Where to listen; 0.0.0.0 for other machines too.")]
    PortOption = Annotated[int, option("--port N", "0 for any free one.", min=0, max=65535)]
    TokenOption = Annotated[
        str | None,
        option("--token TEXT", "What visitors must know.", default="one is made up", envvar="ACTCAUSE_TOKEN"),
    ]
    NoTokenOption = Annotated[bool, option("--no-token", "Let every user of this machine in, as you.")]
    AllowHostOption = Annotated[
        str | None, option("--allow-host NAME", "Answer requests for this name too: that of a proxy.", default="none")
    ]
    MemoryOption = Annotated[
        float, option("--memory GIB", "The most that a question, or a training, may take; 0 for no limit.")
    ]
    QuotaOption = Annotated[
        float, option("--quota GIB", "The most that each of both folders may hold; 0 for no limit.")
    ]
    RecordingsOption = Annotated[
        Path | None, option("--data DIR", "The folder of recordings.", default="one of your own")
    ]
    RunsOption = Annotated[Path | None, option("--runs DIR", "The folder of trained runs.", default="one of your own")]
    OpenOption = Annotated[bool, option("--open/--no-open", "Open the page in the browser.")]


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    token: TokenOption = None,
    no_token: NoTokenOption = False,
    allow_host: AllowHostOption = None,
    data: RecordingsOption = None,
    runs: RunsOption = None,
    memory: MemoryOption = MEMORY,
    quota: QuotaOption = QUOTA,
    browser: OpenOption = True,
    as_json: options.JsonOption = False,
) -> None:
    """Open the explorer: ask what caused what, and see it, in the browser. Ctrl-C ends it.

    It needs no network and listens to this machine only. The address that it prints holds a token, which every
    visitor must bring, since they can train models, store files and read the recordings as you.
    """
    from ..page.server.start import explore

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            print(f"The explorer is at {url}\nCtrl-C ends it.")
        if no_token:
            print_note("without a token, every user of this machine can use the explorer, as you.")
        sys.stdout.flush()

    show = _open_browser if browser and not as_json else None
    with suppress(KeyboardInterrupt):
        explore(
            data, runs, host=host, port=port, token=token, open_to_all=no_token, allow_host=allow_host,
            memory=memory, quota=quota, ready=announce, show=show,
        )  # fmt: skip


def _open_browser(url: str) -> None:
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
