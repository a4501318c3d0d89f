from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.browser

PICTURE = "[aria-label^='The state space: ']"
LENS = "[aria-label^='Close-up']"


def figures(tab) -> dict[str, str]:
    """The numbers above the picture, by what they count."""
    return {
        one.split("\n")[-1].rstrip("? "): one.split("\n")[0].strip() for one in tab.locator(".figure").all_inner_texts()
    }


def open_spaces(tab, address: str) -> None:
    tab.goto(f"/#/preimages{address}")
    tab.locator(".why h2").wait_for()


def pixels(tab) -> str:
    return tab.evaluate("() => document.querySelector('.heat-cells').toDataURL()")


def read_explanation(tab, state: str) -> str:
    """What is said about a state, once it is."""
    tab.locator(".why:not([aria-busy]) h2", has_text=state).wait_for()
    return tab.locator(".why").inner_text()


def slide(tab, label: str, key: str, times: int = 1) -> None:
    slider = tab.get_by_label(f"{label}, slider")
    slider.focus()
    for _ in range(times):
        slider.press(key)


def test_a_newcomer_sees_a_few_states_with_words_for_what_matters(tab) -> None:
    open_spaces(tab, "")
    assert int(figures(tab)["states"]) < 30
    assert "minimal pair" not in tab.locator("main").inner_text()
    tab.get_by_role("button", name="What is meant by map (minimal pair)?").first.click()
    assert "as few of them in all as can be" in tab.locator(".term-said").inner_text()


def test_the_papers_pusher_is_computed_at_once(tab) -> None:
    open_spaces(tab, "?example=pusher-1d")
    assert figures(tab)["states"] == "1,002,001"
    assert figures(tab)["variables in all"] == "2,003"
    assert figures(tab)["best map"] == "1"
    assert tab.get_by_label("alpha sufficiency, a number or a fraction").input_value() == "0.2"
    assert tab.get_by_label("alpha necessity, a number or a fraction").input_value() == "0.01"
    assert tab.locator(".binaries tbody tr").count() == 4
    assert "P (the pusher's position) alone" in tab.locator(".binaries").inner_text()
    assert tab.locator(LENS).is_visible()
    drawn = tab.evaluate(
        """() => {
          const canvas = document.querySelector('.heat-cells');
          const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          const found = new Set();
          for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
          return found.size;
        }"""
    )
    assert drawn > 3  # the rare states have not been lost among a million


def test_a_slider_changes_the_picture_and_the_numbers(tab) -> None:
    open_spaces(tab, "?example=pusher-1d")
    before = pixels(tab)
    tab.get_by_label("none (one change is enough)").check()
    tab.locator(".figure", has_text="1,003,001").wait_for()
    assert pixels(tab) != before
    slide(tab, "alpha sufficiency", "ArrowLeft", 9)
    tab.locator(".figure", has_text="1,005,000").wait_for()
    assert tab.get_by_label("alpha sufficiency, a number or a fraction").input_value() == "0"
    assert "as=0" in tab.url
    assert "an=none" in tab.url


def test_weak_sufficiency_has_a_number_of_pairs_too_large_to_write_out(tab) -> None:
    open_spaces(tab, "?example=pusher-1d&as=none&an=none")
    count = tab.locator(".figure", has_text="best maps")
    assert "2" in count.inner_text()
    assert int(count.locator("sup").first.inner_text()) > 100
    tab.get_by_role("button", name="next ▶").click()
    tab.get_by_text("Map 2 differs from map 1 in 1 state:").wait_for()


def test_rock_throwing_is_a_table_and_stepping_changes_a_binary(tab) -> None:
    open_spaces(tab, "?example=rock-throwing")
    assert figures(tab)["best maps"] == "32"
    assert tab.locator(".states tbody tr").count() == 4
    before = tab.locator(".states tbody code").all_inner_texts()
    tab.get_by_role("button", name="next ▶").click()
    tab.get_by_text("Map 2 differs from map 1 in 1 state:").wait_for()
    after = tab.locator(".states tbody code").all_inner_texts()
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    assert tab.locator(".states tr.changed").count() == 1
    tab.locator("body").press("[")
    tab.locator(".states tr.changed").wait_for(state="detached")
    assert tab.locator(".states tbody code").all_inner_texts() == before
    tab.get_by_label("Number of the map").fill("32")
    tab.get_by_label("Number of the map").press("Enter")
    tab.get_by_text("Map 32 differs from map 31").wait_for()
    assert tab.get_by_role("button", name="next ▶").is_disabled()


