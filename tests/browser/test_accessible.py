"""axe-core finds nothing serious in any view, in light and dark, wide and narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "assets" / "axe.min.js"
VIEWS = ("ask?event=ST%3D1", "preimages", "replay", "runs", "data", "words", "guide?page=choosing-a-definition")


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
        page.add_script_tag(path=AXE)
        violations = page.evaluate("async () => (await axe.run()).violations")
        found += [
            (view, each["id"], node["html"][:160], node["failureSummary"][:200])
            for each in violations
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]
    context.close()
    assert not found, "\n".join(map(str, found))
