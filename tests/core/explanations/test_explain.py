"""Explanations agree with the oracle, with published verdicts, and with themselves when they are replayed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import DEFINITIONS, Model, QueryError, Status
from actcause.core.expression import Expression
from actcause.core.solvers import TooManyClausesError
from explanation_oracle import as_sets, events, oracle_of, situations
from models import joined_gates
from strategies import many

FIRES = {"either": "L\nMD\nFF = L or MD", "both": "L\nMD\nFF = L and MD"}


@pytest.mark.parametrize("definition", [name for name in DEFINITIONS if name != "functional"])
@many(1000)
@given(data=st.data())
def test_the_explanations_are_those_of_the_oracle(definition: str, data: st.DataObject) -> None:
    model, contexts, effect = data.draw(situations())
    oracle = oracle_of(model, contexts, effect, definition)
    found = ac.explanations(model, contexts=contexts, effect=effect, definition=definition)
    assert len(as_sets(found)) == len(found)
    assert as_sets(found) == as_sets(oracle.explanations())


@pytest.mark.parametrize("definition", ["modified-hp", "updated-hp"])
@many(600)
@given(data=st.data())
def test_every_verdict_is_that_of_the_oracle_condition_by_condition(definition: str, data: st.DataObject) -> None:
    model, contexts, effect = data.draw(situations(max_endogenous=3))
    oracle = oracle_of(model, contexts, effect, definition)
    for event in events(model, effect):
        verdict = ac.is_explanation(model, contexts=contexts, effect=effect, event=event, definition=definition)
        happens = oracle.happens(event)
        assert verdict.holds == oracle.is_explanation(event)
        assert verdict.conditions["EX3"] == bool(happens)
        assert verdict.conditions["EX4"] == (len(happens) < len(oracle.happens({})))
        if happens:
            assert verdict.conditions["EX1a"] == (oracle.causal(event, happens) == happens)
            assert verdict.conditions["EX1b"] == oracle.sufficient(event)


@many(400)
@given(situation=situations())
def test_an_explanation_replays(situation: tuple[Model, list[dict[str, int]], Expression]) -> None:
    model, contexts, effect = situation
    for found in ac.explanations(model, contexts=contexts, effect=effect):
        for context in contexts:
            assert effect.value(model.evaluate(context, do=found.event))
        world = model.evaluate(found.cause.query.context)
        assert found.cause.query.context in contexts
        assert effect.value(world)
        assert all(world[name] == value for name, value in found.event.items())
        assert found.event.keys() & found.cause.event.keys()
        assert found.cause.witness.replay(found.cause.query)


def test_the_instance_of_an_explanation_is_a_context_in_which_all_of_it_happens() -> None:
    """Also where a context that is alike in all that bears on the fire comes before it."""
    model = Model.from_text("exogenous MD\nL\nA\nFF = L or MD")
    alike = [{"MD": 0, "L": 1, "A": a} for a in (0, 1)]
    (found,) = ac.explanations(model, contexts=[*alike, {"MD": 1, "L": 1, "A": 0}], effect="FF")
    assert dict(found.event) == {"L": 1, "A": 1}
    assert dict(found.cause.query.context) == alike[1]
    assert found.cause.witness.replay(found.cause.query)


# -- published verdicts ----------------------------------------------------------------------------

FOUR = [{"L": 0, "MD": 0}, {"L": 1, "MD": 0}, {"L": 0, "MD": 1}, {"L": 1, "MD": 1}]


@pytest.mark.parametrize(
    ("fire", "rows", "expected"),
    [
        # Halpern, Actual Causality (2016), Section 7.1: the forest fire and its four contexts.
        ("either", (0, 1, 2, 3), {"L=1": False, "MD=1": False}),
        ("both", (0, 1, 2, 3), {"L=1,MD=1": True}),
        ("either", (1, 3), {"L=1": True, "MD=1": False}),  # the lightning is known
        ("both", (1, 3), {"MD=1": True}),
        ("both", (2, 3), {"L=1": True}),
        ("either", (3,), {"L=1": True, "MD=1": True}),
        ("both", (3,), {"L=1": True, "MD=1": True}),
        ("both", (0, 1, 2), {}),  # it cannot have burned
    ],
)
@pytest.mark.parametrize("definition", ["modified-hp", "original-hp", "updated-hp"])
def test_the_forest_fire_is_explained_as_published(
    fire: str, rows: tuple[int, ...], expected: dict[str, bool], definition: str
) -> None:
    """The explanations, each with whether it is trivial."""
    model = Model.from_text(FIRES[fire])
    contexts = [FOUR[row] for row in rows]
    found = ac.explanations(model, contexts=contexts, effect="FF == 1", definition=definition)
    named = {",".join(f"{n}={v}" for n, v in sorted(entry.event.items())): entry.trivial for entry in found}
    assert named == expected
    assert found.status is Status.COMPLETE


def test_lightning_alone_does_not_explain_a_fire_that_takes_both() -> None:
    verdict = ac.is_explanation(Model.from_text(FIRES["both"]), effect="FF == 1", event="L=1")
    assert not verdict
    assert verdict.failed == "EX1b"
    assert verdict.counterexample == {"L": 0, "MD": 0}
    assert "setting it would not have brought FF=1 about" in str(verdict)


# -- what may be given for contexts ----------------------------------------------------------------


def test_contexts_are_a_list_a_formula_columns_or_a_distribution() -> None:
    model = Model.from_text(FIRES["both"])
    columns = {"L": np.array([1, 1, 1]), "MD": np.array([0, 1, 1])}
    weighted = [({"L": 1, "MD": 0}, "1/4"), ("L=1, MD=1", 0.75)]
    for contexts in ("L == 1", [FOUR[1], FOUR[3]], ["L=1, MD=0", "L=1, MD=1"], columns, weighted, {"L": 1, "MD": 0.5}):
        found = ac.explanations(model, contexts=contexts, effect="FF == 1")
        assert as_sets(found) == {frozenset({("MD", 1)})}
        assert found[0].contexts == 2


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ([], "contexts must be a list of contexts such as"),
        (7, "contexts must be a list of contexts such as"),
        ("L == 7", "No context satisfies 'L == 7'"),
        ("L = 1", "'=' is not a comparison"),
        ([{"L": 1}], "The context must set every root; missing: MD."),
        ([{"L": 1, "MD": 0, "FF": 1}], "The context sets FF, which has an equation"),
        ([({"L": 1, "MD": 0}, 0.5)], "The probabilities of contexts must sum to 1; got 0.5."),
        ([({"L": 1, "MD": 0}, -1)], "The weights of contexts must be counts"),
        ({"L": 0.5}, "contexts must give a probability to every root; missing: MD."),
        ({"L": 0.5, "MD": 2}, "The probability of MD must be between 0 and 1; got 2."),
        ({"L": 0.5, "MD": 1, "FF": 1}, "contexts gives a probability to FF, which follows from its equation"),
        ({"L": np.array([1])}, "contexts must have a column for every root; missing: MD."),
        ({"L": np.array([1]), "MD": np.array([1, 0])}, "must be one-dimensional and of one length"),
        ({"L": np.array([1]), "MD": np.array([5])}, "MD must be in {0, 1}; got 5."),
    ],
)
def test_contexts_that_make_no_sense_are_refused_in_a_sentence(contexts: Any, expected: str) -> None:
    with pytest.raises(ac.ActCauseError) as refused:
        ac.explanations(Model.from_text(FIRES["both"]), contexts=contexts, effect="FF == 1")
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_question_that_makes_no_sense_is_refused() -> None:
    model = Model.from_text(FIRES["both"])
    for wrong, expected in [
        ({"effect": "FX"}, "unknown variable 'FX'"),
        ({"definition": "modified"}, "did you mean 'modified-hp'?"),
        ({"max_explanations": 0}, "max_explanations must be at least 1"),
        ({"max_seconds": -1}, "max_seconds must be a positive number"),
    ]:
        with pytest.raises(ac.ActCauseError, match=expected.replace("?", r"\?")):
            list(ac.explanations(model, **{"effect": "FF", **wrong}))
    with pytest.raises(QueryError, match="The event must be a non-empty mapping"):
        ac.is_explanation(model, effect="FF", event={})


# -- laziness and words ----------------------------------------------------------------------------


def test_the_first_explanations_come_before_the_rest_is_known() -> None:
    lines = [f"R{i}" for i in range(14)] + ["Y = " + " + ".join(f"R{i}" for i in range(14)) + " >= 7"]
    found = ac.explanations(Model.from_text("\n".join(lines)), effect="Y", contexts=majority(300))
    assert len(found[:3]) == 3
    assert found._status is None


def majority(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {f"R{i}": rng.integers(0, 2, count) for i in range(14)}


def test_a_search_may_end_at_a_number_or_a_time() -> None:
    model = Model.from_text(FIRES["either"])
    assert ac.explanations(model, effect="FF", max_explanations=1).status is Status.MAX_EXPLANATIONS
    assert ac.explanations(model, effect="FF", max_seconds=1e-9).status is Status.OUT_OF_TIME
    verdict = ac.is_explanation(model, effect="FF", event="L=1", max_seconds=1e-9)
    assert verdict.holds is None
    assert "It is not known whether L=1 is an explanation of FF=1." in str(verdict)


def test_explanations_read_as_sentences_and_as_json() -> None:
    model = Model.from_text('L "the lightning"\nMD\nFF = L and MD')
    [found] = ac.explanations(model, effect="FF == 1", contexts={"L": "1/2", "MD": 0.25})
    assert str(found) == (
        "The lightning L=1 and MD=1 together are a trivial explanation of FF=1: setting them brings FF=1 about "
        "in all 4 contexts, and one of them is part of a cause in the one context in which all happen. "
        "FF=1 never happens without them."
    )
    document = found.to_json()
    assert document["probability"] == document["goodness"] == "1"
    assert document["instance"]["context"] == {"L": 1, "MD": 1}
    nowhere = "There is nothing to explain: FF=1 happens in none of these contexts."
    assert str(ac.explanations(model, effect="FF", contexts=["L=0,MD=0"])) == nowhere
    constant = Model.from_text("A\nB = A or not A")
    assert str(ac.explanations(constant, effect="B")).startswith("Nothing explains")
    larger = ac.is_explanation(model, effect="FF", event="L=1,MD=1", contexts="L == 1")
    assert larger.smaller == {"MD": 1}
    assert "EX2 fails, since it is not minimal: MD=1 is enough" in str(larger)
    assert larger.to_json()["failed"] == "EX2"


# -- definitions and equations of other kinds --------------------------------------------------------


def test_functional_causes_explain_too() -> None:
    model = Model.from_text("A\nB\nC\nY = A and B or C")
    contexts = [{"A": a, "B": b, "C": c} for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    found = ac.explanations(model, contexts=contexts, effect="Y", definition="functional", alpha_sufficiency=1)
    parts = []
    for context in contexts:
        answer = ac.causes(model, context=context, effect="Y", definition="functional", alpha_sufficiency=1)
        parts.append({name for cause in answer for name in cause.event})
    assert found
    for entry in found:
        for context, names in zip(contexts, parts, strict=True):
            world = model.evaluate(context)
            assert model.evaluate(context, do=entry.event)["Y"]
            if world["Y"] and all(world[name] == value for name, value in entry.event.items()):
                assert names & entry.event.keys()


@many(80)
@given(situation=situations(max_endogenous=3))
def test_equations_too_large_for_clauses_are_explained_by_the_definitions_own_words(
    situation: tuple[Model, list[dict[str, int]], Expression],
) -> None:
    model, contexts, effect = situation
    oracle = oracle_of(model, contexts, effect, "modified-hp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actcause.core.solvers.circuit.check_size", refuse)
        patch.setattr("actcause.core.solvers.circuit.Circuit.equation", refuse)
        found = ac.explanations(model, contexts=contexts, effect=effect)
        assert as_sets(found) == as_sets(oracle.explanations())


def refuse(*_: Any) -> None:
    raise TooManyClausesError


def test_more_contexts_than_can_be_held_are_refused_with_the_remedy() -> None:
    model = Model.from_text("\n".join([*(f"R{i}" for i in range(40)), "Y = R0"]))
    with pytest.raises(QueryError, match=r"There are 1099511627776 contexts.*possible; contexts takes them\."):
        ac.explanations(model, effect="Y")


def test_the_effort_stays_what_it_was() -> None:
    """Pin how often a solver is asked, which needs no clock."""
    model = Model.from_text(joined_gates(50, 0).text)
    rng = np.random.default_rng(0)
    contexts = {name: rng.integers(0, 2, 10_000) for name in model.roots}
    found = ac.explanations(model, contexts=contexts, effect=f"{model.variables[-1]} == 1")
    assert len(found[:10]) == 10
    assert found.statistics["proposals"] <= 60
    assert found.statistics["contexts_asked"] <= 100


def test_what_is_found_out_in_one_context_holds_in_many_of_a_model_in_time() -> None:
    tank = ac.examples.load("overflowing-tank")
    model = ac.Model.from_text(tank.text).unrolled(6)
    found = ac.explanations(model, effect="alarm@6 == 1", max_explanations=30)
    assert len(list(found)) == 30
    assert found.statistics["contexts_asked"] <= 100  # of 16,384
