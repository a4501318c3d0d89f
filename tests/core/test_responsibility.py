"""Degrees of responsibility and blame."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from actcause.core.definitions import DEFINITIONS, Search
from actcause.core.definitions.base import subsets
from strategies import contexts, many, models

HALPERN = ("modified-hp",)
CHOCKLER_HALPERN = ("original-hp", "updated-hp")


def by_hand(query, event):
    """Both definitions of responsibility, by listing every event and every witness."""
    definition, search = DEFINITIONS[query.definition], Search(query, max_steps=60_000)
    weights = []
    for names in subsets(tuple(dict.fromkeys((*query.candidates, *event)))):
        whole = {name: query.actual[name] for name in names}
        if query.definition in CHOCKLER_HALPERN and names != tuple(event):
            continue
        if not names or not event.items() <= whole.items():
            continue
        verdict = ac.is_cause(
            query.model, context=query.context, effect=query.effect, event=whole, definition=query.definition
        )
        for witness in definition.witnesses(search, whole) if verdict else ():
            if definition.sufficient(search, whole, witness):
                moved = [name for name, value in witness.frozen.items() if value != query.actual[name]]
                halpern = len(whole) + len(witness.frozen)
                weights.append(len(moved) + 1 if query.definition in CHOCKLER_HALPERN else halpern)
    return Fraction(1, min(weights)) if weights else Fraction(0)


@pytest.mark.parametrize("definition", HALPERN + CHOCKLER_HALPERN)
@many(160)
@given(data=st.data(), model=models(max_endogenous=4, max_range=2))
def test_degrees_are_what_listing_every_witness_gives(definition, data, model):
    context = data.draw(contexts(model))
    outcome = model.endogenous[-1]
    query = ac.Query(model, context, f"{outcome} == {model.evaluate(context)[outcome]}", definition)
    assume(query.candidates)
    name = data.draw(st.sampled_from(query.candidates))
    event = {name: query.actual[name]}
    try:
        expected = by_hand(query, event)
    except Exception as error:  # the listing itself ran out of its budget
        assume(type(error).__name__ != "OutOfBudget")
        raise
    degree = ac.responsibility(model, context=context, effect=query.effect, event=event, definition=definition)
    assert degree == expected


@pytest.mark.parametrize("definition", ["original-hp", "updated-hp", "modified-hp"])
@pytest.mark.parametrize(("name", "degree"), [("voting-unanimous", Fraction(1, 6)), ("voting-close", Fraction(1))])
def test_a_vote_matters_the_less_the_clearer_the_victory(name, degree, definition):
    vote = ac.examples.load(name)
    winner = next(voter for voter, value in vote.context.items() if value == 1)
    assert (
        ac.responsibility(
            vote.model, context=vote.context, effect=vote.effect, event={winner: 1}, definition=definition
        )
        == degree
    )


@pytest.mark.parametrize("definition", ["but-for", "direct", "strong"])
def test_a_definition_for_which_no_source_has_degrees_is_refused(definition):
    rock = ac.examples.load("rock-throwing")
    asked = {"effect": "BS == 1", "event": {"ST": 1}, "definition": definition}
    with pytest.raises(ac.QueryError, match=f"No source defines a degree of responsibility by {definition}; ask "):
        ac.responsibility(rock.model, context=rock.context, **asked)
    with pytest.raises(ac.QueryError, match="No source defines"):
        ac.blame(rock.model, contexts=[(rock.context, 1)], **asked)


def test_suzy_is_wholly_responsible_where_changes_are_counted_and_half_where_what_is_held_is():
    rock = ac.examples.load("rock-throwing")
    asked = {"context": rock.context, "effect": "BS == 1", "event": {"ST": 1}}
    degrees = {name: ac.responsibility(rock.model, **asked, definition=name) for name in CHOCKLER_HALPERN + HALPERN}
    assert degrees == {"original-hp": 1, "updated-hp": 1, "modified-hp": Fraction(1, 2)}


def test_what_is_no_cause_bears_no_responsibility():
    rock = ac.examples.load("rock-throwing")
    assert ac.responsibility(rock.model, context=rock.context, effect="BS == 1", event={"BT": 1}) == 0
    assert ac.responsibility(rock.model, context=rock.context, effect="BS == 0", event={"ST": 1}) == 0
    assert ac.responsibility(rock.model, context=rock.context, effect="BS == 1", event={"ST": 0}) == 0


def test_blame_is_what_someone_would_expect_who_does_not_know():
    squad = ac.Model.from_text(
        "\n".join(f"S{i}" for i in range(10)) + "\nDead = " + " or ".join(f"S{i}" for i in range(10))
    )
    one_live = [({f"S{i}": int(i == live) for i in range(10)}, Fraction(1, 10)) for live in range(10)]
    degree = ac.blame(squad, contexts=one_live, effect="Dead", event={"S0": 1}, definition="original-hp")
    # In one of ten contexts he is alone; in nine, another's bullet is live as well.
    assert degree == Fraction(1, 10) + Fraction(9, 10) * Fraction(1, 2)


def test_blame_is_expected_over_models_too_where_one_does_not_know_how_the_world_works():
    alone = ac.Model.from_text("A\nB\nDead = A")
    either = ac.Model.from_text("A\nB\nDead = A or B")
    immune = ac.Model.from_text("A\nB\nDead = 0 * A")
    both = {"A": 1, "B": 1}
    believed = [(alone, both, "1/2"), (either, both, 0.25), (immune, "A=0, B=1", 0.25)]
    degree = ac.blame(either, contexts=believed, effect="Dead == 1", event={"A": 1})
    assert degree == Fraction(1, 2) * 1 + Fraction(1, 4) * Fraction(1, 2)
    mixed = [(alone, both, 0.5), (both, 0.5)]
    assert ac.blame(either, contexts=mixed, effect="Dead == 1", event={"A": 1}) == Fraction(3, 4)
    elsewhere = ac.Model.from_text("C\nDead = C")
    with pytest.raises(ac.QueryError, match="Unknown variable 'A' in the event"):
        ac.blame(either, contexts=[(elsewhere, {"C": 1}, 1)], effect="Dead == 1", event={"A": 1})


@pytest.mark.parametrize("definition", HALPERN + CHOCKLER_HALPERN)
@many(160)
@given(data=st.data())
def test_blame_over_models_is_the_weighted_sum_of_the_blame_in_each(definition, data):
    pairs = [(model := data.draw(models(max_endogenous=3)), data.draw(contexts(model))) for _ in range(2)]
    assume(all("A" in model.endogenous and "V1" in model.variables for model, _ in pairs))
    weights = data.draw(st.sampled_from([(Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 2))]))
    asked = {"effect": "V1 != 0", "event": {"A": 1}, "definition": definition}
    triples = [(model, context, weight) for (model, context), weight in zip(pairs, weights, strict=True)]
    parts = [ac.blame(model, contexts=[(context, 1)], **asked) for model, context in pairs]
    assert ac.blame(pairs[0][0], contexts=triples, **asked) == sum(
        weight * part for weight, part in zip(weights, parts, strict=True)
    )


def test_blame_puts_the_event_in_place_even_where_it_has_an_equation():
    model = ac.Model.from_text("Order\nShoots = Order\nDead = Shoots")
    assert ac.blame(model, contexts=[({"Order": 0}, 1)], effect="Dead", event={"Shoots": 1}) == 1


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ([], "at least one"),
        ([({"A": 1}, 0.5)], "sum to 1"),
        ([({"A": 1}, 2)], "between 0 and 1"),
        ([({"B": 1}, 1)], "Unknown variable 'B'"),
        ([1], "pairs"),
    ],
)
def test_a_mistake_in_the_contexts_is_told(contexts, message):
    model = ac.Model.from_text("A\nY = A")
    with pytest.raises(ac.ActCauseError, match=message):
        ac.blame(model, contexts=contexts, effect="Y", event={"A": 1})
