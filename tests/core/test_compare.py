"""One question, put to one definition after another: the same as asking each, within budgets."""

from __future__ import annotations

from typing import Any

import pytest

import actcause as ac

SMALL = ("rock-throwing", "forest-fire-disjunctive", "voting-close", "trumping", "switching-railroad-tracks")
WITHOUT_DEGREES = ("but-for", "direct", "strong")


def question(name: str) -> tuple[ac.Model, dict[str, Any]]:
    example = ac.examples.load(name)
    shares = {"alpha_sufficiency": example.alpha_sufficiency, "alpha_necessity": example.alpha_necessity}
    return example.model, {"context": example.context, "effect": example.effect, **shares}


@pytest.mark.parametrize("name", SMALL)
def test_each_definition_says_what_it_says_alone_and_so_do_the_degrees(name: str) -> None:
    model, asked = question(name)
    for opinion in ac.compare(model, **asked, responsibility=True):
        alone = ac.causes(model, **asked, definition=opinion.definition)
        assert opinion.answer.to_json() == alone.to_json()
        if opinion.definition in WITHOUT_DEGREES:
            assert opinion.degrees == (None,) * len(alone.causes)
            assert all(cause["responsibility"] is None for cause in opinion.to_json()["causes"])
            continue
        degrees = [
            ac.responsibility(model, **asked, definition=opinion.definition, event=cause.event) for cause in alone
        ]
        assert list(opinion.degrees or ()) == degrees


def test_an_event_gets_a_verdict_and_one_degree_by_each_definition() -> None:
    model, asked = question("voting-close")
    comparison = ac.compare(model, **asked, event="V1=1", responsibility=True)
    assert len(comparison) == len(ac.DEFINITIONS)
    for opinion in comparison:
        assert isinstance(opinion.answer, ac.Verdict)
        if opinion.definition in WITHOUT_DEGREES:
            assert opinion.degrees == (None,)
            assert opinion.to_json()["responsibility"] is None
            continue
        degree = ac.responsibility(model, **asked, definition=opinion.definition, event="V1=1")
        assert opinion.degrees == (degree,)
        assert opinion.to_json()["responsibility"] == str(degree)


def test_definitions_are_asked_one_by_one_as_they_are_read_and_each_once() -> None:
    begun: list[str] = []
    model, asked = question("rock-throwing")
    comparison = ac.compare(model, **asked, definitions=("strong", "but-for"), on_progress=begun.append)
    assert begun == []
    assert next(iter(comparison)).definition == "strong"
    assert begun == ["strong"]
    assert [opinion.definition for opinion in comparison] == ["strong", "but-for"]
    assert comparison.opinion("but-for").definition == "but-for"
    assert begun == ["strong", "but-for"]


def test_an_exception_raised_by_the_one_who_watches_ends_it() -> None:
    def stop(definition: str) -> None:
        if definition == "direct":
            raise KeyboardInterrupt

    model, asked = question("rock-throwing")
    heard = []
    with pytest.raises(KeyboardInterrupt):
        heard.extend(opinion.definition for opinion in ac.compare(model, **asked, on_progress=stop))
    assert ac.compare(model, **asked, on_progress=stop).opinion("strong").definition == "strong"


def test_a_spent_budget_is_a_status_of_its_definition_and_leaves_degrees_open() -> None:
    model, asked = question("rock-throwing")
    for opinion in ac.compare(model, **asked, event={"ST": 1}, responsibility=True, max_seconds=1e-9):
        assert opinion.answer.status is ac.Status.OUT_OF_TIME
        assert opinion.degrees == (None,)
    [opinion] = ac.compare(
        model, **asked, event={"ST": 1}, definitions="modified-hp", responsibility=True, degree_seconds=-1
    )
    assert opinion.answer.status is ac.Status.COMPLETE
    assert opinion.degrees == (None,)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"definitions": "modified"}, "definition"),
        ({"definitions": ()}, "definitions"),
        ({"event": "ST=7"}, None),
        ({"event": {}}, "event"),
        ({"alpha_necessity": 2}, "alpha_necessity"),
        ({"definitions": ("direct", "strong"), "responsibility": True}, "definition"),
    ],
)
def test_a_wrong_question_is_refused_before_any_search(given: dict[str, Any], parameter: str | None) -> None:
    model, asked = question("rock-throwing")
    with pytest.raises(ac.ActCauseError) as refused:
        ac.compare(model, **{**asked, **given})
    assert refused.value.parameter == parameter
