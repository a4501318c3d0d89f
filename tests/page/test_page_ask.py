"""Ask over HTTP: examples, checking while typing, all definitions, one event, and code that can be copied."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from running import jump, run, until
from starlette.testclient import TestClient

from actcause import DEFINITIONS, examples, is_cause, responsibility
from actcause.page.ask import answers as answering
from actcause.page.ask import routes as ask
from actcause.page.server.app import build_application
from actcause.page.server.settings import Settings

ROCKS = examples.load("rock-throwing")


def question(example: Any = ROCKS, **more: Any) -> dict[str, Any]:
    return {
        "text": example.text,
        "steps": example.steps,
        "context": dict(example.context),
        "effect": example.effect,
        "alpha_sufficiency": None if example.alpha_sufficiency is None else str(example.alpha_sufficiency),
        "alpha_necessity": None if example.alpha_necessity is None else str(example.alpha_necessity),
        **more,
    }


@cache
def answer_example(name: str) -> list[dict[str, Any]]:
    """What a worker says of an example: the world, then each definition's causes."""
    return list(answering.answer(question(examples.load(name), event=None, definitions=None)))


def read_answer(client: TestClient, **more: Any) -> dict[str, Any]:
    reply = client.post("/api/ask/answer", json=question(**more))
    assert reply.status_code == 200, reply.text
    return reply.json()


def read_refusal(client: TestClient, path: str = "answer", **more: Any) -> tuple[str, int | None]:
    reply = client.post(f"/api/ask/{path}", json={**question(), **more})
    assert reply.status_code == 422, reply.text
    return reply.json()["error"], reply.json()["line"]


# -- examples ----------------------------------------------------------------------------------------


def test_every_example_is_listed_in_a_group(client: TestClient) -> None:
    listed = client.get("/api/ask/examples").json()
    assert [entry["name"] for entry in listed] == list(examples.names())
    assert list(dict.fromkeys(entry["theme"] for entry in listed)) == [theme.title for theme in examples.THEMES]


@pytest.mark.parametrize("name", [name for name in examples.names() if not name.startswith("voting")])
def test_the_page_says_of_every_example_what_was_published(name: str) -> None:
    example = examples.load(name)
    world, *answers = answer_example(name)
    found = {entry["definition"]: [cause["event"] for cause in entry["causes"]] for entry in answers}
    complete = {entry["definition"] for entry in answers if entry["status"] == "complete"}
    own = set(world["candidates"])
    for verdict in example.verdicts:
        if verdict.definition in complete and set(verdict.event) <= own:
            assert (dict(verdict.event) in found[verdict.definition]) is verdict.holds, verdict


# -- checking ----------------------------------------------------------------------------------------


def test_a_model_is_described_for_drawing(client: TestClient) -> None:
    text = 'exogenous U in 0..3\nA "the act" = U > 1\nB in {0, 2, 5} = 2 if A else 0'
    model = client.post("/api/ask/check", json={"text": text}).json()
    by_name = {variable["name"]: variable for variable in model["variables"]}
    assert (model["count"], model["roots"], model["last"]) == (3, ["U"], "B")
    assert by_name["U"]["exogenous"]
    assert by_name["A"]["label"] == "the act"
    assert by_name["B"]["parents"] == ["A"]
    assert by_name["B"]["range"]["values"] == [0, 2, 5]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("A\nB = A and", 2, "end of the line"),
        ("A\nB = a", 2, "did you mean 'A'"),
        ("A\n\nB = C\nC = B", 3, "cycle"),
        ("a\nB = C\nC = B", 2, "a model must be acyclic"),  # the word is no variable
        ("a = 1 \\\n  + 1\nB in 0..1 = a", 3, "outside"),
        ("A in 0..3\nB in 0..1 = A", 2, "outside"),
        ("A\nB = A ** A ** A", 2, "expected"),
        ("A in 0..99999999", 1, "at most"),
        ("", None, "at least one variable"),
        ("A = " + "(" * 1000, 1, "deeper"),
        ("A\nB = A && A", 2, "got '&'; write 'and'"),
        ("A\nB = A OR A", 2, "got 'OR'; write 'or'"),
        ("A\nB = A -> A", 2, "got '>'; write 'not A or B'"),
        ("A\nB = if A then 1 else 0", 2, "write '1 if A else 0'"),
        ("A; B", 1, "each variable on a line of its own"),
        ("A, B", 1, "each variable on a line of its own"),
        ("A\nB = A / 2", 2, "got '/'; write '//', which rounds down"),
        ("A\nB < A", 2, "write '=' before an equation"),
    ],
)
def test_a_mistake_is_marked_at_its_line(client: TestClient, text: str, line: int | None, said: str) -> None:
    reply = client.post("/api/ask/check", json={"text": text})
    assert reply.status_code == 422
    assert reply.json()["line"] == line
    assert said in reply.json()["error"]


