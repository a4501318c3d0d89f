"""The shell in a real browser: tabs, keys, theme, addresses, and what a newcomer sees first."""

from __future__ import annotations

import re
from itertools import product

import pytest

pytestmark = pytest.mark.browser
VIEWS = ("ask", "preimages", "replay", "runs", "data")
TABS = dict(zip(VIEWS, ("Ask", "All states", "Replay", "Runs", "Data"), strict=True))


def current(tab) -> str:
    return tab.locator(".tabs a[aria-current=page]").inner_text()


def test_a_newcomer_gets_an_answer_without_typing_anything(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    assert tab.locator("h1").inner_text() == "What caused BS=1?"
    assert tab.locator(".verdict-line .first").inner_text() == "6 of 7 definitions: Suzy's throw (ST=1)"
    assert tab.locator(".verdict-line .soft").inner_text().startswith("1 of them only together with others. Also named")
    assert tab.locator(".card").count() == 0  # reasons on demand
    tab.get_by_role("button", name="Direct sufficiency (Beckers)", exact=True).click()
    assert tab.locator(".card").count() == 1
    assert "Suzy and Billy both throw a rock" in tab.locator(".story").inner_text()
    assert "Halpern, Actual Causality" in tab.locator(".starting .source").inner_text()


def test_every_view_has_a_tab_and_an_address(tab) -> None:
    tab.goto("/")
    for index, view in enumerate(VIEWS):
        tab.locator(".tabs a").nth(index).click()
        tab.wait_for_selector(f"main.view-{view}")
        tab.wait_for_url(re.compile(rf"#/{view}(\?|$)"))  # what is shown there may say so in the address
        assert current(tab) == TABS[view]
    tab.go_back()
    tab.wait_for_selector("main.view-runs")


def test_views_are_reached_by_keys(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.keyboard.press("Alt+2")
    tab.wait_for_selector("main.view-preimages")
    tab.keyboard.press("Alt+1")
    tab.wait_for_selector("main.view-ask")


def test_a_view_that_is_left_before_it_is_there_neither_shows_nor_renames_itself(tab) -> None:
    held: list[object] = []
    tab.route("**/api/ask/answer", lambda route: held.append(route))
    tab.goto("/#/ask?example=trumping")
    tab.wait_for_function("() => document.querySelector('.busy')?.textContent === 'asking …'")
    tab.keyboard.press("Alt+4")
    tab.wait_for_selector("main.view-runs .runs-parts")
    for route in held:
        with tab.expect_response("**/api/ask/answer"):
            route.continue_()
    tab.get_by_role("heading", name="Trainings").wait_for()
    assert tab.url.endswith("#/runs")
    assert tab.locator(".ask").count() == 0


def test_a_view_that_is_asked_for_twice_is_shown_once(tab) -> None:
    tab.goto("/")
    tab.evaluate("() => { for (const view of ['ask', 'runs', 'ask', 'data', 'ask']) location.hash = `#/${view}` }")
    tab.wait_for_selector(".overview")
    assert tab.locator(".ask").count() == 1


def test_a_view_that_is_left_while_it_asks_does_not_ask_on(tab) -> None:
    held: list[object] = []
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url) if request.url.endswith("/api/ask/answer") else None)
    tab.route("**/api/ask/check", lambda route: held.append(route) if not held else route.continue_())
    tab.goto("/#/ask?example=trumping")
    tab.wait_for_function("() => document.querySelector('.ask') !== null")
    tab.evaluate("() => { location.hash = '#/ask?example=forest-fire' }")
    tab.wait_for_selector(".overview")
    with tab.expect_response("**/api/ask/check"):
        held[0].continue_()
    tab.evaluate("() => { location.hash = '#/runs' }")  # what the first view would ask now comes before this is shown
    tab.wait_for_selector("main.view-runs .runs-parts")
    assert len(asked) == 1


