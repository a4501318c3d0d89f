"""Models of one's own in a real browser: they start from defaults, are remembered, undone, and kept."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

ROCKS = "ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH"


def marks(tab, definition: str) -> dict[str, str]:
    row = tab.locator(".overview tbody tr", has_text=definition)
    names = [text.split("=")[0] for text in tab.locator(".overview thead code").all_inner_texts()]
    return dict(zip(names, row.locator(".mark").all_inner_texts(), strict=True))


def write(tab, text: str, headline: str) -> None:
    tab.fill("#model-text", text)
    tab.wait_for_selector(f"h1:has-text('{headline}'):not(.stale)")


def test_the_same_model_gives_the_same_answer_whatever_was_shown_before(tab) -> None:
    found = []
    for before in ("forest-fire-disjunctive", "doctor", "pusher-1d"):
        tab.goto(f"/#/ask?example={before}")
        tab.wait_for_selector(".overview")
        tab.locator(".chosen").wait_for()
        write(tab, ROCKS, "What caused BS=1?")
        assert tab.locator(".in-force button").count() == 0
        found.append(marks(tab, "Functional"))
    assert found[0] == found[1] == found[2]


def test_what_departs_from_the_defaults_is_seen_and_can_be_taken_back(tab) -> None:
    tab.goto("/#/ask?example=pusher-1d")
    chips = tab.locator(".in-force button")
    chips.first.wait_for()
    assert tab.locator("#necessity").is_visible()  # its section is open
    shown = chips.count()
    assert "as the example has it" in chips.last.inner_text()
    chips.last.click()
    tab.wait_for_function("count => document.querySelectorAll('.in-force button').length < count", arg=shown)


def test_views_and_the_logo_lead_back_to_the_model_that_was_typed(tab) -> None:
    tab.goto("/")
    write(tab, "A\nB\nC = A and B", "What caused C=1?")
    tab.fill("#model-text", "A\nB\nC = A and B\nD = C")  # left at once, before it was asked
    tab.click(".tabs a >> text=All states")
    tab.wait_for_selector("main.view-preimages")
    tab.click(".tabs a >> text=Ask")
    tab.wait_for_selector(".overview")
    assert tab.input_value("#model-text") == "A\nB\nC = A and B\nD = C"
    tab.keyboard.press("Alt+4")
    tab.wait_for_selector("main.view-runs")
    tab.click(".brand")
    tab.wait_for_selector(".overview")
    assert tab.input_value("#model-text") == "A\nB\nC = A and B\nD = C"


def test_models_are_kept_in_the_browser_with_undo_and_what_is_forgotten_comes_back(tab) -> None:
    tab.goto("/")
    write(tab, "A\nB = A", "What caused B=1?")
    write(tab, "A\nB = not A", "What caused B=0?")
    tab.click("text=Undo")
    tab.wait_for_selector("h1:has-text('What caused B=1?'):not(.stale)")
    assert tab.input_value("#model-text") == "A\nB = A"
    tab.click("text=Undo")
    tab.wait_for_selector("h1:has-text('What caused BS=1?'):not(.stale)")  # the example that it was made from
    tab.click("text=Redo")
    tab.click("text=Redo")
    tab.wait_for_selector("h1:has-text('What caused B=0?'):not(.stale)")
    tab.goto("/#/ask?example=loader")
    tab.reload()
    tab.wait_for_selector(".overview")
    tab.click("text=My models (1)")
    tab.click(".shelf-list >> text=Rename")
    tab.fill(".shelf-list input", "Negation")
    tab.keyboard.press("Enter")
    tab.click(".shelf-list >> text=Negation")
    tab.wait_for_selector("h1:has-text('What caused B=0?'):not(.stale)")
    tab.click(".shelf-list >> text=Forget")
    tab.click("text=Take back what was forgotten")
    tab.locator(".shelf-list >> text=Negation").wait_for()


def test_a_first_model_needs_no_more_than_its_text(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.click("text=New model")
    tab.wait_for_selector("h1:has-text('What caused Effect=1?'):not(.stale)")
    tab.click("text=How to write a model")
    assert tab.locator(".syntax code").count() > 5
    # The end of the chain is the effect, though it is not the last line; and it is as it came out.
    write(tab, "Out = not In\nIn\nSide\nOut2 = Out", "What caused Out2=0?")
    assert tab.locator(".outcomes button").all_inner_texts() == ["Out2 == 0", "Out2 == 1"]
    assert tab.locator(".mistake").inner_text() == ""
    tab.locator('.graph [data-name="Out2"]').click()  # the effect did not cause itself
    assert tab.evaluate("document.activeElement.id") == "effect"
    assert tab.input_value("#event") == ""


def test_an_answer_fades_while_another_is_computed(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    held: list[object] = []
    tab.route("**/api/ask/answer", lambda route: held.append(route))
    tab.click("#root-ST")
    for part in (".headline", ".verdict-line", ".stage", ".said"):
        tab.wait_for_selector(f"{part}.stale")
    assert tab.get_attribute(".seeing", "aria-busy") == "true"
    held[0].continue_()
    tab.wait_for_selector(".said:not(.stale)")
    assert tab.get_attribute(".seeing", "aria-busy") == "false"


@pytest.mark.parametrize("width", [980, 640, 400])
def test_on_a_narrow_screen_the_answer_comes_first_and_nothing_is_cut_off(tab, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto("/#/ask?example=voting-close&event=V1%3D1")
    tab.wait_for_selector(".judged")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator(".verdict-line").bounding_box()["y"] < 900
    order = [tab.locator(part).bounding_box()["y"] for part in (".starting", ".seeing", ".asking")]
    assert order == sorted(order)
    scroll = tab.locator(".overview .scroll")
    assert "gradient" in scroll.evaluate("node => getComputedStyle(node).backgroundImage")  # a hint that there is more
    assert scroll.get_attribute("tabindex") == "0"


def test_no_line_of_any_example_is_cut_off_in_the_editor(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    cut = tab.evaluate(
        """async () => {
          const examples = await (await fetch('/api/ask/examples')).json();
          const area = document.getElementById('model-text');
          const found = [];
          for (const { name, text } of examples) {
            area.value = text;
            if (area.scrollWidth > area.clientWidth) found.push(name);
          }
          return found;
        }"""
    )
    assert cut == []
    tab.fill("#model-text", "A\nB = A" + " or A" * 60 + "\nC = B and")
    tab.wait_for_selector(".gutter .wrong")
    number = tab.locator(".gutter .wrong").bounding_box()
    stripe = tab.locator(".stripe").bounding_box()
    assert number["y"] == pytest.approx(stripe["y"], abs=1)  # below a line that is wrapped
    assert stripe["y"] > tab.locator(".gutter div").nth(1).bounding_box()["y"] + 60


def test_a_text_that_comes_line_by_line_is_numbered_once(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    numbers = """() => {
      const area = document.getElementById("model-text");
      const gutter = document.querySelector(".gutter");
      const before = gutter.childElementCount;
      area.value = "";
      for (let line = 0; line < 300; line += 1) {
        area.value += `X${line}\n`;
        area.dispatchEvent(new Event("input"));
      }
      return [before, gutter.childElementCount];
    }"""
    before, meanwhile = tab.evaluate(numbers)
    assert meanwhile == before
    tab.wait_for_function("() => document.querySelector('.gutter').childElementCount === 301")


def test_where_nothing_can_be_a_cause_no_longer_search_is_promised(tab) -> None:
    tab.goto("/")
    write(tab, "A = 1\nB = A", "What caused B=1?")
    assert tab.locator(".verdict-line").inner_text().split("\n")[0] == "0 of 7 definitions: none of them finds a cause."
    assert "1 of 7 could not answer." in tab.locator(".verdict-line").inner_text()


def test_where_no_definition_names_one_of_many_variables_that_is_said(tab) -> None:
    tab.goto("/")
    lines = [*(f"A{k}" for k in range(12)), "B = A0 or not A0", *(f"C{k} = A{k} and B" for k in range(12))]
    write(tab, "\n".join([*lines, "D = B or " + " or ".join(f"C{k}" for k in range(12))]), "What caused D=1?")
    assert "variables that could be causes is named" in tab.locator(".overview .legend").inner_text()


def test_what_explains_it_and_how_probable_it_was_are_asked_where_the_answer_is(tab) -> None:
    tab.goto("/#/ask?example=forest-fire-conjunctive")
    tab.wait_for_selector(".overview")
    tab.click("text=What explains it to someone")
    tab.wait_for_selector("text=together are a trivial explanation of FF=1")
    tab.fill("#known", "L == 1")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=The dropped match MD=1 is a trivial explanation")
    tab.fill("#known", "Q == 1")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".further .notice.bad:has-text(\"unknown variable 'Q'\")")
    assert tab.get_attribute("#known", "aria-invalid") == "true"
    tab.click("text=How probably was it necessary")
    tab.fill("#probable", "L=1")
    tab.fill("#prior", "L=1/3, MD=1/2")
    tab.keyboard.press("Enter")
    measures = tab.locator(".measures tbody tr")
    measures.first.wait_for()
    assert [row.split("\t")[:2] for row in measures.all_inner_texts()] == [
        ["necessary (PN)", "1"],
        ["sufficient (PS)", "1/2"],
        ["both (PNS)", "1/2"],
    ]


def test_words_are_explained_and_a_tour_has_three_steps(tab) -> None:
    tab.goto("/")
    tab.wait_for_selector(".overview")
    tab.click("text=Show me")
    for target in (".starting", ".verdict-line", ".graph-panel"):
        tab.wait_for_selector(f"{target}.toured")
        tab.click(".tour .main")
    assert tab.locator(".tour").is_hidden()
    tab.reload()
    tab.wait_for_selector(".overview")
    assert tab.locator(".tour").is_hidden()
    question = tab.locator(".overview").get_by_role("button", name="What is meant by Halpern-Pearl, modified?")
    question.click()
    note = tab.locator(".term-said")
    assert "held at what they actually were" in note.inner_text()
    more = note.get_by_role("link", name="More in the guide").get_attribute("href")
    link = note.get_by_role("link", name="All words").get_attribute("href")
    tab.keyboard.press("Escape")
    assert note.count() == 0
    assert question.evaluate("node => node === document.activeElement")
    tab.goto(f"/{link}")
    assert "Halpern-Pearl, modified" in tab.locator(".words .sought").inner_text()
    tab.goto(f"/{more}")
    tab.get_by_role("heading", name="Choosing a definition").wait_for()
    assert tab.locator(".guide table").count() > 0


def test_the_guide_leads_to_the_place_that_a_word_means_and_on_to_other_pages(tab) -> None:
    tab.goto("/#/words?of=witness")
    tab.locator(".words .sought").get_by_role("link", name="More").click()
    tab.wait_for_selector(".guide .sought")
    assert tab.locator(".guide .sought").inner_text() == "witness"
    assert tab.evaluate("document.querySelector('.guide .sought').getBoundingClientRect().top") < 200
    tab.get_by_role("link", name="model text", exact=True).click()
    tab.get_by_role("heading", name="Model text").wait_for()
    assert "exogenous U in {0, 1}" in tab.locator(".guide pre").first.inner_text()
    tab.goto("/#/guide?page=nosuch")
    tab.get_by_text("The guide has no such page.").wait_for()


def test_a_model_with_next_values_is_asked_about_over_several_steps(tab) -> None:
    tab.goto("/")
    write(tab, "open\nlevel in 0..3 = 0\nlevel' = min(3, level + open)", "What caused level")
    assert tab.locator("#steps").is_visible()
    tab.fill("#steps", "3")
    tab.keyboard.press("Tab")
    tab.wait_for_selector("h1:has-text('What caused level=3 at step 3?'):not(.stale)")
    assert tab.locator('.graph [data-name="open@0"]').count() == 1
    assert "steps=3" in tab.url
    tab.click("#root-open\\@1")
    tab.wait_for_selector("h1:has-text('What caused level=2 at step 3?'):not(.stale)")
    tab.fill("#model-text", "A\nB = A")
    tab.wait_for_selector("h1:has-text('What caused B=1?'):not(.stale)")
    assert tab.locator("#steps").is_hidden()


def test_of_an_effect_that_nothing_comes_before_the_first_line_says_so(tab) -> None:
    tab.goto("/#/ask")
    tab.wait_for_selector(".overview")
    write(tab, "A", "What caused A=1?")
    assert tab.locator(".verdict-line .first").inner_text() == "Nothing in this model comes before A."
    assert "ask about a variable that has one" in tab.locator(".verdict-line").inner_text()


def test_a_new_model_shows_nothing_of_the_one_before(tab) -> None:
    tab.goto("/#/ask")
    tab.wait_for_selector(".overview")
    assert tab.locator("#necessity").is_visible()  # the example departs from the usual shares
    assert tab.locator("#event").get_attribute("placeholder") == "BT=1"
    tab.route("**/api/ask/check", lambda route: route.abort())  # before there is an answer
    tab.expected.append("Failed to load resource")
    tab.get_by_role("button", name="New model").click()
    assert tab.locator("#event").get_attribute("placeholder") == ""
    assert not tab.locator("#necessity").is_visible()


def test_what_two_tabs_keep_is_kept_by_both(tab) -> None:
    other = tab.context.new_page()
    for page in (tab, other):
        page.goto("/#/ask")
        page.wait_for_selector(".overview")
    for page, text, headline in ((tab, "One\nE = One", "E=1"), (other, "Two\nF = Two", "F=1")):
        page.get_by_role("button", name="New model").click()
        write(page, text, f"What caused {headline}?")
        page.locator(".shelf summary", has_text="My models").wait_for()
    for page in (tab, other):
        page.locator(".shelf summary", has_text="My models (2)").wait_for()  # one hears of the other
    tab.reload()
    tab.wait_for_selector(".overview")
    tab.locator(".shelf summary", has_text="My models (2)").click()
    assert sorted(tab.locator(".shelf-list .opens").all_inner_texts()) == ["One, E", "Two, F"]
    tab.get_by_role("button", name="Forget One, E").click()
    other.locator(".shelf summary", has_text="My models (1)").wait_for()
    tab.get_by_role("button", name="Take back what was forgotten").click()
    other.locator(".shelf summary", has_text="My models (2)").wait_for()