def test_what_no_name_can_begin_with_is_not_taken_for_a_declaration(client: TestClient) -> None:
    reply = client.post("/api/ask/check", json={"text": "<b>A</b>"})
    assert reply.json()["error"].endswith("expected a variable's name, got '<'")


# -- answers -----------------------------------------------------------------------------------------


def test_all_definitions_answer_side_by_side(client: TestClient) -> None:
    reply = read_answer(client)
    assert [entry["definition"] for entry in reply["answers"]] == list(DEFINITIONS)
    modified = next(entry for entry in reply["answers"] if entry["definition"] == "modified-hp")
    throw, hit = modified["causes"]
    assert (throw["event"], hit["event"]) == ({"ST": 1}, {"SH": 1})
    assert throw["sentence"].startswith("Suzy's throw ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0")
    assert throw["responsibility"] == "1/2"
    assert throw["witness"] == {
        "changed": {"ST": 0},
        "frozen": {"BH": 0},
        "moved": {"SH": 0, "ST": 0, "BS": 0},
        "effect": False,
    }


SMALL = [
    name
    for name in examples.names()
    if max(map(len, examples.load(name).model.ranges.values())) < 5 and "voting" not in name
]


@pytest.mark.parametrize("name", SMALL)
def test_degrees_are_those_of_the_library(name: str) -> None:
    example = examples.load(name)
    _, *answers = answer_example(name)
    for entry in answers:
        for cause in entry["causes"]:
            if entry["definition"] in ("but-for", "direct", "strong"):
                assert "responsibility" not in cause
                continue
            degree = responsibility(
                example.model,
                context=example.context,
                effect=example.effect,
                event=cause["event"],
                definition=entry["definition"],
                alpha_sufficiency=example.alpha_sufficiency,
                alpha_necessity=example.alpha_necessity,
            )
            assert cause["responsibility"] in (str(degree), None)


def test_a_contrast_and_what_is_normal_are_asked_for_by_every_definition(client: TestClient) -> None:
    pens = question(examples.load("pens"), contrast="E == 0", normality=["P == 0", "A == 1"])
    reply = client.post("/api/ask/answer", json=pens).json()
    assert (reply["effect"], reply["question"]) == ("E=1", "E=1 rather than E=0")
    for entry in reply["answers"]:
        [cause] = entry["causes"]
        assert (cause["event"], cause["rank"]) == ({"P": 1}, 1)
    verdicts = client.post("/api/ask/judge", json={**pens, "event": "A=1"}).json()["verdicts"]
    assert not any(verdict["holds"] for verdict in verdicts)


def test_causes_come_in_the_order_of_their_ranks_with_their_own_degrees(client: TestClient) -> None:
    asked = question(examples.load("pens"), normality=["2: A == 1", "P == 0"], normality_order="count")
    reply = client.post("/api/ask/answer", json={**asked, "normality": ["P == 0"]}).json()
    for entry in reply["answers"]:
        assert [(cause["event"], cause["rank"]) for cause in entry["causes"]] == [({"P": 1}, 1), ({"A": 1}, 2)]
    measured = client.post("/api/ask/degrees", json={**asked, "definitions": ["modified-hp"]}).json()
    assert measured["degrees"] == ["1"]


def test_the_copied_code_has_the_contrast_and_the_rules(client: TestClient) -> None:
    asked = question(examples.load("pens"), contrast="E == 0", normality=["2: P == 0"], normality_order="count")
    code = client.post("/api/ask/code", json=asked).json()
    assert "--rather-than 'E == 0' --normally '2: P == 0' --normality-order count" in code["command"]
    namespace: dict[str, Any] = {}
    exec(code["python"].split("for definition")[0], namespace)
    assert namespace["question"]["contrast"] == "E == 0"
    assert namespace["question"]["normality"].to_json() == {"rules": ["2: P == 0"], "order": "count"}


def test_an_effect_that_did_not_happen_has_no_cause(client: TestClient) -> None:
    reply = read_answer(client, effect="BS == 0")
    assert not reply["happened"]
    assert all(not entry["causes"] for entry in reply["answers"])


