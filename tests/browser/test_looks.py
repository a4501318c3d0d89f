"""What is seen on every view: what belongs together stands together, and nothing is drawn over something else."""

from __future__ import annotations

import json
import os
import re

import pytest

pytestmark = pytest.mark.browser

CROSSINGS = """() => {
  const boxes = [...document.querySelectorAll("svg.graph .node")].map((node) => {
    const box = node.querySelector(".box").getBBox();
    return { name: node.dataset.name, left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height };
  });
  const crossed = [];
  for (const line of document.querySelectorAll("svg.graph .edge")) {
    const length = line.getTotalLength();
    for (let at = 0; at < length; at += 4) {
      const { x, y } = line.getPointAtLength(at);
      const hit = boxes.find((box) => x > box.left + 3 && x < box.right - 3 && y > box.top + 3 && y < box.bottom - 3);
      if (hit) crossed.push(hit.name);
    }
  }
  return [boxes.length, crossed];
}"""


def write_run(server, name: str, history: str, **about) -> None:
    folder = server.runs / name
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"status": "finished", "method": "jaci-em", "settings": {}, **about}))
    (folder / "history.jsonl").write_text(history)
    os.utime(folder / "history.jsonl", (0, 0))


@pytest.mark.parametrize("view", ["ask", "preimages", "replay", "runs"])
def test_a_question_mark_stands_beside_its_label(tab, view: str) -> None:
    tab.goto(f"/#/{view}")
    tab.locator(".field.explained").first.wait_for()
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    gaps = """fields => fields.filter((field) => field.offsetParent).map((field) => {
      const [label, mark] = [".field > span", ".term"].map((each) => field.querySelector(each).getBoundingClientRect());
      return [mark.left - label.right, Math.abs((mark.top + mark.bottom) / 2 - (label.top + label.bottom) / 2)];
    })"""
    found = tab.locator(".field.explained").evaluate_all(gaps)
    assert len(found) > 0
    assert all(0 <= beside < 14 and below < 12 for beside, below in found), found


def test_arrows_from_row_to_row_go_around_the_nodes_of_a_folded_graph(tab) -> None:
    tab.goto("/#/ask?example=overflowing-tank")
    tab.locator("svg.graph .node[data-name='alarm@5']").wait_for()
    drawn, crossed = tab.evaluate(CROSSINGS)
    assert (drawn, crossed) == (36, [])


def test_no_number_stands_twice_on_an_axis(tab, server) -> None:
    write_run(server, "one-value", '{"stage": "passive", "step": 50, "full": 0.68}\n')
    tab.goto("/#/runs?runs=one-value&value=full")
    chart = tab.get_by_role("img", name="Training curves: error seeing all factors")
    chart.wait_for()
    numbers = chart.locator("text[text-anchor=middle]:not(.chart-name)").all_text_contents()
    assert numbers == ["50"]


def test_a_run_is_a_card_on_a_narrow_screen(tab, server) -> None:
    write_run(
        server, "1-in-with-a-longer-name", '{"stage": "passive", "step": 50, "full": 0.9}\n', source="states.parquet"
    )
    tab.set_viewport_size({"width": 640, "height": 900})
    tab.goto("/#/runs")
    row = tab.get_by_role("row", name="1-in-with-a-longer-name")
    row.wait_for()
    lines = "node => node.getClientRects().length"
    assert row.locator("strong").evaluate(lines) == 1
    wider = "node => node.scrollWidth - node.clientWidth"
    assert tab.locator(".runs-parts > :first-child").evaluate(wider) <= 0
    tops = "nodes => new Set(nodes.map((node) => node.getBoundingClientRect().top)).size"
    assert row.get_by_role("button").evaluate_all(tops) == 1


