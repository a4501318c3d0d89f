"""Replay over HTTP: episodes, and what runs say of them."""

from __future__ import annotations

import numpy as np
import pytest
from running import wait_for_job

from actcause.data import Recording, Transitions, collect, collect_recording, load, trace
from actcause.page.data import library
from actcause.page.replay import episodes


def episode(client, **asked):
    reply = client.post("/api/replay/episode", json=asked)
    assert reply.status_code == 200, reply.text
    return reply.json()


@pytest.fixture
def run(small_run):
    """The name of a small run that was trained on 1-in."""
    return small_run[0]


def test_a_domain_is_recorded_on_the_spot_and_the_first_episode_shown_has_an_event(client):
    found = episode(client, source={"domain": "push"})
    assert found["domain"] == "2D Pushing"
    assert found["steps"] == len(found["state"]) == len(found["scenes"]) == len(found["cause"]) == 20
    pusher = found["factors"].index("pusher")
    assert any(row[pusher] for row in found["cause"])
    assert found["found"] is found["probability"] is found["expected"] is None


@pytest.mark.parametrize("domain", ["push", "break", "mover-1d", "block-1d"])
def test_a_scene_shows_every_factor_that_has_a_body(client, domain):
    found = episode(client, source={"domain": domain})
    names = {body[0] for body in found["scenes"][0]["bodies"]}
    assert names | {"action"} >= set(found["factors"])
    assert found["outcome_factor"] in names
    assert found["scenes"][0]["walls"]


def test_a_world_is_recorded_and_shown_like_a_domain(client):
    pytest.importorskip("minigrid")
    found = episode(client, source={"domain": "door-key", "frames": 200})
    assert found["domain"] == "MiniGrid DoorKey"
    assert {body[0] for body in found["scenes"][0]["bodies"]} == set(found["factors"])


def test_a_domain_without_a_picture_is_shown_by_its_values(client):
    found = episode(client, source={"domain": "3-in", "frames": 500})
    assert found["scenes"] is None
    assert found["features"]["a1"] == ["x0", "x1", "x2", "x3"]
    assert len(found["low"]) == len(found["high"]) == 4


def test_episodes_are_chosen_by_their_position(client):
    source = {"domain": "push", "frames": 400}
    first, second = (episode(client, source=source, at=at) for at in (0, 1))
    assert first["episodes"] == 20
    assert first["state"] != second["state"]
    refused = client.post("/api/replay/episode", json={"source": source, "at": 20})
    assert (refused.status_code, refused.json()["error"]) == (
        422,
        "There is no episode 21; this recording has 20.",
    )


@pytest.mark.parametrize("name", ["../secret.parquet", "/etc/passwd", "nothing.csv", ".hidden.csv"])
def test_a_name_is_looked_up_and_never_made_into_a_path(client, settings, name):
    (settings.data.parent / "secret.parquet").write_bytes(b"PAR1")
    refused = client.post("/api/replay/episode", json={"source": {"file": name}})
    assert refused.status_code == 404
    assert refused.json()["error"].startswith("There is no recording of that name")
    refused = client.post("/api/replay/explain", json={"source": {"domain": "push"}, "run": name})
    assert refused.json()["error"].startswith("There is no run of that name")


@pytest.mark.parametrize(
    "source",
    [{}, {"domain": "puhs"}, {"file": "a.csv", "domain": "push"}, {"domain": "push", "frames": 10**9}, {"more": 1}],
)
def test_a_source_that_makes_no_sense_is_refused(client, source):
    reply = client.post("/api/replay/episode", json={"source": source})
    assert reply.status_code == 422
    assert "\n" not in reply.json()["error"]


def test_a_long_episode_is_cut_and_says_so(client, settings):
    rows = 3000
    state = np.linspace(0, 1, rows * 2).reshape(rows, 2, 1)
    data = Transitions(factors=["a", "b"], state=state, outcome=state[:, 0] + 1, own="a", episode=np.zeros(rows, int))
    data.save(settings.data / "long.parquet")
    found = episode(client, source={"file": "long.parquet"})
    assert (found["length"], found["steps"]) == (rows, episodes.MOST_STEPS)


def test_rows_without_episodes_are_shown_in_blocks(client, settings):
    data = collect("1-in", 250).replaced(episode=None, cause=None)
    data.save(settings.data / "rows.parquet")
    found = episode(client, source={"file": "rows.parquet"})
    assert (found["episodes"], found["named"], found["steps"]) == (3, False, 100)
    assert found["cause"] is None