def test_a_definition_that_cannot_answer_does_not_cost_the_others(client: TestClient) -> None:
    asked = {"text": "A = 1\nB in 0..1 = A", "context": {}, "effect": "B == 1"}
    reply = client.post("/api/ask/answer", json=asked).json()
    by_name = {entry["definition"]: entry for entry in reply["answers"]}
    assert (by_name["functional"]["status"], by_name["but-for"]["status"]) == ("refused", "complete")
    assert "no roots" in by_name["functional"]["said"]
    verdicts = client.post("/api/ask/judge", json={**asked, "event": "A=1"}).json()["verdicts"]
    assert [verdict["definition"] for verdict in verdicts if "no roots" in verdict["sentence"]] == ["functional"]


def test_an_event_is_judged_with_the_condition_that_fails(client: TestClient) -> None:
    reply = client.post("/api/ask/judge", json=question(event="BT=1")).json()
    for verdict in reply["verdicts"]:
        ours = is_cause(
            ROCKS.model,
            context=ROCKS.context,
            effect=ROCKS.effect,
            event="BT=1",
            definition=verdict["definition"],
            alpha_sufficiency=ROCKS.alpha_sufficiency,
            alpha_necessity=ROCKS.alpha_necessity,
        )
        assert (verdict["holds"], verdict["failed"]) == (ours.holds, ours.failed)
        assert (verdict["witness"] is not None) is ours.holds
    failed = {verdict["definition"]: verdict["failed"] for verdict in reply["verdicts"]}
    assert (failed["modified-hp"], failed["updated-hp"]) == ("AC2a", "AC2b")


def test_verdicts_are_in_plain_words_with_the_condition_in_brackets(client: TestClient) -> None:
    said = set()
    for event in ("BT=1", "BT=0", "ST=1, BT=1"):
        reply = client.post("/api/ask/judge", json=question(event=event)).json()
        said |= {(each["failed"], each["sentence"]) for each in reply["verdicts"] if each["failed"]}
    assert {failed for failed, _ in said} >= {"AC1", "AC2a", "AC3"}
    for failed, sentence in said:
        assert sentence.endswith(f" ({failed}).")
        assert not re.search(r"AC\d", sentence.removesuffix(f" ({failed})."))


def test_degrees_that_were_left_open_can_be_asked_for(client: TestClient) -> None:
    reply = client.post("/api/ask/degrees", json=question(definitions=["modified-hp"])).json()
    assert reply == {"degrees": ["1/2", "1/2"]}
    assert "one definition at a time" in read_refusal(client, "degrees")[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"effect": "BZ == 1"}, "The effect, at character 1: unknown variable 'BZ'; did you mean"),
        ({"effect": ""}, "The effect, at character 1: the formula is empty"),
        ({"context": {"ST": 1}}, "missing: BT"),
        ({"context": {"ST": 1, "BT": 7}}, "BT must be in"),
        ({"alpha_necessity": "2"}, "The share that must undo it (alpha necessity) must be between 0 and 1"),
        ({"contrast": "BS >= 0"}, "The contrast must rule the effect out"),
        ({"normality": ["2: BS"]}, "only counted with 'compare worlds by: how many, by weight'"),
        ({"steps": -3}, "The number of steps must be at least 0; got -3."),
        ({"steps": 501}, "The number of steps must be at most 500; got 501."),
        ({"steps": 2.5}, "The number of steps must be a whole number; got 2.5."),
        ({"definitions": ["hume"]}, "Unknown definition 'hume'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_in_words(
    client: TestClient, more: dict[str, Any], said: str
) -> None:
    error, line = read_refusal(client, **more)
    assert said in error
    assert line is None


def test_an_event_that_makes_no_sense_is_refused_in_words(client: TestClient) -> None:
    assert "The event, at character 1: unknown variable 'XX'" in read_refusal(client, "judge", event="XX=1")[0]
    assert "non-empty" in read_refusal(client, "judge", event="")[0]
    assert "BT must be in" in read_refusal(client, "judge", event="BT=9")[0]


def test_a_model_of_a_thousand_variables_is_asked_about_without_being_drawn(client: TestClient) -> None:
    text = "\n".join(["X0", *(f"X{index} = X{index - 1}" for index in range(1, 1000))])
    model = client.post("/api/ask/check", json={"text": text}).json()
    assert (model["count"], len(model["variables"])) == (1000, 1)
    found = read_answer(client, text=text, context={"X0": 1}, effect="X999", definitions=["but-for", "modified-hp"])
    assert [(entry["status"], len(entry["causes"])) for entry in found["answers"]] == [("max-causes", 24)] * 2


