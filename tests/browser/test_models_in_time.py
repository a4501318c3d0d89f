"""Models with time in a real browser: examples as written, sentences that say when, code that can be copied."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

TANK = "open\nlevel in 0..3 = 0\nlevel' = min(3, level + open)\nfull = level == 3"


def read_clipboard(tab, what: str) -> str:
    tab.get_by_role("button", name=f"Copy {what}", exact=True).click()
    tab.wait_for_selector(f"#toast.shown:has-text('{what}')")
    return tab.evaluate("navigator.clipboard.readText()")


def test_an_example_is_shown_as_it_was_written_with_its_steps(tab) -> None:
    tab.goto("/#/ask?example=overflowing-tank")
    tab.wait_for_selector("h1:has-text('What caused alarm=1 at step 5?'):not(.stale)")
    assert "level' = max(" in tab.locator("#model-text").input_value()
    assert "@" not in tab.locator("#model-text").input_value()
    assert tab.locator("#steps").input_value() == "5"
    assert tab.url.endswith("#/ask?example=overflowing-tank")  # nothing departs from it
    tab.get_by_text("5 steps, as the example has it").wait_for()
    said = tab.locator(".verdict-line .first").inner_text()
    assert re.search(r"at step \d \(\w+@\d=\d\)", said)  # of several with one label


def test_a_drawing_that_is_too_large_is_not_looked_at_past_its_edge(tab) -> None:
    tab.goto("/#/ask?example=overflowing-tank")
    tab.wait_for_selector(".overview")
    seen, drawn = tab.wait_for_function(
        """() => {
          const graph = document.querySelector("svg.graph");
          const [left, top, width, height] = graph.getAttribute("viewBox").split(" ").map(Number);
          const box = graph.getBBox();
          return width < box.width && [[left, top, width, height], [box.x, box.y, box.width, box.height]];
        }"""
    ).json_value()
    margin = 40
    for low, length in ((0, 2), (1, 3)):
        spare = drawn[length] - seen[length]  # less than nothing where all of it is seen
        assert drawn[low] + min(0, spare) - margin <= seen[low] <= drawn[low] + max(0, spare) + margin


def test_copied_python_and_command_say_what_the_page_says_and_when(tab, tmp_path: Path) -> None:
    tab.goto("/#/ask?example=rock-throwing-in-time")
    tab.click("text=Show all reasons")
    card = tab.locator('.card[data-definition="modified-hp"]')
    sentence = card.locator(".sentence", has_text="Suzy's throw").first.inner_text()
    assert "ST=1 at step 0 is a cause of BS=1 at step 2" in sentence
    python = read_clipboard(tab, "Python")
    assert ").unrolled(2)" in python
    (tmp_path / "copied.py").write_text(python, encoding="utf-8")
    said = subprocess.run([sys.executable, tmp_path / "copied.py"], capture_output=True, text=True, check=True)
    assert sentence in said.stdout
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "300"}
    command = read_clipboard(tab, "command")
    assert command.startswith("actcause ask rock-throwing-in-time ")
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=True)
    assert sentence in shown.stdout


def test_an_effect_past_the_last_step_is_told_beside_it_and_more_steps_answer_it(tab) -> None:
    tab.goto("/#/ask?example=rock-throwing-in-time")
    tab.wait_for_selector("h1:has-text('at step 2?'):not(.stale)")
    tab.fill("#effect", "BS@4 == 1")
    tab.locator("#effect-error", has_text="mentions step 4, but the model goes to step 2").wait_for()
    tab.fill("#steps", "4")
    tab.wait_for_selector("h1:has-text('What caused BS=1 at step 4?'):not(.stale)")
    assert tab.locator("#effect-error").inner_text() == ""


def test_a_number_of_steps_that_cannot_be_is_told_beside_it(tab) -> None:
    tab.goto("/#/ask?example=rock-throwing-in-time")
    tab.wait_for_selector(".overview")
    for number, said in {"-3": "must be at least 0; got -3.", "2.5": "must be a whole number; got 2.5."}.items():
        tab.fill("#steps", number)
        tab.keyboard.press("Tab")
        tab.locator("#steps-error", has_text=said).wait_for()
        assert tab.get_attribute("#steps", "aria-invalid") == "true"
    tab.fill("#steps", "2")
    tab.keyboard.press("Tab")
    tab.wait_for_selector("h1:has-text('What caused BS=1 at step 2?'):not(.stale)")
    assert tab.locator("#steps-error").inner_text() == ""


def test_a_model_of_ones_own_is_seen_in_all_states_with_all_its_steps(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.fill("#model-text", TANK)
    tab.wait_for_selector("#steps")
    tab.fill("#steps", "3")
    tab.wait_for_selector("h1:has-text('What caused full=1 at step 3?'):not(.stale)")
    tab.click("text=See all states")
    tab.wait_for_selector("main.view-preimages")
    tab.get_by_text("open@0=1, ").first.wait_for()
    assert tab.get_by_label("Outcome (a variable or a formula)").input_value() == "full@3"


def test_a_name_that_the_model_does_not_have_is_told_and_stays_as_it_was_typed(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.fill("#effect", "BX == 1")
    error = tab.locator("#effect-error", has_text="unknown variable 'BX'; did you mean 'BT'?")
    error.wait_for()
    assert error.inner_text().endswith("?")
    assert tab.locator("#effect").input_value() == "BX == 1"


def test_all_states_shows_what_is_asked_while_it_computes(tab) -> None:
    waiting = []
    tab.route("**/api/preimages/picture", lambda route: waiting.append(route))  # and do not answer yet
    tab.goto("/#/preimages?example=loader")
    tab.get_by_text("Computing").wait_for()
    assert tab.get_by_label("Outcome (a variable or a formula)").input_value() == "D"
    assert tab.locator(".picker .chosen").inner_text() != ""
    for route in waiting:
        route.continue_()
    tab.wait_for_selector(".overview, table, canvas")


def test_how_probable_a_cause_of_many_values_was_is_asked_with_what_it_might_have_been(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.fill("#model-text", "A\nDose in 0..2\nD = A and Dose > 1")
    tab.wait_for_selector("h1:has-text('What caused D=1?'):not(.stale)")
    tab.click("text=How probably was it necessary")
    tab.locator(".measures").wait_for()  # of the cause that could have been otherwise in one way only
    assert tab.get_attribute("#probable", "placeholder") == "A=1"
    tab.fill("#probable", "Dose=2")
    tab.keyboard.press("Enter")
    tab.locator(".further .notice.bad", has_text="'instead of it' must say what it might have been").wait_for()
    assert tab.get_attribute("#instead", "aria-invalid") == "true"
    tab.fill("#instead", "Dose=0")
    tab.keyboard.press("Enter")
    tab.locator(".measures", has_text="would have failed under Dose=0").wait_for()
