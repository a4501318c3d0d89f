"""The verbs: what they accept, what they refuse, and what they leave alone."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actcause import (
    DEFINITIONS,
    ActCauseError,
    Answer,
    Model,
    Partitions,
    QueryError,
    StateSpace,
    Status,
    Verdict,
    causes,
    is_cause,
    partitions,
)
from actcause.core.expression import Name, Number
from actcause.core.logic import Compare
from actcause.core.solvers import ENCODINGS
from actcause.core.spaces.out_of_core import OutOfCorePartitions
from actcause.parallel import engine
from strategies import contexts, many, models

ROCKS = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
BOTH_THROW = {"ST": 1, "BT": 1}


def test_the_default_definition_is_modified_hp() -> None:
    answer = causes(ROCKS, context=BOTH_THROW, effect="BS == 1")
    verdict = is_cause(ROCKS, context=BOTH_THROW, effect="BS == 1", event={"ST": 1})
    assert isinstance(answer, Answer)
    assert isinstance(verdict, Verdict)
    assert answer.query.definition == verdict.query.definition == "modified-hp"


def test_contexts_effects_and_events_may_be_text_or_values() -> None:
    effect = Compare(Name("BS"), "==", Number(1))
    by_text = is_cause(ROCKS, context="ST=1, BT=1", effect="BS == 1", event="ST=1")
    by_value = is_cause(ROCKS, context=BOTH_THROW, effect=effect, event={"ST": 1})
    assert by_text.to_json() == by_value.to_json()
    found = [
        [dict(cause.event) for cause in causes(ROCKS, context=context, effect=formula)]
        for context, formula in (("ST=1,BT=1", "BS == 1"), (BOTH_THROW, effect))
    ]
    assert found[0] == found[1] == [{"ST": 1}, {"SH": 1}]


def test_a_definition_that_has_no_clauses_yet_is_searched_by_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = causes(ROCKS, context=BOTH_THROW, effect="BS == 1")
    monkeypatch.delitem(ENCODINGS, "modified-hp")
    found = causes(ROCKS, context=BOTH_THROW, effect="BS == 1")
    assert [dict(cause.event) for cause in found] == [dict(cause.event) for cause in before]
    assert found.statistics["solver_calls"] == 0 < before.statistics["solver_calls"]


def test_options_can_only_be_given_by_name() -> None:
    with pytest.raises(TypeError):
        causes(ROCKS, BOTH_THROW, "BS == 1")  # type: ignore[misc]
    with pytest.raises(TypeError):
        is_cause(ROCKS, BOTH_THROW, "BS == 1", {"ST": 1})  # type: ignore[misc]


def test_nothing_that_is_passed_is_changed() -> None:
    context, event = dict(BOTH_THROW), {"ST": 1}
    for definition in DEFINITIONS:
        is_cause(ROCKS, context=context, effect="BS", event=event, definition=definition)
        list(causes(ROCKS, context=context, effect="BS", definition=definition))
    assert context == BOTH_THROW
    assert event == {"ST": 1}


@pytest.mark.parametrize("verb", ["causes", "is_cause"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"definition": "hp"}, "Unknown definition 'hp'"),
        ({"solver": "sat"}, "solver must be one of auto, exhaustive; got 'sat'."),
        ({"max_steps": 0}, "max_steps must be a positive number; got 0."),
        ({"max_steps": -5}, "max_steps must be a positive number; got -5."),
        ({"max_seconds": 0}, "max_seconds must be a positive number; got 0."),
        ({"max_seconds": float("nan")}, "max_seconds must be a positive number; got nan."),
        ({"alpha_sufficiency": 2}, "alpha_sufficiency must be between 0 and 1; got 2."),
        ({"alpha_necessity": "many"}, "alpha_necessity must be a number between 0 and 1; got 'many'."),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_in_one_sentence(verb: str, options: dict, said: str) -> None:
    ask = causes if verb == "causes" else partial(is_cause, event="ST=1")
    with pytest.raises(QueryError) as refused:
        ask(ROCKS, context=BOTH_THROW, effect="BS", **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_max_causes_must_be_at_least_one() -> None:
    with pytest.raises(QueryError, match="max_causes must be at least 1; got 0"):
        causes(ROCKS, context=BOTH_THROW, effect="BS", max_causes=0)
    with pytest.raises(QueryError, match="max_causes must be at least 1; got 'three'"):
        causes(ROCKS, context=BOTH_THROW, effect="BS", max_causes="three")  # type: ignore[call-overload]


def test_a_mistake_is_reported_when_the_question_is_asked_not_when_the_answer_is_read() -> None:
    with pytest.raises(ActCauseError):
        causes(ROCKS, context={"ST": 1}, effect="BS")
    with pytest.raises(ActCauseError):
        causes(ROCKS, context=BOTH_THROW, effect="BSS")


def test_the_work_done_is_in_the_statistics() -> None:
    fast = is_cause(ROCKS, context=BOTH_THROW, effect="BS", event="ST=1", definition="updated-hp")
    slow = is_cause(ROCKS, context=BOTH_THROW, effect="BS", event="ST=1", definition="updated-hp", solver="exhaustive")
    assert set(fast.statistics) == set(slow.statistics) == {"evaluations", "solver_calls"}
    assert fast.statistics["solver_calls"] > 0
    assert slow.statistics["solver_calls"] == 0
    assert slow.statistics["evaluations"] > fast.statistics["evaluations"]


@given(data=st.data())
@many(160)
def test_each_cause_found_is_one_when_judged(data: st.DataObject) -> None:
    model = data.draw(models(max_endogenous=4))
    context = data.draw(contexts(model))
    actual = model.evaluate(context)
    last = model.order[-1] if model.order[-1] in model.endogenous else model.endogenous[-1]
    for definition in DEFINITIONS:
        question = {"context": context, "effect": f"{last} == {actual[last]}", "definition": definition}
        answer = causes(model, **question)
        for cause in answer:
            assert is_cause(model, **question, event=cause.event).holds
        assert answer.status is Status.COMPLETE


def test_partitions_takes_a_model_with_an_outcome_or_a_state_space() -> None:
    model = Model.from_text("A\nB\nC = A and B")
    found = partitions(model, "C", alpha_sufficiency=1)
    assert isinstance(found, Partitions)
    assert (found.cost, found.count) == (5, 2)
    space = StateSpace.from_model(model, "C")
    assert partitions(space, alpha_sufficiency=1).cost == 5
    with pytest.raises(QueryError, match="Say which variable is the outcome"):
        partitions(model)
    with pytest.raises(QueryError, match="has its outcome already"):
        partitions(space, "C")


def test_a_model_past_memory_is_solved_in_parts_and_says_what_it_is_doing(monkeypatch):
    model, shares = Model.from_text("A in 0..9\nB in 0..9\nY = A > 0 and B > 0"), {"alpha_sufficiency": 0.2}
    whole = partitions(model, "Y", **shares)
    monkeypatch.setattr("actcause.core.spaces.state_space.MAX_CELLS", 100)
    messages = []
    parts = partitions(model, "Y", **shares, on_progress=messages.append)
    assert isinstance(parts, OutOfCorePartitions)
    assert (parts.cost, parts.count, parts.states) == (whole.cost, whole.count, whole.states)
    assert parts.to_json(max_pairs=3, max_states=7) == whole.to_json(max_pairs=3, max_states=7)
    assert "sets of 1, part 1 of 1" in messages
    with pytest.raises(QueryError, match="With alpha_sufficiency under 1/2 it would be solved in parts"):
        partitions(model, "Y")


def test_workers_make_large_models_worth_taking_apart(monkeypatch):
    monkeypatch.setattr("actcause.core.spaces.out_of_core.problem.LARGE", 100)
    model = Model.from_text("A in 0..9\nB in 0..9\nY = A > 0 and B > 0")
    assert isinstance(partitions(model, "Y", alpha_sufficiency=0.2), Partitions)
    with engine(workers=1) as workers:
        assert isinstance(partitions(model, "Y", alpha_sufficiency=0.2, workers=workers), OutOfCorePartitions)
        assert isinstance(partitions(model, "Y", alpha_sufficiency=0.6, workers=workers), Partitions)
