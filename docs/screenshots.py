"""Pictures of every view of the explorer for the docs: light and dark, for half a screen, a laptop and a projector.

python docs/screenshots.py [VIEW ...]      writes docs/img/explorer-VIEW-WIDTH-THEME.png

Needs chromium. Look at the pictures before you keep them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parent / "img"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZES = {640: 900, 1280: 800, 1920: 1080}
THEMES = ("light", "dark")


def show_answer(page: Page) -> None:
    """Wait for the answer to the first question."""
    page.wait_for_selector(".overview")


def show_witness(page: Page) -> None:
    """Show a cause's witness at its last step."""
    page.wait_for_selector(".overview")
    page.locator(".overview tbody tr", has_text="modified").locator(".mark.cause").last.click()
    page.locator(".player .step").last.click()
    page.locator(".verdict-line").scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # colours fade in


def show_judged_step(page: Page) -> None:
    """Show an episode that a run has judged, at a step in which something acts."""
    page.get_by_text("without pusher").wait_for()
    page.keyboard.press("n")
    wait_for_view(page)


def wait_for_view(page: Page) -> None:
    """Wait for a view to load what it shows."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(2000)


VIEWS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "ask": ("#/ask", show_answer),
    "witness": ("#/ask", show_witness),
    "preimages": ("#/preimages?example=pusher-1d", wait_for_view),
    "replay": ("#/replay?file=push.parquet&run=push&step=1", show_judged_step),
    "runs": ("#/runs", wait_for_view),
    "data": ("#/data?file=push.parquet", wait_for_view),
}


UNTRAINED = {"ask", "witness", "preimages"}  # views that need no run


@contextmanager
def start_explorer(trained: bool) -> Iterator[str]:
    """Start an explorer, if wanted with a recording and a small run to look at; its address holds the token."""
    with tempfile.TemporaryDirectory() as folder:
        data, runs = Path(folder, "data"), Path(folder, "runs")
        data.mkdir()
        runs.mkdir()
        actcause = [sys.executable, "-m", "actcause"]
        quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL}
        recording = str(data / "push.parquet")
        if trained:
            subprocess.run([*actcause, "collect", "push", "--frames", "4000", "--out", recording], **quiet)
            tiny = ["--set", "steps=600", "--set", "width=32", "--set", "distil_steps=300"]
            subprocess.run([*actcause, "train", recording, "--out", str(runs / "push"), *tiny], **quiet)
        command = [*actcause, "serve", "--port", "0", "--json", "--data", str(data), "--runs", str(runs)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def main(names: list[str]) -> None:
    """Take the pictures of some views, or of all."""
    FOLDER.mkdir(exist_ok=True)
    with start_explorer(not set(names or VIEWS) <= UNTRAINED) as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, height in SIZES.items():
            for theme in THEMES:
                window = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
                window.request.get(url)  # which leaves the token's cookie
                for name in names or VIEWS:
                    address, prepare = VIEWS[name]
                    page = window.new_page()
                    page.set_default_timeout(120_000)  # a run judges rows at a low priority
                    page.goto(url.partition("?")[0] + address)
                    prepare(page)
                    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
                    # A palette is a third of the size, and nobody sees the difference.
                    picture.quantize(256, dither=Image.Dither.NONE).save(
                        FOLDER / f"explorer-{name}-{width}-{theme}.png", optimize=True
                    )
                    page.close()
                window.close()
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:])
