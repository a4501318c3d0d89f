"""A user's own data in a real browser: from a dropped file to causes that are taken away."""

from __future__ import annotations

import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

pytestmark = pytest.mark.browser

JOB = 600_000  # milliseconds: a job gives way to everything else on the machine, and tests may have it busy


@pytest.fixture
def mine(tmp_path):
    """A table whose columns are named as nobody's tool expects: the ball jumps where the paddle is near."""
    generator = np.random.default_rng(0)
    ball, paddle = generator.uniform(0, 10, (2, 1500))
    after = ball + np.where(np.abs(ball - paddle) < 1.5, 2.0, 0.1)
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{k // 30}" for k, (a, b, c) in enumerate(zip(ball, paddle, after, strict=True))]
    path = tmp_path / "my table.csv"
    path.write_text("\n".join(["ball_x,paddle_x,later,trial", *lines, ""]))
    return path


def test_a_table_becomes_causes_that_can_be_taken_away(tab, mine):
    tab.goto("/#/data")
    tab.set_input_files("#data-file", mine)
    tab.get_by_text("my table.csv is here as my-table.csv.").wait_for()
    tab.get_by_role("row", name=re.compile("ball_x numbers 0")).wait_for()
    tab.get_by_label("What later is").select_option("next")
    tab.get_by_label("Feature of later").fill("x")
    tab.get_by_role("button", name="Check and keep").click()
    tab.get_by_text("1,500 rows, 50 episodes; the outcome is ball").wait_for()
    tab.get_by_text("Options of the method").click()
    for label, value in {
        "Steps": 60,
        "Steps to compress (distil)": 50,
        "Rows of a step": 32,
        "Width of the networks": 8,
    }.items():
        tab.get_by_role("spinbutton", name=label, exact=True).fill(str(value))
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_role("progressbar", name="Training", exact=True).wait_for()
    tab.get_by_text(re.compile("Share of the 1,500 rows")).wait_for(timeout=JOB)
    with tab.expect_download() as saved:
        tab.get_by_role("link", name="Download as CSV").click()
    head = saved.value.path().read_text().splitlines()[0].replace('"', "").split(",")
    assert {"ball_x", "paddle_x", "later", "trial", "extra.found.paddle"} <= set(head)
    with tab.expect_download() as saved:
        tab.get_by_role("link", name="Download as Parquet").click()
    assert saved.value.path().read_bytes().startswith(b"PAR1")
    tab.get_by_role("button", name="See them in Replay").click()
    tab.get_by_text("without paddle").wait_for(timeout=JOB)


def test_a_list_that_comes_late_takes_nothing_away_from_a_file_that_came_meanwhile(tab, mine):
    held = []

    def hold(route):
        if held or route.request.method != "GET":
            route.continue_()
        else:
            held.append(route)

    tab.route("**/api/data/files", hold)
    tab.goto("/#/data")
    with tab.expect_response(lambda reply: reply.request.method == "PUT"):
        tab.set_input_files("#data-file", mine)
    tab.get_by_text(re.compile("my table.csv is here")).wait_for()
    tab.get_by_label("What later is").select_option("next")
    assert len(held) == 1
    with tab.expect_response("**/api/data/files"):
        held[0].continue_()
    tab.get_by_label("Feature of later").fill("x")
    tab.get_by_role("button", name="Check and keep").click()
    tab.get_by_text("1,500 rows, 50 episodes; the outcome is ball").wait_for()
    assert tab.get_by_text(re.compile("my table.csv is here")).is_visible()


DROP = """([name, bytes]) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([new Uint8Array(bytes)], name));
  const about = { dataTransfer: dropped, bubbles: true, cancelable: true };
  for (const kind of ["dragenter", "dragover", "drop"]) {
    document.querySelector("footer, main").dispatchEvent(new DragEvent(kind, about));
  }
}"""


def test_a_dropped_parquet_or_csv_file_is_read_and_another_is_refused(tab, mine, tmp_path):
    table = {"ball_x": [0.5, 1.5, 2.5], "<img src=x onerror=alert(1)>": [1, 2, 3], "later": [1.0, 2.0, 3.0]}
    parquet = tmp_path / "<b>dropped.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), parquet)
    pickled = tmp_path / "dropped.pickle"
    pickled.write_bytes(b"\x80\x04N.")
    tab.goto("/#/data")
    tab.wait_for_selector(".data-drop")
    for path, said in {
        mine: re.compile("my table.csv is here"),
        parquet: "<b>dropped.parquet is here as b-dropped.parquet.",
        pickled: re.compile("is not CSV or Parquet"),
    }.items():
        tab.evaluate(DROP, [path.name, list(path.read_bytes())])
        tab.get_by_text(said).wait_for()
    tab.get_by_role("heading", name="b-dropped.parquet: 3 rows, 3 columns").wait_for()
    assert tab.locator("main img").count() == 0


def test_a_newcomer_has_an_example_to_try(tab):
    tab.goto("/#/data")
    tab.get_by_role("button", name="Try it with an example").click()
    tab.get_by_text(re.compile(r"example.*\.csv: 3,000 rows, 5 columns")).wait_for()
    tab.get_by_role("button", name="Check and keep").click()
    tab.get_by_text("3,000 rows, 100 episodes; the outcome is ball").wait_for()


def test_a_wrong_file_and_a_wrong_meaning_are_said_and_nothing_is_lost(tab, mine, tmp_path):
    foreign = tmp_path / "foreign.parquet"
    foreign.write_text("this is no Parquet")
    tab.goto("/#/data")
    tab.set_input_files("#data-file", foreign)
    tab.get_by_text("foreign.parquet is not a Parquet file.").wait_for()
    tab.set_input_files("#data-file", mine)
    tab.get_by_label("What paddle_x is").select_option("none")
    tab.get_by_label("Factor of ball_x").fill("my ball")
    tab.get_by_label("Outcome", exact=True).select_option("my ball")
    tab.get_by_label("Own previous value").select_option("my ball")
    tab.get_by_label("What later is").select_option("next")
    tab.get_by_label("Feature of later").fill("x")
    tab.get_by_role("button", name="Check and keep").click()
    tab.get_by_text("There must be a factor besides the outcome's own 'my ball'").wait_for()
    assert tab.get_by_label("Factor of ball_x").input_value() == "my ball"
    tab.get_by_label("What paddle_x is").select_option("state")
    tab.get_by_role("button", name="Check and keep").click()
    tab.get_by_text("Every row was checked").wait_for()


def test_a_wrong_meaning_is_said_below_the_column_that_has_it(tab, tmp_path):
    names = [f"part{k}_x" for k in range(40)]
    table = tmp_path / "wide.csv"
    table.write_text("\n".join([",".join([*names, "part0_x_next"]), *(",".join(["0.5"] * 41) for _ in range(5))]))
    tab.goto("/#/data")
    tab.set_input_files("#data-file", table)
    tab.get_by_label("Factor of part3_x", exact=True).fill("part1")
    tab.get_by_role("button", name="Check and keep").click()
    said = tab.get_by_role("alert").filter(has_text="Both 'part1_x' and 'part3_x' are said to be")
    said.wait_for()
    wrong = tab.get_by_label("What part1_x is", exact=True)
    assert wrong.evaluate("node => node === document.activeElement")
    assert 0 < said.bounding_box()["y"] - wrong.bounding_box()["y"] < 100
    assert tab.get_by_label("What part3_x is", exact=True).get_attribute("aria-invalid") == "true"
    tab.get_by_label("Factor of part3_x", exact=True).fill("part3")
    tab.get_by_role("button", name="Check and keep").click()
    said.wait_for(state="detached")
    assert tab.locator(".data-columns [aria-invalid]").count() == 0


def test_the_first_rows_are_shown_and_the_outcome_is_chosen_from_a_list(tab, mine):
    tab.goto("/#/data")
    tab.set_input_files("#data-file", mine)
    first = mine.read_text().splitlines()[1].split(",")[0]
    tab.get_by_role("cell", name=f"{float(first)}", exact=True).wait_for()
    outcome = tab.get_by_label("Outcome", exact=True)
    assert outcome.evaluate("node => node.tagName") == "SELECT"
    offered = outcome.evaluate("node => [...node.options].map((one) => one.value)")
    assert {"ball", "paddle"} <= set(offered)
    tab.get_by_label("Factor of ball_x").fill("globe")
    assert outcome.input_value() == "globe"  # it is still the same factor


def test_a_table_without_names_says_so(tab, mine):
    rows = mine.read_text().split("\n", 1)[1]
    mine.write_text(rows)
    tab.goto("/#/data")
    tab.set_input_files("#data-file", mine)
    tab.get_by_text("The first row holds numbers, and they were taken for the names").wait_for()


def test_a_training_that_has_only_begun_is_seen_by_who_comes_back(tab, server):
    from actcause.data import collect

    collect("1-in", 300, seed=4, out=server.data / "begun.parquet")
    tab.goto("/#/data?file=begun.parquet")
    tab.get_by_role("button", name="Start training").wait_for()

    def forget_runs(route):
        reply = route.fetch()
        route.fulfill(json={**reply.json(), "runs": []} if route.request.method == "GET" else reply.json())

    tab.route("**/api/runs", forget_runs)  # no folder is there yet
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_role("progressbar", name="Training", exact=True).wait_for()
    tab.keyboard.press("Alt+4")
    tab.wait_for_selector("main.view-runs .runs-parts")
    tab.keyboard.press("Alt+5")
    tab.get_by_role("progressbar", name="Training", exact=True).wait_for()
    tab.locator(".training-line").get_by_role("button", name="Cancel").click()
    tab.get_by_text("The training was cancelled").wait_for(timeout=JOB)


def test_sending_a_file_shows_how_far_it_is(tab, mine):
    tab.goto("/#/data")
    tab.get_by_text("Find causes in data of your own").wait_for()
    tab.route("**/api/data/files/*", lambda route: None if route.request.method == "PUT" else route.continue_())
    tab.set_input_files("#data-file", mine)
    tab.get_by_role("progressbar", name="Sending my table.csv").wait_for()


def test_a_recording_is_renamed_and_deleted(tab, server, mine):
    tab.goto("/#/data")
    tab.set_input_files("#data-file", mine)
    tab.get_by_text(re.compile("my table.csv is here")).wait_for()
    tab.once("dialog", lambda dialog: dialog.accept("kept for good"))
    tab.get_by_role("button", name=re.compile("^Rename my-table")).click()
    tab.get_by_text("is called kept-for-good.csv now.").wait_for()
    assert (server.data / "kept-for-good.csv").exists()
    tab.once("dialog", lambda dialog: dialog.dismiss())
    tab.get_by_role("button", name="Delete kept-for-good.csv").click()
    assert (server.data / "kept-for-good.csv").exists()
    tab.once("dialog", lambda dialog: dialog.accept())
    tab.get_by_role("button", name="Delete kept-for-good.csv").click()
    tab.get_by_text("kept-for-good.csv was deleted.").wait_for()
    assert not (server.data / "kept-for-good.csv").exists()


def test_a_recording_that_says_itself_what_it_is_can_be_learned_from_at_once(tab, server):
    from actcause.data import collect

    collect("1-in", 300, out=server.data / "ours.parquet")
    tab.goto("/#/data?file=ours.parquet")
    tab.get_by_role("button", name="Start training").wait_for()
    method = tab.get_by_role("combobox", name="Method", exact=True)
    assert "Start here" in tab.locator(".method-words").inner_text()
    method.select_option("never")
    assert "nothing is ever a cause" in tab.locator(".method-words").inner_text()


def test_a_recording_of_whole_states_says_what_can_be_done_with_it(tab, tmp_path):
    from actcause.data import collect_recording

    collect_recording("push", 200, seed=1).save(tmp_path / "whole.parquet")
    tab.goto("/#/data")
    tab.set_input_files("#data-file", tmp_path / "whole.parquet")
    tab.get_by_text("whole.parquet: 200 rows of whole states").wait_for()
    tab.get_by_text("200 rows · whole states").wait_for()
    tab.get_by_role("button", name="Copy command").click()
    assert tab.evaluate("navigator.clipboard.readText()") == "actcause train whole.parquet --outcome all --out graphs"


def test_the_shadow_of_a_table_in_a_panel_fades_into_the_panel(tab, mine):
    tab.goto("/#/data")
    tab.set_input_files("#data-file", mine)
    tab.wait_for_selector(".data-columns")
    behind, panel = tab.locator(".data-columns").first.evaluate(
        """node => {
          const style = getComputedStyle(node.closest('.panel'));
          const probe = document.createElement('div');
          probe.style.color = style.getPropertyValue('--panel');
          node.append(probe);
          const wanted = getComputedStyle(probe).color;
          probe.remove();
          return [getComputedStyle(node).backgroundImage, wanted];
        }"""
    )
    assert panel in behind


@pytest.mark.parametrize(("gap", "said"), [("0.5", 0), ("", 1)])
def test_how_many_values_are_missing_is_said_only_where_some_are(tab, gap, said):
    lines = [f"0,0.{k},{gap or ('' if k == 3 else '0.5')},0.{k},1.{k}" for k in range(1, 9)]
    content = "\n".join(["day,window,heater,temperature,temperature_next", *lines])
    file = {"name": f"room-{said}.csv", "mimeType": "text/csv", "buffer": content.encode()}
    tab.goto("/#/data")
    tab.set_input_files("#data-file", file)
    tab.get_by_text(f"room-{said}.csv is here.").wait_for()
    table = tab.get_by_role("region", name="Columns and what they mean")
    table.wait_for()
    assert tab.get_by_role("columnheader", name="Missing").count() == said
    if not said:
        assert table.evaluate("node => node.scrollWidth - node.clientWidth") <= 0  # it fits on a laptop