def test_a_recording_that_calls_itself_a_domain_must_look_like_it(client, settings):
    data = collect("1-in", 200).replaced(metadata={"domain": "push", "parameters": {"obstacles": 3}})
    data.save(settings.data / "posing.parquet")
    assert episode(client, source={"file": "posing.parquet"})["scenes"] is None


def test_a_run_says_what_it_found_and_what_it_predicts_without_each_factor(client, run):
    asked = {"source": {"domain": "1-in", "seed": 3}, "run": run}
    begun = client.post("/api/replay/explain", json=asked).json()
    result = wait_for_job(client, begun["job"])["result"]
    assert result["rows"] == 2000
    assert 0 <= result["rates"]["a1"] <= 1
    assert 0 <= result["error"] <= 1
    assert client.post("/api/replay/explain", json=asked).json() == {"ready": True, "job": None, "result": result}
    found = episode(client, **asked)
    assert np.shape(found["probability"]) == np.shape(found["found"]) == (50, 2)
    assert np.shape(found["expected"]) == np.shape(found["without"]["a1"]) == np.shape(found["outcome"])
    assert "y" not in found["without"]


def test_what_was_found_can_be_taken_away_as_a_file(client, run, settings, tmp_path):
    collect("1-in", 300, seed=8, out=settings.data / "taken.parquet")
    asked = {"source": {"file": "taken.parquet"}, "run": run, "hindsight": True}
    where = {"file": "taken.parquet", "run": run, "hindsight": True}
    assert client.get("/api/replay/found", params=where).status_code == 404
    wait_for_job(client, client.post("/api/replay/explain", json=asked).json()["job"])
    (tmp_path / "found.parquet").write_bytes(client.get("/api/replay/found", params=where).content)
    rows = load(tmp_path / "found.parquet")
    assert rows.extra["found.a1"].dtype == bool
    text = client.get("/api/replay/found", params=where | {"kind": "csv"}).text
    assert text.splitlines()[0].count("extra.found.a1") == 1
    assert len(text.splitlines()) == 301
    assert client.get("/api/replay/found", params=where | {"kind": "exe"}).status_code == 422


