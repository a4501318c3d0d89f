"""Partial explanations agree with the oracle, and their goodness is exact."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import Model, Status
from explanation_oracle import events, oracle_of, partial_goodness, situations
from strategies import many


@pytest.mark.parametrize("definition", ["modified-hp", "updated-hp", "direct"])
@many(400)
@given(data=st.data())
def test_the_partial_explanations_are_those_of_the_oracle(definition: str, data: st.DataObject) -> None:
    model, contexts, effect = data.draw(situations(max_endogenous=3))
    oracle = oracle_of(model, contexts, effect, definition)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(contexts), max_size=len(contexts)))
    weighted = list(zip(contexts, weights, strict=True))
    found = ac.partial_explanations(model, contexts=weighted, effect=effect, definition=definition)
    expected = {
        frozenset(event.items()): goodness
        for event in events(model, effect)
        if (goodness := partial_goodness(oracle, weights, event)) is not None
    }
    assert {frozenset(entry.event.items()): entry.goodness for entry in found} == expected
    for entry in found:
        asked = {"contexts": weighted, "effect": effect, "definition": definition}
        verdict = ac.is_explanation(model, event=entry.event, **asked)
        assert verdict.goodness == entry.goodness
        assert bool(verdict) == entry.full
        assert entry.event.keys() & entry.cause.event.keys()
        assert entry.cause.witness.replay(entry.cause.query)


def test_a_partial_explanation_says_how_good_it_is() -> None:
    # Whoever finds the bottle shattered and hears that Billy threw has an explanation, unless Suzy threw too.
    model = Model.from_text("ST\nBT\nSH = ST\nBH = BT and not SH\nBS = SH or BH")
    prior = {"ST": "1/4", "BT": "1/2"}
    found = ac.partial_explanations(model, contexts=prior, effect="BS == 1")
    goodness = {tuple(entry.event.items()): entry.goodness for entry in found}
    assert goodness[("ST", 1),] == 1
    assert goodness[("BT", 1),] == Fraction(3, 4)
    billy = next(entry for entry in found if dict(entry.event) == {"BT": 1})
    assert str(billy) == (
        "BT=1 is a partial explanation of BS=1: where they happen together, it is part of a cause with probability 3/4."
    )
    assert billy.to_json()["goodness"] == "3/4"
    assert not ac.is_explanation(model, contexts=prior, effect="BS == 1", event="BT=1")
    good = ac.partial_explanations(model, contexts=prior, effect="BS", least_goodness=0.95)
    assert all(entry.goodness >= Fraction(95, 100) for entry in good)
    assert ac.partial_explanations(model, contexts=prior, effect="BS", max_explanations=1).status is (
        Status.MAX_EXPLANATIONS
    )
    assert ac.partial_explanations(model, contexts=prior, effect="BS", max_seconds=1e-9).status is Status.OUT_OF_TIME


def test_partial_explanations_need_probabilities() -> None:
    model = Model.from_text("A\nB = A")
    with pytest.raises(ac.QueryError, match="Partial explanations need probabilities; give contexts as"):
        ac.partial_explanations(model, contexts=None, effect="B")
    with pytest.raises(ac.QueryError, match="least_goodness must be between 0 and 1; got 2"):
        ac.partial_explanations(model, contexts={"A": 0.5}, effect="B", least_goodness=2)
    assert not ac.partial_explanations(model, contexts={"A": 0}, effect="B")
