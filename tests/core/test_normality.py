"""Normality: a witness's world must be at least as normal as the actual one, and causes are ranked by their best."""

from __future__ import annotations

from itertools import chain, combinations, product
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import actcause as ac
from agreement import ORACLE_STEPS, ask, assert_same_causes, assert_same_verdict, events, judge, questions
from strategies import many, random_expression

SOLVERS = ("auto", "exhaustive")
ALL_HP = ("original-hp", "updated-hp", "modified-hp")
PENS = ac.Model.from_text("P\nA\nE = P and A")


def normal(query: ac.Query, rng: Random, order: str) -> ac.Query:
    """The same question, with one to three things that are said to be normal."""
    rules = []
    for _ in range(rng.randint(1, 3)):
        names = rng.sample(query.model.variables, min(len(query.model.variables), rng.choice([1, 1, 2])))
        weight = rng.choice(["1", "2", "1/3"]) if order == "count" else "1"
        rules.append((random_expression(rng, names, len(names) + rng.randint(0, 1)), weight))
    try:
        return ac.Query(**{**query.arguments, "normality": ac.Normality(rules, order)})
    except ac.QueryError:  # a rule can never hold
        assume(False)
        raise


@pytest.mark.parametrize("order", ["inclusion", "count"])
@pytest.mark.parametrize("definition", [name for name in ac.DEFINITIONS if name != "functional"])
@given(data=st.data(), rng=st.randoms(use_true_random=True))
@many(300)
def test_every_solver_agrees_with_the_oracle_on_what_is_normal(
    definition: str, order: str, data: st.DataObject, rng: Random
) -> None:
    query = normal(data.draw(questions(definition, max_endogenous=4)), rng, order)
    assert query.normality is not None
    if rng.random() < 0.5:
        chosen = data.draw(events(query))
        assert_same_verdict(query, chosen)
        oracle, fast = (judge(query, chosen, solver) for solver in ("exhaustive", "auto"))
        if oracle and query.normality.order == "count":
            best = [query.normality.weigh(query.normality.find_broken(replay_witness(v))) for v in (oracle, fast)]
            assert best[0] == best[1]
    else:
        assert_same_causes(query)
        oracle, fast = ask(query, "exhaustive", ORACLE_STEPS), ask(query, "auto")
        assert ranks(oracle) == ranks(fast)
        for cause in fast:
            assert cause.best
            assert query.normality.find_broken(replay_witness(cause)) in cause.best
        if order == "inclusion":
            by_event = {frozenset(cause.event): set(cause.best) for cause in oracle}
            assert {frozenset(cause.event): set(cause.best) for cause in fast} == by_event


def replay_witness(found: ac.Cause | ac.Verdict) -> dict[str, int]:
    assert found.witness is not None
    return dict(found.witness.replay(found.query).values)


def ranks(answer: ac.Answer) -> list[set[frozenset[str]]]:
    return [{frozenset(cause.event) for cause in group} for group in answer.ranked()]


@given(rng=st.randoms(use_true_random=True), data=st.data())
@many(400)
def test_modified_hp_with_normality_is_what_trying_every_witness_gives(rng: Random, data: st.DataObject) -> None:
    """A second reading that shares nothing with the definitions: all W, all x', the worlds looked at one by one."""
    query = normal(data.draw(questions("modified-hp", max_endogenous=4)), rng, rng.choice(["inclusion", "count"]))
    assume(query.candidates)
    model, actual, normality = query.model, query.actual, query.normality
    assert normality is not None
    event = {name: actual[name] for name in rng.sample(query.candidates, 1)}
    outside = [name for name in model.endogenous if name not in event]

    def broken(world: dict[str, int]) -> set[int]:
        return {index for index, rule in enumerate(normality.rules) if not rule.formula.value(world)}

    def weight(world: dict[str, int]) -> object:
        return sum(normality.rules[index].weight for index in broken(world))

    holds = False
    for held in chain.from_iterable(combinations(outside, size) for size in range(len(outside) + 1)):
        for values in product(*(model.ranges[name] for name in event)):
            world = model.evaluate(
                query.context, {**{n: actual[n] for n in held}, **dict(zip(event, values, strict=True))}
            )
            as_normal = (
                broken(world) <= broken(actual) if normality.order == "inclusion" else weight(world) <= weight(actual)  # type: ignore[operator]
            )
            holds = holds or (as_normal and not query.effect.value(world))
    assert ac.is_cause(**query.arguments, event=event).conditions["AC2a"] in (holds, None)
    assert ac.is_cause(**query.arguments, event=event).holds is (holds and query.happened)


