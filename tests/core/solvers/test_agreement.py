"""Every fast solver gives the answers of the oracle, which runs the definitions as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actcause import Model, ModelError, Query, is_cause
from actcause.core.solvers import ENCODINGS
from agreement import assert_same_causes, assert_same_verdict, events, questions
from strategies import many

FAST = tuple(ENCODINGS)


@pytest.mark.parametrize("definition", FAST)
@given(data=st.data())
@many(400)
def test_the_causes_are_those_of_the_oracle(definition: str, data: st.DataObject) -> None:
    assert_same_causes(data.draw(questions(definition)))


@pytest.mark.parametrize("definition", FAST)
@given(data=st.data())
@many(400)
def test_the_verdict_on_any_event_is_the_one_of_the_oracle(definition: str, data: st.DataObject) -> None:
    query = data.draw(questions(definition))
    assert_same_verdict(query, data.draw(events(query)))


@pytest.mark.parametrize("definition", FAST)
def test_a_division_in_the_effect_that_is_guarded_is_not_done(definition: str) -> None:
    model = Model.from_text("A in 0..2\nB in 0..2")
    asked = {
        "context": {"A": 1, "B": 1},
        "effect": "A != 0 and 6 // A > B",
        "event": {"A": 1},
        "definition": definition,
    }
    assert is_cause(model, **asked).conditions == is_cause(model, **asked, solver="exhaustive").conditions


@pytest.mark.parametrize("definition", FAST)
def test_an_equation_that_an_intervention_would_push_out_of_its_range_is_refused(definition: str) -> None:
    model = Model.from_text("A in 0..2\nB in {0, 1} = A\nC = A == 2 and B == 0")
    assert model.evaluate({"A": 1})["B"] == 1  # nothing is wrong as long as nobody asks what could have been
    with pytest.raises(ModelError, match=r"The equation of B gives 2 at A=2, outside {0, 1}; .* widen the range of B"):
        Query(model, {"A": 0}, "C == 0", definition)


@pytest.mark.slow
@pytest.mark.parametrize("definition", FAST)
@given(data=st.data())
@settings(max_examples=8_000)
def test_the_causes_are_those_of_the_oracle_on_many_models(definition: str, data: st.DataObject) -> None:
    assert_same_causes(data.draw(questions(definition)))


@pytest.mark.slow
@pytest.mark.parametrize("definition", FAST)
@given(data=st.data())
@settings(max_examples=8_000)
def test_the_verdict_on_any_event_is_the_one_of_the_oracle_on_many_models(definition: str, data: st.DataObject) -> None:
    query = data.draw(questions(definition, max_endogenous=7))
    assert_same_verdict(query, data.draw(events(query)))