def test_whoever_finds_judged_rows_finds_what_is_said_of_them_too(client, run, settings):
    asked = {"source": {"domain": "1-in", "seed": 5, "frames": 400}, "run": run}
    wait_for_job(client, client.post("/api/replay/explain", json=asked).json()["job"])
    rows = max((settings.runs / run / "found").glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    assert rows.with_suffix(".json").stat().st_mtime_ns <= rows.stat().st_mtime_ns  # it was there before they were


def test_a_run_of_other_factors_is_refused_in_a_sentence(client, run):
    begun = client.post("/api/replay/explain", json={"source": {"domain": "push", "frames": 200}, "run": run}).json()
    found = wait_for_job(client, begun["job"])
    assert found["state"] == "failed"
    assert found["error"].startswith("The data must have the factors, features and outcome that were trained on")


def test_the_sources_say_which_runs_fit_which_recordings(client, run):
    found = client.get("/api/replay/sources").json()
    layout = {one["name"]: one["layout"] for one in found["domains"]}["1-in"]
    assert {one["name"]: one["layout"] for one in found["runs"]}[run] == layout
    assert {one["name"]: one["source"] for one in found["runs"]}[run]["domain"] == "1-in"


def test_names_of_new_files_are_made_of_letters_digits_and_dashes():
    assert [library.slugify(name) for name in ("../../etc/passwd", "a b", "日本", "x" * 99)] == [
        "etc-passwd",
        "a-b",
        "unnamed",
        "x" * 60,
    ]


# -- whole states ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states(settings):
    """A recording of whole states in the server's folder."""
    recording = collect_recording("push", 400, seed=2, metadata={"domain": "push"})
    recording.save(settings.data / "states.parquet")
    return recording


@pytest.fixture(scope="module")
def graph_run(settings, states, brief_surprises):
    """A small run of all outcomes."""
    from actcause.learn import LocalGraphs, train_graphs

    train_graphs(LocalGraphs(steps=20, distil_steps=20, width=4), states, settings.runs / "every")
    return "every"


def test_a_domain_recorded_on_the_spot_shows_the_local_graph_of_each_step(client):
    shown = episode(client, source={"domain": "push", "frames": 400, "seed": 1})
    recording = collect_recording("push", 400, seed=1)
    first = recording.subset(np.flatnonzero(recording.episode == np.unique(recording.episode)[shown["at"]]))
    graph = shown["graph"]
    assert graph["outcomes"] == list(recording.outcomes)
    assert graph["inputs"] == ["action"]
    assert graph["found"] is None
    named = [[[*np.flatnonzero(causes)] for causes in row] for row in first.cause]
    assert graph["cause"] == named


def test_a_recording_of_whole_states_is_offered_and_shown_by_any_outcome(client, states):
    listed = client.get("/api/replay/sources").json()["recordings"]
    mine = next(one for one in listed if one["name"] == "states.parquet")
    assert mine["outcomes"] == list(states.outcomes)
    assert mine["layout"]["outcome_factor"] == "block"
    assert mine["error"] is None
    assert episode(client, source={"file": "states.parquet"})["outcome_factor"] == "block"
    pusher = episode(client, source={"file": "states.parquet"}, outcome="pusher", at=0)
    assert pusher["outcome_factor"] == "pusher"
    assert np.allclose(pusher["outcome"], states.next_state[: pusher["steps"], states.index("pusher"), :2], atol=1e-4)


def test_an_unknown_outcome_is_refused_in_a_sentence(client, states):
    asked = {"source": {"file": "states.parquet"}, "outcome": "blok"}
    answer = client.post("/api/replay/episode", json=asked)
    assert answer.status_code == 422
    assert "did you mean 'block'" in answer.text


def test_the_chain_behind_an_event_is_that_of_trace_with_steps_counted_from_one(client, states):
    moved = np.flatnonzero(states.cause[:, states.outcome_index("block"), states.index("pusher")])[-1]
    number, step = int(states.episode[moved]), int(states.step[moved])
    asked = {"source": {"file": "states.parquet"}, "at": number, "step": step, "factor": "block"}
    shown = client.post("/api/replay/chain", json=asked).json()
    chain = trace(states, episode=number, step=step, factor="block")
    assert shown["step"] == step + 1
    assert [(one["step"] - 1, one["outcome"]) for one in shown["links"]] == [
        (link.step, link.outcome) for link in chain.links
    ]
    assert [one["step"] - 1 for one in shown["actions"]] == [at for _, at in chain.actions]
    assert f"block at step {step + 1}" in shown["sentence"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"factor": "blok"}, "did you mean 'block'"),
        ({"step": 999}, "has the steps 0 to"),
        ({"at": 999}, "There is no episode 1000"),
        ({"by": "found"}, "choose a run"),
        ({"source": {"domain": "door-key"}}, "--outcome all"),
    ],
)
def test_a_chain_that_cannot_be_is_refused_in_a_sentence(client, states, change, said):
    asked = {"source": {"file": "states.parquet"}, "at": 0, "step": 3, "factor": "block", **change}
    answer = client.post("/api/replay/chain", json=asked)
    assert answer.status_code == 422, answer.text
    assert said in answer.text


def test_a_run_of_all_outcomes_is_offered_judges_whole_states_and_gives_chains(client, states, graph_run, settings):
    runs = client.get("/api/replay/sources").json()["runs"]
    mine = next(one for one in runs if one["name"] == graph_run)
    assert mine["graphs"]["outcomes"] == list(states.outcomes)
    assert mine["method"] == "jaci-em"
    asked = {"source": {"file": "states.parquet"}, "run": graph_run}
    begun = client.post("/api/replay/explain", json=asked).json()
    job = wait_for_job(client, begun["job"])
    assert job["result"]["rows"] == len(states)
    assert job["result"]["unsure"] is None  # graphs do not say
    shown = episode(client, **asked, at=0)
    written = Recording.load(settings.runs / graph_run / "found" / "states.parquet.parquet")
    found = written.extra["found.block.pusher"][: shown["steps"]]
    at = shown["factors"].index("pusher")
    assert [at in row[shown["graph"]["outcomes"].index("block")] for row in shown["graph"]["found"]] == found.tolist()
    assert [row[at] for row in shown["found"]] == found.astype(int).tolist()
    chain = client.post("/api/replay/chain", json={**asked, "at": 0, "step": 2, "factor": "block", "by": "found"})
    assert chain.json()["by"] == "found"