def test_all_valid_pairs_of_the_mover_are_counted_by_cost(tab) -> None:
    open_spaces(tab, "?example=mover-1d")
    tab.get_by_text("1,024 valid maps").wait_for()
    chart = tab.get_by_role("img", name="Valid maps by variables in all").get_attribute("aria-label")
    assert "14 variables 1; 15 variables 10;" in chart


def test_pairs_that_are_not_counted_are_said_to_be_so(tab) -> None:
    open_spaces(tab, "?example=rocket-ship")
    tab.get_by_text("Not counted. They are counted for up to 64 states.").wait_for()
    late = json.dumps({"error": "No answer within 3 seconds; ask about a smaller model.", "line": None})
    tab.route("**/api/preimages/histogram", lambda route: route.fulfill(status=422, body=late))
    open_spaces(tab, "?example=mover-1d")
    tab.get_by_text("Not counted. No answer within 3 seconds; ask about a smaller model.").wait_for()


def test_pointing_at_a_state_says_why_and_names_a_neighbour(tab) -> None:
    open_spaces(tab, "?example=mover-1d&show=picture&at=m=3,o=0")
    assert tab.locator(LENS).is_hidden()
    box = tab.locator(PICTURE).bounding_box()
    tab.mouse.move(box["x"] + 58 + (box["width"] - 82) / 8, box["y"] + 12 + (box["height"] - 58) / 2)  # m=0, o=1
    said = read_explanation(tab, "m=0, o=1: m' = 0")
    assert "Necessary: 11 of 12 settings of m and o" in said
    assert "m: not sufficient: with m=0 held, 2 of 3 settings" in said
    assert "With o=0 instead of 1, m' is 1 and o no longer matters." in said
    assert tab.locator(".state-line").inner_text().endswith("together (11)")
    tab.mouse.move(5, 5)
    read_explanation(tab, "m=3, o=0")


def test_the_cursor_moves_by_keyboard_and_the_neighbour_can_be_visited(tab) -> None:
    open_spaces(tab, "?example=pusher-1d")
    tab.locator(PICTURE).focus()
    read_explanation(tab, "P=500, X=502: Y = 501")
    tab.keyboard.press("ArrowUp")
    read_explanation(tab, "P=500, X=503: Y = 502")
    tab.keyboard.press("Shift+ArrowRight")
    assert "nothing matters enough" in read_explanation(tab, "P=510, X=503: Y = 500")
    tab.get_by_role("button", name="Go there").click()
    read_explanation(tab, "P=500, X=503")
    assert "at=P%3D500%2CX%3D503" in tab.url


def test_a_click_in_the_close_up_chooses_a_state(tab) -> None:
    open_spaces(tab, "?example=pusher-1d")
    box = tab.locator(LENS).bounding_box()
    inside = {"width": box["width"] - 82, "height": box["height"] - 58}
    # The window is 11 by 9 cells around P=500, X=502; the cell below its middle is X=501.
    tab.mouse.click(box["x"] + 58 + inside["width"] * 5.5 / 11, box["y"] + 12 + inside["height"] * 5.5 / 9)
    assert "X (the obstacle's position) alone" in read_explanation(tab, "P=500, X=501: Y = 500")


def test_other_variables_are_held_by_a_slice_and_a_binary_can_be_sought(tab) -> None:
    open_spaces(tab, "?example=rocket-ship")
    before = pixels(tab)
    tab.locator("#slice-T2").select_option("0")
    tab.wait_for_function("() => location.hash.includes('slice=T2')")
    tab.wait_for_function("(before) => document.querySelector('.heat-cells').toDataURL() !== before", arg=before)
    tab.get_by_role("button", name="Show a state with T2 (the second thruster) alone").click()
    tab.wait_for_function("() => decodeURIComponent(location.hash).includes('slice=T2=1')")
    assert "T2 (the second thruster) alone" in read_explanation(tab, "T1=0, T2=1")
    tab.locator("#across").select_option("X")
    tab.wait_for_function("() => location.hash.includes('x=X&y=T1')")


