"""Odd ranges, exogenous variables in formulas, effects over several variables: everything agrees with its oracle."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause import DEFINITIONS, ActCauseError
from actcause.core.definitions import OutOfBudget, Search
from actcause.core.definitions.base import subsets
from actcause.core.solvers import long_models, narrow_models, networks
from agreement import ask, assert_same_causes, assert_same_verdict, events
from explanation_oracle import as_sets, oracle_of
from odd_models import odd_formula, odd_models, odd_questions
from strategies import many

EXACT = [name for name in DEFINITIONS if name != "functional"]
WITH_DEGREES = ("original-hp", "updated-hp", "modified-hp")


@pytest.mark.parametrize("definition", EXACT)
@many(300)
@given(data=st.data())
def test_causes_and_verdicts_are_those_of_the_oracle(definition: str, data: st.DataObject) -> None:
    query = data.draw(odd_questions(definition))
    assert_same_causes(query)
    if query.normality is not None:
        oracle, fast = (ask(query, solver) for solver in ("exhaustive", "auto"))
        ranks = [[{frozenset(cause.event) for cause in rank} for rank in found.ranked()] for found in (oracle, fast)]
        assert ranks[0] == ranks[1]
    assume(query.model.endogenous)
    assert_same_verdict(query, data.draw(events(query)))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("definition", ["original-hp", "updated-hp", "strong"])
@many(200)
@given(data=st.data())
def test_long_models_with_a_contrast_agree_too(definition: str, wide: bool, data: st.DataObject) -> None:
    """As if every model were long, with `wide` none narrow, and half of the time without the quick yes."""
    query = data.draw(odd_questions(definition, normality=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_models, "MANY", 1)
        patch.setattr(networks, "LONG", 1)
        if wide:
            patch.setattr(narrow_models, "MOST_CODES", 0)
        if data.draw(st.booleans()):
            patch.setattr(long_models.LongModelSolver, "_by_actual_values", lambda *arguments: None)
        assert_same_verdict(query, data.draw(events(query)))


@pytest.mark.parametrize("definition", WITH_DEGREES)
@many(200)
@given(data=st.data())
def test_degrees_are_what_listing_every_witness_gives(definition: str, data: st.DataObject) -> None:
    query = data.draw(odd_questions(definition))
    name = data.draw(st.sampled_from(query.model.endogenous))
    event = {name: query.actual[name]}
    try:
        expected = list_weights(query, event)
    except OutOfBudget:
        assume(False)
        raise
    assert ac.responsibility(**query.arguments, event=event) == (Fraction(1, min(expected)) if expected else 0)


def list_weights(query: ac.Query, event: dict[str, int]) -> list[int]:
    """List, for each witness of each cause that counts, what its degree is one part of."""
    definition, search = DEFINITIONS[query.definition], Search(query, max_steps=20_000)
    weights = []
    for names in subsets(tuple(dict.fromkeys((*query.candidates, *event)))):
        whole = {name: query.actual[name] for name in names}
        if not event.items() <= whole.items() or (query.definition != "modified-hp" and len(whole) > len(event)):
            continue
        for witness in definition.witnesses(search, whole) if ac.is_cause(**query.arguments, event=whole) else ():
            if definition.sufficient(search, whole, witness):
                moved = [name for name, value in witness.frozen.items() if value != query.actual[name]]
                by_part = query.definition == "modified-hp"
                weights.append(len(whole) + len(witness.frozen) if by_part else len(moved) + 1)
    return weights


@pytest.mark.parametrize("definition", EXACT)
@many(160)
@given(data=st.data(), rng=st.randoms(use_true_random=True))
def test_explanations_are_those_of_the_oracle(definition: str, data: st.DataObject, rng: Random) -> None:
    model = data.draw(odd_models(max_equations=2))
    every = list(model.contexts())
    effect = odd_formula(rng, model, rng.sample(model.variables, rng.randint(1, min(2, len(model.variables)))))
    known = odd_formula(rng, model, [rng.choice(model.variables)])
    try:
        happens = ac.Query(model, every[0], effect).effect
        holds = ac.Query(model, every[0], known).effect
        contexts = [context for context in every if holds.value(model.evaluate(context))]
        oracle = oracle_of(model, contexts, happens, definition)
    except ActCauseError:  # a formula divides by zero
        assume(False)
        raise
    assume(contexts)
    by_list, by_formula = (
        ac.explanations(model, contexts=given, effect=effect, definition=definition) for given in (contexts, known)
    )
    assert as_sets(by_list) == as_sets(by_formula) == as_sets(oracle.explanations())
