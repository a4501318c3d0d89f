"""Runs in a real browser: a training is started, watched, compared and taken away."""

from __future__ import annotations

import json
import os
import re

import pytest

pytestmark = pytest.mark.browser

JOB = 600_000  # milliseconds: a job gives way to everything else on the machine, and tests may have it busy


def form(tab, **values):
    """Fill in the form for a training, options included."""
    tab.get_by_label("Learn from").select_option("domain:1-in")
    tab.get_by_text("Options of the method").click()
    for label, value in values.items():
        tab.get_by_role("spinbutton", name=label.replace("_", " "), exact=True).fill(str(value))


def test_a_training_is_started_watched_and_compared_with_the_paper(tab):
    tab.goto("/#/runs")
    options = {"Steps to compress (distil)": 50, "Rows of a step": 32, "Width of the networks": 8}
    form(tab, Frames=1500, Steps=60, **options)
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_text("1-in-jaci-auto: the job has begun").wait_for()
    tab.get_by_role("progressbar", name="Progress of 1-in-jaci-auto").wait_for(timeout=JOB)
    row = tab.get_by_role("row", name=re.compile("1-in-jaci-auto.*finished"))
    row.wait_for(timeout=JOB)
    assert re.search(r"\d+\.\d\d%", row.inner_text())
    tab.goto("/#/runs?runs=1-in-jaci-auto")
    tab.get_by_role("img", name="Training curves: error seeing all factors").wait_for()  # one value, in plain words
    tab.get_by_role("region", name="Training curves").get_by_role("combobox").select_option("every value")
    curves = tab.get_by_role("region", name="Training curves")
    curves.get_by_role("img", name="Training curves: 1-in-jaci-auto").wait_for()
    with tab.expect_download() as saved:
        curves.get_by_role("button", name="Save as CSV").click()
    assert saved.value.path().read_text().startswith("step,")
    with tab.expect_download() as saved:
        curves.get_by_role("button", name="Save as PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    accuracy = tab.get_by_role("region", name="Accuracy")
    assert re.search(r"jaci-auto, here", accuracy.inner_text())
    assert "1 run, 1,500 frames" in accuracy.inner_text()
    with tab.expect_download() as saved:
        accuracy.get_by_role("button", name="Save as CSV").click()
    assert "1-in," in saved.value.path().read_text()
    tab.get_by_role("button", name="Replay 1-in-jaci-auto").click()
    tab.get_by_text("without a1").wait_for(timeout=JOB)


def test_a_training_is_cancelled_and_resumed(tab):
    tab.goto("/#/runs")
    form(tab, Frames=1500, Steps=200_000, Rows_of_a_step=32, Width_of_the_networks=8, Seed=5)
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_text(re.compile(r"learning what happens by itself, step \d+")).wait_for(timeout=JOB)
    tab.get_by_role("region", name="Runs").get_by_role("button", name=re.compile("Cancel 1-in")).click()
    resume = tab.get_by_role("button", name=re.compile("Resume 1-in"))
    resume.wait_for(timeout=JOB)
    resume.click()
    tab.locator("#jobs").get_by_role("button", name=re.compile("Cancel Resuming 1-in")).click(timeout=JOB)
    tab.get_by_text("was stopped; it can be resumed").wait_for(timeout=JOB)  # cancelled elsewhere on the page
    resume.wait_for(timeout=JOB)


def test_a_form_that_comes_late_says_that_it_is_on_its_way(tab) -> None:
    held: list[object] = []
    tab.route("**/api/data/files", lambda route: held.append(route))
    tab.goto("/#/runs")
    tab.get_by_role("status", name="looking for what can be learned from").wait_for()
    tab.wait_for_function("() => document.querySelector('.runs-parts h2')")
    while not held:
        tab.wait_for_timeout(50)
    held[0].continue_()
    tab.get_by_role("button", name="Start training").wait_for()
    assert tab.get_by_role("status", name="looking for what can be learned from").count() == 0


def test_what_cannot_be_trained_is_said_and_the_form_keeps_what_was_written(tab):
    tab.goto("/#/runs")
    form(tab, Frames=10, Steps=5)
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_text("The number of frames must be at least 100; got 10.").wait_for()
    frames = tab.get_by_role("spinbutton", name="Frames", exact=True)
    assert frames.get_attribute("aria-invalid") == "true"  # it is led to
    assert frames.evaluate("node => node === document.activeElement")
    assert frames.input_value() == "10"
    said = tab.locator(".training .notice.bad")
    assert 0 < said.bounding_box()["y"] - frames.bounding_box()["y"] < 90  # right below it
    frames.fill("1000")
    tab.get_by_role("spinbutton", name="Layers", exact=True).fill("9")
    tab.get_by_text("Options of the method").click()  # folded away
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_text("The number of layers must be at most 8; got 9.").wait_for()
    layers = tab.get_by_role("spinbutton", name="Layers", exact=True)
    assert 0 < said.bounding_box()["y"] - layers.bounding_box()["y"] < 90
    tab.get_by_role("spinbutton", name="Layers", exact=True).fill("")
    tab.get_by_role("combobox", name="Method", exact=True).select_option("never")
    tab.get_by_role("button", name="Start training").click()
    tab.get_by_text("The method never does not take the option 'steps'").wait_for(timeout=JOB)
    assert frames.input_value() == "1000"


def test_the_buttons_of_a_run_stand_beside_each_other_while_another_trains(tab, server):
    write_run(server, "beside-a-training", "finished", HISTORY)
    tab.set_viewport_size({"width": 1920, "height": 1080})

    def add_training(route):
        reply = route.fetch()
        found = reply.json()
        shown = {
            "job": "1",
            "status": "running",
            "progress": {"stage": "em", "step": 900, "steps": 22_500, "share": 0.04},
        }
        found["runs"].append(
            {**found["runs"][0], "name": "one-that-trains-jaci-auto", "source": "1-in, 2,000 frames, seed 0", **shown}
        )
        route.fulfill(response=reply, json=found)

    tab.route("**/api/runs", add_training)
    tab.goto("/#/runs?runs=beside-a-training")
    tab.get_by_text("one-that-trains-jaci-auto").first.wait_for()
    rename = tab.get_by_role("button", name="Rename beside-a-training").bounding_box()
    delete = tab.get_by_role("button", name="Delete beside-a-training").bounding_box()
    assert rename["y"] == delete["y"]


@pytest.mark.parametrize("width", [640, 1280])
def test_the_words_in_empty_fields_and_the_buttons_of_a_run_are_not_cut(tab, server, width):
    if not (server.runs / "a-run").exists():
        write_run(server, "a-run", "finished", HISTORY)
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto("/#/runs")
    tab.get_by_text("Options of the method").click()
    room = """nodes => nodes.map((node) => {
      const style = getComputedStyle(node), pen = document.createElement("canvas").getContext("2d");
      pen.font = style.font;
      const [left, right] = [parseFloat(style.paddingLeft), parseFloat(style.paddingRight)];
      return node.clientWidth - left - right - pen.measureText(node.placeholder).width;
    })"""
    assert min(tab.locator(".training details input").evaluate_all(room)) >= 20  # for the arrows that change it
    end = "nodes => Math.max(...nodes.map((node) => node.getBoundingClientRect().right))"
    last = tab.get_by_role("row", name=re.compile("a-run")).get_by_role("button")
    assert last.evaluate_all(end) <= width


HISTORY = '{"stage": "passive", "step": 50, "full": 0.9}\n{"stage": "passive", "step": 100, "full": 0.4}\n'


def write_run(server, name, status, history):
    folder = server.runs / name
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"status": status, "method": "jaci-em", "settings": {}}))
    (folder / "history.jsonl").write_text(history)
    os.utime(folder / "history.jsonl", (0, 0))
    return folder


