"""Why this rather than that: a witness must bring the contrast about."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.logic import And, Not
from agreement import assert_same_causes, assert_same_verdict, events, questions
from strategies import contexts, many, models, random_expression

LAMP = ac.Model.from_text("Dial in 0..2\nPower\nLight in 0..2 = Dial if Power else 0")
BRIGHT = {"context": "Dial=2, Power=1", "effect": "Light == 2"}


def add_contrast(query: ac.Query, rng: Random) -> ac.Query:
    """The same question, with something that rules the effect out and may speak of other variables too."""
    names = [*query.effect_variables, *rng.sample(query.model.variables, rng.choice([0, 0, 1]))]
    formula = And((Not(query.effect), random_expression(rng, names, len(names) + 1)))
    try:
        return ac.Query(**{**query.arguments, "contrast": formula})
    except ac.QueryError:  # it can never hold
        assume(False)
        raise


@pytest.mark.parametrize("definition", [name for name in ac.DEFINITIONS if name != "functional"])
@given(data=st.data(), rng=st.randoms(use_true_random=True))
@many(500)
def test_every_solver_agrees_with_the_oracle_on_contrasts(definition: str, data: st.DataObject, rng: Random) -> None:
    query = add_contrast(data.draw(questions(definition, max_endogenous=5)), rng)
    if rng.random() < 0.5:
        assert_same_causes(query)
    else:
        assert_same_verdict(query, data.draw(events(query)))


@pytest.mark.parametrize("definition", [name for name in ac.DEFINITIONS if name != "functional"])
@given(data=st.data())
@many(100)
def test_with_the_negated_effect_as_contrast_nothing_changes(definition: str, data: st.DataObject) -> None:
    plain = data.draw(questions(definition, max_endogenous=4))
    negated = negate(plain)
    for solver in ("auto", "exhaustive"):
        plainly, rather = (ac.causes(**q.arguments, solver=solver, max_steps=5000) for q in (plain, negated))
        assume(plainly.status is rather.status is ac.Status.COMPLETE)
        assert {frozenset(c.event) for c in plainly} == {frozenset(c.event) for c in rather}


@given(data=st.data(), model=models(max_endogenous=4, max_range=3))
@many(400)
def test_with_the_negated_effect_functional_causes_stay_the_same(data: st.DataObject, model: ac.Model) -> None:
    context = data.draw(contexts(model))
    outcome = model.endogenous[-1]
    shares = {"alpha_sufficiency": data.draw(st.sampled_from([None, "1/3", "1/2"])), "alpha_necessity": "1/4"}
    effect = f"{outcome} == {model.evaluate(context)[outcome]}"
    plain = ac.Query(model, context, effect, "functional", **shares)  # type: ignore[arg-type]
    assume(plain.candidates)
    plainly, rather = (ac.causes(**q.arguments) for q in (plain, negate(plain)))
    assert {frozenset(c.event) for c in plainly} == {frozenset(c.event) for c in rather}


@given(data=st.data(), model=models(max_endogenous=3, max_range=2), rng=st.randoms(use_true_random=True))
@many(300)
def test_functional_causes_with_a_contrast_are_those_of_algorithm_0(
    data: st.DataObject, model: ac.Model, rng: Random
) -> None:
    """Other ways than the oracle's find the pairs of all states, of which only the observed one is contrasted."""
    assume(model.context_count <= 4)
    context = data.draw(contexts(model))
    outcome = model.endogenous[-1]
    effect = f"{outcome} == {model.evaluate(context)[outcome]}"
    shares = {"alpha_sufficiency": data.draw(st.sampled_from([None, "1/3", "1/2", 1]))}
    query = add_contrast(ac.Query(model, context, effect, "functional", **shares), rng)  # type: ignore[arg-type]
    assume(query.candidates and not set(query.contrasted_variables) & set(model.exogenous))
    if rng.random() < 0.5:
        rule = random_expression(rng, rng.sample(model.variables, 1), 2)
        try:
            query = ac.Query(**{**query.arguments, "normality": [(rule, 1)]})
        except ac.QueryError:  # it can never hold
            assume(False)
    auto, oracle = (ac.causes(**query.arguments, solver=solver) for solver in ("auto", "exhaustive"))
    assert {frozenset(cause.event) for cause in auto} == {frozenset(cause.event) for cause in oracle}
    for cause in auto:
        assert cause.witness.replay(query)


def negate(query: ac.Query) -> ac.Query:
    try:
        return ac.Query(**{**query.arguments, "contrast": Not(query.effect)})
    except ac.QueryError:  # the effect always holds
        assume(False)
        raise


@pytest.mark.parametrize("solver", ["auto", "exhaustive"])
@pytest.mark.parametrize("definition", ac.DEFINITIONS)
def test_dimmer_blames_the_dial_and_off_blames_both(definition: str, solver: str) -> None:
    def list_causes(contrast: str) -> set[str]:
        answer = ac.causes(LAMP, **BRIGHT, contrast=contrast, definition=definition, solver=solver)
        return {" ".join(cause.event) for cause in answer}

    assert list_causes("Light == 1") == {"Dial"}
    assert list_causes("Light == 0") == {"Dial", "Power"}


def test_a_functional_cause_is_contrasted_in_the_observed_state_only() -> None:
    asked = {**BRIGHT, "definition": "functional", "contrast": "Light == 1", "alpha_sufficiency": "1/3"}
    for solver in ("auto", "exhaustive"):
        verdict = ac.is_cause(LAMP, **asked, event="Power=1", solver=solver)
        assert verdict.failed == "AC2a"


def test_the_answer_reads_as_a_sentence_and_has_the_contrast_in_its_document() -> None:
    verdict = ac.is_cause(LAMP, **BRIGHT, contrast="Light == 1", event="Dial=2")
    assert str(verdict) == "Dial=2 is a cause of Light=2 rather than Light=1: had Dial been 1, Light would have been 1."
    assert verdict.to_json()["contrast"] == "Light == 1"
    assert verdict.witness is not None
    assert verdict.witness.replay(verdict.query)
    assert not ac.Witness({"Dial": 0}).replay(verdict.query)  # undoes the effect, and brings about something else
    refused = ac.is_cause(LAMP, **BRIGHT, contrast="Light == 1", event="Power=1")
    assert "no change of it that the definition allows would have brought about Light=1" in str(refused)
    assert "contrast" not in ac.is_cause(LAMP, **BRIGHT, event="Dial=2").to_json()


def test_degrees_are_about_the_contrast_too() -> None:
    vote = ac.Model.from_text("A\nB\nC\nFor in 0..3 = A + B + C")
    asked = {"context": "A=1, B=1, C=1", "effect": "For == 3", "event": "A=1"}
    assert ac.responsibility(vote, **asked) == 1
    assert str(ac.responsibility(vote, **asked, contrast="For == 1")) == "1/2"


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ("Light >= 1", "must rule the effect out; 'Light >= 1' and 'Light == 2' both hold at Light=2"),
        ("Light == 7", "The contrast 'Light == 7' can never hold"),
        ("Lihgt == 1", "did you mean 'Light'"),
        (3, "The contrast must be a formula"),
    ],
)
def test_a_contrast_that_makes_no_sense_is_refused_in_one_sentence(contrast: object, message: str) -> None:
    with pytest.raises(ac.ActCauseError, match=message) as refused:
        ac.causes(LAMP, **BRIGHT, contrast=contrast)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
