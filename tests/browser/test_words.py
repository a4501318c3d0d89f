"""Every word of the explorer has a "?" where it stands, with a sentence that can be read there and a link."""

from __future__ import annotations

from pathlib import Path

import pytest

from actcause import learn
from actcause.data import collect, collect_recording
from actcause.learn import runs

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "assets" / "axe.min.js"
JOB = 600_000  # milliseconds: a job gives way to everything else on the machine


@pytest.fixture(scope="module")
def recordings(server):
    """A recording with a run that needs no training, and one of whole states."""
    data = collect("1-in", 300, seed=2, metadata={"domain": "1-in"})
    data.save(server.data / "words.parquet")
    runs.train(learn.make("never"), data, server.runs / "nothing", source="words.parquet", tensorboard=False)
    collect_recording("push", 60, seed=1, metadata={"domain": "push"}).save(server.data / "whole-words.parquet")


def show_ask(tab) -> None:
    tab.goto("/#/ask?event=ST%3D1")
    tab.wait_for_selector(".said:not(.stale) .judged")
    if not tab.locator("#rules").is_visible():
        tab.get_by_text("What is normal", exact=True).click()
    tab.locator("#rules").fill("BT == 0")
    tab.keyboard.press("Tab")
    tab.click("text=Show all reasons")
    tab.get_by_text("rank 1").first.wait_for()
    tab.locator("button.cause").first.click()
    tab.wait_for_selector(".player .term")
    tab.click("text=What explains it to someone")
    tab.click("text=How probably was it necessary")


def show_time(tab) -> None:
    tab.goto("/#/ask?example=rock-throwing-in-time")
    tab.wait_for_selector(".overview")


def show_states(tab) -> None:
    tab.goto("/#/preimages")
    tab.wait_for_selector(".figures")


def show_replay(tab) -> None:
    tab.goto("/#/replay?domain=push&step=3")
    tab.get_by_role("button", name="Why pusher?").click()
    tab.wait_for_selector("svg.chain")


def show_judged(tab) -> None:
    tab.goto("/#/replay?file=words.parquet&run=nothing&step=1")
    tab.get_by_role("columnheader", name="Probability").wait_for(timeout=JOB)


def show_runs(tab) -> None:
    tab.goto("/#/runs")
    tab.get_by_text("Options of the method").click()


def show_found(tab) -> None:
    tab.goto("/#/data?file=words.parquet&run=nothing")
    tab.get_by_text("Share of the 300 rows").wait_for(timeout=JOB)


def show_columns(tab) -> None:
    tab.goto("/#/data")
    tab.get_by_role("button", name="Try it with an example").click()
    tab.get_by_role("button", name="Check and keep").wait_for()


def show_whole(tab) -> None:
    tab.goto("/#/data?file=whole-words.parquet")
    tab.get_by_role("button", name="See it in Replay").wait_for()


SCENES = (show_ask, show_time, show_states, show_replay, show_judged, show_runs, show_found, show_columns, show_whole)


def test_every_word_has_a_question_mark_where_a_user_meets_it(tab, recordings) -> None:
    met = set()
    for show in SCENES:
        show(tab)
        marks = tab.locator("main .term:visible")
        met |= set(marks.evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))"))
    words = tab.evaluate(
        """async () => {
          const { TERMS, titleOf } = await import("/js/shared/terms.js");
          return Object.keys(TERMS).map((name) => `What is meant by ${titleOf(name)}?`);
        }"""
    )
    assert met == set(words)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_in_the_way_where_sections_are_open(tab, recordings, scheme: str) -> None:
    tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    found = []
    for show in SCENES:
        show(tab)
        tab.evaluate(AXE.read_text())
        for each in tab.evaluate("async () => (await axe.run()).violations"):
            if each["impact"] in ("serious", "critical"):
                found += [(show.__name__, each["id"], node["html"][:160]) for node in each["nodes"]]
    assert not found, "\n".join(map(str, found))


def test_tables_that_go_on_to_the_side_are_moved_by_keyboard_on_a_telephone(tab, recordings) -> None:
    tab.set_viewport_size({"width": 390, "height": 800})
    show_columns(tab)
    tab.evaluate(AXE.read_text())
    violations = tab.evaluate("async () => (await axe.run()).violations")
    assert [each["id"] for each in violations if each["impact"] in ("serious", "critical")] == []
    wide = "nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.tabIndex)"
    found = tab.locator(".data-columns").evaluate_all(wide)
    assert found
    assert set(found) == {0}


@pytest.mark.parametrize("view", ["preimages", "replay?domain=push&step=1", "runs", "data?file=words.parquet"])
def test_a_words_sentence_is_read_where_it_is_asked_for_on_a_telephone_too(tab, recordings, view: str) -> None:
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(f"/#/{view}")
    marks = tab.locator("main .term:visible")
    marks.first.wait_for()
    for place in range(min(marks.count(), 4)):
        marks.nth(place).click()
        said = tab.locator(".term-said")
        box = said.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert said.get_by_role("link", name="More in the guide").get_attribute("href").startswith("#/guide?page=")
        tab.keyboard.press("Escape")
        assert said.count() == 0