def test_the_table_of_errors_moves_to_the_side_on_a_telephone(tab, server) -> None:
    write_run(server, "scored", '{"stage": "passive", "step": 50, "full": 0.9}\n', source="1-in")
    scores = {"edge_error": 0.01, "domain": "1-in", "states": 100, "trivial": {"never": 0.1}}
    (server.runs / "scored" / "scores.json").write_text(json.dumps(scores))
    tab.set_viewport_size({"width": 375, "height": 800})
    tab.goto("/#/runs")
    tab.get_by_role("columnheader", name="jaci-em, here").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375
    errors = tab.get_by_role("region", name="Errors")
    assert errors.evaluate("node => node.scrollWidth > node.clientWidth && node.tabIndex === 0")


def test_a_title_is_not_squeezed_by_what_stands_beside_it(tab, server) -> None:
    write_run(
        server, "beside-a-title", '{"stage": "passive", "step": 50, "error_of_a_loss_with_a_rather_long_name": 1}\n'
    )
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto("/#/runs?runs=beside-a-title")
    tab.locator("option[value^=error_of_a_loss]").wait_for(state="attached")
    tab.locator(".view-runs .panel h2 .term").first.click()
    assert "training curve" in tab.locator(".term-said").inner_text().lower()
    assert tab.locator(".view-runs .panel h2").first.bounding_box()["height"] < 40


def test_on_a_projector_the_words_stand_in_two_columns(tab) -> None:
    tab.set_viewport_size({"width": 1920, "height": 1080})
    tab.goto("/#/words")
    tab.locator("[data-term]").first.wait_for()
    lefts = "nodes => new Set(nodes.map((node) => Math.round(node.getBoundingClientRect().left))).size"
    assert tab.locator("[data-term]").evaluate_all(lefts) == 2


def test_a_name_in_a_table_of_the_guide_is_not_broken(tab) -> None:
    tab.set_viewport_size({"width": 640, "height": 900})
    tab.goto("/#/guide?page=choosing-a-definition")
    names = tab.locator(".guide td code")
    names.first.wait_for()
    assert set(names.evaluate_all("nodes => nodes.map((node) => node.getClientRects().length)")) == {1}


def test_the_frame_of_the_recording_that_is_shown_holds_its_buttons(tab, server) -> None:
    (server.data / "framed.csv").write_text("ball_x,paddle_x,ball_x_next,episode\n0.1,0.2,0.3,0\n0.3,0.2,0.5,0\n")
    tab.goto("/#/data?file=framed.csv")
    rename = tab.get_by_role("button", name="Rename framed.csv")
    rename.wait_for()
    frame, held = tab.locator(".data-files li.shown").bounding_box(), rename.bounding_box()
    assert frame["x"] < held["x"]
    assert frame["y"] + frame["height"] > held["y"] + held["height"]
    assert tab.locator(".data-files li.shown").evaluate("node => getComputedStyle(node).boxShadow") != "none"


def test_a_telephone_shows_what_the_definitions_say_of_two_variables(tab) -> None:
    tab.set_viewport_size({"width": 375, "height": 800})
    tab.goto("/#/ask")
    tab.locator(".overview").wait_for()
    second = tab.locator(".overview thead th").nth(2).bounding_box()
    assert second["x"] + second["width"] <= 375


def test_a_telephone_shows_what_can_be_done_with_each_set_of_variables(tab) -> None:
    tab.set_viewport_size({"width": 375, "height": 800})
    tab.goto("/#/preimages")
    tab.locator(".binaries button").first.wait_for()
    for button in tab.locator(".binaries button").all():
        box = button.bounding_box()
        assert box["x"] + box["width"] <= 375


def test_without_a_curve_there_is_nothing_to_choose_or_to_save(tab, server) -> None:
    write_run(server, "no-curve", "")
    tab.goto("/#/runs?runs=no-curve")
    curves = tab.get_by_role("region", name="Training curves")
    curves.get_by_text("No curve was written").wait_for()
    assert not curves.get_by_role("combobox").is_visible()
    assert not curves.get_by_role("button", name="Save as CSV").is_visible()
    assert curves.bounding_box()["height"] < 200