def test_a_row_that_comes_under_a_resting_pointer_is_not_pointed_at(tab) -> None:
    tab.goto("/#/ask")
    tab.get_by_role("button", name="See all states").click()
    asked = tab.get_by_role("heading", name="SH=1, ST=1, BH=0, BT=1: BS = 1")
    asked.wait_for()
    row = tab.locator(".states tbody tr:not(.current)").last
    row.hover()
    asked.wait_for(state="hidden")
    tab.keyboard.press("Alt+1")
    tab.get_by_role("button", name="See all states").press("Enter")
    asked.wait_for()
    tab.wait_for_selector(".states tbody tr:hover")  # the browser knows that the pointer rests on it
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert asked.count() == 1


def test_a_restriction_narrows_the_space(tab) -> None:
    open_spaces(tab, "?example=pusher-1d")
    tab.get_by_label("Only states in which").fill("P >= 498 and P <= 501 and X >= 500 and X <= 503")
    tab.get_by_label("Only states in which").press("Enter")
    tab.locator(".figure", has_text="16").first.wait_for()
    tab.locator(".states tbody tr").first.wait_for()
    assert tab.locator(".states tbody tr").count() == 16


def test_mistakes_are_said_and_can_be_put_right(tab) -> None:
    open_spaces(tab, "?example=rock-throwing")
    outcome = tab.get_by_label("Outcome (a variable or a formula)")
    outcome.fill("BX")
    outcome.press("Enter")
    tab.get_by_role("alert").filter(has_text="unknown variable 'BX'").wait_for()
    assert outcome.get_attribute("aria-invalid") == "true"
    outcome.fill("BS")
    outcome.press("Enter")
    tab.get_by_role("alert").wait_for(state="detached")
    share = tab.get_by_label("alpha sufficiency, a number or a fraction")
    share.fill("1.5")
    share.press("Enter")
    tab.get_by_role("alert").filter(has_text="(alpha sufficiency) must be between 0 and 1; got 1.5").wait_for()
    assert share.get_attribute("aria-invalid") == "true"
    share.fill("1/3")
    share.press("Enter")
    tab.get_by_role("alert").wait_for(state="detached")
    assert figures(tab)["states"] == "4"


@pytest.mark.parametrize(
    ("label", "wrong"),
    [
        ("Outcome (a variable or a formula)", "BX"),
        ("Only states in which", "BT ="),
        ("alpha sufficiency, a number or a fraction", "1.5"),
        ("alpha necessity, a number or a fraction", "half"),
        ("Number of the map", "33"),
    ],
)
def test_a_mistake_is_said_beside_the_field_that_has_it_on_a_telephone_too(tab, label: str, wrong: str) -> None:
    tab.set_viewport_size({"width": 390, "height": 800})
    open_spaces(tab, "?example=rock-throwing")
    control = tab.get_by_label(label)
    control.fill(wrong)
    control.press("Enter")
    said = tab.locator(".field-error:visible")
    said.wait_for()
    box, below = control.bounding_box(), said.bounding_box()
    assert 0 < below["y"] - box["y"] < 80
    assert control.get_attribute("aria-describedby") == said.get_attribute("id")
    assert tab.locator(".stale .figures").count() == 1


def test_numbers_and_legend_fade_while_others_are_computed(tab) -> None:
    open_spaces(tab, "?example=rock-throwing")
    tab.get_by_text("valid maps; those of the first row").wait_for()
    held: list[object] = []
    for path in ("picture", "histogram"):
        tab.route(f"**/api/preimages/{path}", lambda route: held.append(route))
    outcome = tab.get_by_label("Outcome (a variable or a formula)")
    outcome.fill("SH")
    outcome.press("Enter")
    tab.locator(".stale .figures").wait_for()
    assert tab.locator(".stale:has(.binaries)").count() == 1
    assert tab.locator(".stale", has_text="How many variables matter").count() == 1
    assert tab.locator(".stale", has_text="All valid maps").count() == 1
    held.pop(0).continue_()
    tab.get_by_role("heading", name="What SH hangs on, in every state").wait_for()
    assert tab.locator(".stale .figures").count() == 0
    assert tab.locator(".stale", has_text="All valid maps").count() == 1  # counted after the rest
    while not held:
        tab.wait_for_timeout(20)
    held.pop(0).continue_()
    tab.wait_for_function("() => !document.querySelector('.stale')")


