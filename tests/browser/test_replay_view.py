"""Replay in a real browser: an episode plays, is stepped through, and is judged by a run."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from PIL import Image

from actcause.data import collect

pytestmark = pytest.mark.browser

JOB = 600_000  # milliseconds: a job gives way to everything else on the machine, and tests may have it busy
TINY = {"steps": 60, "distil_steps": 50, "width": 8, "batch": 32}


@pytest.fixture(scope="module")
def run(server):
    """A small run on a recording that is in the server's folder."""
    from actcause.learn import MaskJACI, runs

    data = collect("push", 1500, seed=2, metadata={"domain": "push"})
    data.save(server.data / "pushing.parquet")
    runs.train(MaskJACI(**TINY), data, server.runs / "pusher", source="pushing.parquet", tensorboard=False)
    return "pusher"


def place(tab):
    """The step that is shown, and how many there are."""
    return tuple(map(int, re.findall(r"\d+", tab.locator(".replay-place").inner_text())))


def test_a_first_visit_shows_an_episode_playing_that_obeys_the_keyboard(tab):
    tab.goto("/#/replay")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    tab.locator(".replay-place", has_text=re.compile(r"step ([3-9]|1\d) of 20")).wait_for()
    tab.keyboard.press("Space")
    tab.get_by_role("button", name="Play or pause").get_by_text("Play").wait_for()
    tab.keyboard.press("Home")
    assert place(tab) == (1, 20)
    tab.keyboard.press("ArrowRight")
    assert place(tab) == (2, 20)
    tab.keyboard.press("n")
    tab.get_by_text(re.compile(r"Cause of the next block: .*pusher")).wait_for()
    step, _ = place(tab)
    tab.wait_for_url(re.compile(rf"step={step}\b"))
    tab.reload()
    tab.get_by_text(re.compile(r"Cause of the next block: .*pusher")).wait_for()
    assert place(tab) == (step, 20)
    painted = "Array.from(document.querySelector('.replay-canvas').getContext('2d').getImageData(0, 0, 700, 300).data)"
    assert tab.evaluate(f"new Set({painted}).size") > 10


def test_a_run_shows_probabilities_and_predictions_without_each_factor(tab, run):
    tab.goto("/#/replay?file=pushing.parquet")
    tab.get_by_label("Causes found by").select_option(run)
    tab.get_by_text("without pusher").wait_for(timeout=JOB)
    happened = tab.get_by_role("row", name="what happened").inner_text()
    assert len(re.findall(r"-?\d+(?:\.\d+)?", happened)) == 2
    tab.get_by_role("columnheader", name="Probability").wait_for()
    tab.get_by_text("found cause (dashed, ○)").wait_for()
    tab.get_by_label("Judged").select_option("knowing the outcome")
    tab.wait_for_url(re.compile("hindsight=1"))


