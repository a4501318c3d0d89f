"""Large causal graphs in a real browser: drawn beside the page's own work, zoomed, dragged, followed, saved."""

from __future__ import annotations

import base64
import random
import re
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

IN_SIGHT = """name => {
  const box = document.querySelector(`.graph [data-name="${name}"] .box`).getBoundingClientRect();
  const place = document.querySelector('.viewport').getBoundingClientRect();
  return box.left >= place.left && box.right <= place.right && box.top >= place.top && box.bottom <= place.bottom;
}"""
WIDTH = "document.querySelector('.graph .box').getBoundingClientRect().width"


def write_tangle(count: int) -> str:
    """Write a model whose variables read two of the sixty before them; the last one is the effect."""
    draw = random.Random(3)
    lines = [f"X{index}" for index in range(20)]
    for index in range(20, count):
        parents = sorted({draw.randint(max(0, index - 60), index - 1) for _ in range(2)})
        lines.append(f"X{index} = " + " or ".join(f"X{parent}" for parent in parents))
    return "\n".join(lines)


def pack(text: str) -> str:
    """Pack model text as the page's links do."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(text.encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def press(tab, name: str) -> None:
    tab.locator(".graph-tools").get_by_role("button", name=name, exact=True).click()


def test_five_hundred_variables_are_drawn_beside_the_page_and_any_is_found(tab) -> None:
    drawn: list[str] = []
    tab.on("worker", lambda worker: drawn.append(worker.url))
    tab.goto(f"/#/ask?z={pack(write_tangle(500))}&effect=X499+%3D%3D+1")
    tab.wait_for_selector(".graph .node")
    assert [url.rsplit("/", 1)[1] for url in drawn] == ["layout_worker.js"]  # not on the page's own thread
    assert tab.locator(".graph .node").count() == 500
    tab.wait_for_selector(".overview")
    tab.wait_for_function(IN_SIGHT, arg="X499")  # the effect, however far down it is

    near = tab.evaluate(WIDTH)
    press(tab, "Fit")
    assert tab.evaluate(IN_SIGHT, "X0")
    assert tab.evaluate(IN_SIGHT, "X499")
    far = tab.evaluate(WIDTH)
    assert far < near / 3
    border = "getComputedStyle(document.querySelector('.graph .box')).vectorEffect"
    assert tab.evaluate(border) == "non-scaling-stroke"  # however small a node is, it is seen
    assert not tab.locator(".graph .name").first.is_visible()
    press(tab, "Zoom in")
    assert tab.evaluate(WIDTH) == pytest.approx(1.3 * far, rel=1e-3)

    tab.fill(".find", "X250")
    tab.keyboard.press("Enter")
    tab.wait_for_function(IN_SIGHT, arg="X250")
    assert tab.evaluate("document.activeElement.dataset.name") == "X250"
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.dataset.name") != "X250"


def test_a_witness_that_runs_out_of_sight_is_followed(tab) -> None:
    chain = "\n".join(["X0", *(f"X{index} = X{index - 1}" for index in range(1, 120))])
    tab.goto(f"/#/ask?z={pack(chain)}&effect=X119+%3D%3D+1")
    tab.wait_for_selector(".graph .node")
    tab.get_by_role("button", name="But-for", exact=True).click()
    tab.locator('.card[data-definition="but-for"] summary').click()
    tab.get_by_role("button", name="▷ X0=1", exact=True).click()
    tab.locator(".player .step").nth(1).click()
    assert tab.evaluate(IN_SIGHT, "X0")
    tab.locator(".player .step").last.click()
    assert tab.evaluate(IN_SIGHT, "X119")


def test_a_graph_is_dragged_without_a_click_zoomed_by_the_wheel_and_saved_whole(tab, tmp_path: Path) -> None:
    tab.goto(f"/#/ask?z={pack(write_tangle(80))}&effect=X79+%3D%3D+1")
    tab.wait_for_selector(".graph .node")
    tab.wait_for_selector(".overview")
    box = tab.locator('.graph [data-name="X79"] .box').bounding_box()
    address = tab.url
    tab.mouse.move(box["x"] + 5, box["y"] + 5)
    tab.mouse.down()
    tab.mouse.move(box["x"] - 75, box["y"] + 25, steps=4)
    tab.mouse.up()
    moved = tab.locator('.graph [data-name="X79"] .box').bounding_box()
    assert (moved["x"] - box["x"], moved["y"] - box["y"]) == pytest.approx((-80, 20), abs=2)
    assert tab.url == address  # a drag is no click
    tab.keyboard.down("Control")
    tab.mouse.wheel(0, -200)
    tab.keyboard.up("Control")
    tab.wait_for_function(f"width => {WIDTH} > width", arg=moved["width"] + 5)

    with tab.expect_download() as saved:
        press(tab, "Save the graph as SVG")
    saved.value.save_as(tmp_path / "graph.svg")
    text = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert text.count('role="button"') == 80
    assert "var(" not in text  # it needs no style sheet
    with tab.expect_download() as saved:
        press(tab, "Save the graph as PNG")
    saved.value.save_as(tmp_path / "graph.png")
    from PIL import Image

    with Image.open(tmp_path / "graph.png") as picture:
        assert min(picture.size) > 300
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 20


def test_of_many_variables_the_table_has_those_that_the_first_line_names(tab) -> None:
    tab.goto("/#/ask")
    tab.wait_for_selector(".overview")
    chain = ["A0", *(f"A{k} = A{k - 1}" for k in range(1, 30))]
    tab.fill("#model-text", "\n".join([*chain, "Z", "End = A29 and Z"]))
    tab.wait_for_selector("h1:has-text('What caused End=1?'):not(.stale)")
    named = re.findall(r"(\w+)=1", tab.locator(".verdict-line .first").inner_text())
    columns = [text.split("=")[0] for text in tab.locator(".overview thead code").all_inner_texts()]
    assert "Z" in named
    assert set(named) <= set(columns)
    assert len(columns) == 10


def test_where_it_began_does_not_come_first_if_few_definitions_name_it(tab) -> None:
    tab.goto("/#/ask")
    tab.wait_for_selector(".overview")
    answered = {"candidates": ["A", "B"], "happened": True, "about": ["End"], "question": "End=1", "statistics": {}}

    def answer(route) -> None:
        reply = route.fetch().json()
        for opinion in reply["answers"]:
            by = ["A", "B"] if opinion["definition"] == "strong" else ["B"]
            found = {"witness": {}, "sentence": "", "responsibility": None}
            opinion |= {"status": "complete", "causes": [{"event": {name: 1}, **found} for name in by]}
        route.fulfill(json=reply | answered)

    tab.route("**/api/ask/answer", answer)
    tab.fill("#model-text", "A\nB = A\nEnd = B")
    tab.wait_for_selector("h1:has-text('What caused End=1?'):not(.stale)")
    assert tab.locator(".verdict-line .first").inner_text() == "7 of 7 definitions: B=1"
    assert "Also named: A=1 by 1." in tab.locator(".verdict-line").inner_text()
