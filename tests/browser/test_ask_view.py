"""Ask in a real browser: examples, typing, clicking, replaying a witness, links and code that can be copied."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.browser


def open_ask(tab, state: str = ""):
    tab.goto(f"/#/ask{state}")
    tab.click("text=Show all reasons")
    tab.wait_for_selector(".card")
    return tab


def card(tab, definition: str):
    return tab.locator(f'.card[data-definition="{definition}"]')


def node(tab, name: str):
    return tab.locator(f'.graph [data-name="{name}"]')


def clipboard(tab) -> str:
    return tab.evaluate("navigator.clipboard.readText()")


# -- what is seen ------------------------------------------------------------------------------------


def test_the_graph_and_all_definitions_are_shown(tab) -> None:
    open_ask(tab)
    assert tab.locator(".graph .node").count() == 5
    assert tab.locator(".graph .edge").count() == 5
    assert node(tab, "BH").locator(".what").inner_html().count("tspan") == 4
    assert "BH" in node(tab, "BH").get_attribute("aria-label")
    assert card(tab, "modified-hp").locator(".cause").all_inner_texts() == ["▷ ST=1", "▷ SH=1"]
    card(tab, "modified-hp").get_by_text("responsibility 1/2").first.wait_for()  # on a busy machine it comes later
    assert "had ST been 0 while BH stayed 0" in card(tab, "modified-hp").inner_text()
    assert tab.locator(".overview tbody tr").count() == 7


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
@pytest.mark.parametrize("example", ["voting-close", "double-prevention", "extended-double-prevention"])
def test_wide_and_tall_graphs_are_seen_whole(tab, example: str, size: tuple[int, int]) -> None:
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    tab.goto(f"/#/ask?example={example}")
    tab.wait_for_selector(".graph")
    hidden = tab.evaluate(
        """() => {
          const stage = document.querySelector('.stage');
          return [stage.scrollWidth - stage.clientWidth, stage.scrollHeight - stage.clientHeight];
        }"""
    )
    assert max(hidden) <= 0
    boxes = tab.evaluate(
        "() => [...document.querySelectorAll('.graph .box')].map((box) => box.getBoundingClientRect().toJSON())"
    )
    assert min(box["height"] for box in boxes) > 38  # of 54
    for index, one in enumerate(boxes):
        for other in boxes[:index]:
            across = one["left"] < other["right"] and other["left"] < one["right"]
            assert not (across and one["top"] < other["bottom"] and other["top"] < one["bottom"])


def test_clicking_a_cause_replays_its_witness_step_by_step(tab) -> None:
    open_ask(tab)
    card(tab, "modified-hp").locator(".cause").first.click()
    tab.locator(".player .step").nth(1).click()
    assert "changed" in node(tab, "ST").get_attribute("class")
    assert "1 → 0" in node(tab, "ST").locator(".value").text_content()
    tab.click("text=Next ›")
    assert "held" in node(tab, "BH").get_attribute("class")
    assert tab.locator(".player .caption").inner_text() == "Hold BH at 0, as it was."
    tab.click("text=Next ›")
    assert "moved" in node(tab, "BS").get_attribute("class")
    assert "BS=1 is gone" in tab.locator(".player .caption").inner_text()
    tab.click("text=Close")
    assert tab.locator(".player").is_hidden()
    assert "moved" not in node(tab, "BS").get_attribute("class")


def test_a_replay_runs_by_itself_unless_the_user_wants_no_movement(tab) -> None:
    open_ask(tab)
    tab.emulate_media(reduced_motion="reduce")
    card(tab, "modified-hp").locator(".cause").first.click()
    assert tab.locator(".player .step[aria-current=step]").inner_text() == "4 What comes out"
    tab.emulate_media(reduced_motion="no-preference")
    tab.clock.install(time=0)
    tab.clock.pause_at(1000)
    tab.click("text=Play again")
    for step in ("1 What happened", "2 Change", "3 Hold", "4 What comes out"):
        assert tab.locator(".player .step[aria-current=step]").inner_text() == step
        tab.clock.run_for(1700)


# -- asking ------------------------------------------------------------------------------------------


def test_examples_are_searched_and_chosen_by_keyboard(tab) -> None:
    open_ask(tab)
    tab.focus(".opener")
    tab.keyboard.press("Enter")
    tab.keyboard.type("trumping order")
    assert tab.locator(".option").count() == 2
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/#/ask?example=trumping")
    tab.locator(".chosen", has_text="Trumping").wait_for()  # the address changes before the page does
    assert tab.locator(".sheet").is_hidden()


def test_clicking_a_root_changes_the_context_and_the_answer(tab) -> None:
    open_ask(tab)
    node(tab, "ST").click()
    tab.wait_for_selector('[data-name=BH][aria-label*="BH = 1"]')
    tab.wait_for_selector('.card[data-definition="modified-hp"] .cause:has-text("BT=1")')
    tab.wait_for_url("**context=ST%3D0**")
    node(tab, "ST").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector('[data-name=BH][aria-label*="BH = 0"]')


def test_an_effect_that_does_not_hold_is_said_honestly(tab) -> None:
    open_ask(tab)
    tab.click("text='BS == 0'")
    tab.wait_for_selector("text=Nothing caused this: the effect does not hold.")


def test_an_event_gets_a_verdict_from_every_definition_with_the_failing_condition(tab) -> None:
    open_ask(tab)
    tab.fill("#event", "BT=1")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".verdict")
    assert tab.locator("h1").inner_text() == "Was BT=1 a cause of BS=1?"
    assert tab.locator(".verdict").count() == 7
    verdict = card(tab, "modified-hp").locator(".verdict")
    assert verdict.locator("strong").inner_text() == "BT=1: no"
    assert verdict.locator(".failed").inner_text() == "✗ changing it, as the definition allows, undoes the effect AC2a"
    assert tab.locator(".verdict-line").inner_text() == "No: 0 of 7 definitions count Billy's throw (BT=1) as a cause"
    assert tab.locator(".judged").first.inner_text() == "no, changing it would not have undone the effect"
    tab.click("text='Clear'")
    assert tab.locator(".verdict").count() == 0


def test_a_contrast_is_typed_under_what_happened_and_goes_into_the_address(tab) -> None:
    open_ask(tab, "?example=trumping")
    tab.fill("#contrast", "C == -1")
    tab.keyboard.press("Tab")
    tab.wait_for_selector("h1:has-text('What caused C=1 rather than C=-1?')")
    assert "had M been -1, C would have been -1" in card(tab, "modified-hp").inner_text()
    assert "rather=" in tab.url
    tab.fill("#contrast", "C >= 0")
    tab.keyboard.press("Tab")
    tab.get_by_text("The contrast must rule the effect out").wait_for()
    assert tab.get_attribute("#contrast", "aria-invalid") == "true"


def test_what_is_normal_ranks_the_causes(tab) -> None:
    open_ask(tab, f"?example=pens&normally={quote('P == 0')}")
    card(tab, "modified-hp").get_by_text("rank 2").wait_for()
    assert card(tab, "modified-hp").locator(".cause").all_inner_texts() == ["▷ P=1", "▷ A=1"]
    tab.fill("#rules", "P == 0\nA == 1")
    tab.keyboard.press("Tab")
    card(tab, "modified-hp").get_by_text("rank 2").wait_for(state="hidden")
    assert card(tab, "modified-hp").locator(".cause").all_inner_texts() == ["▷ P=1"]


def test_a_large_range_is_typed_and_a_click_leads_there(tab) -> None:
    open_ask(tab, "?example=pusher-1d")
    node(tab, "P").click()
    assert tab.evaluate("document.activeElement.id") == "root-P"
    tab.fill("#root-P", "300")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=Nothing caused this")


def test_a_search_that_ran_out_says_so_and_can_go_on(tab) -> None:
    # Enough of forty votes: 2^40 sets of them are too many for any machine, however long it searches.
    votes = [f"X{index}" for index in range(40)]
    text = "\n".join([*votes, f"Y = {' + '.join(votes)} >= 20"])
    tab.goto(f"/#/ask?model={quote(text)}&effect=Y+%3D%3D+1")
    tab.click("text=Show all reasons")
    direct = card(tab, "direct")
    direct.get_by_text("No cause was found so far.").wait_for()
    assert "The search ran out of its time." in direct.inner_text()
    with tab.expect_response("**/api/ask/answer") as searched:
        direct.get_by_role("button", name="Search longer").click()
        tab.get_by_text("searching longer …").wait_for()
    assert searched.value.request.post_data_json["definitions"] == ["direct"]
    assert [answer["status"] for answer in searched.value.json()["answers"]] == ["out-of-time"]
    tab.get_by_text("searching longer …").wait_for(state="hidden")
    direct.get_by_role("button", name="Search longer").wait_for()


def test_a_definition_that_is_stopped_says_so_and_what_to_do(tab) -> None:
    chain = "\n".join(["X0", *(f"X{index} = X{index - 1}" for index in range(1, 1000))])
    tab.goto(f"/#/ask?model={quote(chain)}&effect=X999+%3D%3D+1")
    tab.wait_for_selector("h1:has-text('What caused X999=1?')")
    tab.click("text=Show all reasons")
    assert "No answer within 7.5 seconds; ask about a smaller model" in card(tab, "functional").inner_text()
    assert "too many to draw" in tab.locator(".stage").inner_text()
    assert tab.locator(".gutter div").count() == 1000


# -- mistakes ----------------------------------------------------------------------------------------


def test_a_wrong_line_is_marked_while_typing_and_the_mark_goes_when_it_is_right(tab) -> None:
    open_ask(tab)
    tab.fill("#model-text", "A\nB = A and\nC = B")
    tab.wait_for_selector(".gutter .wrong")
    assert tab.locator(".gutter .wrong").inner_text() == "✗ 2"
    assert "line 2" in tab.locator(".line-error").inner_text()
    assert tab.locator(".chosen").inner_text() == "Your own model"
    tab.fill("#model-text", "A\nB = not A\nC = B")
    tab.wait_for_selector(".gutter .wrong", state="detached")
    tab.wait_for_selector("h1:has-text('What caused C=0?')")
    assert tab.input_value("#effect") == "C == 0"
    assert card(tab, "but-for").locator(".cause").all_inner_texts() == ["▷ A=1", "▷ B=0"]


def test_a_wrong_event_is_refused_in_words(tab) -> None:
    open_ask(tab)
    tab.fill("#event", "BX=1")
    tab.click("[aria-label=Event] button >> text='Ask'")
    tab.wait_for_selector("#event-error:has-text(\"unknown variable 'BX'; did you mean\")")
    assert tab.get_attribute("#event", "aria-invalid") == "true"
    tab.fill("#effect", "BS = 1")
    tab.wait_for_selector("#effect-error:has-text(\"write '=='\")")
    assert tab.locator(".mistake").inner_text() == ""


def test_text_of_the_user_is_never_html(tab) -> None:
    open_ask(tab)
    tab.fill("#model-text", 'A "<img src=x onerror=alert(1)>"\nB = A')
    tab.fill("#effect", "B == 1")
    tab.wait_for_selector("h1:has-text('What caused B=1?')")
    assert tab.locator("main img").count() == 0
    assert "<img" in card(tab, "but-for").inner_text()


def test_a_damaged_link_is_said_so_and_shows_the_first_question(tab) -> None:
    tab.goto("/#/ask?z=AAAA")
    tab.wait_for_selector(".overview")
    assert tab.locator("h1").inner_text() == "What caused BS=1?"
    tab.wait_for_selector(".notice.bad:has-text('the link is damaged')")


# -- taking it elsewhere -----------------------------------------------------------------------------


def test_a_link_reproduces_the_question_exactly(tab, browser, server) -> None:
    open_ask(tab)
    text = "\n".join(["A", 'B "<b>& more"', *(f"X{index} = A or B" for index in range(60)), "Y = X0 and X59"])
    tab.fill("#model-text", text)
    tab.fill("#effect", "Y == 1")
    tab.wait_for_selector("h1:has-text('What caused Y=1?')")
    tab.click("#root-B")
    tab.wait_for_url("**B%3D0**")
    card(tab, "but-for").locator(".cause").first.click()
    tab.click("text=Copy link")
    tab.wait_for_selector("#toast.shown")
    link = clipboard(tab)
    assert "z=" in link
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector(".player:not([hidden])")
    assert page.locator("#model-text").input_value() == text
    assert page.locator("#root-B").inner_text() == "0"
    assert page.locator("h1").inner_text() == "What caused Y=1?"
    assert page.locator(".cause[aria-pressed=true]").count() == 1
    context.close()


@pytest.mark.parametrize("event", ["", "ST=1"])
def test_the_copied_python_and_command_run(tab, tmp_path: Path, event: str) -> None:
    open_ask(tab)
    node(tab, "BT").click()
    tab.wait_for_url("**BT%3D0**")
    if event:
        tab.fill("#event", event)
        tab.keyboard.press("Enter")
        tab.wait_for_selector(".verdict")
    sentence = card(tab, "but-for").locator(".sentence").first.inner_text()
    tab.click("text=Copy Python")
    tab.wait_for_selector("#toast.shown:has-text('Python')")
    (tmp_path / "copied.py").write_text(clipboard(tab), encoding="utf-8")
    said = subprocess.run([sys.executable, tmp_path / "copied.py"], capture_output=True, text=True, check=True)
    assert sentence in said.stdout
    tab.click("text=Copy command")
    tab.wait_for_selector("#toast.shown:has-text('command')")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "300"}
    shown = subprocess.run(["bash", "-c", clipboard(tab)], capture_output=True, text=True, env=environment, check=True)
    assert sentence in shown.stdout


def test_the_model_can_be_looked_at_in_every_state(tab) -> None:
    open_ask(tab, "?example=loader")
    node(tab, "A").click()
    tab.wait_for_url("**A%3D0**")
    tab.click("text=See all states")
    tab.wait_for_selector("main.view-preimages")
    assert "example=loader" in tab.url
    assert "outcome=D" in tab.url
    tab.get_by_text("A=0, ").first.wait_for()  # it starts at the state that was asked about


def test_variables_may_have_any_name_that_model_text_allows(tab) -> None:
    open_ask(tab)
    tab.fill("#model-text", "constructor\n__proto__\ntoString = constructor or __proto__")
    tab.fill("#effect", "toString == 1")
    tab.wait_for_selector("h1:has-text('What caused toString=1?')")
    marks = tab.locator(".overview tbody tr", has_text="modified").locator(".mark")
    marks.nth(1).filter(has_text="1/2").wait_for()  # degrees may come after the answer
    assert marks.all_inner_texts() == ["◐ 1/2", "◐ 1/2"]
    card(tab, "but-for").locator(".cause").first.click()
    tab.locator(".player .step").last.click()
    assert node(tab, "toString").locator(".badge").text_content().strip() == "follows"