def test_what_a_run_found_fits_a_telephone(tab, run):
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(f"/#/replay?file=pushing.parquet&run={run}&step=1")
    tab.get_by_text("without pusher").wait_for(timeout=JOB)
    assert tab.locator(".replay-factors thead th").count() == 5
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_names_of_bodies_that_touch_cover_neither_each_other_nor_other_bodies(tab):
    """What is written and painted on the canvas is listened to: the steps are those in which bodies touch."""
    tab.add_init_script("""
        const pen = CanvasRenderingContext2D.prototype;
        const { clearRect, fillText, rect } = pen;
        const seen = (window.seen = { names: [], bodies: [] });
        pen.clearRect = function (...box) {
            Object.assign(seen, { names: [], bodies: [] });
            clearRect.apply(this, box);
        };
        pen.rect = function (x, y, wide, tall) {
            seen.bodies.push([x, y, x + wide, y + tall]);
            rect.call(this, x, y, wide, tall);
        };
        pen.fillText = function (text, x, y) {
            const half = this.measureText(text).width / 2;
            seen.names.push([text, x - half, y - 10, x + half, y + 2]);
            fillText.call(this, text, x, y);
        };
    """)
    drawn = """async () => {
        const { paint } = await import("/js/replay/scene.js");
        const asked = { source: { domain: "push", seed: 1, draw: 0, frames: 2000 }, run: null, hindsight: false };
        const found = [];
        for (let at = 0; at < 12; at += 1) {
            const body = JSON.stringify({ ...asked, at });
            const headers = { "content-type": "application/json" };
            const reply = await fetch("/api/replay/episode", { method: "POST", headers, body });
            const episode = await reply.json();
            for (let step = 0; step < episode.steps; step += 1) {
                if (!episode.cause[step][episode.factors.indexOf("pusher")]) continue;
                paint(document.querySelector(".replay-canvas"), episode, step);
                found.push({ ...window.seen, bodies: window.seen.bodies.slice(1) });
            }
        }
        return found;
    }"""
    tab.goto("/#/replay?step=1")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    pictures = tab.evaluate(drawn)
    assert len(pictures) > 5
    for picture in pictures:
        names = [(text, box) for text, *box in picture["names"]]
        assert {"pusher", "block", "target", "action"} <= {text for text, _ in names}
        for index, (text, box) in enumerate(names):
            assert not [other for other, its in names[:index] if overlap(box, its)], text
            assert not list_covered(box, picture["bodies"]), text


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def list_covered(box, bodies):
    """The bodies that a name lies on, besides its own, if it stands in that, and those under it."""
    own = [index for index, its in enumerate(bodies) if its[0] <= box[0] and box[2] <= its[2] and overlap(box, its)]
    return [body for body in bodies[max(own, default=-1) + 1 :] if overlap(box, body)]


def test_a_saved_picture_has_the_colour_of_the_page_behind_it(tab):
    tab.goto("/#/replay?step=1")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="Save picture").click()
    with Image.open(saved.value.path()) as picture:
        pixels = picture.convert("RGBA")
        assert pixels.getextrema()[3] == (255, 255)
        shown = tab.evaluate("getComputedStyle(document.querySelector('.replay-canvas')).backgroundColor")
        assert pixels.getpixel((3, pixels.height - 3))[:3] == tuple(map(int, re.findall(r"\d+", shown)[:3]))


def test_error_bars_have_one_scale_for_all_steps_of_an_episode(tab, run):
    tab.goto(f"/#/replay?file=pushing.parquet&run={run}&step=1")
    tab.get_by_text("without pusher").wait_for(timeout=JOB)
    tab.keyboard.press("Home")
    _, steps = place(tab)
    bars = []  # as long as this, for an error of so much
    for step in range(1, steps + 1):
        tab.locator(".replay-place", has_text=f"step {step} of").wait_for()
        bars += tab.locator(".replay-predictions .meter").evaluate_all(
            """meters => meters.map((meter) => [
              Number(meter.querySelector('.meter-bar span').style.getPropertyValue('--share')),
              Number(meter.querySelector('.numbers').textContent),
            ])"""
        )
        tab.keyboard.press("ArrowRight")
    largest = max(error for _, error in bars)
    assert max(length for length, _ in bars) == 1
    for length, error in bars:
        assert length == pytest.approx(error / largest, abs=0.02)  # errors are shown with few digits


def test_numbers_below_each_other_have_as_many_decimals(tab, run):
    tab.goto(f"/#/replay?file=pushing.parquet&run={run}&step=1")
    tab.get_by_text("without pusher").wait_for(timeout=JOB)
    for column in ("td:nth-child(2)", "td:nth-child(3)", ".numbers"):
        written = tab.locator(f".replay-predictions tbody {column}").all_inner_texts()
        decimals = {len(number.partition(".")[2]) for number in written if number}
        assert len(written) > 5
        assert len(decimals) == 1, written


def test_the_strip_ends_with_the_last_step(tab):
    tab.set_viewport_size({"width": 1920, "height": 1080})
    tab.goto("/#/replay?domain=push&step=1")
    tab.locator(".replay-factors").wait_for()
    painted = tab.locator(".replay-strip").evaluate(
        """canvas => [0.02, 0.99].map((share) =>
          canvas.getContext("2d").getImageData(share * canvas.width, 3, 1, 1).data[3])"""
    )
    assert painted == [255, 0]  # 20 steps do not fill a projector