def test_a_model_that_is_too_much_for_the_page_is_refused_in_words(client: TestClient) -> None:
    long = client.post("/api/ask/check", json={"text": "#" * 100_001}).json()
    assert long["error"] == "The model has 100,001 characters; at most 100,000 are allowed."
    wide = client.post("/api/ask/check", json={"text": "\n".join(f"X{index}" for index in range(1001))}).json()
    assert wide["error"].startswith(
        "The model has 1,001 roots; at most 1,000 can be set on this page. Ask in the command"
    )


# -- code to copy ------------------------------------------------------------------------------------

OWN = 'A\nB\' "it\'s \\\\ \\"quoted"'.replace('\\\\ \\"quoted', "a label") + "\nC = A or B'"


IN_TIME = 'push\nx in 0..2 = 0\nx\' = min(2, x + push)\ndone "the end" = x == 2'
EVENTS = {"rock-throwing": "ST=1", "rock-throwing-in-time": "ST@0=1", "own in time": "push@0=1"}


@pytest.mark.parametrize("event", [None, "A=1"])
@pytest.mark.parametrize("name", ["rock-throwing", "loader", "own", "rock-throwing-in-time", "own in time"])
def test_the_copied_python_and_command_run_and_say_the_same(
    client: TestClient, tmp_path: Path, name: str, event: str | None
) -> None:
    if name == "own":
        asked = question(text=OWN, context={"A": 1, "B'": 0}, effect="C == 1", alpha_necessity=None)
        asked["alpha_sufficiency"] = None
    elif name == "own in time":
        context = {"push@0": 1, "push@1": 1, "push@2": 0}
        asked = question(text=IN_TIME, steps=2, context=context, effect="done@2 == 1")
    else:
        asked = question(examples.load(name))
    if event:
        asked["event"] = EVENTS.get(name, event)
    reply = client.post("/api/ask/judge" if event else "/api/ask/answer", json=asked).json()
    script = tmp_path / "copied.py"
    code = client.post("/api/ask/code", json=asked).json()
    script.write_text(code["python"], encoding="utf-8")
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = subprocess.run(
        ["bash", "-c", code["command"]],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "COLUMNS": "400"},
    )
    assert shown.returncode == 0, shown.stderr
    if event:
        sentences = [verdict["sentence"] for verdict in reply["verdicts"]]
    else:
        sentences = [entry["causes"][0]["sentence"] for entry in reply["answers"] if entry["causes"]]
    assert sentences
    for sentence in sentences:
        assert sentence in said
        assert sentence in shown.stdout


def test_the_copied_code_has_a_model_with_time_as_it_was_written(client: TestClient) -> None:
    asked = question(text=IN_TIME, steps=None, context={"push@0": 1, "push@1": 1, "push@2": 0}, effect="done@2 == 1")
    code = client.post("/api/ask/code", json=asked).json()
    assert "\n).unrolled(2)\n" in code["python"]
    assert "actcause ask - --steps 2 " in code["command"]
    for written in code.values():
        assert "x' = min(2, x + push)" in written
        assert "x@1 =" not in written
    tank = client.post("/api/ask/code", json=question(examples.load("overflowing-tank"))).json()
    assert ").unrolled(5)\n" in tank["python"]
    assert tank["command"].startswith("actcause ask overflowing-tank --context")


# -- budgets -----------------------------------------------------------------------------------------


def ask_for_too_long(settings: Settings, messages: list[Any], route: Any, **more: Any) -> dict[str, Any]:
    """The answer of the functional definition, which takes longer here than its own clock can notice."""
    text = "\n".join(["X0", *(f"X{index} = X{index - 1}" for index in range(1, 1000))])
    asked = ask.AskRequest(text=text, context={"X0": 1}, effect="X999 == 1", definitions=["functional"], **more)

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def live() -> dict[str, Any]:
        app = build_application(settings)
        async with app.router.lifespan_context(app):
            request = Request({"type": "http", "app": app, "path": "/", "headers": []}, never)
            reply = asyncio.ensure_future(route(asked, request))
            await until(lambda: any("part" in message for message in messages))
            await jump(answering.SECONDS + ask.GRACE + 1)
            return json.loads((await reply).body)

    return run(live())


def test_a_computation_past_its_budget_is_killed_and_the_user_reads_a_sentence(
    settings: Settings, messages: list[Any]
) -> None:
    [functional] = ask_for_too_long(settings, messages, ask.answer)["answers"]
    assert (functional["status"], functional["causes"]) == ("out-of-time", [])
    assert functional["said"].startswith("No answer within 7.5 seconds; ask about a smaller model")


