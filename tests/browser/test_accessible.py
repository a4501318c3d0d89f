"""axe-core finds nothing serious in any view, in light and dark, wide and narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "assets" / "axe.min.js"
VIEWS = ("ask?event=ST%3D1", "preimages", "replay", "runs", "data", "words", "guide?page=choosing-a-definition")


def list_obstacles(page) -> list[tuple[str, ...]]:
    page.add_script_tag(path=AXE)
    return [
        (each["id"], node["html"][:160], node["failureSummary"][:200])
        for each in page.evaluate("async () => (await axe.run()).violations")
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nor_has_one_that_shows_a_mistake(browser, server, scheme: str) -> None:
    options = {"base_url": server.url, "color_scheme": scheme, "bypass_csp": True, "reduced_motion": "reduce"}
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto("/")
    page.wait_for_selector(".overview")
    page.fill("#model-text", "A\nB = A and")
    page.wait_for_selector(".said.stale[aria-disabled]")
    page.wait_for_selector(".gutter .wrong")
    found = list_obstacles(page)
    page.goto("/#/preimages?example=rock-throwing")
    page.wait_for_selector(".figures")
    page.get_by_label("Outcome (a variable or a formula)").fill("BX")
    page.keyboard.press("Enter")
    page.wait_for_selector(".field-error:not(:empty)")
    page.wait_for_timeout(500)  # it fades in
    found += list_obstacles(page)
    context.close()
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (640, "dark")])
def test_no_view_has_a_serious_obstacle(browser, server, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        base_url=server.url,
        color_scheme=scheme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    found = []
    for view in VIEWS:
        page.goto(f"/#/{view}")
        page.wait_for_selector(f"main.view-{view.partition('?')[0]} > div > *")
        page.wait_for_load_state("networkidle")
        if view.startswith("ask"):
            page.wait_for_selector(".said:not(.stale) .judged")
            page.click("text=Show all reasons")
        found += [(view, *each) for each in list_obstacles(page)]
    context.close()
    assert not found, "\n".join(map(str, found))