def test_every_domain_plays(tab):
    tab.goto("/#/replay?step=1")
    for domain in ("break", "mover-1d", "block-1d", "2-in"):
        tab.get_by_label("Recording or domain").select_option(f"domain:{domain}")
        tab.wait_for_url(re.compile(f"domain={domain}"))
        tab.get_by_role("button", name="To the next step in which a factor acts (n)").click()


@pytest.mark.parametrize("episode", ["9999", "-4", "abc"])
def test_an_address_with_a_wrong_number_says_so_and_shows_another_episode(tab, episode):
    tab.goto(f"/#/replay?domain=push&episode={episode}&step=1&speed=-3&run=nobody")
    tab.get_by_text(re.compile(r"There is no episode \d+; this recording has 100\.")).wait_for()
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    assert tab.get_by_label("Speed").input_value() == "2"


def test_an_episode_fades_until_the_one_that_is_asked_for_is_there(tab):
    tab.goto("/#/replay?domain=push&step=1")
    tab.get_by_text(re.compile("Cause of the next block")).wait_for()
    held = []
    tab.route("**/api/replay/episode", lambda route: held.append(route))
    tab.get_by_label("Recording or domain").select_option("domain:1-in")
    tab.locator(".replay-parts.stale[aria-busy=true]").wait_for()
    held.pop().continue_()
    tab.locator(".replay-parts[aria-busy=false]:not(.stale)").wait_for()
    tab.get_by_role("button", name="Next episode").click()
    tab.locator(".replay-parts.stale").wait_for()
    held.pop().fulfill(status=422, json={"error": "It cannot be read.", "line": None, "parameter": None})
    tab.get_by_text("It cannot be read.").wait_for()
    assert tab.locator(".stale").count() == 0  # the number of the episode that is seen is there again
    tab.get_by_label("Recording or domain").select_option("domain:push")
    tab.locator(".replay-parts.stale").wait_for()
    held.pop().fulfill(status=422, json={"error": "Nor can this.", "line": None, "parameter": None})
    tab.get_by_text("Nor can this.").wait_for()
    assert tab.locator(".replay-parts.stale").count() == 1  # it is an episode of something else


def test_a_run_that_is_not_there_is_said(tab):
    tab.goto("/#/replay?domain=push&run=nobody&step=1")
    tab.get_by_text("There is no run 'nobody' that fits").wait_for()
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()


def test_a_typed_number_of_no_episode_is_said_and_the_episode_stays(tab):
    tab.goto("/#/replay?domain=push&episode=3&step=1")
    box = tab.get_by_role("spinbutton", name="Episode")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    box.fill("9999")
    box.press("Enter")
    tab.get_by_text("There is no episode 9999; this recording has 100.").wait_for()
    assert box.input_value() == "3"
    box.fill("4")
    box.press("Enter")
    tab.wait_for_url(re.compile("episode=4"))
    assert tab.locator(".notice").count() == 0


def test_a_recording_that_is_not_there_or_damaged_is_said_and_the_page_goes_on(tab, server):
    tab.goto("/#/replay?file=..%2Fsecret.parquet")
    tab.get_by_text("There is no such recording or domain").wait_for()
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()
    path = server.data / "torn.parquet"
    collect("1-in", 2000, out=path)
    whole = bytearray(path.read_bytes())
    whole[2000:3000] = bytes(1000)
    path.write_bytes(whole)
    tab.reload()
    tab.get_by_label("Recording or domain").select_option("file:torn.parquet")
    tab.get_by_text(re.compile(r"torn\.parquet is damaged and cannot be read")).wait_for()
    tab.get_by_label("Recording or domain").select_option("domain:push")
    tab.get_by_text(re.compile(r"Cause of the next block")).wait_for()


# -- whole states ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph_run(server):
    """A recording of whole states in the server's folder, and a small run of all its outcomes."""
    from actcause.data import collect_recording
    from actcause.learn import LocalGraphs, train_graphs

    recording = collect_recording("push", 1500, seed=2, metadata={"domain": "push"})
    recording.save(server.data / "states.parquet")
    train_graphs(LocalGraphs(**TINY), recording, server.runs / "every")
    return "every"