def test_what_is_pressed_stays_until_it_is_released(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.evaluate(
        """async () => {
          const { drawOnRelease } = await import('/js/shared/draw_on_release.js');
          const view = document.getElementById('view');
          const draw = () => {
            const button = document.createElement('button');
            button.textContent = 'press me';
            button.onclick = () => { window.clicked = (window.clicked ?? 0) + 1 };
            view.replaceChildren(button);
          };
          draw();
          window.asked = 0;
          setInterval(() => { drawOnRelease(view, draw); window.asked += 1 }, 20);
        }"""
    )
    corner = tab.evaluate("document.querySelector('#view button').getBoundingClientRect().toJSON()")
    for _ in range(3):  # at once after each other: a release that is handled late must not end the next press
        tab.mouse.move(corner["x"] + 5, corner["y"] + 5)
        tab.mouse.down()
        asked = tab.evaluate("window.asked")
        tab.wait_for_function("asked => window.asked > asked + 3", arg=asked)
        tab.mouse.up()
    assert tab.evaluate("window.clicked") == 3


def test_tab_reaches_the_links_and_shows_where_it_is(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    seen = []
    for _ in range(9):
        tab.keyboard.press("Tab")
        seen.append(tab.evaluate("document.activeElement.textContent.trim()"))
    assert seen[0] == "Skip to the view"
    assert seen[2:7] == ["Ask", "All states", "Replay", "Runs", "Data"]
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_an_unknown_address_shows_the_first_view(tab) -> None:
    tab.goto("/#/nowhere?x=<b>1</b>")
    tab.wait_for_selector(".overview")
    assert current(tab) == "Ask"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_and_can_be_changed(browser, server, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, base_url=server.url)
    page = context.new_page()
    page.goto("/")
    paper = "getComputedStyle(document.body).getPropertyValue('--paper')"
    background = "getComputedStyle(document.documentElement).backgroundColor"
    before, shown = page.evaluate(paper), page.evaluate(background)
    page.click("#theme")
    assert page.evaluate(paper) != before
    page.reload()
    assert page.evaluate(background) != shown
    context.close()


@pytest.mark.parametrize("width", [375, 1280, 1920])
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_is_wider_than_the_screen(tab, view: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(f"/#/{view}")
    tab.wait_for_selector(f"main.view-{view} > div > *")
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_a_job_in_the_bar_fits_a_narrow_screen(tab) -> None:
    job = {"id": "1", "title": "What a-run-of-mine says of a-recording-with-a-long-name.parquet", "state": "running"}
    tab.route("**/api/jobs", lambda route: route.fulfill(json=[{**job, "progress": {}, "seconds": 1, "error": None}]))
    tab.set_viewport_size({"width": 375, "height": 750})
    tab.goto("/#/words")
    cancel = tab.locator("#jobs").get_by_role("button", name=re.compile("Cancel"))
    cancel.wait_for()
    box = cancel.bounding_box()
    assert box["x"] + box["width"] <= 375
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_paper_and_panel(tab, theme: str) -> None:
    tab.goto("/")
    tab.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    colour = """name => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color;
    }"""
    names = ("--ink", "--soft", "--accent", "--good", "--bad", "--warn")
    for name, ground in product(names, ("--paper", "--panel")):
        light, dark = sorted((luminance(tab.evaluate(colour, each)) for each in (name, ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


def test_a_server_that_is_gone_is_said_so(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.expected.append("net::ERR_FAILED")
    tab.route("**/api/ask/**", lambda route: route.abort())
    tab.click("#root-ST")
    tab.wait_for_selector(".notice.bad:has-text('The server does not answer')")


def test_a_view_that_cannot_be_loaded_says_so_in_words_and_is_tried_again(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.expected.append("net::ERR_FAILED")
    for gone in ("**/js/runs/**", "**/api/**"):
        tab.route(gone, lambda route: route.abort())
    tab.click(".tabs a >> text=Runs")
    tab.wait_for_selector(".notice.bad:has-text('The server does not answer')")
    tab.click("text=Try again")
    tab.wait_for_selector(".notice.bad:has-text('The server does not answer')")
    for gone in ("**/js/runs/**", "**/api/**"):
        tab.unroute(gone)
    tab.click("text=Try again")
    tab.wait_for_selector("main.view-runs .runs-parts")


@pytest.mark.parametrize(("view", "shown"), [("replay", ".replay-factors"), ("data", "text=Try it with an example")])
def test_a_view_that_can_be_shown_but_has_nothing_to_show_is_tried_again(tab, view, shown) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.expected.append("net::ERR_FAILED")
    tab.route("**/api/**", lambda route: route.abort())
    tab.goto(f"/#/{view}")
    tab.wait_for_selector(".notice.bad:has-text('The server does not answer')")
    tab.unroute("**/api/**")
    tab.click("text=Try again")
    tab.wait_for_selector(shown)


def test_runs_go_on_by_themselves_once_the_server_answers_again(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.expected.append("net::ERR_FAILED")
    tab.route("**/api/**", lambda route: route.abort())
    tab.goto("/#/runs")
    tab.wait_for_selector(".notice.bad:has-text('The server does not answer')")
    tab.unroute("**/api/**")
    tab.get_by_role("button", name="Start training").wait_for()
    assert tab.locator(".notice.bad").count() == 0