def test_a_verdict_past_its_budget_is_open_and_says_why(settings: Settings, messages: list[Any]) -> None:
    [functional] = ask_for_too_long(settings, messages, ask.judge, event="X5=1")["verdicts"]
    assert functional["holds"] is None
    assert functional["sentence"].startswith("No answer within 7.5 seconds")


TANK = "valve\nlevel in 0..9 = 3\nlevel' = min(9, level + 2 * valve)\nfull = level == 9"


def test_a_model_with_time_is_unrolled_over_the_steps_that_are_asked_for(client):
    model = client.post("/api/ask/check", json={"text": TANK, "steps": 2}).json()
    assert model["roots"] == ["valve@0", "valve@1", "valve@2"]
    asked = {**question(), "text": TANK, "context": {f"valve@{step}": 1 for step in range(4)}, "effect": "full@3 == 1"}
    reply = client.post("/api/ask/answer", json={**asked, "definitions": ["but-for"]}).json()
    assert {"valve@0": 1} in [cause["event"] for cause in reply["answers"][0]["causes"]]
    judged = {**asked, "definitions": ["but-for"], "event": "valve@3=1", "steps": 3}
    assert client.post("/api/ask/judge", json=judged).json()["verdicts"][0]["holds"] is False


# -- for those who do not know the context -------------------------------------------------------------


def test_a_question_past_the_last_step_is_refused_beside_its_field(client: TestClient) -> None:
    context = {f"valve@{step}": 1 for step in range(3)}
    asked = {**question(), "text": TANK, "steps": 2, "context": context, "effect": "full@2 == 1"}
    for more in ({"effect": "full@9 == 1"}, {"contrast": "full@9 == 0"}, {"normality": ["valve@9 == 0"]}):
        reply = client.post("/api/ask/answer", json={**asked, **more})
        assert (reply.status_code, reply.json()["parameter"]) == (422, *more)
        assert "mentions step 9, but the model goes to step 2; " in reply.json()["error"]
        assert reply.json()["error"].endswith("or raise the steps to 9.")


def test_an_example_with_time_is_listed_as_it_was_written(client: TestClient) -> None:
    listed = {entry["name"]: entry for entry in client.get("/api/ask/examples").json()}
    tank, rocks = listed["overflowing-tank"], listed["rock-throwing"]
    assert (tank["steps"], rocks["steps"], rocks["unrolled"]) == (5, None, None)
    assert "level' = " in tank["text"]
    assert "level@5 = " in tank["unrolled"]


def test_explanations_are_relative_to_what_is_known(client: TestClient) -> None:
    fire = examples.load("forest-fire-conjunctive")
    found = client.post("/api/ask/explanations", json=question(fire)).json()
    assert [each["event"] for each in found["explanations"]] == [{"L": 1, "MD": 1}]
    assert (found["count"], found["status"]) == ("4", "complete")
    found = client.post("/api/ask/explanations", json=question(fire, contexts="L == 1")).json()
    assert [each["event"] for each in found["explanations"]] == [{"MD": 1}]
    reply = client.post("/api/ask/explanations", json=question(fire, contexts="Q"))
    assert (reply.status_code, reply.json()["parameter"]) == (422, "contexts")


def test_an_event_has_its_probabilities_by_every_definition(client: TestClient) -> None:
    asked = {"event": "ST=1", "prior": "ST=1/2, BT=1/4", "evidence": "BS == 1"}
    found = client.post("/api/ask/probabilities", json=question(**asked)).json()
    assert [each["value"] for each in found["measures"]][::2] == ["3/4", "3/5"]
    causes = {each["definition"]: each["value"] for each in found["causes"]}
    assert list(causes) == list(DEFINITIONS)
    assert (causes["but-for"], causes["modified-hp"], causes["direct"]) == ("3/5", "4/5", "0")
    for field, wrong in (("prior", "ST=2"), ("evidence", "Q"), ("event", "")):
        reply = client.post("/api/ask/probabilities", json=question(**{**asked, field: wrong}))
        assert (reply.status_code, reply.json()["parameter"]) == (422, field)


@pytest.mark.parametrize(
    ("text", "sink"), [("Y = X\nX\nZ", "Y"), ("A\nB = A\nC = A", "C"), ("A\nB", "B"), (ROCKS.text, "BS")]
)
def test_a_question_is_offered_about_the_end_of_the_chain(client: TestClient, text: str, sink: str) -> None:
    assert client.post("/api/ask/check", json={"text": text}).json()["sink"] == sink