def test_a_wrong_address_is_shown_to_be_put_right(tab) -> None:
    tab.goto("/#/preimages?example=rock-throwing&as=7")
    tab.get_by_role("alert").filter(has_text="got 7").wait_for()
    share = tab.get_by_label("alpha sufficiency, a number or a fraction")
    assert share.input_value() == "7"
    share.fill("1")
    share.press("Enter")
    tab.locator(".figure", has_text="32").wait_for()


def test_a_model_of_ones_own_can_be_typed_and_its_mistake_has_a_line(tab) -> None:
    open_spaces(tab, "?example=rock-throwing")
    tab.get_by_text("Model text").first.click()
    text = tab.locator("#model-text")
    text.fill("A\nB\nC = A and")
    tab.locator(".line-error", has_text="line 3").wait_for()
    text.fill("A in 0..9\nB in 0..9\nC = A < B")
    tab.get_by_role("heading", name="What C hangs on, in every state").wait_for()
    assert figures(tab)["states"] == "100"
    tab.reload()
    tab.get_by_role("heading", name="What C hangs on, in every state").wait_for()
    assert figures(tab)["states"] == "100"


def test_a_model_of_ones_own_starts_from_usual_shares_whatever_was_shown_before(tab) -> None:
    for example in ("rock-throwing", "mover-1d", "halt-and-charge"):
        open_spaces(tab, f"?example={example}")
        tab.get_by_text("Model text").first.click()
        tab.locator("#model-text").fill("A in 0..4\nB in 0..4\nC = A < B")
        tab.get_by_role("heading", name="What C hangs on, in every state").wait_for()
        shares = [tab.get_by_label(f"alpha {name}, a number or a fraction") for name in ("sufficiency", "necessity")]
        assert [share.input_value() for share in shares] == ["0.2", "0.01"]
    shares[0].fill("0.3")
    shares[0].press("Enter")
    tab.wait_for_url(re.compile(r"as=0\.3"))
    tab.locator("#model-text").fill("A in 0..5\nB in 0..5\nC = A < B")  # one's own share stays with one's own model
    tab.locator(".figure", has_text="36").first.wait_for()
    assert shares[0].input_value() == "0.3"


def test_what_matters_has_the_room_of_its_table(tab) -> None:
    tab.set_viewport_size({"width": 640, "height": 900})
    open_spaces(tab, "?example=mover-1d")
    wide = "row => [...row.children].map((cell) => cell.offsetWidth)"
    _, words, digits, *_ = tab.locator(".binaries tbody tr").first.evaluate(wide)
    assert words > 2 * digits


def test_a_space_that_is_too_large_leaves_the_page_usable(tab) -> None:
    open_spaces(tab, "?example=mover-1d")
    tab.get_by_text("Model text").first.click()
    tab.locator("#model-text").fill("A in 0..999\nB in 0..999\nC in 0..999\nY = A < B + C")
    tab.get_by_role("alert").filter(has_text="Give the roots smaller ranges").wait_for()
    tab.locator("#model-text").fill("A in 0..9\nB in 0..9\nC in 0..9\nY = A < B + C")
    tab.locator(".figure", has_text="1,000").wait_for()


def test_a_link_brings_the_picture_back(tab) -> None:
    open_spaces(tab, "?example=rocket-ship&pair=2&as=0.3&slice=T2=0&x=X&y=T1&at=T1=1,T2=0,X=500")
    tab.get_by_role("button", name="Copy link").click()
    tab.get_by_text("The link to this picture is copied.").wait_for()
    link = tab.evaluate("() => navigator.clipboard.readText()")
    before = pixels(tab)
    tab.goto("about:blank")
    tab.goto(link)
    assert "T2=0, X=500" in read_explanation(tab, "T1=1, T2=0, X=500")
    assert pixels(tab) == before
    tab.get_by_role("button", name="Copy command").click()
    tab.get_by_text("The command is copied.").wait_for()
    command = tab.evaluate("() => navigator.clipboard.readText()")
    assert command == "actcause partition rocket-ship --outcome Y --alpha-sufficiency 0.3 --alpha-necessity 0.01"


def test_pictures_and_tables_can_be_saved(tab) -> None:
    open_spaces(tab, "?example=mover-1d&show=picture")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    tab.get_by_label("table", exact=True).check()
    tab.locator(".states").wait_for()
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="CSV").click()
    assert saved.value.path().read_text().splitlines()[:2] == ["m,o,m',binary", "0,0,1,10"]


