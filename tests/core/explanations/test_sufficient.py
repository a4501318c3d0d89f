"""Sufficient causes agree with the oracle, contexts listed or not, and read as sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import actcause as ac
from actcause import DEFINITIONS, Model, Status
from actcause.core.explanations import sufficient
from explanation_oracle import as_sets, events, oracle_of, situations
from strategies import many


@pytest.mark.parametrize("definition", [name for name in DEFINITIONS if name != "functional"])
@many(400)
@given(data=st.data())
def test_the_sufficient_causes_are_those_of_the_oracle(definition: str, data: st.DataObject) -> None:
    model, contexts, effect = data.draw(situations())
    oracle = oracle_of(model, contexts, effect, definition)
    for index, context in enumerate(contexts):
        found = ac.sufficient_causes(model, context=context, contexts=contexts, effect=effect, definition=definition)
        assert as_sets(found) == as_sets(oracle.sufficient_causes(index))
        for entry in found:
            assert entry.event.keys() & entry.cause.event.keys()
            assert entry.cause.witness.replay(entry.cause.query)


@many(400)
@given(data=st.data())
def test_all_contexts_need_not_be_listed(data: st.DataObject) -> None:
    model, _, effect = data.draw(situations())
    every = list(model.contexts())
    oracle = oracle_of(model, every, effect, "modified-hp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sufficient, "LISTED", 0)
        for index, context in enumerate(every[:4]):
            found = ac.sufficient_causes(model, context=context, effect=effect)
            assert as_sets(found) == as_sets(oracle.sufficient_causes(index))


@many(200)
@given(situation=situations(max_endogenous=3))
def test_every_verdict_is_that_of_the_oracle(situation) -> None:
    model, contexts, effect = situation
    oracle = oracle_of(model, contexts, effect, "modified-hp")
    minimal = as_sets(oracle.sufficient_causes(0))
    for event in events(model, effect):
        verdict = ac.is_sufficient_cause(model, context=contexts[0], contexts=contexts, effect=effect, event=event)
        assert verdict.holds == (frozenset(event.items()) in minimal)
        if verdict.conditions["SC1"]:
            assert verdict.conditions["SC2"] == bool(oracle.causal(event, [0]))
            assert verdict.conditions["SC3"] == oracle.sufficient(event)


def test_what_suffices_is_found_among_a_thousand_billion_contexts() -> None:
    text = "\n".join([*(f"R{i}" for i in range(40)), "A = R0 and R1", "Y = A or R2 and R3 or R39"])
    model = Model.from_text(text)
    found = ac.sufficient_causes(model, context=dict.fromkeys(model.roots, 1), effect="Y")
    events_found = [dict(entry.event) for entry in found]
    assert {"A": 1} in events_found
    assert {"R39": 1} in events_found
    assert {"R0": 1, "R1": 1} in events_found
    assert len(events_found) == 4
    assert found.status is Status.COMPLETE


def test_a_verdict_says_what_fails() -> None:
    model = Model.from_text("L\nMD\nFF = L and MD")
    asked = {"model": model, "context": "L=1, MD=1", "effect": "FF == 1"}
    for event, failed, words in [
        ("L=0", "SC1", "SC1 fails, since it and FF=1 do not both happen in this context."),
        ("L=1", "SC3", "SC3 fails, since in the context L=0 and MD=0 setting it would not have brought FF=1 about."),
        ("L=1, MD=1", None, "L=1 and MD=1 together are a sufficient cause of FF=1"),
    ]:
        verdict = ac.is_sufficient_cause(event=event, **asked)
        assert verdict.failed == failed
        assert words in str(verdict)
        assert verdict.to_json()["holds"] == (failed is None)
    known = ac.is_sufficient_cause(event="L=1, MD=1", contexts="L == 1", **asked)
    assert str(known).endswith("SC4 fails, since it is not minimal: MD=1 is enough.")
    unrelated = ac.is_sufficient_cause(model, context="L=1, MD=1", effect="FF >= 0", event="L=1")
    assert unrelated.failed == "SC2"
    open_ = ac.is_sufficient_cause(event="L=1", max_seconds=1e-9, **asked)
    assert open_.holds is None
    assert open_.status is Status.OUT_OF_TIME


def test_a_search_may_find_nothing_or_end_early() -> None:
    model = Model.from_text("L\nMD\nFF = L or MD")
    assert not ac.sufficient_causes(model, context="L=0, MD=0", effect="FF")
    assert "has no sufficient cause" in str(ac.sufficient_causes(model, context="L=0, MD=0", effect="FF"))
    assert ac.sufficient_causes(model, context="L=1, MD=1", effect="FF", max_causes=1).status is Status.MAX_CAUSES
    with pytest.raises(ac.QueryError, match="max_causes must be at least 1"):
        ac.sufficient_causes(model, context="L=1, MD=1", effect="FF", max_causes=0)
