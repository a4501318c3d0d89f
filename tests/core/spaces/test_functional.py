"""Functional actual causes of one state."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from strategies import contexts, many, models


@many(150)
@given(st.data(), models(max_endogenous=4, max_range=3), st.sampled_from([None, 0.2, 0.4, 0.5, 1]))
def test_the_causes_of_a_state_are_its_binaries_in_minimal_pairs(data, model, sufficiency):
    assume(len(model.endogenous) > 1)
    assume(model.context_count <= 6)
    context = data.draw(contexts(model))
    outcome = model.endogenous[-1]
    effect = f"{outcome} == {model.evaluate(context)[outcome]}"
    options = {"context": context, "effect": effect, "definition": "functional", "alpha_sufficiency": sufficiency}
    answer = ac.causes(model, **options)
    oracle = ac.causes(model, **options, solver="exhaustive")
    events = [dict(cause.event) for cause in answer]
    assert sorted(map(sorted, events)) == sorted(sorted(cause.event) for cause in oracle)
    found = ac.partitions(model, outcome, alpha_sufficiency=sufficiency)
    index = found.space.find_context(context)
    expected = {found.space.names(found.space.mask_of(binary)) for binary in found.binaries(index)} - {()}
    assert {tuple(event) for event in events} == expected
    for cause in answer:
        assert cause.witness.replay(answer.query)
        assert ac.is_cause(model, **options, event=cause.event)


def test_a_no_says_which_condition_failed():
    pusher = ac.examples.load("pusher-1d")
    options = {"context": {"P": 499, "X": 200}, "effect": "Y == 501", "definition": "functional"}
    far = ac.is_cause(pusher.model, **options, event={"X": 200}, alpha_sufficiency=0.2)
    assert far.holds is False
    assert far.conditions == {"AC1": True, "AC2a": True, "AC2b": False, "AC3": False}
    both = ac.is_cause(pusher.model, **options, event={"P": 499, "X": 200}, alpha_sufficiency=0.2)
    assert both.failed == "AC3"
    assert both.smaller == {"P": 499}
    rare = ac.is_cause(pusher.model, **options, event={"X": 200}, alpha_sufficiency=0.2, alpha_necessity=0.01)
    assert rare.failed == "AC2a"


def test_the_outcome_itself_is_not_among_its_functional_causes():
    rock = ac.examples.load("rock-throwing")
    verdict = ac.is_cause(rock.model, context=rock.context, effect="BS == 1", event={"BS": 1}, definition="functional")
    assert verdict.holds is False


def test_a_formula_can_be_the_effect():
    model = ac.Model.from_text("A in 0..2\nB in 0..2\nC = A + B")
    answer = ac.causes(
        model, context={"A": 2, "B": 0}, effect="C >= 2", definition="functional", alpha_sufficiency=Fraction(1, 5)
    )
    assert [dict(cause.event) for cause in answer] == [{"A": 2}]


@pytest.mark.parametrize("sufficiency", [None, 1])
def test_a_space_too_large_to_search_is_a_status(sufficiency):
    roots = [f"R{i}" for i in range(40)]
    model = ac.Model.from_text("\n".join(roots) + "\nY = " + " and ".join(roots))
    context = dict.fromkeys(roots, 1)
    options = {"context": context, "effect": "Y", "definition": "functional", "alpha_sufficiency": sufficiency}
    verdict = ac.is_cause(model, **options, event={"R0": 1})
    assert verdict.holds is None
    assert verdict.status is ac.Status.TOO_LARGE
    assert "alpha_sufficiency below 1/2" in verdict.sentence
    assert ac.causes(model, **options).status is ac.Status.TOO_LARGE