def test_between_the_axes_of_a_chart_there_are_only_values_and_a_run_that_was_cut_off_ends_there(tab, server):
    write_run(server, "whole", "finished", HISTORY + '{"stage": "em", "step": 1000, "full": 0.1}\n')
    write_run(server, "half", "training", HISTORY)
    tab.goto("/#/runs?runs=whole,half&value=full")
    chart = tab.get_by_role("img", name="Training curves: error seeing all factors")
    chart.wait_for()
    assert "half (cut off)" in chart.text_content()
    ends = chart.locator(".chart-end").evaluate_all("nodes => nodes.map((node) => Number(node.getAttribute('cx')))")
    keys = chart.locator(".chart-key").evaluate_all("nodes => nodes.map((node) => node.getBBox().x)")
    lines = chart.locator(".chart-line > path:not(.chart-key)").evaluate_all(
        "nodes => nodes.map((node) => node.getBBox().x + node.getBBox().width)"
    )
    assert len(ends) == len(keys) == len(lines) == 2
    assert min(ends) < 0.3 * max(ends)  # the half one ends at step 100 of 1000
    assert max(lines) <= max(ends) + 1 < min(keys)


def test_a_run_is_renamed_and_deleted(tab, server):
    write_run(server, "first-name", "finished", HISTORY)
    tab.goto("/#/runs?runs=first-name")
    tab.once("dialog", lambda dialog: dialog.accept("second name"))
    tab.get_by_role("button", name="Rename first-name").click()
    tab.get_by_role("button", name="Delete second-name").wait_for()
    assert not (server.runs / "first-name").exists()
    tab.once("dialog", lambda dialog: dialog.accept())
    tab.get_by_role("button", name="Delete second-name").click()
    tab.get_by_text("second-name was deleted.").wait_for()
    assert not (server.runs / "second-name").exists()


def test_a_run_from_the_command_line_is_replayed_on_its_own_recording_and_one_without_a_curve_says_so(tab, server):
    from actcause import learn
    from actcause.data import collect
    from actcause.learn import runs

    data = collect("2-in", 300, seed=1)
    data.save(server.data / "outside.parquet")
    runs.train(learn.make("never"), data, server.runs / "outside", source="outside.parquet", tensorboard=False)
    write_run(server, "with-curve", "finished", HISTORY)
    tab.goto("/#/runs?runs=outside,with-curve")
    tab.get_by_text("No curve was written for outside.").wait_for()
    tab.get_by_role("button", name="Replay outside").click()
    tab.get_by_role("columnheader", name="Found").wait_for(timeout=JOB)
    assert tab.get_by_label("Recording or domain").input_value() == "file:outside.parquet"


def test_a_training_says_how_long_it_will_take(tab):
    said = tab.goto("/") and tab.evaluate(
        """async () => {
          const { describeJob } = await import("/js/runs/training_form.js");
          const progress = { stage: "em", step: 250, steps: 1000, share: 0.25, seconds: 60 };
          return describeJob({ state: "running", progress });
        }"""
    )
    assert said == "choosing causes, step 250 of 1,000 · about 3 min left"