def test_code_of_the_guide_is_not_cut_where_the_window_has_room(tab) -> None:
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.goto("/#/guide?page=choosing-a-definition")
    blocks = tab.locator(".guide pre")
    blocks.first.wait_for()
    assert max(blocks.evaluate_all("nodes => nodes.map((node) => node.scrollWidth - node.clientWidth)")) <= 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize(("scheme", "brighter"), [("light", False), ("dark", True)])
@pytest.mark.parametrize(
    ("view", "table"),
    [
        ("ask?example=voting-close", ".overview .scroll"),
        ("data", ".data-columns"),
        ("guide?page=choosing-a-definition", ".guide pre"),  # painted so whether it goes on or not
    ],
)
def test_the_edge_of_a_table_that_goes_on_is_seen_in_the_dark_too(tab, scheme, brighter, view, table) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.goto(f"/#/{view}")
    tab.locator(table).first.wait_for()
    painted = tab.locator(table).first.evaluate("node => getComputedStyle(node).backgroundImage")
    edge = re.findall(r"rgba\((\d+), \d+, \d+, 0\.(?:45|5)\d*\)", painted)
    assert edge, painted
    assert all((int(red) > 127) == brighter for red in edge)


LEFTS = """cells => cells.map((cell) => {
  const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
  const range = document.createRange();
  range.selectNode(words);
  return range.getBoundingClientRect().left;
})"""


def test_the_words_of_a_table_stand_below_those_of_its_head(tab) -> None:
    tab.goto("/#/ask")
    tab.locator(".overview").wait_for()
    for head, cells in (
        ("thead th:first-child", "tbody th:first-child"),
        ("thead th:nth-child(2)", "tbody td:nth-child(2)"),
    ):
        [above] = tab.locator(f".overview {head}").evaluate_all(LEFTS)
        below = tab.locator(f".overview {cells}").evaluate_all(LEFTS)
        assert all(abs(left - above) < 1.5 for left in below), (above, below)
    tab.goto("/#/replay?domain=push")
    tab.locator(".replay-factors").wait_for()
    [above] = tab.locator(".replay-factors thead th:first-child").evaluate_all(LEFTS)
    below = tab.locator(".replay-factors tbody td:first-child").evaluate_all(LEFTS)
    assert all(abs(left - above) < 1.5 for left in below), (above, below)


def test_the_answer_about_four_variables_fits_on_half_a_screen(tab) -> None:
    tab.set_viewport_size({"width": 640, "height": 900})
    tab.goto("/#/ask")
    table = tab.locator(".overview .scroll")
    table.wait_for()
    assert table.evaluate("node => node.scrollWidth - node.clientWidth") <= 0


def test_the_frame_of_a_small_table_ends_with_it(tab) -> None:
    tab.goto("/#/data")
    frame = tab.get_by_role("region", name="Such a table")
    frame.wait_for()
    assert frame.evaluate("node => node.clientWidth - node.querySelector('table').offsetWidth") <= 1


def test_recordings_of_a_list_stand_apart(tab, server) -> None:
    for name in ("apart-1.csv", "apart-2.csv"):
        (server.data / name).write_text("ball_x,paddle_x,ball_x_next,episode\n0.1,0.2,0.3,0\n0.3,0.2,0.5,0\n")
    tab.goto("/#/data?file=apart-2.csv")
    tab.get_by_role("button", name="Rename apart-2.csv").wait_for()
    # Both places at one moment, since the list is drawn anew as more becomes known of its files.
    gap = tab.wait_for_function("""() => {
        const files = [...document.querySelectorAll(".data-files li")];
        const find = (name) => files.find((li) => li.innerText.includes(name));
        const [said, second] = [find("apart-1.csv")?.querySelector(".small"), find("apart-2.csv")];
        return said && second && second.getBoundingClientRect().top - said.getBoundingClientRect().bottom;
    }""")
    assert gap.json_value() >= 8


def test_words_begin_with_a_capital_letter_whatever_they_are_called_in_the_page(tab) -> None:
    tab.goto("/#/words")
    tab.locator("[data-term]").first.wait_for()
    assert tab.locator("dt").first.evaluate("node => getComputedStyle(node, '::first-letter').textTransform") == (
        "uppercase"
    )
