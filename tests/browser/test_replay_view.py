"""Replay in a real browser: an episode plays, is stepped through, and is judged by a run."""

from __future__ import annotations

import re

import pytest

from actcause.data import collect

pytestmark = pytest.mark.browser

JOB = 120_000  # milliseconds: a job gives way to everything else on the machine
TINY = {"steps": 60, "distil_steps": 50, "width": 8, "batch": 32}


@pytest.fixture(scope="module")
def run(server):
    """A small run on a recording that is in the server's folder."""
    from actcause.learn import JACI, runs

    data = collect("push", 1500, seed=2, metadata={"domain": "push"})
    data.save(server.data / "pushing.parquet")
    runs.train(JACI(**TINY), data, server.runs / "pusher", source="pushing.parquet", tensorboard=False)
    return "pusher"


def place(tab):
    """The step that is shown, and how many there are."""
    return tuple(map(int, re.findall(r"\d+", tab.locator(".replay-place").inner_text())))


def test_a_first_visit_shows_an_episode_playing_that_obeys_the_keyboard(tab):
    tab.goto("/#/replay")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    tab.locator(".replay-place", has_text=re.compile(r"step ([3-9]|1\d) of 20")).wait_for()
    tab.keyboard.press("Space")
    tab.get_by_role("button", name="Play or pause").get_by_text("Play").wait_for()
    tab.keyboard.press("Home")
    assert place(tab) == (1, 20)
    tab.keyboard.press("ArrowRight")
    assert place(tab) == (2, 20)
    tab.keyboard.press("n")
    tab.get_by_text(re.compile(r"Cause of the next block: .*pusher")).wait_for()
    step, _ = place(tab)
    tab.wait_for_url(re.compile(rf"step={step}\b"))
    tab.reload()
    tab.get_by_text(re.compile(r"Cause of the next block: .*pusher")).wait_for()
    assert place(tab) == (step, 20)
    painted = "Array.from(document.querySelector('.replay-canvas').getContext('2d').getImageData(0, 0, 700, 300).data)"
    assert tab.evaluate(f"new Set({painted}).size") > 10


def test_a_run_shows_probabilities_and_predictions_without_each_factor(tab, run):
    tab.goto("/#/replay?file=pushing.parquet")
    tab.get_by_label("Causes found by").select_option(run)
    tab.get_by_text("without pusher").wait_for(timeout=JOB)
    happened = tab.get_by_role("row", name="what happened").inner_text()
    assert len(re.findall(r"-?\d+(?:\.\d+)?", happened)) == 2
    tab.get_by_role("columnheader", name="Probability").wait_for()
    tab.get_by_text("found cause (dashed, ○)").wait_for()
    tab.get_by_label("Judged").select_option("knowing the outcome")
    tab.wait_for_url(re.compile("hindsight=1"))


def test_every_domain_plays(tab):
    tab.goto("/#/replay?step=1")
    for domain in ("break", "mover-1d", "block-1d", "2-in"):
        tab.get_by_label("Recording or domain").select_option(f"domain:{domain}")
        tab.wait_for_url(re.compile(f"domain={domain}"))
        tab.get_by_role("button", name="To the next step in which a factor acts (n)").click()


def test_a_recording_that_is_not_there_or_damaged_is_said_and_the_page_goes_on(tab, server):
    tab.goto("/#/replay?file=..%2Fsecret.parquet")
    tab.get_by_text("There is no such recording or domain").wait_for()
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    path = server.data / "torn.parquet"
    collect("1-in", 2000, out=path)
    whole = bytearray(path.read_bytes())
    whole[2000:3000] = bytes(1000)
    path.write_bytes(whole)
    tab.reload()
    tab.get_by_label("Recording or domain").select_option("file:torn.parquet")
    tab.get_by_text(re.compile(r"torn\.parquet is damaged and cannot be read")).wait_for()
    tab.get_by_label("Recording or domain").select_option("domain:push")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
