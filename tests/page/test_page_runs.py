"""Runs over HTTP: trainings begin, are seen, stop, go on, and are scored."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from running import wait_for_job

from actcause.errors import QueryError
from actcause.page.data import library
from actcause.page.runs import routes as runs
from actcause.page.runs.trainings import score, train
from actcause.page.server.jobs import BackgroundJob

SOURCE = {"domain": "1-in", "frames": 1000}


def find_run(client, name):
    return next(run for run in client.get("/api/runs").json()["runs"] if run["name"] == name)


def test_a_training_tells_its_shares_its_notes_and_its_error(small_run):
    name, job = small_run
    assert name == "My-run"
    assert job["state"] == "done"
    result = job["result"]
    assert (result["run"], result["status"]) == (name, "finished")
    assert result["shares"].keys() == {"a1"}
    assert 0 <= result["scores"]["edge_error"] <= 1
    assert result["scores"]["domain"] == "1-in"


def test_a_run_is_listed_with_method_data_time_and_error(client, small_run):
    run = find_run(client, small_run[0])
    assert (run["method"], run["source"], run["status"]) == ("jaci-em", "1-in, 1,000 frames, seed 0", "finished")
    assert run["seconds"] > 0
    assert run["scores"]["states"] == 1000
    assert not run["resumable"]


def test_a_runs_curve_has_a_line_for_every_chunk(client, small_run):
    found = client.get(f"/api/runs/{small_run[0]}").json()
    assert found["history"][0]["stage"] == "passive"
    assert {"em", "distil"} <= {line["stage"] for line in found["history"]}
    steps = [line["step"] for line in found["history"]]
    assert steps == sorted(steps)
    assert found["settings"]["width"] == 4


def test_a_second_run_of_the_same_name_gets_another(client, small_run):
    begun = client.post("/api/runs", json={"source": SOURCE, "method": "never", "name": "My run"}).json()
    assert begun["run"] == "My-run-2"
    assert client.delete(f"/api/jobs/{begun['job']}").json()["state"] == "cancelled"


def test_a_waiting_training_that_is_cancelled_leaves_no_folder(client, settings):
    asked = {"source": SOURCE, "options": {"steps": 200_000, "width": 4, "batch": 16}}
    begun = [client.post("/api/runs", json={**asked, "name": f"queued-{n}"}).json() for n in range(4)]
    assert client.get(f"/api/jobs/{begun[-1]['job']}").json()["state"] == "waiting"
    for each in reversed(begun):
        client.delete(f"/api/jobs/{each['job']}")
    assert not list(settings.runs.glob("queued-*"))


def test_a_run_that_is_a_link_out_of_the_folder_is_refused(client, settings, tmp_path):
    (tmp_path / "run.json").write_text('{"status": "finished"}')
    (settings.runs / "linked").symlink_to(tmp_path)
    inside = settings.runs / "half-linked"
    inside.mkdir()
    (inside / "run.json").symlink_to(tmp_path / "run.json")
    names = {run["name"] for run in client.get("/api/runs").json()["runs"]}
    assert not names & {"linked", "half-linked"}
    assert client.get("/api/runs/linked").status_code == 403
    assert client.get("/api/runs/half-linked").status_code == 404


def test_a_training_under_way_keeps_its_folder_and_a_cancelled_one_can_be_resumed(client):
    asked = {"source": SOURCE, "options": {"steps": 200_000, "width": 4, "batch": 16}, "name": "long"}
    begun = client.post("/api/runs", json=asked).json()
    wait_for_job(client, begun["job"], lambda job: job["progress"].get("step"))
    under_way = find_run(client, "long")
    assert (under_way["method"], under_way["status"]) == ("jaci-auto", "running")
    refused = client.post("/api/runs/long/resume", json={})
    assert refused.json()["error"] == "This training is under way already."
    assert client.delete("/api/runs/long").status_code == 409
    assert client.post("/api/runs/long/rename", json={"name": "x"}).status_code == 409
    assert client.delete(f"/api/jobs/{begun['job']}").json()["state"] == "cancelled"
    run = find_run(client, "long")
    assert (run["status"], run["resumable"]) == ("interrupted", True)
    before = client.get("/api/runs/long").json()["history"][-1]["step"]
    again = client.post("/api/runs/long/resume", json={}).json()
    wait_for_job(client, again["job"], lambda job: job["progress"].get("step", 0) > before)
    client.delete(f"/api/jobs/{again['job']}")
    assert client.delete("/api/runs/long").status_code == 200


def test_a_run_from_the_command_line_is_listed_and_cannot_be_resumed_here(client, settings):
    from actcause.data import collect
    from actcause.learn import Never, runs

    runs.train(Never(), collect("1-in", 500), settings.runs / "by-hand", source="own.csv", tensorboard=False)
    run = find_run(client, "by-hand")
    assert (run["status"], run["scores"], run["resumable"]) == ("finished", None, False)
    refused = client.post("/api/runs/by-hand/resume", json={})
    assert "was not begun on the page" in refused.json()["error"]


def test_a_run_from_the_command_line_is_scored_by_the_true_causes_of_its_recording(client, settings):
    from actcause.data import collect
    from actcause.learn import Never, runs

    data = collect("1-in", 500)
    for name, rows in (("labelled", data), ("unlabelled", data.replaced(cause=None))):
        rows.save(settings.data / f"{name}.parquet")
        runs.train(Never(), rows, settings.runs / name, source=f"{name}.parquet", tensorboard=False)
        assert find_run(client, name)["scorable"] == (name == "labelled")
    job = client.post("/api/runs/labelled/score", json={}).json()["job"]
    assert wait_for_job(client, job)["result"]["scores"]["states"] == 50
    assert find_run(client, "labelled")["scores"]["edge_error"] > 0.3
    assert client.post("/api/runs/labelled/score", json={}).status_code == 422
    refused = client.post("/api/runs/unlabelled/score", json={})
    assert (refused.status_code, "with its true causes" in refused.json()["error"]) == (422, True)


def test_a_run_that_cannot_be_read_is_not_said_to_lack_true_causes(tmp_path):
    from actcause.data import collect
    from actcause.learn import Never, runs

    data = collect("1-in", 500)
    data.save(tmp_path / "whole.parquet")
    runs.train(Never(), data, tmp_path / "cut", tensorboard=False)
    model = tmp_path / "cut" / library.MODEL
    model.write_bytes(model.read_bytes()[:100])
    asked = {"data": tmp_path, "runs": tmp_path, "name": "cut", "source": {"file": "whole.parquet"}}
    with pytest.raises(QueryError, match="was cut short: copy it again"):
        score(asked, lambda _: None)


def test_a_run_is_renamed_and_deleted(client, settings):
    for name in ("early", "taken"):
        (settings.runs / name).mkdir()
        (settings.runs / name / "run.json").write_text('{"status": "finished"}')
    assert client.post("/api/runs/early/rename", json={"name": "taken"}).status_code == 409
    assert client.post("/api/runs/early/rename", json={"name": "../later on"}).json() == {"name": "later-on"}
    assert not (settings.runs / "early").exists()
    assert client.delete("/api/runs/later-on").json() == {"name": "later-on"}
    assert not (settings.runs / "later-on").exists()
    assert client.delete("/api/runs/later-on").status_code == 404


def test_methods_are_explained_and_only_methods_are(client):
    found = client.get("/api/runs").json()
    assert found["about"].keys() <= set(found["methods"])
    assert {"jaci-auto", "jaci-em", "never"} <= found["about"].keys()


def test_options_that_a_method_does_not_take_are_refused_and_leave_nothing(client, settings):
    begun = client.post("/api/runs", json={"source": SOURCE, "method": "never", "options": {"steps": 5}}).json()
    found = wait_for_job(client, begun["job"])
    assert found["error"].startswith("The method never does not take the option 'steps'")
    assert begun["run"] not in {run["name"] for run in client.get("/api/runs").json()["runs"]}
    assert client.post("/api/runs", json={"source": SOURCE, "method": "never"}).json()["run"] == begun["run"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "magic"},
        {"seed": -1},
        {"minutes": 0},
        {"options": {"steps": 10**9}},
        {"options": {"device": "cpu"}},
        {"source": {"domain": "1-in", "frames": 10}},
        {"source": {"file": "no-such.csv"}},
        {"name": ""},
    ],
)
def test_a_training_that_makes_no_sense_is_refused_in_one_line(client, wrong):
    reply = client.post("/api/runs", json={"source": SOURCE} | wrong)
    assert reply.status_code in (404, 422)
    assert reply.json()["error"].count("\n") == 0


@pytest.mark.parametrize("name", ["..", "no-such", "%2e%2e%2fdata", "a\\b"])
def test_a_run_that_is_not_there_is_not_found(client, name):
    assert client.get(f"/api/runs/{name}").status_code == 404
    assert client.post(f"/api/runs/{name}/resume", json={}).status_code in (404, 405)


def test_a_damaged_run_is_listed_and_breaks_nothing(client, settings):
    folder = settings.runs / "damaged"
    folder.mkdir()
    (folder / "run.json").write_text('{"status": "training", "settings": [1, 2')
    (folder / "history.jsonl").write_text('{"stage": "em", "step": 50, "full": NaN}\n{"stage": "em", "st')
    assert find_run(client, "damaged")["method"] is None
    assert client.get("/api/runs/damaged").json()["history"] == [{"stage": "em", "step": 50, "full": None}]


def test_the_methods_are_those_of_the_learners(client):
    from actcause.learn import names

    assert client.get("/api/runs").json()["methods"] == list(names())


def test_the_server_itself_imports_neither_torch_nor_pyarrow():
    program = (
        "import json, sys, actcause.page.server.app\n"
        "print(json.dumps([m for m in ('torch', 'pyarrow') if m in sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_a_training_of_ours_that_was_killed_is_not_taken_for_somebody_elses(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "time", SimpleNamespace(time=lambda: 1002.0, monotonic=lambda: 50.0))
    (tmp_path / library.SUMMARY).write_text('{"status": "training"}')
    history = tmp_path / runs.HISTORY
    history.write_text("")
    os.utime(history, (1000.0, 1000.0))

    def status(ended_ago):
        job = BackgroundJob("1", "Training", train, {}, state="cancelled", ended=50.0 - ended_ago)
        return runs._summarise(tmp_path, job)["status"]

    assert runs._summarise(tmp_path, None)["status"] == "elsewhere"
    assert status(ended_ago=1) == "interrupted"
    assert status(ended_ago=30) == "elsewhere"  # it was written to after our job had ended


def test_every_stage_of_a_training_has_plain_words() -> None:
    from actcause import learn
    from actcause.page.server.app import STATIC

    words = (STATIC / "js/runs/training_words.js").read_text()
    known = set(re.findall(r'[{,\s]"?([\w-]+)"?: "', words[words.index("STAGES") : words.index("VALUES")]))
    sources = [path.read_text() for path in Path(learn.__file__).parent.rglob("*.py")]
    stages = {name for text in sources for name in re.findall(r'\b[Ss]tage\(\s*"([\w-]+)"', text)}
    assert len(stages) > 8
    assert stages <= known
