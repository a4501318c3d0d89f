"""Pictures of every view of the explorer: light and dark, for half a screen, a laptop and a projector.

python docs/screenshots.py [VIEW ...]                  those of the docs: docs/img/explorer-VIEW-WIDTH-THEME.png
python docs/screenshots.py --out FOLDER [VIEW ...]     all scenes, whole pages, to be looked at
... --kept FOLDER                                      the recordings and runs that are shown, kept for the next time
... --width WIDTH                                      for one window only: 640, 1280 or 1920

Needs chromium. Look at the pictures before you keep them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parent / "img"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZES = {640: 900, 1280: 800, 1920: 1080}
THEMES = ("light", "dark")
ACTCAUSE = [sys.executable, "-m", "actcause"]


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


def show_states(page: Page) -> None:
    """Show every state, and why one of them is as it is."""
    page.wait_for_selector(".figures")
    page.wait_for_selector(".why ul")
    wait_for_view(page)


def wait_for_view(page: Page) -> None:
    """Wait for a view to load what it shows."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(2000)


def show_further_questions(page: Page) -> None:
    """Open what is asked below an answer, and a term's sentence."""
    page.wait_for_selector(".overview")
    page.get_by_text("What explains it to someone").click()
    page.get_by_text("How probably was it").click()
    page.locator(".measures").wait_for()
    page.locator(".further .term").first.click()


def show_mistakes(page: Page) -> None:
    """Type a model of one's own with a mistake in it."""
    page.wait_for_selector(".overview")
    page.get_by_role("button", name="New model").click()
    page.locator("#model-text").fill("Rain\nMatch\nFire = Match and not Rian\nLoss in 0..3 = 3 if Fire else 0")
    page.get_by_text("How to write a model").click()
    page.locator(".gutter .wrong").wait_for()


def show_large_graph(page: Page) -> None:
    """Draw five hundred variables."""
    page.wait_for_selector(".overview")
    lines = [f"A{k}" for k in range(20)]
    lines += [f"B{k} = A{k % 20} and A{7 * k % 20}" for k in range(180)]
    lines += [f"B{k} = B{k - 180} or B{k - 61}" for k in range(180, 479)]
    page.get_by_role("button", name="New model").click()
    page.locator("#model-text").fill("\n".join([*lines, "End = " + " and ".join(f"B{k}" for k in range(470, 479))]))
    page.locator("svg.graph [data-name=End]").wait_for()
    wait_for_view(page)


def show_tour(page: Page) -> None:
    """Begin the tour."""
    page.wait_for_selector(".overview")
    page.get_by_role("button", name="Show me").click()


def show_chain(page: Page) -> None:
    """Trace an event back to the actions behind it."""
    page.locator("svg.local-graph").wait_for()
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.get_by_role("button", name="Why block?").click()
    page.locator("svg.chain").wait_for()
    wait_for_view(page)


def show_found_graph(page: Page) -> None:
    """Show whole states with local graphs that a run has found."""
    page.get_by_role("columnheader", name="caused by (found)").wait_for()
    page.keyboard.press("n")
    wait_for_view(page)


def show_columns(page: Page) -> None:
    """Say what the columns of a table of one's own mean."""
    page.get_by_role("button", name="Try it with an example").click()
    page.get_by_role("button", name="Check and keep").click()
    page.get_by_role("button", name="Start training").wait_for()


def show_causes(page: Page) -> None:
    """Show the causes that a run has found in a recording."""
    page.get_by_text("Share of the").wait_for()
    wait_for_view(page)


def show_training(page: Page) -> None:
    """Show a training that is under way."""
    page.get_by_text("Options of the method").click()
    page.get_by_role("spinbutton", name="Frames", exact=True).fill("2000")
    page.get_by_role("spinbutton", name="Steps", exact=True).fill("20000")
    page.get_by_role("button", name="Start training").click()
    page.get_by_text(" left").first.wait_for()
    page.wait_for_timeout(1500)


def clear_up(page: Page) -> None:
    """Cancel what still runs, and delete what a scene has made, so that the next picture is as the first would be."""
    page.evaluate(
        """async (kept) => {
          const ask = async (path) => (await fetch(path)).json();
          for (const { id } of await ask("/api/jobs")) await fetch(`/api/jobs/${id}`, { method: "DELETE" });
          const made = [...(await ask("/api/runs")).runs.map(({ name }) => ["runs", name]),
            ...(await ask("/api/data/files")).recordings.map(({ name }) => ["data/files", name])];
          for (const [where, name] of made) {
            if (!kept.includes(name)) await fetch(`/api/${where}/${encodeURIComponent(name)}`, { method: "DELETE" });
          }
        }""",
        KEPT,
    )