def test_only_the_newest_of_many_settings_is_shown(tab) -> None:
    """A slow question is overtaken: the picture that stays is that of the last setting."""
    open_spaces(tab, "?example=rocket-ship")
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.post_data) if request.url.endswith("/picture") else None)
    slide(tab, "alpha sufficiency", "ArrowRight", 12)
    tab.wait_for_function("() => location.hash.includes('as=0.8')")
    tab.wait_for_function("() => !document.querySelector('.space').hasAttribute('aria-busy')")
    assert json.loads(asked[-1])["alpha_sufficiency"] == "0.8"
    assert len(asked) <= 12


def test_a_question_that_takes_long_gives_way_to_a_newer_one(tab) -> None:
    open_spaces(tab, "?example=offensive-chatbot&an=none")
    share = tab.get_by_label("alpha sufficiency, a number or a fraction")
    share.fill("1")
    share.press("Enter")
    tab.locator('.space[aria-busy="true"]').wait_for()
    share.fill("0")
    share.press("Enter")
    tab.locator(".figure", has_text="1,999,000").wait_for()
    tab.locator(".why h2").wait_for()


def test_a_chart_of_lines_is_read_by_keyboard_and_told_apart_without_colour(tab) -> None:
    open_spaces(tab, "?example=mover-1d")
    table = tab.evaluate(
        """async () => {
          const { drawLines, writeSeriesCsv } = await import('/js/shared/chart.js');
          const loss = { name: 'loss', points: [[0, 2], [10, 1], [20, 0.5]] };
          const series = [loss, { name: 'score', points: [[0, 0], [20, 1]] }];
          document.getElementById('view').replaceChildren(drawLines(series, { title: 'Training', x: 'step' }));
          return writeSeriesCsv(series, 'step');
        }"""
    )
    assert table == "step,loss,score\n0,2,0\n10,1,\n20,0.5,1\n"
    chart = tab.get_by_role("img", name="Training")
    chart.focus()
    assert tab.locator(".chart-readout").inner_text() == "step 20: loss 0.5, score 1"
    chart.press("ArrowLeft")
    assert tab.locator(".chart-readout").inner_text() == "step 10: loss 1"
    dashes = [
        path.get_attribute("stroke-dasharray") for path in tab.locator(".chart-line > path:not(.chart-leader)").all()
    ]
    assert len(set(dashes)) == 2
    assert tab.locator(".chart-line text title").all_text_contents() == ["score", "loss"]


def test_the_theme_repaints_the_picture(tab) -> None:
    open_spaces(tab, "?example=mover-1d&show=picture")
    before = pixels(tab)
    tab.get_by_role("button", name="Change between light and dark").click()
    tab.wait_for_function("(before) => document.querySelector('.heat-cells').toDataURL() !== before", arg=before)


@pytest.mark.parametrize("width", [640, 990])
def test_on_a_narrow_screen_the_answer_comes_first_and_nothing_is_cut_off(tab, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    open_spaces(tab, "?example=pusher-1d")
    tab.locator(".why:not([aria-busy])").wait_for()
    found = tab.evaluate(
        """() => {
          const box = (name) => document.querySelector(name).getBoundingClientRect();
          return { why: box(".why"), heat: box(".heat"), answer: box(".figure"), height: document.body.scrollHeight };
        }"""
    )
    assert found["answer"]["top"] < 400
    assert found["heat"]["right"] <= width
    assert found["why"]["right"] <= width
    assert found["why"]["width"] > 0.5 * (width if width < 760 else width - 300)
    assert found["height"] < 4000


def test_a_reason_that_is_awaited_is_no_empty_box(tab):
    tab.expected.append("net::ERR_FAILED")
    held = []
    tab.route("**/api/preimages/why", lambda route: held.append(route))
    tab.goto("/#/preimages")
    tab.wait_for_selector(".figures")
    said = tab.locator(".why").evaluate("node => getComputedStyle(node, '::after').content")
    assert said == '"computing…"'


def test_one_valid_map_is_told_as_one(tab):
    tab.goto("/#/preimages?model=A%0AE+%3D+A&outcome=E")
    tab.get_by_text("1 valid map.").wait_for()
