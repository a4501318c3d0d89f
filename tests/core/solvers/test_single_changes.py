"""Single changes, found by evaluating many at once: they change what is found first, not what is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.definitions import Search
from actcause.core.solvers import single_changes
from agreement import assert_same_causes, assert_same_verdict, events, questions
from strategies import many

CHAIN = ac.Model.from_text("push\nbox in 0..50 = 0\nbox' = min(50, box + push)\nfell = box == 50")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for single changes in small models too."""
    monkeypatch.setattr(single_changes, "MANY", 0)
    monkeypatch.setattr(single_changes, "is_worth_while", lambda query: query.normality is None)


@pytest.mark.usefixtures("always")
def test_a_small_model_is_searched_for_them_where_these_tests_say_so() -> None:
    context = {"push@0": 1, "push@1": 1, "push@2": 0}
    verdict = ac.is_cause(CHAIN.unrolled(2), context=context, effect="box@2 == 2", event="push@0=1")
    assert verdict.holds
    assert verdict.statistics["solver_calls"] == 0


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("definition", ["but-for", "original-hp", "updated-hp", "modified-hp"])
def test_the_causes_are_those_of_the_oracle(definition: str) -> None:
    @many(100)
    @given(questions(definition))
    def check(query: ac.Query) -> None:
        assert_same_causes(query)

    check()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("definition", ["original-hp", "modified-hp"])
def test_the_verdicts_are_those_of_the_oracle(definition: str) -> None:
    @many(100)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        query = data.draw(questions(definition))
        assert_same_verdict(query, data.draw(events(query)))

    check()


@many(100)
@given(st.data())
def test_each_one_undoes_the_effect_alone_and_none_is_missing(data: st.DataObject) -> None:
    query = data.draw(questions("but-for"))
    found = dict(single_changes.find_single_changes(Search(query))) if query.happened else {}
    expected = {
        name
        for name in query.candidates
        if query.happened
        and any(query.undone(query.model.solve(query.context, {name: v})) for v in query.model.ranges[name])
    }
    assert set(found) == expected
    assert all(query.undone(query.model.solve(query.context, {name: value})) for name, value in found.items())


def test_long_models_in_time_report_the_latest_first_without_a_solver_call() -> None:
    model = CHAIN.unrolled(600)
    context = {name: int(int(name.split("@")[1]) < 50) for name in model.roots}
    answer = ac.causes(model, context=context, effect="fell@600 == 1")
    assert [dict(cause.event) for cause in answer.causes[:2]] == [{"box@600": 50}, {"box@599": 50}]
    assert {"push@49": 1} in [dict(cause.event) for cause in answer.causes[:650]]
    verdict = ac.is_cause(model, context=context, effect="fell@600 == 1", event="push@0=1")
    assert verdict.holds
    assert verdict.witness == ac.Witness({"push@0": 0})
    assert verdict.statistics["solver_calls"] == answer.statistics["solver_calls"] == 0
    contrasted = ac.causes(model, context=context, effect="box@600 == 50", contrast="box@600 == 49")
    assert contrasted.causes[0].witness.changed == {"box@599": 49}


def test_short_models_and_timeless_ones_are_left_to_the_solver() -> None:
    short = ac.Query(CHAIN.unrolled(3), dict.fromkeys(CHAIN.unrolled(3).roots, 1), "box@3 == 3")  # type: ignore[arg-type]
    assert not single_changes.is_worth_while(short)