# -- published -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("definition", ALL_HP)
@pytest.mark.parametrize(
    ("name", "rules", "event"),
    [
        # Halpern 2015 on bogus prevention: poisoning is abnormal, so the antidote is not even part of a cause.
        ("bogus-prevention", ["P == 0"], "A=1"),
        # Halpern 2015 on non-existent threats: the guard is no cause once the threat counts as abnormal.
        ("non-existent-threat", ["B == 0"], "C=1"),
        # Halpern 2015, Example 3.10: poison normally goes with the antidote, for which the poisoner waits.
        ("careful-poisoning", ["P == A"], "A=1"),
    ],
)
def test_what_needs_an_abnormal_world_is_no_part_of_a_cause(
    name: str, rules: list[str], event: str, definition: str, solver: str
) -> None:
    example = ac.examples.load(name)
    asked = {"context": example.context, "effect": example.effect, "definition": definition, "solver": solver}
    [variable] = ac.causes(example.model, **asked).query.check_event(event)
    plain = ac.causes(example.model, **asked)
    assert any(variable in cause.event for cause in plain)
    assert not any(variable in cause.event for cause in ac.causes(example.model, **asked, normality=rules))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("definition", ALL_HP)
def test_of_the_two_who_took_a_pen_the_professor_is_the_better_cause(definition: str, solver: str) -> None:
    """Knobe and Fraser 2008, with the order of Halpern and Hitchcock 2015."""
    asked = {"context": "P=1, A=1", "effect": "E", "definition": definition, "solver": solver}
    answer = ac.causes(PENS, **asked, normality=["P == 0"])
    assert [[dict(cause.event) for cause in group] for group in answer.ranked()] == [[{"P": 1}], [{"A": 1}]]
    # With a rule that assistants do take pens, undoing that is less normal than what happened.
    assert ranks(ac.causes(PENS, **asked, normality=["P == 0", "A == 1"])) == [{frozenset({"P"})}]
    # Counted and with little weight, it is made up for by the other broken rule.
    counted = ac.Normality(["P == 0", ("A == 1", "1/2")], order="count")
    assert ranks(ac.causes(PENS, **asked, normality=counted)) == [{frozenset({"P"})}]


def test_functional_causes_are_normal_in_the_observed_state() -> None:
    asked = {"context": "P=1, A=1", "effect": "E", "definition": "functional"}
    assert ranks(ac.causes(PENS, **asked, normality=["P == 0"])) == [{frozenset({"P"})}, {frozenset({"A"})}]
    assert ranks(ac.causes(PENS, **asked, normality=["P == 0", "A == 1"])) == [{frozenset({"P"})}]


# -- what is said ----------------------------------------------------------------------------------


def test_the_answer_names_the_broken_rules_and_ranks_the_causes() -> None:
    answer = ac.causes(PENS, context="P=1, A=1", effect="E", normality=["P == 0"])
    document = answer.to_json()
    assert document["normality"] == {"rules": ["P == 0"], "order": "inclusion", "broken": ["P == 0"]}
    assert [(c["event"], c["rank"], c["broken"]) for c in document["causes"]] == [
        ({"P": 1}, 1, []),
        ({"A": 1}, 2, ["P == 0"]),
    ]
    assert str(answer).split("\n") == [
        "P=1 is a cause of E=1: had P been 0, E would have been 0.",
        "A=1 is a cause of E=1: had A been 0, E would have been 0, against the rule P == 0.",
    ]
    refused = ac.is_cause(PENS, context="P=1, A=1", effect="E", event="A=1", normality=["A == 1"])
    assert "would have undone the effect in a world at least as normal as the actual one" in str(refused)


def test_a_best_witness_holds_what_keeps_its_world_normal() -> None:
    model = ac.Model.from_text("X\nAlarm = X\nY = X")
    asked = {"context": "X=1", "effect": "Y", "event": "X=1"}
    for solver in SOLVERS:
        verdict = ac.is_cause(model, **asked, normality=["Alarm == 1"], solver=solver)
        assert verdict.holds
        assert verdict.witness is not None
        assert dict(verdict.witness.frozen) == {"Alarm": 1}
        assert not ac.is_cause(model, **asked, normality=["Alarm == X"], solver=solver, definition="but-for").failed


def test_an_order_ranks_worlds() -> None:
    normality = ac.Normality(["A", "B"])
    assert normality.find_broken({"A": 0, "B": 1}) == {0}
    assert normality.at_least(frozenset(), frozenset({1}))
    assert not normality.at_least(frozenset({0}), frozenset({1}))  # incomparable
    counted = ac.Normality(["3: A", "B"], order="count")
    assert counted.at_least(frozenset({1}), frozenset({0}))
    assert not counted.at_least(frozenset({0}), frozenset({1}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "at least one rule"),
        (["P ==="], "normality"),
        (["Q == 1"], "Unknown variable 'Q'"),
        (["A == 1", "P == 2"], "The rule 'P == 2' of normality can never hold; say what normally does."),
        (["x: P"], "weight of a rule must be a positive number"),
        (["2: P"], "only counted with normality_order='count'"),
        (7, "must be a Normality, or rules"),
        ([7], "A rule must be a formula"),
    ],
)
def test_a_mistake_in_the_rules_is_told_in_one_sentence(given: object, message: str) -> None:
    with pytest.raises(ac.ActCauseError, match=message) as refused:
        ac.causes(PENS, context="P=1, A=1", effect="E", normality=given)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ac.QueryError, match="must be one of inclusion, count; got 'weight'"):
        ac.Normality(["A"], order="weight")