VIEWS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "ask": ("#/ask", show_answer),
    "witness": ("#/ask", show_witness),
    "preimages": ("#/preimages?example=pusher-1d", show_states),
    "replay": ("#/replay?file=push.parquet&run=push&step=1", show_judged_step),
    "runs": ("#/runs", wait_for_view),
    "data": ("#/data?file=push.parquet", wait_for_view),
}

CLOSER: dict[str, tuple[str, Callable[[Page], None]]] = {
    "event": ("#/ask?event=ST%3D1", show_answer),
    "questions": ("#/ask", show_further_questions),
    "mistakes": ("#/ask", show_mistakes),
    "large": ("#/ask", show_large_graph),
    "tour": ("#/ask", show_tour),
    "time": ("#/ask?example=overflowing-tank", show_answer),
    "states": ("#/preimages", show_states),
    "chain": ("#/replay?domain=push&step=1", show_chain),
    "graphs": ("#/replay?file=states.parquet&run=graphs&step=1", show_found_graph),
    "empty": ("#/data", wait_for_view),
    "columns": ("#/data", show_columns),
    "whole": ("#/data?file=states.parquet", wait_for_view),
    "causes": ("#/data?file=push.parquet&run=push", show_causes),
    "training": ("#/runs", show_training),
    "words": ("#/words", wait_for_view),
    "guide": ("#/guide?page=choosing-a-definition", wait_for_view),
}

KEPT = ["push.parquet", "states.parquet", "push", "graphs"]
TRAINED = {"replay", "runs", "data", "graphs", "empty", "whole", "causes", "training"}  # views that need a run


def make_runs(data: Path, runs: Path) -> None:
    """Record and train what is shown: one outcome, and all of them."""
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL}
    recording, states, all_of_them = str(data / "push.parquet"), str(data / "states.parquet"), ["--outcome", "all"]
    subprocess.run([*ACTCAUSE, "collect", "push", "--frames", "4000", "--out", recording], **quiet)
    tiny = ["--set", "steps=600", "--set", "width=32", "--set", "distil_steps=300"]
    subprocess.run([*ACTCAUSE, "train", recording, "--out", str(runs / "push"), *tiny], **quiet)
    subprocess.run([*ACTCAUSE, "collect", "push", *all_of_them, "--frames", "2000", "--out", states], **quiet)
    least = ["--set", "steps=100", "--set", "width=16", "--set", "distil_steps=60"]
    graphs = [*ACTCAUSE, "train", states, *all_of_them, "--method", "jaci-em", "--out", str(runs / "graphs")]
    subprocess.run([*graphs, *least], **quiet)


@contextmanager
def start_explorer(trained: bool, kept: Path | None) -> Iterator[str]:
    """Start an explorer, if wanted with a recording and a small run to look at; its address holds the token."""
    with tempfile.TemporaryDirectory() if kept is None else nullcontext(kept) as folder:
        data, runs = Path(folder, "data"), Path(folder, "runs")
        data.mkdir(parents=True, exist_ok=True)
        runs.mkdir(exist_ok=True)
        if trained and not (runs / "graphs").exists():
            make_runs(data, runs)
        command = [*ACTCAUSE, "serve", "--port", "0", "--json", "--data", str(data), "--runs", str(runs)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def main(arguments: list[str]) -> None:
    """Take the pictures of some views, or of all."""
    scenes = VIEWS | CLOSER
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--width", type=int, choices=SIZES)
    parser.add_argument("names", nargs="*", metavar="VIEW")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - set(scenes):
        parser.error(f"there is no view {', '.join(sorted(unknown))}; there are {', '.join(scenes)}")
    names = asked.names or list(VIEWS if asked.out is None else scenes)
    folder = asked.out or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with start_explorer(bool(set(names) & TRAINED), asked.kept) as url, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, theme in product([asked.width] if asked.width else SIZES, THEMES):
            height = SIZES[width]
            window = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            window.request.get(url)  # which leaves the token's cookie
            for name in names:
                address, prepare = scenes[name]
                page = window.new_page()
                page.set_default_timeout(600_000)  # a run judges rows at a low priority
                page.goto(url.partition("?")[0] + address)
                prepare(page)
                if asked.out is not None:
                    page.evaluate("scrollTo(0, 0)")  # what sticks to the top of the window belongs to the top
                picture = Image.open(BytesIO(page.screenshot(full_page=asked.out is not None))).convert("RGB")
                # A palette is a third of the size, and nobody sees the difference.
                picture.quantize(256, dither=Image.Dither.NONE).save(
                    folder / f"explorer-{name}-{width}-{theme}.png", optimize=True
                )
                clear_up(page)
                page.close()
            window.close()
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:])