def test_a_graph_stands_beside_each_step_and_a_click_on_it_traces_the_event_to_actions(tab):
    tab.goto("/#/replay?domain=push&step=1")
    graph = tab.locator("svg.local-graph")
    graph.wait_for()
    assert "true: pusher by action" in graph.get_attribute("aria-label")
    tab.keyboard.press("n")
    tab.get_by_text(re.compile(r"Cause of the next block: .*pusher")).wait_for()
    step, _ = place(tab)
    assert "block by action, pusher" in graph.get_attribute("aria-label")
    tab.get_by_role("button", name="Why block?").click()
    chain = tab.get_by_role("region", name="Chain")
    chain.get_by_text(re.compile(rf"block at step {step}.*because of .*pusher at step")).wait_for()
    chain.get_by_text(re.compile(r"pusher: because of .*action at steps? ")).wait_for()
    assert chain.locator("svg.chain .event").count() == 1
    assert chain.locator("svg.chain .input").count() >= 1
    tab.wait_for_url(re.compile(rf"event=block(@|%40){step}\b"))
    tab.reload()
    chain.get_by_role("heading", name=f"Why block at step {step}?").wait_for()
    chain.locator("svg.chain .column").first.click(position={"x": 3, "y": 3})
    tab.locator(".replay-place", has_text="step 1 of 20").wait_for()
    chain.get_by_role("button", name="Close").click()
    chain.wait_for(state="hidden")


def test_a_crowded_graph_is_read_arrow_by_arrow_and_as_a_list(tab):
    def crowd(route):
        reply = route.fetch()
        episode = reply.json()
        graph, factors = episode["graph"], range(len(episode["factors"]))
        graph["found"] = [[list(factors) for _ in graph["outcomes"]] for _ in graph["cause"]]
        route.fulfill(response=reply, json=episode)

    tab.route("**/api/replay/episode", crowd)
    tab.goto("/#/replay?domain=push&step=1")
    graph = tab.locator("svg.local-graph")
    graph.wait_for()
    arrows = "nodes => nodes.map((node) => node.getAttribute('d').match(/[-.\\d]+/g).map(Number))"
    drawn = graph.locator(".edge").evaluate_all(arrows)
    ends = sorted(round(arrow[-1], 3) for arrow in drawn)
    assert len(set(ends)) == len(ends)  # no two arrows end at one place
    assert min(later - earlier for earlier, later in pairwise(ends)) > 2
    others = len(tab.locator(".replay-factors tbody tr").all()) - 1
    said = tab.locator(".replay-acts tbody tr").evaluate_all("rows => rows.map((row) => row.innerText.split('\\t'))")
    listed = {outcome: (true, found.split(", ")) for outcome, true, found in said}
    assert listed["pusher"][0].startswith("action")
    assert listed["obstacle1"][0] == "only itself"
    assert {len(found) for _, found in listed.values()} == {others}
    tab.get_by_role("button", name="Why block?").hover()
    assert graph.locator(".edge:not(.aside)").count() == others < len(drawn)  # the true ones of block: none


def test_a_run_of_all_outcomes_draws_its_graph_beside_the_true_one(tab, graph_run):
    tab.goto("/#/replay?file=states.parquet&step=3")
    graph = tab.locator("svg.local-graph")
    graph.wait_for()
    found = tab.get_by_role("columnheader", name="caused by (found)")
    assert found.count() == 0
    tab.get_by_label("Causes found by").select_option(graph_run)
    found.wait_for(timeout=JOB)
    tab.locator("label.field", has_text=re.compile("^Outcome")).locator("select").select_option("pusher")
    tab.get_by_text(re.compile(r"cause of the next pusher: action", re.IGNORECASE)).wait_for()
    tab.keyboard.press("End")
    step, last = place(tab)
    assert step == last
    tab.get_by_role("button", name="Why pusher?").press("Enter")
    chain = tab.get_by_role("region", name="Chain")
    chain.get_by_role("heading", name=f"Why pusher at step {step}?").wait_for()
    chain.get_by_label("Graphs of the chain").select_option("by true graphs")
    chain.get_by_text(re.compile(rf"action at steps 1 to {step}\b")).wait_for()
