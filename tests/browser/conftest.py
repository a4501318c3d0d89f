"""A running explorer and tabs of a real browser; a test fails on whatever the browser complains about."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# With each window Chromium starts processes for the lists below its address bar, and one in reserve, which take as long
# as the page itself. It reads one list of what to leave out, the last: ours is put into that of Playwright.
LEFT_OUT = "SpareRendererForSitePerProcess,WebUIOmniboxAimPopup,WebUIOmniboxPopup"
STARTER = f"""#!/bin/sh
for word do
    shift
    case $word in --disable-features=*) word=$word,{LEFT_OUT} ;; esac
    set -- "$@" "$word"
done
exec {shlex.quote(CHROMIUM)} "$@"
"""


@dataclass(frozen=True)
class Server:
    """Where the explorer runs, the token that lets one in, and its folders."""

    url: str
    token: str
    data: Path
    runs: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("explorer")
    data, runs = folder / "data", folder / "runs"
    data.mkdir()
    runs.mkdir()
    command = [sys.executable, "-m", "actcause", "serve", "--port", "0", "--json"]
    process = subprocess.Popen([*command, "--data", str(data), "--runs", str(runs)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url, _, token = json.loads(process.stdout.readline())["url"].partition("?token=")
        yield Server(url, token, data, runs)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()


class Browser:
    """A browser all of whose windows have been let in."""

    def __init__(self, chromium, server: Server) -> None:
        self._chromium, self._server = chromium, server

    def new_context(self, **options):
        context = self._chromium.new_context(**options)
        context.request.get(f"{self._server.url}?token={self._server.token}")
        return context

    def new_stranger(self, **options):
        """Open a window that has not been let in."""
        return self._chromium.new_context(**options)


@pytest.fixture(scope="session")
def browser(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip("there is no chromium here: apt-get install chromium")
    starter = tmp_path_factory.mktemp("chromium") / "chromium"
    starter.write_text(STARTER)
    starter.chmod(0o755)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=starter, args=["--no-sandbox"])
        yield Browser(chromium, server)
        chromium.close()


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[object]:
    """A new page, 1280 by 800; parts of complaints that a test expects can be added to `tab.expected`."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=server.url, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(30_000)  # a machine may be busy; what is waited for mostly comes within a second
    complaints: list[str] = []
    page.expected = []

    def heard(message) -> None:
        # An answer of 4xx is a mistake that the page tells the user about; the browser logs it as well.
        if message.type == "error" and "the server responded with a status of 4" not in message.text:
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: _stays_here(request.url, server.url, complaints))
    yield page
    context.close()
    assert [text for text in complaints if not any(part in text for part in page.expected)] == []


def _stays_here(url: str, own: str, complaints: list[str]) -> None:
    if not url.startswith((own, "data:", "blob:")):
        complaints.append(f"a request left this machine: {url}")
